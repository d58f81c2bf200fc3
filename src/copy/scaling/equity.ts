// What a strategy and a copy have, in the quote asset: by the ratio of the two, orders are scaled. Both are valued at the same
// prices, the venue's; where it has none, at the strategy's last one. What nobody knows a price of counts nothing; since copies
// of a strategy would be too large by that, nothing is opened for them meanwhile (`hasUnvalued`).
//
// Whatever is rounded makes a copy smaller: theirs up, ours down.
// Source: design, section 6 (copiers).
import type { StrategyType } from "../../domain/account.ts";
import { COPY_QUOTE_ASSET, type CopyBook, type CopySettings, type LeadState } from "../../domain/copying.ts";
import {
  type Amount,
  add,
  amountDown,
  amountUp,
  decimal,
  divideUp,
  least,
  type Price,
  type Product,
  product,
  type Quantity,
  SCALE,
  ZERO,
} from "../../money/decimal.ts";

/** By symbol: of spot pairs the last prices, of contracts the mark prices. */
export type VenuePrices = ReadonlyMap<string, Price>;

/** A symbol's price at the venue, else that of the strategy's last trade, else null. */
export function priceOf(
  symbol: string,
  prices: VenuePrices,
  { lastPrices }: Pick<LeadState, "lastPrices">,
): Price | null {
  return prices.get(symbol) ?? lastPrices.get(symbol) ?? null;
}

/** Of an asset that nobody knows a price of so much does no harm: at the price of the dearest one it is worth about one USDT. */
const DUST: Quantity = decimal("0.00001");

/** The spot pair that an asset is copied by: `BTCUSDT` for `BTC`. */
export function spotSymbolOf(asset: string): string {
  return `${asset}${COPY_QUOTE_ASSET}`;
}

/** What a copy's own holdings of spot pairs are worth, in the quote asset, rounded down. */
export function worthOfHoldings(
  holdings: CopyBook["holdings"],
  prices: VenuePrices,
  lead: Pick<LeadState, "lastPrices">,
): Amount {
  return amountDown(
    worthOf(
      [...holdings].map(([symbol, { quantity }]) => [symbol, quantity]),
      prices,
      lead,
    ),
  );
}

/** What a strategy has: on spot its quote asset and all that it holds, of futures its wallet without what is unrealised. */
export function leadEquity(family: StrategyType, lead: LeadState, prices: VenuePrices): Amount {
  if (family === "FUTURES") return lead.wallet;
  const worth = [...lead.held].reduce(
    (sum, [asset, quantity]) => sum + (worthOfAsset(asset, quantity, prices, lead) ?? 0n),
    0n,
  );
  return add(lead.wallet, amountUp(worth as Product));
}

/** Whether a strategy has something on spot, beyond dust, that nobody knows a price of. */
export function hasUnvalued(family: StrategyType, lead: LeadState, prices: VenuePrices): boolean {
  if (family === "FUTURES") return false;
  return [...lead.held].some(
    ([asset, quantity]) => quantity > DUST && worthOfAsset(asset, quantity, prices, lead) === null,
  );
}

/**
 * What a copy works with: its share of the account, which on spot is the quote asset and what the copy itself has bought; at most
 * its budget.
 */
export function copyEquity(
  family: StrategyType,
  copy: Pick<CopySettings, "share" | "budget"> & {
    readonly wallet: Amount;
    readonly holdings: CopyBook["holdings"];
  },
  prices: VenuePrices,
  lead: Pick<LeadState, "lastPrices">,
): Amount {
  const held = family === "FUTURES" ? ZERO : worthOfHoldings(copy.holdings, prices, lead);
  return workedWith(copy, add(copy.wallet, held));
}

/** What a copy uses of an account that has so much: its share, at most its budget, rounded down. Never negative. */
export function workedWith({ share, budget }: Pick<CopySettings, "share" | "budget">, whole: Amount): Amount {
  const shared = (whole <= 0n ? 0n : (whole * share) / SCALE) as Amount;
  return budget === null ? shared : least(shared, budget);
}

/** At the price of the asset, else by that of the quote asset in it (`USDTTRY`), which is rounded up; null if neither is known. */
function worthOfAsset(
  asset: string,
  quantity: Quantity,
  prices: VenuePrices,
  { lastPrices }: Pick<LeadState, "lastPrices">,
): Product | null {
  for (const known of [prices, lastPrices]) {
    const price = known.get(spotSymbolOf(asset));
    if (price !== undefined) return product(price, quantity);
    const inverse = known.get(`${COPY_QUOTE_ASSET}${asset}`);
    if (inverse !== undefined && inverse > 0n)
      return divideUp(quantity * SCALE * SCALE, inverse) as bigint as Product;
  }
  return null;
}

function worthOf(
  held: readonly (readonly [symbol: string, quantity: Quantity])[],
  prices: VenuePrices,
  lead: Pick<LeadState, "lastPrices">,
): Product {
  return held.reduce(
    (sum, [symbol, quantity]) => sum + product(priceOf(symbol, prices, lead) ?? ZERO, quantity),
    0n,
  ) as Product;
}
