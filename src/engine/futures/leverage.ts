// The leverage of a symbol: what its entries lock and open with. It never moves the wallet of a position that
// is open. Source: specification 4.2 (leverage); design, section 6; reference exchange, section 14.
import type { Account } from "../../domain/account.ts";
import type { ChangeLeverage } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import { SIDES } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { type Contract, contractOf } from "./contract.ts";
import { adjustReserves, exposureOf, reservesInAll, restingOn } from "./locks.ts";
import { leverageMax, leverageOf, notionalMaxAt } from "./margin.ts";

export function changeLeverage(
  draft: Draft,
  { symbol, leverage: wanted }: ChangeLeverage,
  { market, at }: Circumstances,
): Refusal | null {
  const { account } = draft;
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const contract = contractOf(market, symbol);
  if (contract === null) return { refusal: "SYMBOL_UNKNOWN" };
  const leverage = Math.min(wanted, leverageMax(contract.contract));
  const present = leverageOf(account, symbol, contract.contract);
  if (leverage < present && account.positions.has(symbol))
    return { refusal: "LEVERAGE_LOWERED_UNDER_POSITION" };
  // The mark price may have moved the position beyond the bracket of the leverage that it has.
  if (leverage === account.leverages.get(symbol)) return null;
  if (isTooHigh(account, leverage, contract, market)) return { refusal: "POSITION_LIMIT_EXCEEDED" };
  return setLeverage(draft, contract, leverage, at) ? null : { refusal: "LEVERAGE_MARGIN_INSUFFICIENT" };
}

/**
 * The leverage that comes with an entry counts only while no position is open; answers why it cannot be had.
 */
export function takeEntryLeverage(
  draft: Draft,
  contract: Contract,
  wanted: number,
  { market, at }: Circumstances,
): Refusal | null {
  const { account } = draft;
  const { symbol } = contract;
  const leverage = Math.min(wanted, leverageMax(contract.contract));
  if (account.positions.has(symbol) || leverage === leverageOf(account, symbol, contract.contract))
    return null;
  if (isTooHigh(account, leverage, contract, market)) return { refusal: "POSITION_LIMIT_EXCEEDED" };
  return setLeverage(draft, contract, leverage, at) ? null : { refusal: "MARGIN_INSUFFICIENT" };
}

/**
 * Whether the position, if all open entries of one of its sides were filled, would be too large for a
 * leverage.
 */
function isTooHigh(account: Account, leverage: number, contract: Contract, market: Market): boolean {
  const notionalMax = notionalMaxAt(leverage, contract.contract);
  return SIDES.some((side) => exposureOf(account, side, contract, market) > notionalMax);
}

/** Sets the leverage, and adjusts the reserves of open orders; false if the balance does not suffice. */
function setLeverage(draft: Draft, contract: Contract, leverage: number, at: number): boolean {
  const { symbol } = contract;
  draft.add({ type: "LeverageChanged", at, symbol, leverage, postings: [] });
  const { account } = draft;
  const reserved = restingOn(account, symbol).reduce((sum, order) => sum + order.reserved, 0n);
  const missing = reservesInAll(account, contract) - reserved;
  if (missing > freeOf(account.balances, contract.contract.marginAsset)) return false;
  adjustReserves(draft, contract, at);
  return true;
}
