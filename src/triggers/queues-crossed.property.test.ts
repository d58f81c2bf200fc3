// Orders under `strict` of both strategy types while the book comes to their limits and trades reach them,
// with latency and over restarts and kills: each fill follows from its receipt, from what the market
// displayed and traded, and from the fills before it. Source: strict fills, sections 4 to 7, 9 and 17.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { receiptFaults } from "../../test/campaigns/harness/receipts.ts";
import { testSeed } from "../../test/support/seed.ts";
import type { RecordedEvent } from "../cli/recorded-books.ts";
import { queueBefore } from "../cli/recorded-queue.ts";
import { emptyAccount } from "../domain/account.ts";
import type { PlaceOrder } from "../domain/command.ts";
import type { OrderRested } from "../domain/event.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { Order, Side } from "../domain/order.ts";
import type { BookSide } from "../domain/receipt.ts";
import { apply } from "../engine/apply.ts";
import { byPriority } from "../engine/matching/queue.ts";
import { add, decimal, formatDecimal, type Price, type Quantity, ZERO } from "../money/decimal.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";
import { thousandths } from "./testing/queue-model.ts";

const SYMBOL = "BTCUSDT";
/** Of each strategy type, and in each round; another round is drawn while a kind of fill is too rare. */
const RUNS = 12;
const ROUNDS_MAX = 5;
const FILLS_MIN = 4;
const SEED = testSeed();
const REFRESH_MS = 300;
/** In ticks of 0.01 around 100. */
const price = (ticks: number) => formatDecimal(decimal("100") + BigInt(ticks) * 1_000_000n);
const TICKS = Array.from({ length: 25 }, (_each, index) => index - 12);

cleanFixtures();

type Taken = { readonly side: BookSide; readonly price: Price; readonly part: bigint; readonly at: number };

/** What of a fill is not there again at a level: it comes back in a straight line. */
function stillOut(lot: Taken, { side, price: limit }: Pick<Taken, "side" | "price">, at: number): bigint {
  const left = BigInt(Math.max(0, REFRESH_MS - (at - lot.at)));
  if (lot.side !== side || lot.price !== limit) return 0n;
  return (lot.part * left + BigInt(REFRESH_MS - 1)) / BigInt(REFRESH_MS);
}

/** What a server received of the market, in the order of arrival, since it was started. */
type Life = { readonly startedAt: number; readonly events: RecordedEvent[] };

/** A diff of levels such as `100x0.5`. */
function changeOf(updateId: number, time: number, changed: { readonly bids: string; readonly asks: string }) {
  const quantityAt = (side: BookSide, at: Price) => {
    const levels = (side === "BID" ? changed.bids : changed.asks).split(" ").map((word) => word.split("x"));
    const level = levels.find(([text = ""]) => text !== "" && decimal(text) === at);
    return level === undefined ? null : decimal<Quantity>(level[1] ?? "");
  };
  return { kind: "change", at: time, change: { updateId, time, quantityAt, ticker: null } } as const;
}

const quantity = fc.integer({ min: 1, max: 60 });
/** How far a limit is from the middle of the book on its own side; below zero it takes. */
const distance = fc.integer({ min: -2, max: 3 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("PLACE" as const),
      side: fc.constantFrom<Side>("BUY", "SELL"),
      distance: fc.option(distance, { freq: 8 }),
      quantity: fc.integer({ min: 1, max: 200 }),
      isSettled: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("CANCEL" as const), orderId: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("TRADE" as const),
      by: fc.constantFrom("seller" as const, "buyer" as const),
      distance: fc.integer({ min: 1, max: 3 }),
      /** At the limit of an open order, if there is one: the book may have come to it since. */
      isAtLimit: fc.boolean(),
      quantity,
      lateMs: fc.nat(20),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("BOOK" as const),
      move: fc.integer({ min: -2, max: 2 }),
      quantities: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 6, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("WAIT" as const), ms: fc.integer({ min: 1, max: 6_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("RESTART" as const, "KILL" as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** The book comes to the limit of an order before the trade arrives that those in front of it had. */
const CROSSED_BEFORE_ITS_TRADE: [0, "trades", Step[]] = [
  0,
  "trades",
  [
    { type: "PLACE", side: "BUY", distance: 1, quantity: 200, isSettled: true },
    { type: "WAIT", ms: 5 },
    { type: "BOOK", move: -2, quantities: [2, 0, 0, 20, 20, 20] },
    { type: "TRADE", by: "seller", distance: 1, isAtLimit: true, quantity: 20, lateMs: 2 },
    { type: "TRADE", by: "seller", distance: 1, isAtLimit: true, quantity: 5, lateMs: 0 },
  ],
];

test.each(["SPOT", "FUTURES"] as const)(
  `%s: every fill has its evidence, and none has another's (seed ${SEED})`,
  async (type) => {
    /** Of fills: the test has tried what it is for. */
    const counts = { crossed: 0, traded: 0, walked: 0, followed: 0 };
    const rarest = () => Math.min(...Object.values(counts));
    let run = 0;
    for (let round = 0; rarest() < FILLS_MIN && round < ROUNDS_MAX; round += 1) {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(0, 40),
          fc.constantFrom("trades" as const, "power-2" as const),
          fc.array(step, { minLength: 30, maxLength: 60, size: "max" }),
          async (latency, queue, steps) => {
            run += 1;
            const strict = { latency, queue, refreshMs: REFRESH_MS };
            const { store, time, ...first } = await createFixture({
              type,
              strict,
              file: `run-${run}.sqlite`,
            });
            let server: ReturnType<typeof startOn> = { ...first, time };
            const shown: Record<BookSide, Map<string, number>> = { BID: new Map(), ASK: new Map() };
            /** What the diffs displayed, by side, price and the exchange's time. */
            const displayed = new Map<string, Quantity>();
            const sent = new Map<string, number>();
            let aheads = new Map<number, Quantity>();
            let middle = 0;
            const lives: Life[] = [];

            const note = () => {
              const at = server.market.book(SYMBOL)?.eventTime;
              for (const side of ["BID", "ASK"] as const) {
                for (const ticks of TICKS) {
                  const units = shown[side].get(price(ticks)) ?? 0;
                  displayed.set(`${side} ${decimal(price(ticks))} ${at}`, decimal(thousandths(units)));
                }
              }
            };
            /** Moves the book; `quantities`: of asks, then of bids, at the three levels from the best one. */
            const show = (move: number, quantities: readonly number[]) => {
              middle = Math.max(-6, Math.min(6, middle + move));
              const words = { BID: [] as string[], ASK: [] as string[] };
              for (const side of ["BID", "ASK"] as const) {
                for (const ticks of TICKS) {
                  const place = side === "ASK" ? ticks - middle - 1 : middle - 1 - ticks;
                  const units = place < 0 ? 0 : (quantities[side === "ASK" ? place : 3 + place] ?? 30);
                  const isKnown = place >= 0 && place < 3;
                  const next = isKnown ? units : place < 0 ? 0 : 30;
                  if (next === (shown[side].get(price(ticks)) ?? 0)) continue;
                  shown[side].set(price(ticks), next);
                  words[side].push(`${price(ticks)}x${thousandths(next)}`);
                }
              }
              return { bids: words.BID.join(" "), asks: words.ASK.join(" ") };
            };
            /** Best first. */
            const levels = (side: BookSide) =>
              (side === "BID" ? TICKS.toReversed() : TICKS)
                .map((ticks) => [price(ticks), shown[side].get(price(ticks)) ?? 0] as const)
                .filter(([, units]) => units > 0)
                .map(([at, units]) => `${at}x${thousandths(units)}`)
                .join(" ");
            const open = async () => {
              lives.push({ startedAt: time.now(), events: [] });
              server.market.openBook(SYMBOL, { bids: levels("BID"), asks: levels("ASK") });
              note();
              server.market.show(SYMBOL, price(middle - 1), price(middle + 1));
              await server.triggers.open();
              await server.settled();
            };
            const resting = async () => {
              const account = (await store.loadAccount("one"))?.account;
              return [...(account?.openOrders.values() ?? [])].filter((order) => order.queue !== undefined);
            };
            /** What is in front of an order only falls. */
            const checkQueues = async () => {
              const now = new Map<number, Quantity>();
              for (const { orderId } of await resting()) {
                const ahead = server.triggers.aheadOf("one", orderId);
                const before = aheads.get(orderId);
                if (ahead == null) continue;
                if (before !== undefined) expect(ahead <= before, `ahead of order ${orderId}`).toBe(true);
                now.set(orderId, ahead);
              }
              aheads = now;
            };

            show(0, [20, 20, 20, 20, 20, 20]);
            await open();
            for (const [index, each] of steps.entries()) {
              time.advance(1);
              switch (each.type) {
                case "PLACE": {
                  const clientOrderId = `c${index}`;
                  const ticks = (each.side === "BUY" ? -1 : 1) * (each.distance ?? 0) + middle;
                  const command: PlaceOrder = {
                    ...{
                      type: "PlaceOrder",
                      symbol: SYMBOL,
                      side: each.side,
                      clientOrderId,
                      stopPrice: null,
                    },
                    orderType: each.distance === null ? "MARKET" : "LIMIT",
                    size: { quantity: decimal(thousandths(each.quantity)) },
                    price: each.distance === null ? null : decimal<Price>(price(ticks)),
                    entry: { reduceOnly: false, leverage: null, attached: null },
                  };
                  sent.set(clientOrderId, time.now());
                  void server.desk.execute("one", command);
                  break;
                }
                case "CANCEL":
                  void server.desk.execute("one", { type: "CancelOrder", orderId: each.orderId });
                  break;
                case "TRADE": {
                  const ticks = each.by === "seller" ? middle - each.distance : middle + each.distance;
                  const at = Math.max(time.now() - each.lateMs, 0);
                  const part = thousandths(each.quantity);
                  const side = each.by === "seller" ? "BUY" : "SELL";
                  const reached = (await resting()).filter((order) => each.isAtLimit && order.side === side);
                  const limit = reached[0] === undefined ? price(ticks) : formatDecimal(reached[0].price);
                  const trade = server.market.unheard(SYMBOL, each.by, part, limit, at);
                  lives.at(-1)?.events.push({ kind: "trade", at: time.now(), trade });
                  server.market.retell(SYMBOL, trade);
                  break;
                }
                case "BOOK": {
                  const changed = show(each.move, each.quantities);
                  const updateId = (server.market.book(SYMBOL)?.lastUpdateId ?? 0) + 1;
                  lives.at(-1)?.events.push(changeOf(updateId, time.now(), changed));
                  server.market.diff(SYMBOL, changed);
                  note();
                  server.market.show(SYMBOL, price(middle - 1), price(middle + 1));
                  break;
                }
                case "WAIT":
                  await server.settled();
                  time.advance(each.ms);
                  break;
                default: {
                  // Commands on their way would arrive at a server that is gone.
                  await server.settled();
                  time.advance(latency);
                  await server.settled();
                  const { history } = server.market;
                  if (each.type === "KILL") server.storage.failsToNote = true;
                  await server.triggers.close();
                  // What was not noted is behind more again.
                  if (each.type === "KILL") aheads = new Map();
                  server = startOn(store, time, type);
                  server.market.history.push(...history);
                  await open();
                }
              }
              if (each.type !== "PLACE" || each.isSettled) {
                await server.settled();
                await checkQueues();
              }
            }
            await server.settled();
            time.advance(5_000);
            await server.settled();
            await server.triggers.close();

            const trades = await store.listTrades("one", { symbol: SYMBOL, fromTradeId: 1, limit: 1_000 });
            const account = (await store.loadAccount("one"))?.account;
            if (account === undefined) throw new Error("the strategy exists");
            const { profile } = account;
            expect(receiptFaults(trades, { type, profile })).toEqual([]);
            const given = new Map<number, bigint>();
            const executed = new Map<number, bigint>();
            const taken: Taken[] = [];
            for (const { tradeId, receipt, orderId, quantity: part, at } of trades) {
              if (receipt === undefined) throw new Error("each trade has a receipt");
              executed.set(orderId, (executed.get(orderId) ?? 0n) + part);
              expect(receipt.arrival === null || receipt.arrival.arrivedAt <= at).toBe(true);
              const { level, book, marketTrade } = receipt;
              if (level !== null) {
                const said = displayed.get(`${level.side} ${level.price} ${book?.eventTime}`) ?? ZERO;
                expect(level.displayed).toBe(said > level.newerTrades ? said - level.newerTrades : 0n);
                const out = taken.reduce((sum, lot) => sum + stillOut(lot, level, at), 0n);
                expect(out + part <= level.displayed, `trade ${tradeId} takes what was taken`).toBe(true);
                taken.push({ ...level, part, at });
                counts[receipt.cause === "WALK" ? "walked" : "crossed"] += 1;
              }
              if (marketTrade === null) continue;
              counts.traded += 1;
              const { aggregateId } = marketTrade;
              given.set(aggregateId, (given.get(aggregateId) ?? 0n) + part);
              const made = server.market.history[aggregateId - 1]?.trade;
              expect(made).toMatchObject({ price: marketTrade.price, quantity: marketTrade.quantity });
            }
            for (const [id, sum] of given) {
              expect(sum <= (server.market.history[id - 1]?.trade.quantity ?? 0n), `trade ${id}`).toBe(true);
            }
            const orders = new Map<number, Order>();
            for (const order of await store.listOrders("one", { symbol: SYMBOL, limit: 1_000 })) {
              orders.set(order.orderId, order);
              expect(executed.get(order.orderId) ?? 0n).toBe(order.executedQuantity);
              expect(order.executedQuantity <= order.quantity).toBe(true);
              const sentAt = sent.get(order.clientOrderId);
              if (sentAt === undefined) continue;
              expect(order.arrival).toMatchObject({ latencyMs: latency });
              expect((order.arrival?.arrivedAt ?? 0) >= sentAt + latency).toBe(true);
            }
            const replayed = emptyAccount("one", type);
            /** The orders that joined a queue, and how. */
            const rests = new Map<number, OrderRested>();
            for (const { events } of await store.listEntries("one")) {
              for (const event of events) {
                apply(replayed, event);
                if (event.type === "OrderRested") rests.set(event.orderId, event);
              }
            }
            expect(replayed).toEqual(account);
            // No fill is earlier than by all messages in the exchange's order, which no crossing changes.
            for (const { tradeId, receipt, orderId, at } of trades) {
              const order = orders.get(orderId);
              const rested = rests.get(orderId);
              const { queue: filled, marketTrade } = receipt ?? {};
              if (order === undefined || rested === undefined || filled == null || marketTrade == null)
                continue;
              const { since, book, ahead } = rested.queue;
              const life = lives.findLast(({ startedAt }) => startedAt < at);
              // An order from before a restart continues with less than all messages.
              if (life === undefined || rested.at <= life.startedAt || book === null || ahead === null)
                continue;
              const followed = { ...order, model: queue, since, book, aheadAtPlacement: ahead };
              const isInFront = (other: number) => {
                const [one, its] = [orders.get(other), rests.get(other)?.queue];
                return (
                  one && its && byPriority({ ...one, queue: its }, { ...order, queue: rested.queue }) < 0
                );
              };
              const given = ({ aggregateId }: MarketTrade) =>
                trades
                  .filter((each) => each.receipt?.marketTrade?.aggregateId === aggregateId)
                  .filter((each) => isInFront(each.orderId))
                  .reduce((sum, each) => add(sum, each.quantity), ZERO as Quantity);
              const computed = queueBefore(marketTrade.aggregateId, followed, life.events, given);
              counts.followed += 1;
              const isLater = filled.aheadBefore === null || filled.aheadBefore >= computed.aheadBefore;
              expect(isLater, `trade ${tradeId}: ${filled.aheadBefore} for ${computed.aheadBefore}`).toBe(
                true,
              );
            }
          },
        ),
        { numRuns: RUNS, seed: SEED + round, endOnFailure: true, examples: [CROSSED_BEFORE_ITS_TRADE] },
      );
    }
    expect(rarest()).toBeGreaterThanOrEqual(FILLS_MIN);
  },
);

const burst = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("TRADE" as const),
      price: fc.integer({ min: 97, max: 100 }),
      quantity,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("DIFF" as const),
      price: fc.integer({ min: 98, max: 100 }),
      quantity: fc.integer({ min: 0, max: 80 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("CROSS" as const),
      price: fc.integer({ min: 97, max: 100 }),
      quantity: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("SETTLE" as const) }) },
);
const limits = fc.array(fc.record({ price: fc.integer({ min: 98, max: 100 }), quantity }), {
  minLength: 2,
  maxLength: 5,
});

test(`what trades give to several orders moves their queues exactly, also while levels that came to their limits are committed (seed ${SEED})`, async () => {
  let run = 0;
  const counts = { crossed: 0, traded: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("trades" as const, "power-2" as const),
      limits,
      fc.array(burst, { minLength: 20, maxLength: 40, size: "max" }),
      async (model, placed, steps) => {
        run += 1;
        const strict = { queue: model, refreshMs: REFRESH_MS };
        const all = await createFixture({ strict, file: `burst-${run}.sqlite` });
        const { market, store, time } = all;
        market.openBook(SYMBOL, { asks: "110x1", bids: "100x0.05 99x0.05 98x0.05" });
        await all.triggers.open();
        const orders: Order[] = [];
        for (const each of placed) {
          orders.push(
            await all.place("one", "BUY", String(each.price), { quantity: thousandths(each.quantity) }),
          );
        }
        const events: RecordedEvent[] = [];
        for (const each of steps) {
          time.advance(1);
          if (each.type === "SETTLE") {
            await all.settled();
            continue;
          }
          const level = `${each.price}x${thousandths(each.quantity)}`;
          if (each.type === "TRADE") {
            const trade = market.unheard(SYMBOL, "seller", thousandths(each.quantity), String(each.price));
            events.push({ kind: "trade", at: time.now(), trade });
            market.retell(SYMBOL, trade);
          } else if (each.type === "DIFF") {
            const updateId = (market.book(SYMBOL)?.lastUpdateId ?? 0) + 1;
            events.push(changeOf(updateId, time.now(), { bids: level, asks: "" }));
            market.diff(SYMBOL, { bids: level });
          } else {
            market.ticker(SYMBOL, { bids: "90x1", asks: level }, { ahead: 1 });
          }
        }
        await all.settled();
        await all.triggers.close();
        const trades = await store.listTrades("one", { symbol: SYMBOL, limit: 1_000 });
        for (const { receipt, orderId, tradeId } of trades) {
          const order = orders.find((each) => each.orderId === orderId);
          const { queue, marketTrade } = receipt ?? {};
          counts[marketTrade == null ? "crossed" : "traded"] += 1;
          if (order?.queue === undefined || queue == null || marketTrade == null) continue;
          const { since, book, ahead } = order.queue;
          if (book === null || ahead === null) throw new Error("the book was known at the placement");
          const given = ({ aggregateId }: MarketTrade) =>
            trades
              .filter((each) => each.receipt?.marketTrade?.aggregateId === aggregateId)
              .filter((each) =>
                orders.some((one) => one.orderId === each.orderId && byPriority(one, order) < 0),
              )
              .reduce((sum, each) => add(sum, each.quantity), ZERO as Quantity);
          const followed = { ...order, model, since, book, aheadAtPlacement: ahead };
          const computed = queueBefore(marketTrade.aggregateId, followed, events, given);
          const { aheadBefore, tradedAtPrice, canceledAhead } = queue;
          const { points: _, ...expected } = computed;
          expect({ tradeId, aheadBefore, tradedAtPrice, canceledAhead }).toEqual({ tradeId, ...expected });
        }
      },
    ),
    { numRuns: 2 * RUNS, seed: SEED, endOnFailure: true },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(FILLS_MIN);
});
