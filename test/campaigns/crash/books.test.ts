// What the crash cycles compare with the answers that traders received: orders made by hand, each with one
// thing wrong.
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { FillProfileName } from "../../../src/domain/fill-profile.ts";
import type { StoredOrder, StoredTrade } from "../harness/stored-rows.ts";
import type { OrderBody, TradeBody } from "./bodies.ts";
import { acknowledgementFaults, restedFaults, tradeFaults } from "./book-faults.ts";
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
const sound: readonly OrderBody[] = [filled, resting];
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
const ofLeg: OrderBody = {
  ...filled,
  orderId: 3,
  clientOrderId: "t0-2",
  side: "SELL",
  time: 7,
  updateTime: 7,
};
const closed: readonly OrderBody[] = [filled, { ...leg, status: "FINISHED", updateTime: 7 }, ofLeg];

test("orders of which nothing is wrong have no fault", () => {
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
  const liquidation = { ...ofLeg, clientOrderId: "liquidation#3", type: "LIQUIDATION" };
  const gone = { ...leg, status: "CANCELED", updateTime: 7 };
  expect(kindsOf([filled, gone, liquidation], { "t0-2": leg }, "FUTURES")).toEqual([]);
  const before = { ...gone, updateTime: 6 };
  expect(kindsOf([filled, before, liquidation], { "t0-2": leg }, "FUTURES")).toEqual(["CHANGED"]);
});

describe("orders are at fault", () => {
  test("an acknowledged order is gone", () => {
    const third = { ...resting, orderId: 3, clientOrderId: "t0-3" };
    expect(kindsOf(sound, { "t0-3": third })).toEqual(["LOST"]);
  });

  test("an order is listed again, or two have the same client id", () => {
    expect(kindsOf([filled, resting, resting])).toEqual(["DOUBLED"]);
    const canceled = { ...resting, orderId: 3, status: "CANCELED" };
    expect(kindsOf([filled, canceled, resting])).toEqual(["DOUBLED"]);
  });

  test("a filled order rests, and one that nobody cancelled is cancelled", () => {
    const canceled = { ...resting, status: "CANCELED" };
    expect(kindsOf([filled, canceled], { "t0-2": resting })).toEqual(["CHANGED"]);
    expect(kindsOf(sound, { "t0-2": { ...resting, status: "FILLED" } })).toEqual(["CHANGED"]);
  });

  test("an order was refused, or never sent, and is there", () => {
    expect(kindsOf(sound, { "t0-2": "refused" })).toEqual(["UNASKED"]);
    const never = { ...resting, clientOrderId: "somebody-else" };
    expect(kindsOf([filled, never], { "t0-2": null })).toEqual(["UNASKED"]);
  });

  test("a leg that was cancelled fires", () => {
    const trader = traderWith({ "t0-1": filled, "t0-2": leg }, "FUTURES");
    const placement = trader.placements.get("t0-2");
    if (placement === undefined) throw new Error("the leg was placed");
    placement.isCanceled = true;
    expect(acknowledgementFaults(trader, closed).map(({ kind }) => kind)).toEqual(["CHANGED"]);
  });
});

describe("an order that is filled in part", () => {
  const part = (executedQty: string, status = "PARTIALLY_FILLED"): OrderBody => ({
    ...resting,
    ...{ status, executedQty: `${executedQty}.00000000`, cummulativeQuoteQty: "1.00000000" },
  });
  const kindsWith = (from: OrderBody, to: OrderBody, profile: FillProfileName = "strict") => {
    const trader = traderWith({ "t0-1": filled, "t0-2": from }, "SPOT", profile);
    return acknowledgementFaults(trader, [filled, to]).map(({ kind }) => kind);
  };

  test("may be filled further, and end with what it has, under strict", () => {
    expect(kindsWith(resting, part("10"))).toEqual([]);
    expect(kindsWith(part("10"), part("20"))).toEqual([]);
    expect(kindsWith(part("10"), part("10", "EXPIRED"))).toEqual([]);
    expect(kindsWith(part("10"), part("50", "FILLED"))).toEqual([]);
  });

  test("is at fault where it lost a part, is whole and not filled, was canceled by nobody, or is of standard", () => {
    expect(kindsWith(part("10"), part("5"))).toEqual(["CHANGED"]);
    expect(kindsWith(part("10"), resting)).toEqual(["CHANGED"]);
    expect(kindsWith(part("10"), part("50"))).toEqual(["CHANGED"]);
    expect(kindsWith(part("10"), part("20", "FILLED"))).toEqual(["CHANGED"]);
    expect(kindsWith(part("10"), part("10", "CANCELED"))).toEqual(["CHANGED"]);
    expect(kindsWith(resting, part("10"), "standard")).toEqual(["CHANGED"]);
  });
});

test("trades are at fault that are missing, listed again, or do not add up to their order", () => {
  const first = {
    id: 1,
    orderId: filled.orderId,
    qty: filled.executedQty,
    quoteQty: filled.cummulativeQuoteQty,
  };
  const kindsWith = (...trades: readonly TradeBody[]) =>
    tradeFaults({ name: "t0" }, { orders: sound, trades }).map(({ kind }) => kind);
  expect(kindsWith(first)).toEqual([]);
  expect(kindsWith()).toEqual(["UNBALANCED"]);
  expect(kindsWith({ ...first, id: 2 })).toEqual(["LOST"]);
  expect(kindsWith(first, first)).toEqual(["DOUBLED", "UNBALANCED"]);
  expect(kindsWith({ ...first, qty: "0.00000001" })).toEqual(["UNBALANCED"]);
});

test("an order that rested is at fault if it filled elsewhere than at its limit, or as taker", () => {
  const trader = traderWith({ "t0-2": filled }, "SPOT");
  const placement = trader.placements.get("t0-2");
  if (placement === undefined) throw new Error("the order was placed");
  placement.hasRested = true;
  const order = { orderId: 2, clientOrderId: "t0-2", price: "0.05" } as StoredOrder;
  const faultsWith = (terms: Partial<StoredTrade>) => {
    const trade = { orderId: 2, price: "0.05000000", isMaker: true, ...terms } as StoredTrade;
    const stored = { orders: [order], trades: [trade], legs: [], incomes: [], state: { balances: {} } };
    return restedFaults(trader, stored);
  };
  expect(faultsWith({})).toEqual([]);
  expect(faultsWith({ price: "0.0499" })).toHaveLength(1);
  expect(faultsWith({ isMaker: false })).toHaveLength(1);
});

/**
 * The kinds of all faults of a trader that received the sound orders, except for the answers in
 * `heard`.
 */
function kindsOf(
  orders: readonly OrderBody[],
  heard: Readonly<Record<string, Placement["heard"]>> = {},
  type: StrategyType = "SPOT",
): string[] {
  const trader = traderWith({ "t0-1": filled, "t0-2": resting, ...heard }, type);
  return acknowledgementFaults(trader, orders).map(({ kind }) => kind);
}

function traderWith(
  heard: Readonly<Record<string, Placement["heard"]>>,
  type: StrategyType,
  profile: FillProfileName = "standard",
): Trader {
  const credentials = { strategyId: "", apiKey: "", apiSecret: "" };
  const trader = new Trader({ name: "t0", type, profile, credentials, draw: () => 0 });
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
