import { expect, test } from "vitest";
import type {
  CandleJson,
  LegJson,
  OrderJson,
  PositionJson,
  TradeJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { fillMarkers, priceLines } from "./overlays.ts";

const candles: readonly CandleJson[] = [60_000, 120_000, 180_000].map((openTime) => ({
  openTime,
  open: "1",
  high: "1",
  low: "1",
  close: "1",
  volume: "1",
  isFinal: true,
}));

function trade(orderId: number, at: number, side: "BUY" | "SELL" = "BUY"): TradeJson {
  return {
    tradeId: at,
    orderId,
    symbol: "BTCUSDT",
    side,
    price: "1",
    quantity: "1",
    quoteQuantity: "1",
    fee: "0",
    feeAsset: "BTC",
    isMaker: false,
    at,
    realised: null,
    hasReceipt: false,
  };
}

const order: OrderJson = {
  orderId: 5,
  clientOrderId: "c",
  collectiveId: "x",
  symbol: "BTCUSDT",
  side: "SELL",
  type: "LIMIT",
  status: "NEW",
  price: "61000",
  stopPrice: null,
  quantity: "1.50",
  quoteQuantity: null,
  executedQuantity: "0.25",
  executedQuote: "15250",
  averagePrice: "61000",
  isReduceOnly: false,
  legs: [],
  isOpen: true,
  placedAt: 1,
  updatedAt: 1,
};

test("what is bought within a candle is one marker, what is sold another, in the order of time", () => {
  const trades = [
    trade(4, 186_000),
    trade(3, 185_000, "SELL"),
    trade(2, 75_000),
    trade(1, 70_000),
    trade(1, 65_000),
    trade(9, 10),
  ];
  expect(fillMarkers(trades, candles)).toEqual([
    { openTime: 60_000, orderId: 2, side: "BUY", orders: 2 },
    { openTime: 180_000, orderId: 4, side: "BUY", orders: 1 },
    { openTime: 180_000, orderId: 3, side: "SELL", orders: 1 },
  ]);
});

test("an order's line tells what is left of it", () => {
  const [line] = priceLines({ positions: [], legs: [], orders: [order] });
  expect(line).toMatchObject({ kind: "sell", price: "61000", label: "Sell 1.25", orderId: 5 });
});

test("a stop limit order has a line at its trigger and one at its limit, a stop order just the first", () => {
  const stopLimit = { ...order, stopPrice: "60000" };
  const stop = { ...stopLimit, orderId: 6, price: null };
  const lines = priceLines({ positions: [], legs: [], orders: [stopLimit, stop] });
  expect(lines.map(({ id, price }) => [id, price])).toEqual([
    ["stop 5", "60000"],
    ["order 5", "61000"],
    ["stop 6", "60000"],
  ]);
});

test("a take profit or stop loss of an open order says that it waits for it", () => {
  const leg: LegJson = {
    legId: 6,
    clientLegId: "stopLoss/5",
    symbol: "BTCUSDT",
    kind: "STOP_LOSS",
    side: "BUY",
    triggerPrice: "62000",
    status: "NEW",
    isOpen: true,
    entryId: 5,
    triggeredBy: "MARK",
    endReason: null,
    placedAt: 0,
    updatedAt: 0,
  };
  const lines = priceLines({ positions: [], legs: [leg, { ...leg, status: "PENDING" }], orders: [] });
  expect(lines).toMatchObject([
    { label: "SL", says: "Stop loss, by the mark price", orderId: null },
    { label: "SL of order 5", says: "Stop loss, once order 5 is filled, by the mark price", orderId: 5 },
  ]);
  const [ofLast] = priceLines({ positions: [], legs: [{ ...leg, triggeredBy: "LAST" }], orders: [] });
  expect(ofLast?.says).toBe("Stop loss, by the last price");
});

test("a position has its entry and, if there is one, its liquidation; they come before all orders", () => {
  const position = { symbol: "BTCUSDT", quantity: "-2", entryPrice: "60000", liquidationPrice: "65000" };
  const positions = [position as PositionJson];
  const orders = Array.from({ length: 100 }, (_none, index) => ({ ...order, orderId: index }));
  const lines = priceLines({ positions, legs: [], orders });
  expect(lines).toHaveLength(102);
  expect(lines.slice(0, 2).map(({ label, price }) => [label, price])).toEqual([
    ["Short 2", "60000"],
    ["Liquidation", "65000"],
  ]);
  const safe = [{ ...position, liquidationPrice: null } as PositionJson];
  expect(priceLines({ positions: safe, legs: [], orders: [] })).toHaveLength(1);
});
