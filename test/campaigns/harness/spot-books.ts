// What a spot strategy must own, recomputed without a look at the program's own arithmetic: from the seed,
// its trades and its open orders.
import { costOf, decimalText, expectedFill, units } from "../../support/exact.ts";
import { isOpen, type StoredStrategy } from "./stored-rows.ts";

export type Assets = { readonly base: string; readonly quote: string };
type Held = { owned: bigint; locked: bigint };

/** What a spot strategy starts with. Source: specification section 1. */
const SEED = { asset: "USDT", amount: "200" };

/**
 * What is wrong with the balances of a spot strategy and with what its trades cost; `assetsOf` tells a
 * symbol's assets.
 */
export function spotFaults(
  { orders, trades, state }: StoredStrategy,
  assetsOf: (symbol: string) => Assets,
): string[] {
  const held = new Map<string, Held>([[SEED.asset, { owned: units(SEED.amount), locked: 0n }]]);
  const of = (asset: string): Held => {
    const known = held.get(asset) ?? { owned: 0n, locked: 0n };
    held.set(asset, known);
    return known;
  };
  const faults: string[] = [];
  for (const { tradeId, symbol, side, price, quantity, quoteQuantity, fee, feeAsset } of trades) {
    const { base, quote } = assetsOf(symbol);
    const direction = side === "BUY" ? 1n : -1n;
    of(base).owned += direction * units(quantity);
    of(quote).owned -= direction * units(quoteQuantity);
    of(feeAsset).owned -= units(fee);
    const expected = expectedFill({ price, qty: quantity, isBuyer: side === "BUY" });
    if (units(quoteQuantity) !== units(expected.quoteQty) || units(fee) !== units(expected.commission)) {
      faults.push(`trade ${tradeId} is for ${quoteQuantity} less ${fee}, not ${JSON.stringify(expected)}`);
    }
  }
  for (const order of orders.filter(isOpen)) {
    const { base, quote } = assetsOf(order.symbol);
    const price = units(order.price) > 0n ? order.price : order.stopPrice;
    const remaining = decimalText(units(order.quantity) - units(order.executedQuantity));
    if (order.side === "BUY") of(quote).locked += costOf(price, remaining);
    else of(base).locked += units(remaining);
  }
  for (const asset of new Set([...held.keys(), ...Object.keys(state.balances)])) {
    const { owned, locked } = held.get(asset) ?? { owned: 0n, locked: 0n };
    const expected = `${decimalText(owned - locked)} free and ${decimalText(locked)} locked`;
    const { free = "0", locked: stored = "0" } = state.balances[asset] ?? {};
    const actual = `${decimalText(units(free))} free and ${decimalText(units(stored))} locked`;
    if (actual !== expected) faults.push(`of ${asset} there are ${actual}, not ${expected}`);
  }
  return faults;
}
