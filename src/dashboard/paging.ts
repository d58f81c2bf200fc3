// Lists that are told a page at a time, newest first: each page says what to ask for to go on.
import { z } from "zod";
import type { PageShape } from "./shapes.ts";

/** Rows of a page. */
export const PAGE_ROWS = 100;

/** Ids of orders, trades and legs are whole numbers. */
export const idText = z
  .string()
  .regex(/^[0-9]{1,15}$/, "is no id")
  .transform(Number);

/** A row's place in a list by time and id: of several rows of one moment a time alone would tell only a part. */
export const placeText = z
  .string()
  .regex(/^[0-9]{1,15}-[\w-]{1,64}$/, "is no place in the list")
  .transform((text) => {
    const [at = ""] = text.split("-", 1);
    return { at: Number(at), id: text.slice(at.length + 1) };
  });

/** What a list is asked for by: a page after the first by what the one before it said in `next`. */
export const pageQuery = z.strictObject({ before: idText.optional() });
export const symbolText = z.string().min(1).max(40);

/** A page of rows that were asked for with a limit of one more than a page holds. */
export function pageOf<Row, Shape>(
  found: readonly Row[],
  { present, next }: { present(row: Row): Shape; next(last: Row): string },
): PageShape<Shape> {
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  return {
    rows: rows.map(present),
    next: found.length > PAGE_ROWS && last !== undefined ? next(last) : null,
  };
}
