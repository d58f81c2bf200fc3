// What the output schemas are made of. A schema describes the JSON (its input) and the server's own value
// (its output), so the pipeline encodes an answer with it: a bigint becomes a decimal text, and fields that
// the schema does not name are left out.
import { z } from "zod";
import { formatBriefly, decimal as parsed } from "../../money/decimal.ts";

export const text = z.string();
export const number = z.number();
export const flag = z.boolean();

/** An amount, a price, a quantity or a rate: in JSON an exact decimal with as many digits as it needs. */
export const decimal = z.codec(z.string(), z.bigint(), { decode: parsed, encode: formatBriefly });

/** The same where zero means that there is none, which is null in JSON. */
export const decimalUnlessZero = z.codec(z.string().nullable(), z.bigint().nullable(), {
  decode: (json) => (json === null ? null : parsed(json)),
  encode: (value) => (value === null || value === 0n ? null : formatBriefly(value)),
});

/** A text of a union that the domain declares. */
export function word<Word extends string>() {
  return z.custom<Word>((value) => typeof value === "string");
}

export function list<Row extends z.ZodType>(row: Row) {
  return z.array(row).readonly();
}

export function rows<Row extends z.ZodType>(row: Row) {
  return z.object({ rows: list(row) });
}

/** A part of a list; `next` is what to ask for to go on, null at the end of the list. */
export function page<Row extends z.ZodType>(row: Row) {
  return z.object({ rows: list(row), next: text.nullable() });
}

/** What is answered where there is nothing to say. */
export const nothing = z.object({});
