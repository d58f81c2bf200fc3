// Reserves of open entries: initial margin for the part of each that would increase the exposure. A holding
// can be closed once; opposite orders use it up in the order of placement, and only the excess is an entry.
// Source: design, section 6 (futures margin); specification 8.1.
import type { Account } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { Leg, LegType } from "../../domain/leg.ts";
import type { Market } from "../../domain/market.ts";
import type { Order, Side } from "../../domain/order.ts";
import {
  type Amount,
  amountDown,
  least,
  magnitude,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Draft } from "../draft.ts";
import type { Contract } from "./contract.ts";
import { initialMargin, leverageOf, notionalOf } from "./margin.ts";

type Resting = Pick<Order, "orderId" | "side" | "price" | "quantity" | "executedQuantity" | "reduceOnly">;

/** The reserve of an order placed behind all others. */
export function reserveOf(account: Account, order: Resting, contract: Contract): Amount {
  const resting = [...restingOn(account, contract.symbol), order];
  return reserves(account, resting, contract).at(-1)?.reserve ?? ZERO;
}

/** The total reserves of the open orders on a contract with the present leverage and position. */
export function reservesInAll(account: Account, contract: Contract): Amount {
  return reserves(account, restingOn(account, contract.symbol), contract).reduce(
    (sum, { reserve }) => sum + reserve,
    0n,
  ) as Amount;
}

/**
 * Adjusts the reserves of all open orders on a contract. Excess is released first. If the free balance does
 * not suffice for the rest (a position was closed that the orders would have closed), an order reserves what
 * there is: it expires at its fill, unless enough is free then.
 */
export function adjustReserves(draft: Draft, contract: Contract, at: number): void {
  const { account } = draft;
  const asset = contract.contract.marginAsset;
  const changes = reserves(account, restingOn(account, contract.symbol), contract).filter(
    ({ order, reserve }) => reserve !== order.reserved,
  );
  for (const { order, reserve } of changes.filter(({ order, reserve }) => reserve < order.reserved)) {
    const amount = subtract(order.reserved, reserve);
    draft.add({
      type: "OrderReserveChanged",
      at,
      orderId: order.orderId,
      reserved: reserve,
      postings: [{ from: "locked", to: "free", asset, amount }],
    });
  }
  for (const { order, reserve } of changes.filter(({ order, reserve }) => reserve > order.reserved)) {
    const amount = least(subtract(reserve, order.reserved), freeOf(draft.account.balances, asset));
    if (amount === 0n) continue;
    draft.add({
      type: "OrderReserveChanged",
      at,
      orderId: order.orderId,
      reserved: (order.reserved + amount) as Amount,
      postings: [{ from: "free", to: "locked", asset, amount }],
    });
  }
}

/** Whether an open order has reserved less than it would need. */
export function isUnderReserved(account: Account, orderId: number, contract: Contract): boolean {
  const all = reserves(account, restingOn(account, contract.symbol), contract);
  return all.some(({ order, reserve }) => order.orderId === orderId && order.reserved < reserve);
}

/** The open orders on a symbol, oldest first. */
export function restingOn({ openOrders }: Account, symbol: string): Order[] {
  return [...openOrders.values()]
    .filter((order) => order.symbol === symbol)
    .sort((one, other) => one.orderId - other.orderId);
}

/** The leg of a kind that waits for its trigger, of which there is at most one. */
export function openLegOf(account: Account, symbol: string, side: Side, type: LegType): Leg | undefined {
  const isIt = (leg: Leg) => leg.status === "NEW" && leg.side === side && leg.type === type;
  return openLegsOn(account, symbol).find(isIt);
}

/** The open legs on a symbol, pending ones included, oldest first. */
export function openLegsOn({ openLegs }: Account, symbol: string): Leg[] {
  return [...openLegs.values()].filter((leg) => leg.symbol === symbol);
}

/** The reserve of each of these orders, given in the order of placement. */
function reserves<O extends Resting>(
  account: Account,
  orders: readonly O[],
  contract: Contract,
): { readonly order: O; readonly reserve: Amount }[] {
  const position = account.positions.get(contract.symbol);
  const leverage = leverageOf(account, contract.symbol, contract.contract);
  let closable: Quantity = position === undefined ? ZERO : magnitude(position.quantity);
  return orders.map((order) => {
    if (order.reduceOnly) return { order, reserve: ZERO };
    const remaining = subtract(order.quantity, order.executedQuantity);
    const closes = position !== undefined && order.side === closingSide(position);
    const closed = closes ? least(remaining, closable) : (ZERO as Quantity);
    closable = subtract(closable, closed);
    return { order, reserve: initialMargin(order.price, subtract(remaining, closed), leverage) };
  });
}

// How large a position could become: the measure of the position limit.
// Source: reference exchange, section 14 (position limit).

/**
 * The notional of a position if all open entries of a side were filled; negative while it would still lie on
 * the other side. The position counts at the mark price, or at its entry price while none is known.
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
