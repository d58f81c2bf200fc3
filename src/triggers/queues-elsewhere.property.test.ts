// Open orders under `strict` on two servers with one database, which receive the market's messages and each
// other's commits at different times, and one of which may be killed: they get what one server alone would
// have given them, each unit that was traded or displayed once. Source: strict fills, sections 9 and 17.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { receiptFaults } from "../../test/campaigns/harness/receipts.ts";
import { testSeed } from "../../test/support/seed.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { Side, Trade } from "../domain/order.ts";
import { slotOf } from "../domain/strategy.ts";
import type { LotSize } from "../domain/symbol.ts";
import { decimal, formatBriefly, type Quantity } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";
import { filledBy, type ModelOrder, modelOf, thousandths } from "./testing/queue-model.ts";

const SYMBOL = "BTCUSDT";
const RUNS = 25;
/** Of each property over all messages, and strategy type: a run of two servers and one takes long. */
const FEED_RUNS = 8;
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

const quantity = fc.integer({ min: 1, max: 12 });
const feedStep = {
  PLACE: fc.record({
    type: fc.constant("PLACE" as const),
    server,
    side: fc.constantFrom<Side>("BUY", "SELL"),
    isSettled,
  }),
  CANCEL: fc.record({ type: fc.constant("CANCEL" as const), server, order: fc.nat(3) }),
  TRADE: fc.record({
    type: fc.constant("TRADE" as const),
    by: fc.constantFrom("seller" as const, "buyer" as const),
    /** How far from the best price of open orders. */
    distance: fc.integer({ min: 0, max: 2 }),
    quantity,
    isSettled,
  }),
  /** A level that no message has shown before comes to the limits of all orders of a side. */
  CROSS: fc.record({
    type: fc.constant("CROSS" as const),
    side: fc.constantFrom<Side>("BUY", "SELL"),
    quantity,
    isSettled,
  }),
  RECEIVE: fc.record({
    type: fc.constant("RECEIVE" as const),
    server,
    count: fc.integer({ min: 1, max: 3 }),
    isSettled,
  }),
  NOTIFY: fc.record({ type: fc.constant("NOTIFY" as const), server, isSettled }),
  WAIT: fc.record({ type: fc.constant("WAIT" as const), ms: fc.integer({ min: 1, max: 1_500 }) }),
  KILL: fc.record({ type: fc.constant("KILL" as const), server, isSettled }),
};
type FeedStep = { [Type in keyof typeof feedStep]: ValueOf<(typeof feedStep)[Type]> }[keyof typeof feedStep];
type ValueOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const frequentSteps = [
  { weight: 3, arbitrary: feedStep.PLACE },
  { weight: 1, arbitrary: feedStep.CANCEL },
  { weight: 6, arbitrary: feedStep.TRADE },
  { weight: 4, arbitrary: feedStep.CROSS },
  { weight: 8, arbitrary: feedStep.RECEIVE },
  { weight: 3, arbitrary: feedStep.NOTIFY },
];
const comparableStep: fc.Arbitrary<FeedStep> = fc.oneof(...frequentSteps);
const anyStep: fc.Arbitrary<FeedStep> = fc.oneof(
  ...frequentSteps,
  { weight: 2, arbitrary: feedStep.WAIT },
  { weight: 1, arbitrary: feedStep.KILL },
);
/** Which server has the strategy's slot; null: both do, as for a moment when one takes it from the other. */
const owner = fc.constantFrom(0, 1, null);

/** An order is canceled after a trade has filled it, while another one has just become known. */
const FILLED_BEFORE_ITS_CANCEL: FeedStep[] = [
  { type: "PLACE", server: 1, side: "BUY", isSettled: true },
  { type: "NOTIFY", server: 1, isSettled: true },
  { type: "PLACE", server: 0, side: "BUY", isSettled: true },
  { type: "NOTIFY", server: 1, isSettled: true },
  { type: "TRADE", by: "seller", distance: 1, quantity: 5, isSettled: false },
  { type: "CANCEL", server: 0, order: 0 },
];
/** The book crosses an order before its owner knows it. */
const CROSSED_BEFORE_KNOWN: FeedStep[] = [
  { type: "PLACE", server: 0, side: "SELL", isSettled: true },
  { type: "CROSS", side: "SELL", quantity: 3, isSettled: true },
  { type: "RECEIVE", server: 1, count: 3, isSettled: true },
  { type: "NOTIFY", server: 1, isSettled: true },
];

describe.each(["SPOT", "FUTURES"] as const)(
  "%s: over trades, levels that cross orders, and cancels",
  (type) => {
    test(`two servers fill what one fills (seed ${SEED})`, async () => {
      let run = 0;
      let fills = 0;
      await fc.assert(
        fc.asyncProperty(
          owner,
          fc.array(comparableStep, { maxLength: 40, size: "max" }),
          async (whose, steps) => {
            run += 1;
            const options = { type, steps, isBig: true };
            const two = await played({ ...options, file: `two-${run}.sqlite`, servers: 2, whose });
            const one = await played({ ...options, file: `one-${run}.sqlite`, servers: 1, whose: null });
            expect(two).toEqual(one);
            fills += one.length;
          },
        ),
        {
          numRuns: FEED_RUNS,
          seed: SEED,
          examples: [
            [1, FILLED_BEFORE_ITS_CANCEL],
            [1, CROSSED_BEFORE_KNOWN],
          ],
        },
      );
      // The example is filled.
      expect(fills).toBeGreaterThan(0);
    });

    test(`each unit of evidence fills once, also of orders that end, and after kills (seed ${SEED})`, async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(owner, fc.array(anyStep, { maxLength: 50, size: "max" }), async (whose, steps) => {
          run += 1;
          await played({ type, steps, isBig: false, file: `any-${run}.sqlite`, servers: 2, whose });
        }),
        { numRuns: FEED_RUNS, seed: SEED },
      );
    });
  },
);

/** A message of the market, for both servers. */
type Message = (market: Server["market"]) => void;

/** The best limits of orders, and what the book is besides. Nobody's order is beyond. */
const BEST = { BUY: 100, SELL: 110 };
const ORDERS_A_SIDE = 2;
/** More than all evidence of a run, so that what fills an order does not depend on what filled it before. */
const BIG = "0.49";
/** What was taken of a level is not there again within a run, as good as. */
const REFRESH_MS = 60_000;
const LOT_SIZE: LotSize = {
  minQuantity: decimal("0.001"),
  maxQuantity: decimal("1000"),
  stepSize: decimal("0.001"),
};
const SMALL = "0.02";

/**
 * The fills of a run in words: what has filled how much of which order, as it was ordered by the exchange.
 * Checks that each unit of evidence has one fill at most. Of a single server: the messages come at once.
 */
async function played({
  type,
  steps,
  isBig,
  file,
  servers: count,
  whose,
}: {
  readonly type: StrategyType;
  readonly steps: readonly FeedStep[];
  readonly isBig: boolean;
  readonly file: string;
  readonly servers: 1 | 2;
  readonly whose: number | null;
}): Promise<string[]> {
  const { store, time, ...first } = await createFixture({ type, strict: { refreshMs: REFRESH_MS }, file });
  const book = { bids: new Map([["80", "1"]]), asks: new Map([["130", "1"]]) };
  let [updateId, tickers, levels] = [100, 0, 0];
  const open = async (started: ReturnType<typeof startOn>, index: number): Promise<Playing> => {
    const { market, triggers } = started;
    // As the exchange answers, which knows a trade a moment later.
    const answer = market.matchedBetween.bind(market);
    market.matchedBetween = async (...range) => {
      await new Promise<void>((resolve) => time.after(1_000, resolve));
      return answer(...range);
    };
    market.lotSize = LOT_SIZE;
    market.openBook(SYMBOL, { bids: wordsOf(book.bids), asks: wordsOf(book.asks) }, updateId);
    if (whose !== null && whose !== index) triggers.keepOnly(new Set());
    else triggers.keepOnly(new Set([slotOf("one")]));
    await triggers.open();
    return { ...started, pending: [] };
  };
  const servers = [await open({ ...first, time }, 0)];
  if (count === 2) servers.push(await open(startOn(store, time, type), 1));
  const of = (index: number) => {
    const found = servers[index % count];
    if (found === undefined) throw new Error("there is a server");
    return found;
  };
  const send = (message: Message) => {
    for (const { market, pending } of servers) {
      if (count === 1) message(market);
      else pending.push(message);
    }
  };
  const receive = ({ market, pending }: Playing, most: number) => {
    for (const message of pending.splice(0, most)) message(market);
  };
  const notify = (index: number) => of(index).storage.elsewhere.committed([{ strategyId: "one", type }]);
  const settled = async () => {
    for (const each of [...servers, ...servers]) await each.settled();
  };
  const caughtUp = async () => {
    for (const each of servers) receive(each, Number.POSITIVE_INFINITY);
    for (const index of servers.keys()) notify(index);
    await settled();
  };
  /** Levels of diffs that cross orders, such as `90.01x0`: the next diff removes them. */
  const crossing = { bids: "", asks: "" };
  const diff = (changedBids: string, changedAsks: string) => {
    updateId += 10;
    tickers = 0;
    const bids = `${crossing.bids} ${changedBids}`.trim();
    const asks = `${crossing.asks} ${changedAsks}`.trim();
    Object.assign(crossing, { bids: "", asks: "" });
    for (const [side, words] of Object.entries({ bids, asks })) {
      for (const word of words === "" ? [] : words.split(" ")) {
        const [at = "", units = ""] = word.split("x");
        book[side === "bids" ? "bids" : "asks"].set(at, units);
      }
    }
    const [at, id] = [time.now(), updateId];
    send((market) => market.diff(SYMBOL, { bids, asks }, at, id));
  };
  const trade = (by: "seller" | "buyer", units: number, price: number) => {
    const made = of(0).market.unheard(SYMBOL, by, thousandths(units), String(price));
    for (const { market } of servers.slice(1)) market.history.push({ symbol: SYMBOL, trade: made });
    send((market) => market.retell(SYMBOL, made));
  };
  const orderIds: number[] = [];
  const placed = { BUY: 0, SELL: 0 };
  const displayed = new Map<string, Quantity>();

  if (type === "SPOT") {
    diff("", "101x2");
    await caughtUp();
    await of(0).place("one", "BUY", null, { quantity: "0.99" });
    diff("", "101x0");
  }
  trade("seller", 1, 105);
  await caughtUp();
  for (const each of steps) {
    time.advance(1);
    switch (each.type) {
      case "PLACE": {
        const { side } = each;
        if (placed[side] === ORDERS_A_SIDE) break;
        // Behind the earlier ones: a server that does not know it yet lets these go before it.
        const price = BEST[side] + (side === "BUY" ? -placed[side] : placed[side]);
        placed[side] += 1;
        const level = (units: string) =>
          side === "BUY" ? [`${price}x${units}`, ""] : ["", `${price}x${units}`];
        const [bids = "", asks = ""] = level("0.005");
        diff(bids, asks);
        // It is decided with the same book as by one server.
        receive(of(each.server), Number.POSITIVE_INFINITY);
        const { orderId } = await of(each.server).place("one", side, String(price), {
          quantity: isBig ? BIG : SMALL,
        });
        orderIds.push(orderId);
        // What others display from now on never limits what is in front of the order.
        const [deepBids = "", deepAsks = ""] = level("10");
        diff(deepBids, deepAsks);
        break;
      }
      case "CANCEL": {
        const orderId = orderIds[each.order];
        if (orderId === undefined) break;
        // What has come before is received and known before.
        await caughtUp();
        await of(each.server).desk.execute("one", { type: "CancelOrder", orderId });
        await caughtUp();
        break;
      }
      case "TRADE": {
        const price = each.by === "seller" ? BEST.BUY - each.distance : BEST.SELL + each.distance;
        trade(each.by, each.quantity, price);
        break;
      }
      case "CROSS": {
        levels += 1;
        const isBuy = each.side === "BUY";
        const price = (isBuy ? 9_000 + levels : 12_000 - levels) / 100;
        const best = `${price}x${thousandths(each.quantity)}`;
        displayed.set(formatBriefly(decimal(String(price))), decimal(thousandths(each.quantity)));
        // A diff empties the levels of the orders as well, and with them their queues.
        if (!isBig && levels % 2 === 0) {
          const own = [...book[isBuy ? "bids" : "asks"].keys()].filter((at) => at !== "80" && at !== "130");
          const emptied = own.map((at) => `${at}x0`).join(" ");
          if (isBuy) diff(emptied, best);
          else diff(best, emptied);
          crossing[isBuy ? "asks" : "bids"] = `${price}x0`;
          break;
        }
        if (tickers === 9) diff("", "");
        tickers += 1;
        const id = updateId + tickers;
        const quote = isBuy ? { bids: "80x1", asks: best } : { bids: best, asks: "130x1" };
        send((market) => {
          const ahead = id - (market.book(SYMBOL)?.lastUpdateId ?? id);
          market.ticker(SYMBOL, quote, { ahead });
        });
        break;
      }
      case "RECEIVE":
        receive(of(each.server), each.count);
        break;
      case "NOTIFY":
        notify(each.server);
        break;
      case "WAIT":
        await settled();
        time.advance(each.ms);
        break;
      case "KILL": {
        const index = each.server % count;
        const { storage, triggers, market } = of(index);
        storage.failsToNote = true;
        await triggers.close();
        const next = startOn(store, time, type);
        next.market.history.push(...market.history);
        servers[index] = await open(next, index);
      }
    }
    if (!("isSettled" in each) || each.isSettled) await settled();
  }
  await caughtUp();
  diff("", "");
  trade("seller", 1, 105);
  await caughtUp();
  for (let second = 0; second < 3; second += 1) {
    time.advance(5_000);
    await settled();
  }
  for (const { triggers } of servers) await triggers.close();
  return checkedFills(store, type, of(0).market.history, displayed);
}

/** Levels in words, best first, as they are for both sides while orders are on theirs. */
function wordsOf(side: ReadonlyMap<string, string>): string {
  const isBids = side.has("80");
  return [...side]
    .filter(([, units]) => units !== "0")
    .sort(([one], [other]) => (isBids ? Number(other) - Number(one) : Number(one) - Number(other)))
    .map(([price, units]) => `${price}x${units}`)
    .join(" ");
}

/** All fills in words; each unit that was traded, or displayed by a level, has one at most. */
async function checkedFills(
  store: Store,
  type: StrategyType,
  history: Server["market"]["history"],
  displayed: ReadonlyMap<string, Quantity>,
): Promise<string[]> {
  const fills = await store.listTrades("one", { symbol: SYMBOL, fromTradeId: 1, limit: 1_000 });
  const { profile } = (await store.loadAccount("one"))?.account ?? {};
  if (profile === undefined) throw new Error("the strategy exists");
  expect(receiptFaults(fills, { type, profile })).toEqual([]);
  const given = new Map<number, bigint>();
  const taken: Trade[] = [];
  const executed = new Map<number, bigint>();
  const words = fills.map((fill) => {
    const { orderId, quantity: part, receipt, tradeId } = fill;
    executed.set(orderId, (executed.get(orderId) ?? 0n) + part);
    const { marketTrade, level, cause } = receipt ?? {};
    if (marketTrade != null) {
      const { aggregateId } = marketTrade;
      given.set(aggregateId, (given.get(aggregateId) ?? 0n) + part);
      const made = history[aggregateId - 1]?.trade.quantity ?? 0n;
      expect((given.get(aggregateId) ?? 0n) <= made, `fill ${tradeId}`).toBe(true);
    }
    if (level != null && cause === "BOOK_CROSSED") {
      expect(level.displayed).toBe(displayed.get(formatBriefly(level.price)));
      const own = taken.filter((other) => other.receipt?.level?.price === level.price);
      const out = own.reduce((sum, other) => sum + stillOut(other, fill.at), 0n);
      expect(out + part <= level.displayed, `fill ${tradeId}`).toBe(true);
      taken.push(fill);
    }
    // Which of the orders that wait for commits takes a level first is left open.
    if (marketTrade == null) return `level ${formatBriefly(level?.price ?? 0n)}: ${formatBriefly(part)}`;
    return `trade ${marketTrade.aggregateId}: ${formatBriefly(part)} of order ${orderId}`;
  });
  for (const { orderId, quantity: ordered, executedQuantity } of await store.listOrders("one", {
    symbol: SYMBOL,
    limit: 1_000,
  })) {
    expect(executed.get(orderId) ?? 0n).toBe(executedQuantity);
    expect(executedQuantity <= ordered).toBe(true);
  }
  return words.sort();
}

/** What of a fill is not there again at its level: it comes back in a straight line. */
function stillOut({ quantity: part, at: takenAt }: Trade, at: number): bigint {
  const left = BigInt(Math.max(0, REFRESH_MS - (at - takenAt)));
  return (part * left + BigInt(REFRESH_MS - 1)) / BigInt(REFRESH_MS);
}

type Playing = ReturnType<typeof startOn> & { readonly pending: Message[] };
type Server = ReturnType<typeof startOn> & {
  /** The trades that it has not received yet. */
  readonly pending: MarketTrade[];
};

async function started(server: ReturnType<typeof startOn>): Promise<Server> {
  server.market.openBook(SYMBOL, DEEP_BOOK);
  await server.triggers.open();
  return { ...server, pending: [] };
}
