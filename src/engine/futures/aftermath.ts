// Consequences of every change of a position, of its leverage or of the orders on its symbol: legs and
// reduce-only orders end with the position that they would close, and the reserves of the others are
// adjusted. A pending leg ends with its entry, not with a position.
import { closingSide } from "../../domain/account.ts";
import type { Draft } from "../draft.ts";
import { expired, expiredLeg } from "../release.ts";
import type { Contract } from "./contract.ts";
import { adjustReserves, restingOn } from "./locks.ts";

export function conclude(draft: Draft, contract: Contract, at: number): void {
  const { symbol } = contract;
  const position = draft.account.positions.get(symbol);
  const side = position === undefined ? null : closingSide(position);
  for (const leg of draft.account.openLegs.values()) {
    if (leg.symbol !== symbol || leg.status === "PENDING" || leg.side === side) continue;
    draft.add(expiredLeg(leg, "POSITION_CLOSED", at));
  }
  for (const order of restingOn(draft.account, symbol)) {
    if (order.reduceOnly && order.side !== side) draft.add(expired(order, "NOTHING_TO_REDUCE", at));
  }
  adjustReserves(draft, contract, at);
}
