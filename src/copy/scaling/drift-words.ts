// What a line of the drift view says about its cause, as a plain sentence.
import { formatBriefly, magnitude } from "../../money/decimal.ts";
import type { Drift } from "./drift.ts";

/** A sentence for the person whose copy it is. */
export function driftWords(drift: Drift): string {
  const { asset, own, actual, difference } = drift;
  const gap = `${formatBriefly(magnitude(difference))} ${asset}`;
  const moreOrLess = difference > 0n ? "more" : "less";
  switch (drift.cause) {
    case "IN_LINE":
      return "The copy holds what the strategy's holding scales to.";
    case "ROUNDING":
      if (drift.entryId !== null)
        return `Sizes are rounded down to the exchange's step size, which has added up: the copy has ${gap} ${moreOrLess} than its target.`;
      return `The difference of ${gap} is below the exchange's minimum order.`;
    case "BEGAN_LATER":
      return `The strategy held it before the copy started. Only later orders are copied, so ${gap} are missing.`;
    case "RESTING":
      return `An order of the copy for it still rests at the exchange; until it fills the copy has ${gap} ${moreOrLess}.`;
    case "SKIPPED":
      return `An order was not copied, or only in part; the log says why. The copy has ${gap} ${moreOrLess} than its target.`;
    case "FAILED":
      return `The exchange rejected or ended an order of the copy. It has ${gap} ${moreOrLess} than its target.`;
    case "OVERTAKEN":
      return `The strategy's own order ended before the copy's was filled. The copy has ${gap} ${moreOrLess} than its target.`;
    case "PAUSED":
      return `The copy was paused or halted when the strategy traded. It has ${gap} ${moreOrLess} than its target.`;
    case "CLOSED":
      return `The copy closed everything that it held, by its stop loss or because it was being closed. It has ${gap} ${moreOrLess} than its target.`;
    case "OUTSIDE":
      if (drift.entryId !== null)
        return `Part of what the copy held is gone from the account and was written off; the log says when. The copy has ${gap} ${moreOrLess} than its target.`;
      return `The account has ${formatBriefly(actual)} ${asset}, the copy holds ${formatBriefly(own)} by its own orders: somebody else traded on the account.`;
    case "PENDING":
      return "The strategy has just traded, and the copy is catching up.";
    case "PRICE_MOVED":
      return `The ratio of the two accounts has changed since, by prices, fees, deposits or withdrawals. The copy has ${gap} ${moreOrLess} than its target.`;
  }
}
