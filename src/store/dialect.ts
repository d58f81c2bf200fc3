// Which database a query goes to, for the few things that have to be said differently.
import { type ColumnType, type Kysely, PostgresAdapter } from "kysely";

/** PostgreSQL answers 64-bit integers as text, SQLite as numbers; all of ours fit 2^53. */
export type Integer = ColumnType<number, number, number>;

export function isPostgres(db: Pick<Kysely<unknown>, "getExecutor">): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
