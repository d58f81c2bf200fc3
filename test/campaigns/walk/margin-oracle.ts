// The rules of isolated margin a second time, in other words than the engine's: exact fractions, no price
// that is solved for, brackets searched by their bounds. Values are in units of 1e-8, those of a price ×
// quantity in units of 1e-16. Source: reference exchange, section 15; design, section 6 (futures margin).
import type { Account, Position } from "../../../src/domain/account.ts";
import type { Order, Side } from "../../../src/domain/order.ts";
import type { Bracket } from "../../../src/domain/symbol.ts";
import { SCALE } from "../../../src/money/decimal.ts";
import { magnitude } from "../../support/exact.ts";

const LEVERAGE_UNCHOSEN = 20;

/**
 * What a position is worth to its holder at a mark price: its wallet and its exact profit, in units of 1e-16.
 */
export function marginAt({ quantity, entryValue, isolatedWallet }: Position, mark: bigint): bigint {
  const profit = quantity > 0n ? mark * quantity - entryValue : entryValue + mark * quantity;
  return isolatedWallet * SCALE + profit;
}

/** Whether a position has more than its maintenance margin at a mark price. */
export function isHealthy(position: Position, mark: bigint, brackets: readonly Bracket[]): boolean {
  const notional = mark * magnitude(position.quantity);
  const within = brackets.find(
    ({ notionalFloor, notionalCap }) => notional >= notionalFloor * SCALE && notional < notionalCap * SCALE,
  );
  const { maintenanceRate, cum } = within ?? last(brackets);
  return marginAt(position, mark) * SCALE > notional * maintenanceRate - cum * SCALE * SCALE;
}

/**
 * Whether a position that one mark price has liquidated was closed at the right price: the last at which its
 * margin is used up, but never at a gain that the mark does not give; or, where the mark lies beyond it, the
 * last at which nothing at all is lost beyond its wallet.
 */
export function isLiquidationPrice(
  position: Position,
  { price, mark }: { price: bigint; mark: bigint },
  brackets: readonly Bracket[],
): boolean {
  const better = position.quantity > 0n ? price + 1n : price - 1n;
  const worse = position.quantity > 0n ? price - 1n : price + 1n;
  if (marginAt(position, mark) > 0n) {
    if (!isHealthy(position, position.entryValue / magnitude(position.quantity), brackets))
      return price === mark;
    return !isHealthy(position, price, brackets) && isHealthy(position, better, brackets);
  }
  return marginAt(position, price) >= 0n && (price === 0n || marginAt(position, worse) < 0n);
}

export function leverageNow(
  { leverages }: Pick<Account, "leverages">,
  symbol: string,
  brackets: readonly Bracket[],
): bigint {
  const highest = Math.max(...brackets.map(({ initialLeverage }) => initialLeverage));
  return BigInt(Math.min(leverages.get(symbol) ?? LEVERAGE_UNCHOSEN, highest));
}

/** The largest notional that any bracket with so much leverage reaches. */
export function notionalLimit(leverage: bigint, brackets: readonly Bracket[]): bigint {
  return brackets
    .filter(({ initialLeverage }) => BigInt(initialLeverage) >= leverage)
    .reduce((most, { notionalCap }) => (notionalCap > most ? notionalCap : most), 0n);
}

/** What each order on a symbol must reserve, by order id. */
export function reservesDue(account: Account, symbol: string, leverage: bigint): Map<number, bigint> {
  const held = account.positions.get(symbol)?.quantity ?? 0n;
  const due = new Map<number, bigint>();
  let closable = magnitude(held);
  for (const order of ordersOn(account, symbol)) {
    const left = order.reduceOnly ? 0n : order.quantity - order.executedQuantity;
    const isAgainst = held !== 0n && held > 0n === (order.side === "SELL");
    const closing = !isAgainst ? 0n : left < closable ? left : closable;
    closable -= closing;
    due.set(order.orderId, roundedUp(order.price * (left - closing), SCALE * leverage));
  }
  return due;
}

/** What the open entries of a side would add to a position, in units of 1e-8. */
export function notionalOfEntries(account: Account, symbol: string, side: Side): bigint {
  return ordersOn(account, symbol)
    .filter((order) => order.side === side && !order.reduceOnly)
    .reduce(
      (sum, { price, quantity, executedQuantity }) => sum + (price * (quantity - executedQuantity)) / SCALE,
      0n,
    );
}

/** The quotient of two numbers, the divisor a positive one; what does not come out even is rounded up. */
export function roundedUp(dividend: bigint, divisor: bigint): bigint {
  const rest = ((dividend % divisor) + divisor) % divisor;
  return rest === 0n ? dividend / divisor : (dividend - rest) / divisor + 1n;
}

function ordersOn({ openOrders }: Account, symbol: string): Order[] {
  return [...openOrders.values()]
    .filter((order) => order.symbol === symbol)
    .sort((one, other) => one.orderId - other.orderId);
}

function last(brackets: readonly Bracket[]): Bracket {
  const found = brackets.at(-1);
  if (found === undefined) throw new Error("a contract has at least one bracket");
  return found;
}
