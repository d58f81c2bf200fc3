// Whether a quote may be traded at, and a mark price believed (decision 57). The exchange takes no order
// whose price lies outside the bounds of PERCENT_PRICE, so a best price outside them is no price of its book.
// Invariants: a quote is plausible within those bounds of any reference (the last trade of a spot pair; the
// mark price of a contract or, where the quote is far from that, its last trade), or without a reference; a
// mark price within those of the contract's last trade, or of its own index price and of the last mark price
// or quote.
import type { Quote } from "../../../domain/market.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import { decimal, isWithinMultiples, type Price, type Rate } from "../../../money/decimal.ts";

type Multiples = { readonly up: Rate; readonly down: Rate };

/** How many times the reference a best bid and a best ask may be. */
export type PriceBounds = { readonly bid: Multiples; readonly ask: Multiples };

/** Where a pair publishes none: those of nearly all pairs of the exchange. */
export const pairBoundsDefault: Multiples = { up: decimal("5"), down: decimal("0.2") };
/** Where a contract publishes none: the widest that the exchange has for contracts. */
export const contractBoundsDefault: Multiples = { up: decimal("1.15"), down: decimal("0.85") };

/** The bounds of a symbol by its filters; a multiple of zero means no filter, and the default is used. */
export function priceBoundsOf(rules: SymbolRules | null): PriceBounds {
  const filter = rules?.percentPriceBySide ?? rules?.percentPrice ?? null;
  // A contract's filter has one bound a side, and both hold for what its book may show.
  if (rules?.contract) {
    const both = completed({ up: filter?.buy.up, down: filter?.sell.down }, contractBoundsDefault);
    return { bid: both, ask: both };
  }
  return {
    bid: completed(filter?.buy, pairBoundsDefault),
    ask: completed(filter?.sell, pairBoundsDefault),
  };
}

/** Whether both sides lie near one and the same reference; a reference that is not known is null. */
export function isPlausibleQuote(
  { bid, ask }: Quote,
  references: readonly (Price | null)[],
  bounds: PriceBounds,
): boolean {
  let isAnyKnown = false;
  for (const reference of references) {
    if (reference === null) continue;
    isAnyKnown = true;
    const isNear =
      (bid === null || isWithinMultiples(bid, reference, bounds.bid)) &&
      (ask === null || isWithinMultiples(ask, reference, bounds.ask));
    if (isNear) return true;
  }
  return !isAnyKnown;
}

/** Whether a contract's new mark price lies near its index price and near something that was known before. */
export function isPlausibleMark(
  mark: Price,
  known: {
    readonly index: Price | null;
    readonly before: Price | null;
    readonly quote: Quote | null;
    readonly lastTrade: Price | null;
  },
  { bid: multiples }: PriceBounds,
): boolean {
  const { index, before, quote, lastTrade } = known;
  const isNear = (reference: Price | null | undefined) =>
    reference != null && isWithinMultiples(mark, reference, multiples);
  if (isNear(lastTrade)) return true;
  if (index !== null && !isNear(index)) return false;
  return before === null || isNear(before) || isNear(quote?.bid) || isNear(quote?.ask);
}

function completed(
  multiples: { readonly up?: Rate | undefined; readonly down?: Rate | undefined } | undefined,
  usual: Multiples,
): Multiples {
  const { up, down } = multiples ?? {};
  return { up: up || usual.up, down: down || usual.down };
}
