// Statements that are written once for both databases: what the databases write differently, and how
// statements are executed that need not be interactive. The main thread compiles them with Kysely. PostgreSQL
// executes them over a connection of its pool; the embedded database in the thread that writes, so that the
// main thread waits for no disk.
import {
  type CompiledQuery,
  type QueryExecutorProvider as Executing,
  type ColumnType as KyselyColumn,
  PostgresAdapter,
  type RawBuilder,
  sql,
} from "kysely";
import type { PlaceInList } from "./ports/people.ts";

/** A 64-bit integer, which either database answers as a number: all of ours fit 2^53. */
export type Integer = KyselyColumn<number, number, number>;

/**
 * Executes statements in one transaction, in their order, and resolves when it is durable with the rows of
 * each. A statement sees what those before it wrote. Rejects with StoreUnavailable if the database is out of
 * reach: on PostgreSQL the transaction may have taken effect, on SQLite it has not. Statements are prepared
 * once and cached by their text, so the text must not depend on the number of rows: `rowsOf` binds any
 * number.
 */
export type Execute = (
  statements: readonly CompiledQuery<unknown>[],
) => Promise<readonly (readonly unknown[])[]>;

export type Value = string | number | null;
export type ColumnType = "text" | "bigint";

export function isPostgres(db: Executing): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** A locking clause. SQLite has none: a transaction that writes has the whole database to itself. */
export function locking(db: Executing, clause: string): RawBuilder<unknown> {
  return isPostgres(db) ? sql.raw(clause) : sql``;
}

type Rows<Name extends string> = readonly Readonly<Record<Name, Value>>[];

/**
 * Given rows as a table of that name, however many: an array for each column on PostgreSQL, one JSON text on
 * SQLite. Either is faster than a parameter for each value.
 */
export function rowsOf<Name extends string>(
  db: Executing,
  table: string,
  types: Readonly<Record<Name, ColumnType>>,
  rows: Rows<NoInfer<Name>>,
): RawBuilder<unknown> {
  const names = Object.keys(types) as Name[];
  const given = parametersOf(db, names, rows);
  if (isPostgres(db)) {
    const arrays = names.map((name, index) => sql`${given[index]}::${sql.raw(types[name])}[]`);
    return sql`unnest(${sql.join(arrays)}) AS ${sql.ref(table)} (${sql.join(names.map((name) => sql.ref(name)))})`;
  }
  const columns = names.map((name, index) => sql`value ->> ${sql.lit(index)} AS ${sql.ref(name)}`);
  return sql`(SELECT ${sql.join(columns)} FROM jsonb_each(${given[0]})) AS ${sql.ref(table)}`;
}

function parametersOf<Name extends string>(
  db: Executing,
  names: readonly Name[],
  rows: Rows<Name>,
): unknown[] {
  if (isPostgres(db)) return names.map((name) => rows.map((row) => row[name]));
  return [JSON.stringify(rows.map((row) => names.map((name) => row[name])))];
}

/**
 * A statement over rows, its only parameters, which it reads once as the table `given`. It is compiled at its
 * first use and never again, because compiling takes Kysely longer than sending.
 */
export function overRows<Name extends string>(
  db: Executing,
  types: Readonly<Record<Name, ColumnType>>,
  statement: (given: RawBuilder<unknown>) => RawBuilder<unknown>,
): (rows: Rows<NoInfer<Name>>) => CompiledQuery<unknown> {
  const names = Object.keys(types) as Name[];
  const compile = () => {
    const compiled = statement(rowsOf(db, "given", types, [])).compile(db);
    // Another parameter would be lost: each use binds its rows, and nothing else.
    if (compiled.parameters.length !== parametersOf(db, names, []).length)
      throw new Error(`only the given rows may be parameters, once: ${compiled.sql}`);
    return compiled;
  };
  let compiled: CompiledQuery<unknown> | null = null;
  return (rows) => {
    compiled ??= compile();
    return { ...compiled, parameters: parametersOf(db, names, rows) };
  };
}

/**
 * Whether texts can be looked for: PostgreSQL has no text with a NUL, and no row of ours has one on either
 * database.
 */
export function areTexts(...texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes("\0"));
}

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

/** `slotOf` in PostgreSQL's SQL, as the index on exposed strategies has it. Ids have no backslash. */
export function slotSql(column: string): string {
  return `get_byte(sha256(${column}::bytea), 0)`;
}

/** Whether the id in a column of PostgreSQL is in one of these slots. */
export function isInSlots(column: string, slots: Iterable<number>): RawBuilder<boolean> {
  return sql<boolean>`${sql.raw(slotSql(column))} = ANY(${[...slots]}::int[])`;
}

/** Ids that are asked for in one statement: far fewer than it may have parameters. */
const IDS_AT_ONCE = 5_000;

/** Ids in parts that a statement takes as parameters. */
export function* inParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let first = 0; first < ids.length; first += IDS_AT_ONCE) yield ids.slice(first, first + IDS_AT_ONCE);
}
