// The slots of strategies. On a database with several servers each slot has one owner, which keeps the
// triggers of its strategies. A strategy's slot never changes, and the database computes it as we do.
import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";

/** The number of slots: the values of one byte. */
export const SLOTS = 256;

/** The slot of a strategy, or of a person, by the id: the first byte of its SHA-256. */
export function slotOf(id: string): number {
  return Number.parseInt(hash("sha256", id).slice(0, 2), 16);
}

/** The same as SQL of PostgreSQL, as the index on exposed strategies has it. Ids have no backslash. */
export function slotSql(column: string): string {
  return `get_byte(sha256(${column}::bytea), 0)`;
}

/** Whether the id in a column of PostgreSQL is in one of these slots. */
export function isInSlots(column: string, slots: Iterable<number>): RawBuilder<boolean> {
  return sql<boolean>`${sql.raw(slotSql(column))} = ANY(${[...slots]}::int[])`;
}
