// The tables themselves, for what would take the program too long: many strategies at once, and the count at the end.

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
  const dialect =
    databaseUrl === null
      ? new SqliteDialect({ database: kyselyDatabase(new DatabaseSync(join(dataDir, DATABASE_NAME))) })
      : new PostgresDialect({ pool: new Pool({ connectionString: databaseUrl, max: 1 }) });
  return new Kysely<Tables>({ dialect });
}
