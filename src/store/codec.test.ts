import { describe, expect, test } from "vitest";
import { emptyAccount } from "../domain/account.ts";
import { decimal, ZERO } from "../money/decimal.ts";
import { decodeAccount, decodeEvents, decodeOrder, decodeTimeOrder, encodeState } from "./codec.ts";

describe("an order that was stored before there were stops", () => {
  const body = {
    orderId: 7,
    clientOrderId: "c",
    symbol: "BTCUSDT",
    side: "BUY",
    type: "LIMIT",
    status: "NEW",
    price: "100.00000000",
    quantity: "0.50000000",
    quoteQuantity: "0.00000000",
    executedQuantity: "0.00000000",
    executedQuote: "0.00000000",
    reserved: "50.00000000",
    reservedAsset: "USDT",
    placedAt: 1_000,
    updatedAt: 2_000,
  };
  const order = {
    ...body,
    price: decimal("100"),
    stopPrice: ZERO,
    quantity: decimal("0.5"),
    quoteQuantity: ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    reserved: decimal("50"),
    workingAt: 1_000,
  };

  test("has no trigger and works since its placement", () => {
    expect(decodeOrder(JSON.stringify(body))).toEqual(order);
  });

  test("is the same in the journal", () => {
    const placed = { type: "OrderPlaced", at: 1_000, order: body, postings: [] };
    expect(decodeEvents(JSON.stringify([placed]))).toEqual([{ ...placed, order }]);
  });

  test("is not taken for one that waits for its trigger now", () => {
    const stored = { ...body, type: "STOP_LOSS", stopPrice: "90.00000000", workingAt: null };
    expect(decodeOrder(JSON.stringify(stored))).toMatchObject({ stopPrice: decimal("90"), workingAt: null });
  });
});

test("times of a strategy that was stored before their order was known may be in any order until now", () => {
  const account = emptyAccount("one", "SPOT");
  account.nextOrderId = 7;
  account.nextTradeId = 5;
  const { ascendsFrom: _, ...state } = JSON.parse(encodeState(account));
  const next = { orderId: 7, tradeId: 5 };
  expect(decodeTimeOrder(JSON.stringify(state))).toEqual(next);
  const row = { id: "one", type: "SPOT", status: "LIVE", state: JSON.stringify(state) } as const;
  expect(decodeAccount(row, []).ascendsFrom).toEqual(next);
});
