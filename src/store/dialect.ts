// Which database a query goes to, for the few things that have to be said differently.
import { type Kysely, PostgresAdapter } from "kysely";

export function isPostgres(db: Pick<Kysely<unknown>, "getExecutor">): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
