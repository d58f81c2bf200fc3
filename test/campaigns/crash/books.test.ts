// The judge of the crash cycles: books made by hand, each with one thing wrong.
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { OrderBody } from "./bodies.ts";
import { faultsOf } from "./book-faults.ts";
import type { Books } from "./books.ts";
import { type Placement, Trader } from "./trader.ts";

const filled: OrderBody = {
  orderId: 1,
  clientOrderId: "t0-1",
  side: "BUY",
  type: "MARKET",
  status: "FILLED",
  price: "0.00000000",
  origQty: "100.00000000",
  executedQty: "100.00000000",
  cummulativeQuoteQty: "10.00000000",
  time: 1,
  waitsForEntry: false,
  updateTime: 1,
};
const resting: OrderBody = {
  ...filled,
  orderId: 2,
  clientOrderId: "t0-2",
  type: "LIMIT",
  status: "NEW",
  price: "0.05000000",
  origQty: "50.00000000",
  executedQty: "0.00000000",
  cummulativeQuoteQty: "0.00000000",
};
const trade: Books["trades"][number] = {
  id: 1,
  orderId: 1,
  price: "0.10000000",
  qty: "100.00000000",
  quoteQty: "10.00000000",
  commission: "0.10000000",
  commissionAsset: "DOGE",
  isBuyer: true,
  isMaker: false,
};
const sound: Books = {
  orders: [filled, resting],
  trades: [trade],
  balances: [
    { asset: "DOGE", free: "99.90000000", locked: "0.00000000" },
    { asset: "USDT", free: "187.50000000", locked: "2.50000000" },
  ],
  held: null,
};
const leg: OrderBody = {
  ...resting,
  orderId: 2,
  clientOrderId: "t0-2",
  side: "SELL",
  type: "STOP_MARKET",
  price: "0.09000000",
  origQty: "0",
  executedQty: "0",
  cummulativeQuoteQty: "0",
};
/** A position is bought, and its leg has closed it. */
const closed: Books = {
  orders: [
    filled,
    { ...leg, status: "FINISHED", updateTime: 7 },
    { ...filled, orderId: 3, clientOrderId: "t0-2", side: "SELL", time: 7, updateTime: 7 },
  ],
  trades: [trade, { ...trade, id: 2, orderId: 3, isBuyer: false }],
  balances: [],
  held: "0",
};

test("books in which nothing is wrong have no fault", () => {
  expect(kindsOf(sound)).toEqual([]);
});

test("what was never answered may be there or not", () => {
  expect(kindsOf(sound, { "t0-2": null })).toEqual([]);
  expect(kindsOf(sound, { "t0-3": null })).toEqual([]);
});

test("a leg that fired has an order of its own, under its client id", () => {
  expect(kindsOf(closed, { "t0-2": leg }, "FUTURES")).toEqual([]);
});

test("an order goes with the position that was liquidated", () => {
  const [, , order] = closed.orders;
  if (order === undefined) throw new Error("the leg has an order");
  const liquidation = { ...order, clientOrderId: "liquidation#3", type: "LIQUIDATION" };
  const gone: Books = {
    ...closed,
    orders: [filled, { ...leg, status: "CANCELED", updateTime: 7 }, liquidation],
  };
  expect(kindsOf(gone, { "t0-2": leg }, "FUTURES")).toEqual([]);
  const before = { ...leg, status: "CANCELED", updateTime: 6 };
  expect(kindsOf({ ...gone, orders: [filled, before, liquidation] }, { "t0-2": leg }, "FUTURES")).toEqual([
    "CHANGED",
  ]);
});

describe("books are at fault", () => {
  test("an acknowledged order is gone", () => {
    const third = { ...resting, orderId: 3, clientOrderId: "t0-3" };
    expect(kindsOf(sound, { "t0-3": third })).toEqual(["LOST"]);
  });

  test("an id is missing", () => {
    const third = { ...resting, orderId: 3 };
    expect(kindsOf({ ...sound, orders: [filled, third] }, { "t0-2": third })).toEqual(["LOST"]);
    expect(kindsOf({ ...sound, trades: [{ ...trade, id: 2 }] })).toEqual(["LOST"]);
  });

  test("two orders have the same client id", () => {
    const canceled = { ...resting, orderId: 3, status: "CANCELED" };
    expect(kindsOf({ ...sound, orders: [filled, canceled, resting] })).toContain("DOUBLED");
  });

  test("a filled order rests, and one that nobody cancelled is cancelled", () => {
    const canceled = { ...resting, status: "CANCELED" };
    const freed = { asset: "USDT", free: "190.00000000", locked: "0.00000000" };
    const books = { ...sound, orders: [filled, canceled], balances: [sound.balances[0] ?? freed, freed] };
    expect(kindsOf(books, { "t0-2": resting })).toEqual(["CHANGED"]);
    expect(kindsOf(sound, { "t0-2": { ...resting, status: "FILLED" } })).toEqual(["CHANGED"]);
  });

  test("an order was refused, or never sent, and is there", () => {
    expect(kindsOf(sound, { "t0-2": "refused" })).toEqual(["UNASKED"]);
    const never = { ...resting, clientOrderId: "somebody-else" };
    expect(kindsOf({ ...sound, orders: [filled, never] }, { "t0-2": null })).toEqual(["UNASKED"]);
  });

  test("a trade is not what its order says", () => {
    expect(kindsOf({ ...sound, trades: [] })).toContain("UNBALANCED");
  });

  test("something else is held than the trades add up to", () => {
    expect(kindsOf({ ...closed, held: "-0.00000001" }, { "t0-2": leg }, "FUTURES")).toEqual(["UNBALANCED"]);
  });

  test("a leg that was cancelled fires", () => {
    const trader = traderWith({ "t0-1": filled, "t0-2": leg }, "FUTURES");
    const placement = trader.placements.get("t0-2");
    if (placement === undefined) throw new Error("the leg was placed");
    placement.isCanceled = true;
    expect(faultsOf(trader, closed).map(({ kind }) => kind)).toEqual(["CHANGED"]);
  });

  test("a balance is off by the last digit", () => {
    const [doge, usdt] = sound.balances;
    if (doge === undefined || usdt === undefined) throw new Error("there are two balances");
    expect(kindsOf({ ...sound, balances: [doge, { ...usdt, free: "187.50000001" }] })).toEqual([
      "UNBALANCED",
    ]);
    expect(kindsOf({ ...sound, balances: [doge, { ...usdt, locked: "2.49999999" }] })).toEqual([
      "UNBALANCED",
    ]);
  });
});

/**
 * The kinds of all faults of a trader that received what the sound books hold, except for the answers in
 * `heard`.
 */
function kindsOf(
  books: Books,
  heard: Readonly<Record<string, Placement["heard"]>> = {},
  family: StrategyType = "SPOT",
): string[] {
  const trader = traderWith({ "t0-1": filled, "t0-2": resting, ...heard }, family);
  return faultsOf(trader, books).map(({ kind }) => kind);
}

function traderWith(heard: Readonly<Record<string, Placement["heard"]>>, family: StrategyType): Trader {
  const credentials = { strategyId: "", apiKey: "", apiSecret: "" };
  const trader = new Trader({ name: "t0", family, credentials, draw: () => 0 });
  for (const [clientOrderId, each] of Object.entries(heard)) {
    trader.placements.set(clientOrderId, {
      path: "",
      parameters: {},
      heard: each,
      hasRested: false,
      mayBeCanceled: false,
      isCanceled: false,
    });
  }
  return trader;
}
