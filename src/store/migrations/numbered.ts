// Tables whose rows the database numbers, which each database is told in its own way.
import type { CreateTableBuilder, Kysely } from "kysely";
import { isPostgres } from "../dialect.ts";

/** A table whose rows the database numbers, in `position`. */
export function numbered(db: Kysely<unknown>, table: string): CreateTableBuilder<string, "position"> {
  return db.schema
    .createTable(table)
    .addColumn("position", isPostgres(db) ? "bigint" : "integer", (column) =>
      isPostgres(db) ? column.generatedByDefaultAsIdentity().primaryKey() : column.primaryKey(),
    );
}
