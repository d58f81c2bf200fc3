// How large an account must be to copy a strategy's orders of late: for each order the least equity at which its scaled size,
// snapped down, is one that the venue takes; of these the one that is enough for so many of them.
//
// Reckoned as if the copy had been there all the time with all of its account, so that what it holds is in the same
// proportion as what it has, at the prices of then and the rules of now. Orders of symbols that are not copied anyhow do
// not count. How much is available at the time is not asked: it is in proportion too.
import type { StrategyType } from "../../domain/account.ts";
import { COPY_QUOTE_ASSET, type LeadAction, type LeadPlacement } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { type Amount, divideUp } from "../../money/decimal.ts";
import { leadEquity, priceOf } from "./equity.ts";
import { leadOpening } from "./parts.ts";
import { leastQuantityAt, takesMarketPrice } from "./snap.ts";

export type SmallestBalance = {
  /** How many orders were looked at. */
  readonly orders: number;
  /** Enough for all of them, for 95 and for 80 %. */
  readonly all: Amount;
  readonly most: Amount;
  readonly many: Amount;
};

const NO_PRICES = new Map<never, never>();
const ALL = 100;
const MOST = 95;
const MANY = 80;

/** The smallest balances, in the quote asset, rounded up; null if none of the actions is an order that could be copied. */
export function smallestBalances(
  family: StrategyType,
  actions: readonly LeadAction[],
  rulesOf: (symbol: string) => SymbolRules | null,
): SmallestBalance | null {
  const balances = actions
    .flatMap((action) =>
      action.kind === "PLACE" ? [smallestFor(family, action, rulesOf(action.symbol))] : [],
    )
    .filter((balance) => balance !== null)
    .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const enoughFor = (percent: number) =>
    balances.find((_, index) => (index + 1) * ALL >= balances.length * percent);
  const [all, most, many] = [enoughFor(ALL), enoughFor(MOST), enoughFor(MANY)];
  if (all === undefined || most === undefined || many === undefined) return null;
  return { orders: balances.length, all, most, many };
}

/** The least equity with which one order is copied; null if no equity would do. */
function smallestFor(
  family: StrategyType,
  action: LeadAction & LeadPlacement,
  rules: SymbolRules | null,
): Amount | null {
  const { lead, symbol, orderType, quantity, filled } = action;
  if (rules === null || rules.quoteAsset !== COPY_QUOTE_ASSET || quantity <= 0n) return null;
  const theirs = leadEquity(family, lead, NO_PRICES);
  if (theirs <= 0n) return null;
  const atMarket = takesMarketPrice(orderType);
  const market = filled?.price ?? priceOf(symbol, NO_PRICES, lead);
  const isReduction = leadOpening({ family, placement: action, lead }) === 0n;
  const least = leastQuantityAt(rules, {
    takesMarketPrice: atMarket,
    price: atMarket ? market : action.price,
    reduceOnly: family === "FUTURES" && (action.reduceOnly || (isReduction && orderType === "MARKET")),
  });
  return divideUp(least * theirs, quantity) as Amount;
}
