// Which tables a backup holds. The migrations say it: they are carried out in memory, as far as the database in question has
// been through them, and what they made is read from there. So no list has to be kept in step, and none can be forgotten.
import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect, sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, Migrator } from "kysely/migration";
import { MIGRATIONS } from "../migrations.ts";
import type { Tables } from "../schema.ts";
import { kyselyDatabase } from "../sqlite/database.ts";

export type Table = {
  readonly name: keyof Tables;
  readonly columns: readonly string[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Those that hold whole numbers, which one store answers as numbers and the other as text. */
  readonly integers: readonly string[];
};

/** The column that names the strategy whose row it is; null if rows are no strategy's. A key outlives its strategy. */
export function strategyColumnOf({ name, columns }: Table): "id" | "strategy_id" | null {
  if (name === "strategies") return "id";
  return name !== "api_keys" && columns.includes("strategy_id") ? "strategy_id" : null;
}

/** What the migrations declare whole numbers as. */
const INTEGER_TYPES = ["bigint", "integer", "smallint"];

/** Whether these are the first of the migrations that this version knows, or all of them. */
export async function areKnown(migrations: readonly string[]): Promise<boolean> {
  const known = Object.keys(await MIGRATIONS.getMigrations()).sort();
  return migrations.every((name, index) => name === known[index]);
}

/** The migrations that a database has been through, in their order; none if it is empty. */
export async function migrationsDone(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`SELECT name FROM ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map(({ name }) => name).sort();
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

/** Carries out these migrations, which are the first, and throws if the database has been through later ones. */
export async function migrateTo(db: Kysely<Tables>, migrations: readonly string[]): Promise<void> {
  const { error } = await new Migrator({ db, provider: MIGRATIONS }).migrateTo(migrations.at(-1) ?? "");
  if (error === undefined && (await migrationsDone(db)).join() === migrations.join()) return;
  const reason = error instanceof Error ? error.message : "there are tables of a later version already";
  throw new Error(`the tables could not be made: ${reason}. Use a new database.`, { cause: error });
}

type ColumnRow = { name: keyof Tables; column: string; type: string; placeInKey: number };

/** Every column of every table but those of the migration library and of SQLite itself. */
const COLUMNS = `
  SELECT tables.name, columns.name AS "column", columns.type, columns.pk AS "placeInKey"
  FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT GLOB 'kysely_*' AND tables.name NOT GLOB 'sqlite_*'
  ORDER BY tables.name, columns.cid
`;

function tableOf(name: keyof Tables, rows: readonly ColumnRow[]): Table {
  const key = rows
    .filter(({ placeInKey }) => placeInKey > 0)
    .sort((one, other) => one.placeInKey - other.placeInKey);
  if (key.length === 0) throw new Error(`every table has a primary key: ${name}`);
  const integers = rows.filter(({ type }) => INTEGER_TYPES.includes(type.toLowerCase()));
  return { name, columns: rows.map(columnOf), key: key.map(columnOf), integers: integers.map(columnOf) };
}

function columnOf({ column }: ColumnRow): string {
  return column;
}
