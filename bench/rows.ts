// The tables themselves, for what would take the program too long: many strategies at once, and the count at
// the end.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, PostgresDialect, SqliteDialect } from "kysely";
import { Pool } from "pg";
import type { Tables } from "../src/store/schema.ts";
import { kyselyDatabase } from "../src/store/sqlite/database.ts";
import type { Place } from "./stores.ts";

const DATABASE_NAME = "lyrebird.sqlite";

/** Opens a database whose tables are there already. */
export function openRows({ dataDir, databaseUrl }: Place): Kysely<Tables> {
  if (databaseUrl === null) {
    const database = kyselyDatabase(new DatabaseSync(join(dataDir, DATABASE_NAME)));
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  }
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  // An idle connection that ends with its server is no error.
  pool.on("error", () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
