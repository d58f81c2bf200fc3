// The filters on a futures order, each failure as the refusal that futures has for it. What is too
// precise even to be written in the contract's digits is refused before anything else. Source: reference
// exchange, section 10.2.
import type { Account } from "../../domain/account.ts";
import type { Market } from "../../domain/market.ts";
import type { Side } from "../../domain/order.ts";
import type { FilterFailure, Refusal } from "../../domain/refusal.ts";
import type { FilterName } from "../../domain/symbol.ts";
import {
  hasMoreDigits,
  isWithinMultiples,
  type Price,
  proceedsDown,
  type Quantity,
  type Rate,
  SCALE,
  ZERO,
} from "../../money/decimal.ts";
import {
  failsLotSize,
  failsMarketLotSizes,
  failsNotional,
  failsOrderCounts,
  failsPercentPrices,
  failsPriceFilter,
} from "../filters.ts";
import type { Contract } from "./contract.ts";

/** A limit or a trigger price. */
export function priceRefusal(contract: Contract, price: Price): Refusal | null {
  if (hasMoreDigits(price, contract.contract.pricePrecision)) return tooPrecise("PRICE_FILTER");
  return refusalOf(failsPriceFilter(contract, price));
}

/** The band around the mark price that a limit must lie in. */
export function bandRefusal(contract: Contract, side: Side, price: Price, market: Market): Refusal | null {
  return refusalOf(failsPercentPrices(contract, side, price, market));
}

export function quantityRefusal(
  contract: Contract,
  quantity: Quantity,
  takesMarketPrice: boolean,
): Refusal | null {
  if (hasMoreDigits(quantity, contract.contract.quantityPrecision)) return tooPrecise("LOT_SIZE");
  const fails = takesMarketPrice ? failsMarketLotSizes : failsLotSize;
  return refusalOf(fails(contract, quantity));
}

/** MIN_NOTIONAL at the limit, or at the mark price where one is known. */
export function notionalRefusal(
  contract: Contract,
  price: Price | null,
  quantity: Quantity,
  market: Market,
): Refusal | null {
  const measured = price ?? market.markPrice(contract.symbol);
  if (contract.notional === null || measured === null) return null;
  const failed = failsNotional(contract, proceedsDown(measured, quantity), price === null);
  return failed && { refusal: "NOTIONAL_TOO_SMALL", minNotional: contract.notional.minNotional };
}

/** MAX_NUM_ORDERS, for an order that may stay open. */
export function orderCountRefusal(contract: Contract, account: Account): Refusal | null {
  return refusalOf(failsOrderCounts(contract, false, account));
}

/** MAX_NUM_ALGO_ORDERS, with this many more legs. */
export function legCountRefusal(contract: Contract, account: Account, added: number): Refusal | null {
  const { maxNumAlgoOrders: limit, symbol } = contract;
  const open = [...account.openLegs.values()].filter((leg) => leg.symbol === symbol).length;
  if (limit === null || limit === 0 || open + added <= limit) return null;
  return refusalOf({ filter: "MAX_NUM_ALGO_ORDERS", fault: "TOO_HIGH" });
}

/** How far from the mark price an order at the market's price may be filled. */
export function counterpartyRefusal(
  contract: Contract,
  side: Side,
  price: Price,
  mark: Price,
): Refusal | null {
  const { marketTakeBound } = contract.contract;
  if (marketTakeBound === 0n) return null;
  const bound =
    side === "BUY"
      ? { up: (SCALE + marketTakeBound) as Rate, down: ZERO }
      : { up: ZERO, down: (SCALE - marketTakeBound) as Rate };
  return isWithinMultiples(price, mark, bound) ? null : { refusal: "COUNTERPARTY_OUT_OF_BOUNDS" };
}

function tooPrecise(filter: FilterName): Refusal {
  return { refusal: "CONTRACT_FILTER_FAILED", filter, fault: "TOO_PRECISE" };
}

function refusalOf(failure: FilterFailure | null): Refusal | null {
  return failure && { refusal: "CONTRACT_FILTER_FAILED", ...failure };
}
