// The tables of a backup. The migrations that the database in question has been through run in memory, and
// the tables that they made are read from there: there is no list to keep in step.
import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS, migrationsDone } from "../migrations.ts";
import type { Tables } from "../schema.ts";
import { kyselyDatabase } from "../sqlite/database.ts";

export type Table = {
  readonly name: keyof Tables;
  readonly columns: readonly string[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
};

/**
 * The column that names the strategy whose row it is; null if rows are no strategy's. A key outlives its
 * strategy.
 */
export function strategyColumnOf({ name, columns }: Table): "id" | "strategy_id" | null {
  if (name === "strategies") return "id";
  return name !== "api_keys" && columns.includes("strategy_id") ? "strategy_id" : null;
}

/** The tables of a database that has been through these migrations, which are known, by their names. */
export async function tablesAfter(migrations: readonly string[]): Promise<readonly Table[]> {
  const database = new DatabaseSync(":memory:");
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  try {
    await migrateTo(db, migrations);
    const rows = database.prepare(COLUMNS).all() as ColumnRow[];
    return [...Map.groupBy(rows, ({ name }) => name)].map(([name, columns]) => tableOf(name, columns));
  } finally {
    await db.destroy();
  }
}

/** Runs these migrations, which are the first, and throws if the database has been through later ones. */
export async function migrateTo(db: Kysely<Tables>, migrations: readonly string[]): Promise<void> {
  const { error } = await new Migrator({ db, provider: MIGRATIONS }).migrateTo(migrations.at(-1) ?? "");
  if (error === undefined && (await migrationsDone(db)).join() === migrations.join()) return;
  const reason = error instanceof Error ? error.message : "there are tables of a later version already";
  throw new Error(`the tables could not be made: ${reason}. Use a new database.`, { cause: error });
}

type ColumnRow = { name: keyof Tables; column: string; placeInKey: number };

/** Every column of every table but those of the migration library and of SQLite itself. */
const COLUMNS = `
  SELECT tables.name, columns.name AS "column", columns.pk AS "placeInKey"
  FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT GLOB 'kysely_*' AND tables.name NOT GLOB 'sqlite_*'
  ORDER BY tables.name, columns.cid
`;

function tableOf(name: keyof Tables, rows: readonly ColumnRow[]): Table {
  const key = rows
    .filter(({ placeInKey }) => placeInKey > 0)
    .sort((one, other) => one.placeInKey - other.placeInKey);
  if (key.length === 0) throw new Error(`every table has a primary key: ${name}`);
  return { name, columns: rows.map(columnOf), key: key.map(columnOf) };
}

function columnOf({ column }: ColumnRow): string {
  return column;
}
