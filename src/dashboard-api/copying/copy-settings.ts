// The settings of a copy as its form has them.
import { encode, z } from "zod";
import type { CopySettings } from "../../domain/copying.ts";
import { type Amount, parseDecimal, type Rate, SCALE } from "../../money/decimal.ts";
import { settingsSchema } from "../schemas/copies.ts";

/** Longer texts are no amounts. */
const DECIMAL_LENGTH_MAX = 30;
/** No contract has a higher leverage. */
const LEVERAGE_MAX = 125;
const RATIO_MAX = 1_000n;
const GAIN_MAX = 100n;
const ORDERS_PER_MINUTE_MAX = 10_000;
const CLOSE_AFTER_SECONDS_MAX = 86_400;
const SYMBOLS_MAX = 200;

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

/** A rate above zero and at most a whole number. */
function rate(most: bigint) {
  return decimalText((value) =>
    value > 0n && value <= most * SCALE ? null : `must be above 0 and at most ${most}`,
  ).transform((value) => value as Rate);
}
function wholeNumber(most: number) {
  return z.int().min(1).max(most);
}

const size = z.discriminatedUnion("by", [
  z.strictObject({ by: z.literal("RATIO") }),
  z.strictObject({ by: z.literal("FIXED_RATIO"), ratio: rate(RATIO_MAX) }),
  z.strictObject({ by: z.literal("FIXED_AMOUNT"), amount }),
]);
const symbols = z
  .array(z.string().regex(/^[A-Z0-9]{2,30}$/, "must be symbols such as BTCUSDT"))
  .min(1)
  .max(SYMBOLS_MAX)
  .readonly()
  .transform((all) => [...new Set(all)]);

/** Read into the domain's settings, as far as they are given: `settingsFrom` adds the rest. */
export const copySettingsForm = z.strictObject({
  share,
  maxPerOrder: amount.nullable(),
  stopLoss: share.nullable(),
  takeProfit: rate(GAIN_MAX).nullable().optional(),
  size: size.optional(),
  budget: amount.nullable().optional(),
  leverageMax: wholeNumber(LEVERAGE_MAX).nullable().optional(),
  positionMax: rate(BigInt(LEVERAGE_MAX)).nullable().optional(),
  exposureMax: rate(BigInt(LEVERAGE_MAX)).nullable().optional(),
  ordersPerMinuteMax: wholeNumber(ORDERS_PER_MINUTE_MAX).nullable().optional(),
  lossPerDayMax: share.nullable().optional(),
  symbols: symbols.nullable().optional(),
  slippageMax: z
    .strictObject({ major: rate(1n), other: rate(1n) })
    .nullable()
    .optional(),
  copyExisting: z.boolean().optional(),
  closeAfterSeconds: wholeNumber(CLOSE_AFTER_SECONDS_MAX).nullable().optional(),
});

/**
 * Fields that a form does not name keep their values: a client that does not know a limit does not remove it.
 */
export function settingsFrom(form: z.infer<typeof copySettingsForm>, before: CopySettings): CopySettings {
  const given = Object.entries(form).filter(([, value]) => value !== undefined);
  return { ...before, ...(Object.fromEntries(given) as Partial<CopySettings>) };
}

/** Settings for the audit: fields that are not set are left out. */
export function settingsTold(settings: CopySettings): Readonly<Record<string, string>> {
  const { size, symbols, slippageMax, copyExisting, ...others } = encode(settingsSchema, settings);
  const set = Object.entries(others).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as const],
  );
  return {
    ...Object.fromEntries(set),
    ...(size.by === "FIXED_RATIO" && { ratio: size.ratio }),
    ...(size.by === "FIXED_AMOUNT" && { amount: size.amount }),
    ...(symbols !== null && { symbols: symbols.join(" ") }),
    ...(slippageMax !== null && { slippageMax: `${slippageMax.major} ${slippageMax.other}` }),
    ...(copyExisting && { copyExisting: "yes" }),
  };
}
