// What a line of the drift view says about its cause, as a plain sentence.
import { formatBriefly, magnitude, type Quantity } from "../../money/decimal.ts";
import type { Drift } from "./drift.ts";

/** A sentence for the person whose copy it is. */
export function driftWords(drift: Drift): string {
  const { asset, own, actual, difference } = drift;
  const gap = `${formatBriefly(magnitude(difference))} ${asset}`;
  const isOff = offWords(drift);
  switch (drift.cause) {
    case "IN_LINE":
      return "The copy holds what the strategy's holding scales to.";
    case "ROUNDING":
      if (drift.entryId !== null)
        return `Sizes are rounded down to the exchange's step size, which has added up. ${isOff}`;
      return `The difference of ${gap} is below the exchange's minimum order.`;
    case "BEGAN_LATER":
      return `The strategy held it before the copy started. Only later orders are copied, so ${gap} are missing.`;
    case "RESTING":
      return `An order of the copy for it is still open at the exchange. ${isOff}`;
    case "SKIPPED":
      return `An order was not copied, or only in part; the log says why. ${isOff}`;
    case "FAILED":
      return `The exchange rejected or ended an order of the copy. ${isOff}`;
    case "OVERTAKEN":
      return `The strategy's own order ended before the copy's was filled. ${isOff}`;
    case "PAUSED":
      return `The copy was paused or halted when the strategy traded. ${isOff}`;
    case "CLOSED":
      return `The copy closed everything that it held, by its stop loss or because it was being closed. ${isOff}`;
    case "OUTSIDE":
      if (drift.entryId !== null)
        return `Part of what the copy held is gone from the account and was written off; the log says when. ${isOff}`;
      return `The account has ${formatBriefly(actual)} ${asset}, the copy holds ${formatBriefly(own)} by its own orders: somebody else traded on the account.`;
    case "PENDING":
      return "The strategy has just traded, and the copy is catching up.";
    case "LIMITED":
      return `Your limits for symbols and positions permit no more: the copy has ${gap} less than its target.`;
    case "PRICE_MOVED":
      return `The ratio of the two accounts has changed since, by prices, fees, deposits or withdrawals. ${isOff}`;
  }
}

/** How far the copy's position is from its target, as a sentence. A short position that is too small is not more than its target. */
export function offWords({ asset, own, target, difference }: Drift): string {
  const amount = (quantity: Quantity) => `${formatBriefly(magnitude(quantity))} ${asset}`;
  if (own >= 0n && target >= 0n)
    return `The copy has ${amount(difference)} ${difference > 0n ? "more" : "less"} than its target.`;
  if (own <= 0n && target <= 0n) {
    const compared = difference > 0n ? "smaller" : "larger";
    return `The copy's short position is ${amount(difference)} ${compared} than its target.`;
  }
  const [has, wanted] = own > 0n ? ["long", "short"] : ["short", "long"];
  return `The copy is ${has} ${amount(own)}, and its target is to be ${wanted} ${amount(target)}.`;
}
