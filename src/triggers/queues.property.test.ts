// Open orders under `strict` of both strategy types over random trades, latencies, restarts and losses: they
// get what a model of the queue says that computes everything from all trades, in order. Source: strict
// fills, sections 4, 7, 9 and 17.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { receiptFaults } from "../../test/campaigns/harness/receipts.ts";
import { testSeed } from "../../test/support/seed.ts";
import type { MarketTrade } from "../domain/market.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";
import { filledBy, type ModelOrder, modelOf, thousandths } from "./testing/queue-model.ts";

const SYMBOL = "BTCUSDT";
/** Of each strategy type. */
const RUNS = 15;
const SEED = testSeed();
const BOOK = { asks: "110x1", bids: "100x0.05 99x0.05 98x0.05" };
/** What others display beside placements: it never limits what is in front of an order. */
const DEEP_BOOK = { asks: "110x1", bids: "100x10 99x10 98x10" };

cleanFixtures();

type Traded = { readonly quantity: number; readonly price: number; readonly isHeard: boolean };
type Place = {
  readonly type: "PLACE";
  readonly price: number;
  readonly quantity: number;
  /** A trade of the market while the order is on its way, if there is latency. */
  readonly during?: Traded | undefined;
};
type Step =
  | Place
  | (Traded & { readonly type: "TRADE" })
  | { readonly type: "WAIT"; readonly ms: number }
  | { readonly type: "RESTART" | "KILL" };

const traded = {
  quantity: fc.integer({ min: 1, max: 60 }),
  price: fc.integer({ min: 97, max: 101 }),
  isHeard: fc.boolean(),
};

const place: fc.Arbitrary<Place> = fc.record({
  type: fc.constant("PLACE" as const),
  price: fc.integer({ min: 98, max: 100 }),
  quantity: fc.integer({ min: 1, max: 100 }),
  during: fc.option(fc.record(traded), { nil: undefined }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constant("TRADE" as const), ...traded }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("WAIT" as const), ms: fc.integer({ min: 1, max: 7_000 }) }),
  },
  { weight: 1, arbitrary: place },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("RESTART" as const, "KILL" as const) }) },
);

/** The first trade was applied, and is looked up once more: it must not take what the second one fills. */
const APPLIED_BEFORE: [number, Place[], Step[]] = [
  0,
  [{ type: "PLACE", price: 98, quantity: 3 }],
  [
    { type: "TRADE", quantity: 2, price: 97, isHeard: true },
    { type: "TRADE", quantity: 1, price: 97, isHeard: false },
    { type: "KILL" },
  ],
];

/** The first trade filled an order that has ended, which took that part of it from the one behind. */
const FILLED_AND_ENDED: [number, Place[], Step[]] = [
  0,
  [
    { type: "PLACE", price: 98, quantity: 1 },
    { type: "PLACE", price: 99, quantity: 1 },
  ],
  [
    { type: "TRADE", quantity: 17, price: 98, isHeard: false },
    { type: "TRADE", quantity: 1, price: 99, isHeard: true },
    { type: "KILL" },
    { type: "TRADE", quantity: 34, price: 98, isHeard: false },
  ],
];

/**
 * When positions are noted, the past is being looked up: what moved an order before that is not noted either.
 */
const LOOKING_UP_WHEN_NOTED: [number, Place[], Step[]] = [
  0,
  [{ type: "PLACE", price: 99, quantity: 2 }],
  [
    { type: "TRADE", quantity: 1, price: 97, isHeard: false },
    { type: "WAIT", ms: 3_700 },
    { type: "TRADE", quantity: 1, price: 100, isHeard: false },
    { type: "WAIT", ms: 2_300 },
    { type: "KILL" },
    { type: "TRADE", quantity: 1, price: 99, isHeard: false },
  ],
];

/** What is noted contains a trade that was looked up, which is later than the last live one. */
const LOOKED_UP_BEFORE_NOTED: [number, Place[], Step[]] = [
  0,
  [{ type: "PLACE", price: 99, quantity: 1 }],
  [
    { type: "TRADE", quantity: 1, price: 99, isHeard: true },
    { type: "TRADE", quantity: 25, price: 99, isHeard: false },
    { type: "WAIT", ms: 1 },
    { type: "RESTART" },
  ],
];

test.each(["SPOT", "FUTURES"] as const)(
  `%s: each trade fills once what it fills in the model (seed ${SEED}), with latency and after lost messages and killed servers`,
  async (type) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 40),
        fc.array(place, { minLength: 1, maxLength: 4 }),
        fc.array(step, { maxLength: 25, size: "max" }),
        async (latency, first, others) => {
          run += 1;
          const file = `run-${run}.sqlite`;
          const { store, time, ...started } = await createFixture({ type, strict: { latency }, file });
          let server: ReturnType<typeof startOn> = { ...started, time };
          server.market.openBook(SYMBOL, DEEP_BOOK);
          await server.triggers.open();
          const orders: ModelOrder[] = [];
          const trades: MarketTrade[] = [];
          let hasHeard = false;
          let lostAt: number | null = null;
          const happen = ({ quantity, price, isHeard }: Traded) => {
            const { market } = server;
            const isListening = market.followedBooks().length > 0;
            hasHeard &&= isListening;
            const trade = market.unheard(SYMBOL, "seller", thousandths(quantity), String(price));
            trades.push(trade);
            if (isHeard && !hasHeard && lostAt !== null) market.miss(SYMBOL, lostAt, time.now());
            if (isHeard) market.retell(SYMBOL, trade);
            else lostAt ??= time.now();
            // A later id shows that one is missing, if there was an earlier one.
            if (isHeard) lostAt = null;
            hasHeard ||= isHeard && isListening;
          };
          for (const each of [...first, ...others]) {
            time.advance(1);
            // Without an open order nobody listens.
            hasHeard &&= server.market.followedBooks().length > 0;
            if (each.type === "PLACE") {
              const quantity = thousandths(each.quantity);
              if (latency === 0) server.market.diff(SYMBOL, BOOK);
              const placing = server.place("one", "BUY", String(each.price), { quantity });
              if (latency > 0) {
                await server.settled();
                time.advance(latency / 2);
                if (each.during !== undefined) happen(each.during);
                await server.settled();
                hasHeard &&= server.market.followedBooks().length > 0;
                time.advance(latency / 2 - 1);
                server.market.diff(SYMBOL, BOOK);
                time.advance(1);
              }
              await placing;
              orders.push({ ...each, after: trades.length });
              server.market.diff(SYMBOL, DEEP_BOOK);
            } else if (each.type === "WAIT") {
              // The connection that was lost is there again.
              if (lostAt !== null) server.market.miss(SYMBOL, lostAt, time.now());
              lostAt = null;
              time.advance(each.ms);
            } else if (each.type === "TRADE") {
              happen(each);
            } else {
              const { history } = server.market;
              if (each.type === "KILL") server.storage.failsToNote = true;
              await server.triggers.close();
              hasHeard = false;
              lostAt = null;
              server = startOn(store, time, type);
              server.market.history.push(...history);
              server.market.openBook(SYMBOL, DEEP_BOOK);
              await server.triggers.open();
            }
            await server.settled();
          }
          if (lostAt !== null) server.market.miss(SYMBOL, lostAt, time.now());
          // A last trade shows whether one was lost before it.
          time.advance(1);
          trades.push(server.market.aggregate(SYMBOL, "seller", "0.001", "97"));
          for (let second = 0; second < 3; second += 1) {
            await server.settled();
            time.advance(5_000);
          }
          await server.settled();
          await server.triggers.close();
          expect(await filledBy(store)).toEqual(modelOf(orders, trades));
          const { profile } = (await store.loadAccount("one"))?.account ?? {};
          const filled = await store.listTrades("one", { symbol: SYMBOL, limit: 1_000 });
          for (const { receipt } of filled) {
            if (receipt?.marketTrade) expect(receipt.queue?.history).toBeDefined();
          }
          if (profile !== undefined) expect(receiptFaults(filled, { type, profile })).toEqual([]);
        },
      ),
      {
        numRuns: RUNS,
        seed: SEED,
        examples: [APPLIED_BEFORE, FILLED_AND_ENDED, LOOKING_UP_WHEN_NOTED, LOOKED_UP_BEFORE_NOTED],
      },
    );
  },
);
