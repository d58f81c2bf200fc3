// What fills cost in fees. A fee may be taken in the quote asset, in the base asset, of which then less arrives, or in another
// one that the account has chosen; each is valued in the quote asset, rounded up.
// Source: reference exchange, sections 7.2, 7.6, 8.5 and 11.9.
import { type Amount, add, costUp, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { amountOf, type Body, textOf } from "./bodies.ts";
import type { VenueFills } from "./venue.ts";

export type PairAssets = { readonly baseAsset: string; readonly quoteAsset: string };

/** The fees of an order's fills, each with `price`, `commission` and `commissionAsset`. Throws a BodyFault. */
export function feesOf(
  rows: readonly Body[],
  { baseAsset, quoteAsset }: PairAssets,
  /** Of an asset in the quote asset; null if it is not known, and the fee is then not reckoned. */
  priceOf: (asset: string) => Price | null,
): VenueFills {
  let fee = ZERO as Amount;
  let feeInBase = ZERO as Quantity;
  for (const row of rows) {
    const asset = textOf(row, "commissionAsset");
    if (asset === quoteAsset) {
      fee = add(fee, amountOf<Amount>(row, "commission"));
      continue;
    }
    const taken = amountOf<Quantity>(row, "commission");
    const price = asset === baseAsset ? amountOf<Price>(row, "price") : priceOf(asset);
    if (price !== null) fee = add(fee, costUp(price, taken));
    if (asset === baseAsset) feeInBase = add(feeInBase, taken);
  }
  return { fee, feeInBase };
}

/** The assets that fees were taken in beside the two of the pair. */
export function otherAssetsOf(
  rows: readonly Body[],
  { baseAsset, quoteAsset }: PairAssets,
): readonly string[] {
  const assets = rows.map((row) => textOf(row, "commissionAsset"));
  return assets.filter((asset) => asset !== baseAsset && asset !== quoteAsset);
}
