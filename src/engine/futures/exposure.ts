// How large a position could become: the measure of the position limit.
// Source: reference exchange, section 14 (position limit).
import type { Account } from "../../domain/account.ts";
import type { Market } from "../../domain/market.ts";
import type { Side } from "../../domain/order.ts";
import { type Amount, amountDown, proceedsDown, subtract } from "../../money/decimal.ts";
import type { Contract } from "./contract.ts";
import { restingOn } from "./locks.ts";
import { notionalOf } from "./margin.ts";

/**
 * The notional of a position if all resting entries of a side were filled: negative while it would still lie on the other
 * side. What is held counts at the mark price, or at its entry while no mark is known.
 */
export function exposureOf(account: Account, side: Side, contract: Contract, market: Market): Amount {
  const resting = restingOn(account, contract.symbol)
    .filter((order) => order.side === side && !order.reduceOnly)
    .reduce(
      (sum, order) => sum + proceedsDown(order.price, subtract(order.quantity, order.executedQuantity)),
      0n,
    );
  const held = heldNotional(account, contract, market);
  return (resting + (side === "BUY" ? held : -held)) as Amount;
}

function heldNotional({ positions }: Account, { symbol }: Contract, market: Market): bigint {
  const position = positions.get(symbol);
  if (position === undefined) return 0n;
  const mark = market.markPrice(symbol);
  if (mark !== null) return notionalOf(position, mark);
  const entered = amountDown(position.entryValue);
  return position.quantity > 0n ? entered : -entered;
}
