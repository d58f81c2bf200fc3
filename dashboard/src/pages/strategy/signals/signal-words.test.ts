import { expect, test } from "vitest";
import type { SignalJson } from "../../../../../src/dashboard-api/schemas.ts";
import { signalHistory, signalInWords } from "./signal-words.ts";

const SIGNAL: SignalJson = {
  signalId: "s",
  idempotencyKey: "k",
  status: "EXECUTED",
  reason: null,
  order: {},
  orderId: 7,
  collectiveId: null,
  attempts: 1,
  replays: 0,
  receivedAt: 1,
  processedAt: 5,
  latencyMs: 4,
};

test("an order is described by the fields that it has", () => {
  const limit = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "LIMIT", quantity: "0.5", price: "60000" };
  expect(signalInWords(limit)).toBe("Buy 0.5 BTCUSDT, limit at 60000");
  const market = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "100" };
  expect(signalInWords(market)).toBe("Buy BTCUSDT, market for 100");
  const stop = { ...limit, tradeType: "SELL", orderType: "STOP_LOSS_LIMIT", stopPrice: "60100" };
  expect(signalInWords(stop)).toBe("Sell 0.5 BTCUSDT, stop loss limit at 60000, trigger 60100");
  expect(signalInWords({ quantity: { nested: true } })).toBe("–");
});

test("the history says whether anything is still to come", () => {
  expect(signalHistory(SIGNAL).at(-1)).toEqual({ at: 5, says: "Executed as order 7" });
  const waiting = signalHistory({ ...SIGNAL, status: "RECEIVED", processedAt: null });
  expect(waiting.at(-1)?.at).toBeNull();
  const failed = signalHistory({
    ...SIGNAL,
    status: "FAILED",
    attempts: 3,
    processedAt: null,
    reason: "No price.",
  });
  expect(failed.at(-1)?.says).toContain("Attempted 3 times");
  expect(signalHistory({ ...SIGNAL, status: "REJECTED", reason: "Too small." }).at(-1)?.says).toContain(
    "Too small.",
  );
});
