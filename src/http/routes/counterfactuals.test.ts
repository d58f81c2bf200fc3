// What is answered of an order whose rows are not stored: whether they may still come depends on who could
// compute them.
import { expect, test } from "vitest";
import type { Order } from "../../domain/order.ts";
import { decimal, ZERO } from "../../money/decimal.ts";
import type { Ports } from "../pipeline.ts";
import { counterfactualOf } from "./counterfactuals.ts";

const ENDED_AT = 1_000_000;
const ORDER: Order = {
  ...{ orderId: 7, clientOrderId: "mine", symbol: "BTCUSDT", side: "BUY", type: "LIMIT", status: "CANCELED" },
  ...{ price: decimal("100"), stopPrice: ZERO, quantity: decimal("1"), quoteQuantity: ZERO },
  ...{ executedQuantity: ZERO, executedQuote: ZERO, reserved: ZERO, reservedAsset: "USDT" },
  ...{ placedAt: 900_000, updatedAt: ENDED_AT, workingAt: 900_000 },
  arrival: { admittedAt: 1, latencyMs: 50, arrivedAt: 900_000 },
};

type Around = { isRunning?: boolean; isShared?: boolean; now?: number; order?: Partial<Order> };

async function stateOf({ isRunning = false, isShared = false, now = ENDED_AT, order = {} }: Around) {
  const market = { now: () => now };
  const ports = {
    store: { slots: isShared ? {} : null, findCounterfactual: async () => null },
    markets: { SPOT: market, FUTURES: market },
    counterfactuals: { isRunning: () => isRunning },
  } as unknown as Pick<Ports, "store" | "markets" | "counterfactuals">;
  return (await counterfactualOf("SPOT", "one", { ...ORDER, ...order }, ports)).state;
}

test("a server that has its database alone knows whether it computes the rows", async () => {
  expect(await stateOf({ isRunning: true })).toBe("RUNNING");
  expect(await stateOf({})).toBe("WINDOW_GONE");
  expect(await stateOf({ order: { status: "NEW" } })).toBe("WINDOW_GONE");
});

test("one of several does not: another one may, until ten seconds after the order's end", async () => {
  expect(await stateOf({ isShared: true, order: { status: "PARTIALLY_FILLED" }, now: 9_000_000 })).toBe(
    "RUNNING",
  );
  expect(await stateOf({ isShared: true, now: ENDED_AT + 9_999 })).toBe("RUNNING");
  expect(await stateOf({ isShared: true, now: ENDED_AT + 10_000 })).toBe("WINDOW_GONE");
});

test.each([
  ["a stop", { type: "STOP_LOSS" }],
  ["a stop with a limit", { type: "STOP_LOSS_LIMIT" }],
  ["the order of a leg", { closesPosition: true }],
  ["a liquidation", { clientOrderId: "liquidation#7" }],
] as const)("%s is not compared", async (_case, order) => {
  expect(await stateOf({ order, isShared: true })).toBe("NONE");
});

test("under standard nothing is compared", async () => {
  const { arrival: _arrival, ...standard } = ORDER;
  const ports = {} as Pick<Ports, "store" | "markets" | "counterfactuals">;
  expect((await counterfactualOf("SPOT", "one", standard, ports)).state).toBe("NONE");
});
