// Orders that no client places: what a leg, a liquidation and the close of a strategy leave in the lists.
import { expect, test } from "vitest";
import type { Command } from "../../domain/command.ts";
import type { Order } from "../../domain/order.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { decimal, type Price, ZERO } from "../../money/decimal.ts";
import { commandOf } from "../../triggers/trigger-dispatcher.ts";
import { decide } from "../decide.ts";
import { FUTURES } from "../testing/futures-setup.ts";
import { Workbench } from "../testing/workbench.ts";
import { bankruptcyPrice } from "./margin.ts";

const AT = 1_000;

test("the order of a leg bears the leg's client id, only reduces and closes the position", () => {
  const bench = longWithStop();
  const [leg] = bench.account.openLegs.values();
  const command = { type: "TriggerLeg", legId: leg?.legId ?? 0, seen: decimal<Price>("58000") } as const;
  expect(orderPlacedBy(bench, command)).toMatchObject({
    orderId: 3,
    clientOrderId: leg?.clientLegId,
    type: "MARKET",
    side: "SELL",
    quantity: decimal("0.02"),
    price: ZERO,
    reduceOnly: true,
    closesPosition: true,
    placedAt: AT,
  });
});

test("a liquidation is an order of its own type, limited by the bankruptcy price", () => {
  const command = { type: "LiquidatePosition", symbol: "BTCUSDT", seen: decimal<Price>("54200") } as const;
  const order = orderPlacedBy(longWithStop(), command);
  expect(order).toMatchObject({
    clientOrderId: "liquidation#3",
    type: "LIQUIDATION",
    side: "SELL",
    quantity: decimal("0.02"),
    price: decimal("54030"),
    reduceOnly: true,
  });
  expect(order).not.toHaveProperty("closesPosition");
});

test("a price that was seen of a former position does not liquidate one that was opened since", () => {
  const bench = longWithStop();
  const seen = decimal<Price>("54200");
  const [liquidation] = bench.index().takeAtMark("BTCUSDT", seen);
  if (liquidation === undefined) throw new Error("the price has reached the position");
  const [command] = commandOf(liquidation);
  expect(orderPlacedBy(bench, command)).toMatchObject({ type: "LIQUIDATION" });
  bench.take("buy 0.01 BTCUSDT");
  // It is still the same position when something was added to it.
  expect(orderPlacedBy(bench, command)).toMatchObject({ type: "LIQUIDATION" });
  for (const step of ["sell 0.03 BTCUSDT", "mark BTCUSDT 61000", "quote BTCUSDT 61000 61000"])
    bench.take(step);
  bench.take("buy 0.02 BTCUSDT");
  expect(bench.account.positions.size).toBe(1);
  const decision = decide(bench.account, command, { market: bench.market, at: AT });
  expect(decision).toEqual({ refusal: "NOTHING_TO_FILL" });
});

test("at the bankruptcy price itself a little may be left: the whole wallet is lost beyond it alone", () => {
  const bench = new Workbench(FUTURES);
  for (const step of ["mark BTCUSDT 60000", "quote BTCUSDT 60000 60000", "leverage BTCUSDT 7"])
    bench.take(step);
  bench.take("buy 0.003 BTCUSDT");
  const position = bench.account.positions.get("BTCUSDT");
  if (position === undefined) throw new Error("there is a position");
  // The exact one is not on the grid of prices: it is rounded up.
  const bankruptcy = decimal<Price>("51458.57142667");
  expect(bankruptcyPrice(position)).toBe(bankruptcy);
  const filledAt = (seen: Price) => {
    const command = { type: "LiquidatePosition", symbol: "BTCUSDT", seen } as const;
    const decision = decide(bench.account, command, { market: bench.market, at: AT });
    if (isRefusal(decision)) throw new Error(`it is carried out: ${decision.refusal}`);
    return decision.events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade.price] : []));
  };
  const [atLiquidation] = filledAt(bankruptcy);
  expect(atLiquidation).toBeGreaterThan(bankruptcy);
  expect(filledAt(decimal<Price>("51600"))).toEqual([atLiquidation]);
  expect(filledAt((bankruptcy - 1n) as Price)).toEqual([bankruptcy]);
});

test("closing a strategy places market orders that only reduce", () => {
  expect(orderPlacedBy(longWithStop(), { type: "CloseStrategy" })).toMatchObject({
    clientOrderId: "close#3",
    type: "MARKET",
    side: "SELL",
    quantity: decimal("0.02"),
    reduceOnly: true,
  });
});

function longWithStop(): Workbench {
  const bench = new Workbench(FUTURES);
  for (const step of ["mark BTCUSDT 60000", "quote BTCUSDT 60000 60000", "leverage BTCUSDT 10"])
    bench.take(step);
  bench.take("buy 0.02 BTCUSDT");
  bench.take("stop sell BTCUSDT 58000");
  return bench;
}

function orderPlacedBy({ account, market }: Workbench, command: Command): Order {
  const decision = decide(account, command, { market, at: AT });
  if (isRefusal(decision)) throw new Error(`it is carried out: ${decision.refusal}`);
  const placed = decision.events.flatMap((event) => (event.type === "OrderPlaced" ? [event.order] : []));
  expect(placed.length).toBe(1);
  const [order] = placed;
  if (order === undefined) throw new Error("an order was placed");
  return order;
}
