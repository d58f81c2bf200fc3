// What must always hold of the queues of a symbol, over random placements, trades and changes of the book.
// Source: strict fills, section 17.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { testSeed } from "../../test/support/seed.ts";
import { QUEUE_MODELS, type QueueModel } from "../domain/fill-profile.ts";
import { DIFF_WAITS_MS } from "../engine/matching/queue.ts";
import { decimal, type Price, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import { SymbolQueues, type Waiting } from "./symbol-queues.ts";

const RUNS = 500;
const SEED = testSeed();
const PRICES = [99, 100].map((price) => decimal<Price>(String(price)));
/** A price that no order's limit reaches. */
const ABOVE = decimal<Price>("101");
const ALL = () => true;

const price = fc.constantFrom(...PRICES);
const quantity = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map((units) => units as Quantity);
const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("PLACE" as const), price, quantity: quantity(1n, 20n) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("DIFF" as const), price, quantity: quantity(0n, 80n) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("TRADE" as const), price, quantity: quantity(1n, 15n) }),
  },
);
/** How much later than its change or trade a message comes, and when the next one is, ms. */
const timed = fc.record({ step, lateMs: fc.nat(300), afterMs: fc.nat(400) });
type Timed = { readonly [Key in keyof TimedOf]: TimedOf[Key] };
type TimedOf = typeof timed extends fc.Arbitrary<infer Value> ? Value : never;

/** What has been filled of each order after each step. */
function filledBy(model: QueueModel, steps: readonly Timed[]): bigint[][] {
  const queues = new SymbolQueues();
  const book = new Map<Price, Quantity>(PRICES.map((each) => [each, 20n as Quantity]));
  const orders: Waiting[] = [];
  const filled: bigint[] = [];
  const diffs: Diff[] = [];
  let now = 10_000;
  let updateId = 0;
  let aggregateId = 0;
  const after = steps.map(({ step: each, lateMs, afterMs }) => {
    now += afterMs;
    const before = orders.map(({ position }) => position.ahead);
    if (each.type === "PLACE") {
      const ahead = book.get(each.price) ?? null;
      const order = waiting(model, { ...each, orderId: orders.length, ahead, since: now, updateId });
      orders.push(order);
      filled.push(0n);
      queues.add(order, { displayed: ahead, updateId });
    } else if (each.type === "DIFF") {
      updateId += 1;
      book.set(each.price, each.quantity);
      diffs.push({ updateId, time: now, price: each.price, quantity: each.quantity, hasCounted: false });
      const level = {
        side: "BID",
        price: each.price,
        quantity: each.quantity,
        displayed: each.quantity,
        fromTicker: false,
        newerTrades: ZERO,
        isDisplayed: true,
      } as const;
      queues.change({ time: now, updateId, levels: [level] }, ALL);
    } else {
      aggregateId += 1;
      const trade = { ...each, aggregateId, side: "BID", time: now - lateMs } as const;
      let given = 0n;
      for (const match of queues.trade(trade, ZERO, ALL)) {
        for (const { order, quantity: part } of match.fills) {
          given += part;
          order.remaining = subtract(order.remaining, part);
          order.expected = subtract(order.expected, part);
          filled[order.orderId] = (filled[order.orderId] ?? 0n) + part;
          if (order.remaining === 0n) queues.remove(order);
        }
      }
      expect(given).toBeLessThanOrEqual(each.quantity);
    }
    const countedBefore =
      each.type === "DIFF" ? now - DIFF_WAITS_MS : each.type === "TRADE" ? now - lateMs : 0;
    countBefore(diffs, countedBefore);
    for (const order of orders) checkBound(diffs, order);
    for (const [index, ahead] of before.entries()) {
      const after = orders[index]?.position.ahead ?? null;
      if (ahead !== null) expect(after !== null && after <= ahead).toBe(true);
    }
    for (const { remaining } of orders) expect(remaining >= 0n).toBe(true);
    return [...filled];
  });
  // A later trade, which reaches nobody, has all changes of the book move the queues.
  queues.trade(
    { aggregateId: aggregateId + 1, price: ABOVE, quantity: ZERO, side: "BID", time: now + 1 },
    ZERO,
    ALL,
  );
  for (const { price: limit, position } of orders) {
    expect((position.ahead ?? 0n) <= (book.get(limit) ?? 0n), `in front at ${limit}`).toBe(true);
  }
  return after;
}

/** A change of the book, and whether it has moved the queues, or still waits for earlier trades. */
type Diff = {
  readonly updateId: number;
  readonly time: number;
  readonly price: Price;
  readonly quantity: Quantity;
  hasCounted: boolean;
};

/** Changes count in their order, those before a time. */
function countBefore(diffs: readonly Diff[], time: number): void {
  for (const diff of diffs) {
    if (diff.hasCounted) continue;
    if (diff.time >= time) return;
    diff.hasCounted = true;
  }
}

/** Nobody is in front of an order who was not displayed by the last change of its level that has counted. */
function checkBound(diffs: readonly Diff[], { price: limit, position, bookUpdateId }: Waiting): void {
  const last = diffs.findLast(
    (diff) => diff.hasCounted && diff.price === limit && diff.updateId > bookUpdateId,
  );
  if (last === undefined || position.ahead === null) return;
  if (position.ahead > last.quantity) expect.fail(`in front at ${limit}, of update ${last.updateId}`);
}

function waiting(
  model: QueueModel,
  {
    orderId,
    price: limit,
    quantity: remaining,
    ahead,
    since,
    updateId,
  }: Pick<Waiting, "orderId" | "price" | "since"> & {
    readonly quantity: Quantity;
    readonly ahead: Quantity | null;
    readonly updateId: number;
  },
): Waiting {
  return {
    strategyId: "one",
    orderId,
    symbol: "BTCUSDT",
    side: "BUY",
    price: limit,
    model,
    since,
    bookUpdateId: updateId,
    shownUpdateId: updateId,
    remaining,
    expected: ZERO,
    position: { ahead, tradedAtPrice: ZERO, canceledAhead: ZERO },
    knownSince: since,
    history: null,
    appliedUntil: since,
    applied: null,
    isReady: true,
    hasMet: true,
    isChanged: false,
    unnotedSince: null,
  };
}

test(`with \`trades\` no order is filled earlier than with any power (seed ${SEED})`, async () => {
  await fc.assert(
    fc.property(
      fc.constantFrom(...QUEUE_MODELS),
      fc.array(timed, { maxLength: 60, size: "max" }),
      (model, steps) => {
        const other = filledBy(model, steps);
        for (const [index, filled] of filledBy("trades", steps).entries()) {
          for (const [order, part] of filled.entries()) {
            expect(part).toBeLessThanOrEqual(other[index]?.[order] ?? 0n);
          }
        }
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
});
