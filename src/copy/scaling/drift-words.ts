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
        return `Sizes are rounded down to what the exchange takes, which has added up: the copy has ${gap} ${moreOrLess} than its target.`;
      return `The difference of ${gap} is less than the exchange takes as an order.`;
    case "BEGAN_LATER":
      return `The strategy held it before the copy began; only what it did since is copied, so ${gap} are missing.`;
    case "RESTING":
      return `An order of the copy for it still rests at the exchange; until it fills the copy has ${gap} ${moreOrLess}.`;
    case "SKIPPED":
      return `An order was not copied, or not whole; the log says why. The copy has ${gap} ${moreOrLess} than its target.`;
    case "FAILED":
      return `The exchange refused or ended an order of the copy. It has ${gap} ${moreOrLess} than its target.`;
    case "OVERTAKEN":
      return `The strategy's own order was over before the copy's had filled. The copy has ${gap} ${moreOrLess} than its target.`;
    case "PAUSED":
      return `The copy was paused or halted when the strategy traded. It has ${gap} ${moreOrLess} than its target.`;
    case "CLOSED":
      return `The copy sold or bought back all that it held, by its stop loss or since it was to close. It has ${gap} ${moreOrLess} than its target.`;
    case "OUTSIDE":
      if (drift.entryId !== null)
        return `Part of what the copy held was gone from the account and is written off; the log says when. The copy has ${gap} ${moreOrLess} than its target.`;
      return `The account has ${formatBriefly(actual)} ${asset}, the copy holds ${formatBriefly(own)} by its own orders: somebody else traded on it.`;
    case "PENDING":
      return "The strategy has just traded, and the copy is catching up.";
    case "PRICE_MOVED":
      return `The proportion of the two accounts has moved since: by prices, fees, or money that came or went. The copy has ${gap} ${moreOrLess} than its target.`;
  }
}
