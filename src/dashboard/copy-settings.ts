// The settings of a copy as its form has them.
import { z } from "zod";
import type { CopySettings } from "../domain/copying.ts";
import { type Amount, formatBriefly, parseDecimal, type Rate, SCALE } from "../money/decimal.ts";
import type { CopySettingsShape } from "./shapes.ts";

/** Longer ones are no amounts of anybody's. */
const DECIMAL_LENGTH_MAX = 30;

function decimalText(fault: (value: bigint) => string | null) {
  return z
    .string()
    .max(DECIMAL_LENGTH_MAX)
    .transform((text, context): bigint => {
      const value = parseDecimal(text);
      const words =
        value === "NOT_A_DECIMAL"
          ? "is not a number such as 0.25"
          : value === "TOO_PRECISE"
            ? "has more than 8 digits after the point"
            : fault(value);
      if (words !== null) context.addIssue({ code: "custom", message: words });
      return typeof value === "bigint" ? value : 0n;
    });
}

const share = decimalText((value) =>
  value > 0n && value <= SCALE ? null : "must be above 0 and at most 1, which is the whole balance",
).transform((value) => value as Rate);
const amount = decimalText((value) => (value > 0n ? null : "must be above 0")).transform(
  (value) => value as Amount,
);

/** Read into the domain's settings. */
export const copySettingsForm = z.strictObject({
  share,
  maxPerOrder: amount.nullable(),
  stopLoss: share.nullable(),
});

export function presentSettings({ share, maxPerOrder, stopLoss }: CopySettings): CopySettingsShape {
  return {
    share: formatBriefly(share),
    maxPerOrder: maxPerOrder === null ? null : formatBriefly(maxPerOrder),
    stopLoss: stopLoss === null ? null : formatBriefly(stopLoss),
  };
}
