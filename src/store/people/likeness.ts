// Looking for a part of a text, in the same way on both stores: whatever the case of its letters from A to Z, and with nothing
// in it that stands for anything else.
import { type RawBuilder, sql } from "kysely";

/** What a pattern is to contain as it is. */
export function escaped(text: string | number): string {
  return String(text).replace(/[\\%_]/g, (sign) => `\\${sign}`);
}

/** Whether a column is like a pattern of escaped texts and "%", which stands for anything. */
export function isLike(column: RawBuilder<unknown>, pattern: string): RawBuilder<boolean> {
  return sql<boolean>`LOWER(${column}) LIKE LOWER(${pattern}) ESCAPE '\\'`;
}
