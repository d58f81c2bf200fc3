// Lists that are answered a page at a time, newest first: each page says what to ask for to go on.
import { z } from "zod";
import type { PageJson } from "./schemas.ts";

/** Rows of a page. */
export const PAGE_ROWS = 100;

/** Ids of orders, trades and legs are whole numbers. */
export const idText = z
  .string()
  .regex(/^[0-9]{1,15}$/, "is no id")
  .transform(Number);

/** A row's cursor in a list by time and id: rows may have the same time. */
export const placeText = z
  .string()
  .regex(/^[0-9]{1,15}-[\w-]{1,64}$/, "is no place in the list")
  .transform((text) => {
    const [at = ""] = text.split("-", 1);
    return { at: Number(at), id: text.slice(at.length + 1) };
  });

/** `before`: the `next` of the page before; absent for the first page. */
export const pageQuery = z.strictObject({ before: idText.optional() });
export const symbolText = z.string().min(1).max(40);

/** A page of rows that were queried with a limit of one more than a page holds. */
export function pageOf<Row>(found: readonly Row[], nextAfter: (last: Row) => string): PageJson<Row> {
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  return { rows, next: found.length > PAGE_ROWS && last !== undefined ? nextAfter(last) : null };
}
