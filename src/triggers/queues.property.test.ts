// Open orders under `strict` over random trades, restarts, losses and a second server: they get what a model of the
// queue says that computes everything from all trades, in order. Source: strict fills, sections 7, 9 and 17.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { testSeed } from "../../test/support/seed.ts";
import type { MarketTrade } from "../domain/market.ts";
import { filledBy, type ModelOrder, modelOf, thousandths } from "./testing/queue-model.ts";
import { cleanStages, stage, startOn } from "./testing/stage.ts";

const SYMBOL = "BTCUSDT";
const RUNS = 25;
const SEED = testSeed("src/triggers/queues.property.test.ts");
const BOOK = { asks: "110x1", bids: "100x0.05 99x0.05 98x0.05" };
/** What others display beside placements: it never limits what is in front of an order. */
const DEEP_BOOK = { asks: "110x1", bids: "100x10 99x10 98x10" };

cleanStages();

type Place = { readonly type: "PLACE"; readonly price: number; readonly quantity: number };
type Step =
  | Place
  | { readonly type: "TRADE"; readonly quantity: number; readonly price: number; readonly isHeard: boolean }
  | { readonly type: "WAIT"; readonly ms: number }
  | { readonly type: "RESTART" | "KILL" };

const place: fc.Arbitrary<Place> = fc.record({
  type: fc.constant("PLACE" as const),
  price: fc.integer({ min: 98, max: 100 }),
  quantity: fc.integer({ min: 1, max: 100 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("TRADE" as const),
      quantity: fc.integer({ min: 1, max: 60 }),
      price: fc.integer({ min: 97, max: 101 }),
      isHeard: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("WAIT" as const), ms: fc.integer({ min: 1, max: 7_000 }) }),
  },
  { weight: 1, arbitrary: place },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("RESTART" as const, "KILL" as const) }) },
);

/** The first trade was applied, and is looked up once more: it must not take what the second one fills. */
const APPLIED_BEFORE: [Place[], Step[]] = [
  [{ type: "PLACE", price: 98, quantity: 3 }],
  [
    { type: "TRADE", quantity: 2, price: 97, isHeard: true },
    { type: "TRADE", quantity: 1, price: 97, isHeard: false },
    { type: "KILL" },
  ],
];

/** The first trade filled an order that has ended, which took that part of it from the one behind. */
const FILLED_AND_ENDED: [Place[], Step[]] = [
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

/** When positions are noted, the past is being looked up: what moved an order before that is not noted either. */
const LOOKING_UP_WHEN_NOTED: [Place[], Step[]] = [
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

test(`each trade fills once what it fills in the model (seed ${SEED}), after lost messages and killed servers`, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 25, size: "max" }),
      async (first, others) => {
        run += 1;
        const { store, time, ...started } = await stage({ strict: {}, file: `run-${run}.sqlite` });
        let server: ReturnType<typeof startOn> = { ...started, time };
        server.market.openBook(SYMBOL, DEEP_BOOK);
        await server.triggers.open();
        const orders: ModelOrder[] = [];
        const trades: MarketTrade[] = [];
        let hasHeard = false;
        let lostAt: number | null = null;
        for (const each of [...first, ...others]) {
          time.advance(1);
          // Without an open order nobody listens.
          hasHeard &&= server.market.followedBooks().length > 0;
          if (each.type === "PLACE") {
            server.market.diff(SYMBOL, BOOK);
            orders.push({ ...each, after: trades.length });
            await server.place("one", "BUY", String(each.price), { quantity: thousandths(each.quantity) });
            server.market.diff(SYMBOL, DEEP_BOOK);
          } else if (each.type === "WAIT") {
            // The connection that was lost is there again.
            if (lostAt !== null) server.market.miss(SYMBOL, lostAt, time.now());
            lostAt = null;
            time.advance(each.ms);
          } else if (each.type === "TRADE") {
            const { quantity, price, isHeard } = each;
            const { market } = server;
            const trade = market.unheard(SYMBOL, "seller", thousandths(quantity), String(price));
            trades.push(trade);
            if (isHeard && !hasHeard && lostAt !== null) market.miss(SYMBOL, lostAt, time.now());
            if (isHeard) market.retell(SYMBOL, trade);
            else lostAt ??= time.now();
            // A later id shows that one is missing, if there was an earlier one.
            if (isHeard) lostAt = null;
            hasHeard ||= isHeard;
          } else {
            const { history } = server.market;
            if (each.type === "KILL") server.storage.failsToNote = true;
            await server.triggers.close();
            hasHeard = false;
            lostAt = null;
            server = startOn(store, time);
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
      },
    ),
    { numRuns: RUNS, seed: SEED, examples: [APPLIED_BEFORE, FILLED_AND_ENDED, LOOKING_UP_WHEN_NOTED] },
  );
});
