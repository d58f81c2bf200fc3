// Open orders under `strict` on two servers with one database, which receive the market's trades and each
// other's commits at different times, and one of which may be killed: they get what one server alone would
// have given them, each unit of a trade once. Source: strict fills, sections 9 and 17.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { testSeed } from "../../test/support/seed.ts";
import type { MarketTrade } from "../domain/market.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";
import { filledBy, type ModelOrder, modelOf, thousandths } from "./testing/queue-model.ts";

const SYMBOL = "BTCUSDT";
const RUNS = 25;
const SEED = testSeed();
const BOOK = { asks: "110x1", bids: "100x0.05 99x0.05 98x0.05" };
/** What others display beside placements: it never limits what is in front of an order. */
const DEEP_BOOK = { asks: "110x1", bids: "100x10 99x10 98x10" };

cleanFixtures();

type Place = {
  readonly type: "PLACE";
  readonly server: number;
  readonly price: number;
  readonly quantity: number;
  readonly isSettled: true;
};
type Step =
  | Place
  | { readonly type: "TRADE"; readonly quantity: number; readonly price: number; readonly isSettled: boolean }
  | { readonly type: "RECEIVE"; readonly server: number; readonly count: number; readonly isSettled: boolean }
  | { readonly type: "NOTIFY" | "KILL"; readonly server: number; readonly isSettled: boolean };

const server = fc.nat(1);
/** Whether all work is done before the next step. */
const isSettled = fc.boolean();
const place: fc.Arbitrary<Place> = fc.record({
  type: fc.constant("PLACE" as const),
  server,
  price: fc.integer({ min: 98, max: 100 }),
  quantity: fc.integer({ min: 1, max: 100 }),
  // A server that does not know an order yet lets others of the strategy go before it.
  isSettled: fc.constant(true as const),
});
const trade = fc.record({
  type: fc.constant("TRADE" as const),
  quantity: fc.integer({ min: 1, max: 60 }),
  price: fc.integer({ min: 97, max: 101 }),
  isSettled,
});
const receive = fc.record({
  type: fc.constant("RECEIVE" as const),
  server,
  count: fc.integer({ min: 1, max: 3 }),
  isSettled,
});
const notification = fc.record({ type: fc.constant("NOTIFY" as const), server, isSettled });
const kill = fc.record({ type: fc.constant("KILL" as const), server, isSettled });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: trade },
  { weight: 6, arbitrary: receive },
  { weight: 3, arbitrary: notification },
  { weight: 1, arbitrary: place },
  { weight: 1, arbitrary: kill },
);

/** The second server learns that an order has ended before it receives the trade that filled it. */
const ENDED_ELSEWHERE: [Place[], Step[]] = [
  [
    { type: "PLACE", price: 98, quantity: 1, server: 0, isSettled: true },
    { type: "PLACE", price: 99, quantity: 1, server: 0, isSettled: true },
  ],
  [
    { type: "TRADE", quantity: 17, price: 98, isSettled: true },
    { type: "RECEIVE", server: 0, count: 1, isSettled: true },
    { type: "NOTIFY", server: 1, isSettled: true },
    { type: "RECEIVE", server: 1, count: 1, isSettled: true },
    { type: "TRADE", quantity: 34, price: 98, isSettled: true },
    { type: "RECEIVE", server: 1, count: 1, isSettled: true },
  ],
];

test(`each trade fills once what it fills in the model (seed ${SEED}), on two servers`, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 30, size: "max" }),
      async (first, others) => {
        run += 1;
        const { store, time, ...one } = await createFixture({ strict: {}, file: `run-${run}.sqlite` });
        const servers = [await started({ ...one, time }), await started(startOn(store, time))];
        const of = (index: number) => {
          const found = servers[index];
          if (found === undefined) throw new Error("there are two servers");
          return found;
        };
        const orders: ModelOrder[] = [];
        const trades: MarketTrade[] = [];
        const happen = (quantity: number, price: number) => {
          const made = of(0).market.unheard(SYMBOL, "seller", thousandths(quantity), String(price));
          of(1).market.history.push({ symbol: SYMBOL, trade: made });
          trades.push(made);
          for (const { pending } of servers) pending.push(made);
        };
        const receiveAt = ({ market, pending }: Server, count: number) => {
          for (const each of pending.splice(0, count)) market.retell(SYMBOL, each);
        };
        const notify = (index: number) =>
          of(index).storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
        const settled = async () => {
          for (const each of [...servers, ...servers]) await each.settled();
        };
        for (const each of [...first, ...others]) {
          time.advance(1);
          switch (each.type) {
            case "PLACE": {
              const { market, place } = of(each.server);
              market.diff(SYMBOL, BOOK);
              const quantity = thousandths(each.quantity);
              orders.push({ ...each, after: trades.length });
              await place("one", "BUY", String(each.price), { quantity });
              market.diff(SYMBOL, DEEP_BOOK);
              notify(1 - each.server);
              break;
            }
            case "TRADE":
              happen(each.quantity, each.price);
              break;
            case "RECEIVE":
              receiveAt(of(each.server), each.count);
              break;
            case "NOTIFY":
              notify(each.server);
              break;
            case "KILL": {
              const { storage, triggers, market } = of(each.server);
              storage.failsToNote = true;
              await triggers.close();
              const next = startOn(store, time);
              next.market.history.push(...market.history);
              servers[each.server] = await started(next);
            }
          }
          if (each.isSettled) await settled();
        }
        time.advance(1);
        happen(1, 97);
        for (const each of servers) receiveAt(each, Number.POSITIVE_INFINITY);
        for (let second = 0; second < 3; second += 1) {
          await settled();
          time.advance(5_000);
        }
        await settled();
        for (const { triggers } of servers) await triggers.close();
        expect(await filledBy(store)).toEqual(modelOf(orders, trades));
      },
    ),
    { numRuns: RUNS, seed: SEED, examples: [ENDED_ELSEWHERE] },
  );
});

type Server = ReturnType<typeof startOn> & {
  /** The trades that it has not received yet. */
  readonly pending: MarketTrade[];
};

async function started(server: ReturnType<typeof startOn>): Promise<Server> {
  server.market.openBook(SYMBOL, DEEP_BOOK);
  await server.triggers.open();
  return { ...server, pending: [] };
}
