// Conditions that lists share: the page behind a row, and texts that contain a search word. Both stores
// answer alike.
import { type RawBuilder, sql } from "kysely";
import type { PlaceInList } from "../people-store.ts";

/**
 * The rows behind a place, in a list ordered by a time and then by ascending ids. No row is skipped or
 * repeated.
 */
export function isAfter(
  list: { readonly time: string; readonly order: "asc" | "desc"; readonly id: string },
  { at, id }: PlaceInList,
): RawBuilder<boolean> {
  const time = sql.ref(list.time);
  const isFurther = list.order === "asc" ? sql`${time} > ${at}` : sql`${time} < ${at}`;
  return sql<boolean>`(${isFurther} OR (${time} = ${at} AND ${sql.ref(list.id)} > ${id}))`;
}

/**
 * Whether a column contains a text, ignoring the case of the letters A to Z. Nothing in the text is a
 * wildcard.
 */
export function contains(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  return sql<boolean>`LOWER(${sql.ref(column)}) LIKE LOWER(${pattern}) ESCAPE '\\'`;
}
