// What an order did on some terms as a row, and what that cost against another one. Pure.
// Source: strict fills, section 12.
import type { CounterfactualRow } from "../../domain/counterfactual.ts";
import type { Side, Trade } from "../../domain/order.ts";
import { type Amount, least, SCALE, sum } from "../../money/decimal.ts";

/** What a row needs of a trade. */
export type CountedFill = Pick<Trade, "price" | "quantity" | "quoteQuantity" | "fee" | "feeAsset" | "at">;

type Compared = { readonly side: Side; readonly quoteAsset: string; readonly feeAsset: string };

/** The row of an order with these fills; `own` are the fills on the strategy's own terms. */
export function rowOf(
  head: Pick<CounterfactualRow, "profile" | "latencyMs" | "status">,
  fills: readonly CountedFill[],
  own: readonly CountedFill[],
  compared: Compared,
): CounterfactualRow {
  return {
    ...head,
    executedQuantity: sum(fills.map(({ quantity }) => quantity)),
    executedQuote: sum(fills.map(({ quoteQuantity }) => quoteQuantity)),
    fee: sum(fills.map(({ fee }) => fee)),
    feeAsset: compared.feeAsset,
    firstFillAt: fills[0]?.at ?? null,
    lastFillAt: fills.at(-1)?.at ?? null,
    difference: differenceOf(fills, own, compared),
  };
}

/**
 * What `fills` cost more than `own`, each at its average, for the quantity that both have; rounded once, to
 * the nearest 1e-8, halves away from zero. Null if one of them has none.
 */
function differenceOf(
  fills: readonly CountedFill[],
  own: readonly CountedFill[],
  compared: Compared,
): Amount | null {
  const executed = sum(fills.map(({ quantity }) => quantity));
  const ownExecuted = sum(own.map(({ quantity }) => quantity));
  const both = least(executed, ownExecuted);
  if (both === 0n) return null;
  const more = costOf(fills, compared) * ownExecuted - costOf(own, compared) * executed;
  return nearest(more * both, executed * ownExecuted * SCALE);
}

/** What fills cost, 1e-16 of the quote asset: negative for a seller, who receives. */
function costOf(fills: readonly CountedFill[], { side, quoteAsset }: Compared): bigint {
  let cost = 0n;
  for (const { price, quoteQuantity, fee, feeAsset } of fills) {
    const paid = quoteQuantity * SCALE;
    // A fee in the base asset is worth what that was traded at.
    const feeValue = feeAsset === quoteAsset ? fee * SCALE : fee * price;
    cost += (side === "BUY" ? paid : -paid) + feeValue;
  }
  return cost;
}

function nearest(dividend: bigint, divisor: bigint): Amount {
  const size = dividend < 0n ? -dividend : dividend;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return (dividend < 0n ? -rounded : rounded) as Amount;
}
