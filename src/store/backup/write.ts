// Writing a backup: all tables as they were at one moment, while the server goes on. The rows are read in one
// transaction that only reads, so neither store makes a writer wait for it, page by page and never more than
// a page at a time.
//
// The file appears whole, synced and under its name, or not at all; it never takes the place of another.
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  createWriteStream,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Kysely, type QueryResult, type RawBuilder, sql } from "kysely";
import { isPostgres } from "../dialect.ts";
import { areKnown, migrationsDone, SLOTS_MIGRATION } from "../migrations.ts";
import type { Tables } from "../schema.ts";
import { type Cell, FORMAT, FORMAT_VERSION, type Footer, type Header, type TableHead } from "./format.ts";
import { strategyColumnOf, type Table, tablesAfter } from "./tables.ts";

/** Rows that are read at a time: what a backup keeps in memory. */
const PAGE_ROWS = 500;

export type Written = {
  readonly header: Header;
  readonly rows: Footer["rows"];
  readonly sizeBytes: number;
};

export type WriteOptions = {
  /** The version of Lyrebird that writes. */
  readonly version: string;
  /** Hears now and then how many rows have been written. */
  readonly onProgress?: (rows: number) => void;
  /** Ends it; nothing is left behind. */
  readonly signal?: AbortSignal;
  /** Only what is of these strategies; everything unless it is given. */
  readonly strategies?: readonly string[];
};

type Terms = {
  readonly version: string;
  readonly onProgress: (rows: number) => void;
  readonly signal: AbortSignal | undefined;
  readonly strategies: readonly string[] | undefined;
};

/** Backs a database up into a file that must not exist yet. Throws with what to do if it cannot. */
export async function writeBackup(
  db: Kysely<Tables>,
  file: string,
  { version, onProgress = () => {}, signal, strategies }: WriteOptions,
): Promise<Written> {
  if (existsSync(file)) throw new Error(`${file} exists: a backup never overwrites, choose another name`);
  const draft = `${file}.${randomBytes(4).toString("hex")}.unfinished`;
  try {
    const contents = await db
      .transaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode("read only")
      .execute((snapshot) => writeSnapshot(snapshot, draft, { version, onProgress, signal, strategies }));
    publishFile(draft, file);
    return { ...contents, sizeBytes: statSync(file).size };
  } finally {
    rmSync(draft, { force: true });
  }
}

async function writeSnapshot(
  db: Kysely<Tables>,
  draft: string,
  { version, onProgress, signal, strategies }: Terms,
): Promise<Omit<Written, "sizeBytes">> {
  const header: Header = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    lyrebird: version,
    createdAt: new Date().toISOString(),
    migrations: await migrationsDone(db),
  };
  if (header.migrations.length === 0) throw new Error("the database is empty: there is nothing to back up");
  if (!areKnown(header.migrations)) {
    throw new Error("the database belongs to another version of Lyrebird: back it up with that one");
  }
  const rows: Footer["rows"] = {};
  try {
    await pipeline(
      Readable.from(textOf(db, header, rows, { onProgress, strategies })),
      createGzip(),
      // The file contains everything in the database, so only its owner may read it.
      createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true }),
      signal === undefined ? {} : { signal },
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`the backup could not be written, and nothing is left of it: ${reason}`, {
      cause: error,
    });
  }
  return { header, rows };
}

/** The lines, a page of a table at a time. `rows` is filled with their number. */
async function* textOf(
  db: Kysely<Tables>,
  header: Header,
  rows: Footer["rows"],
  { onProgress, strategies }: Pick<Terms, "onProgress" | "strategies">,
): AsyncGenerator<string> {
  const hash = createHash("sha256");
  const hashed = (...values: readonly unknown[]) => {
    const text = values.map((value) => `${JSON.stringify(value)}\n`).join("");
    hash.update(text);
    return text;
  };
  yield hashed(header);
  let written = 0;
  for (const table of await tablesAfter(header.migrations)) {
    yield hashed({ table: table.name, columns: [...table.columns] } satisfies TableHead);
    let count = 0;
    for await (const page of pagesOf(db, table, sourceOf(db, table, header), strategies)) {
      yield hashed(...page);
      count += page.length;
      written += page.length;
      onProgress(written);
    }
    rows[table.name] = count;
  }
  yield `${JSON.stringify({ rows, sha256: hash.digest("hex") } satisfies Footer)}\n`;
}

/** What all servers of the database have recorded. */
const NOTES_OF_ALL = sql`(SELECT kind, symbol, MIN(at) AS at FROM (
  SELECT kind, symbol, at FROM symbol_notes UNION ALL SELECT kind, symbol, at FROM server_notes
) AS notes GROUP BY kind, symbol) AS symbol_notes`;

function sourceOf(db: Kysely<Tables>, { name }: Table, { migrations }: Header): RawBuilder<unknown> {
  const isOfServers = name === "symbol_notes" && isPostgres(db) && migrations.includes(SLOTS_MIGRATION);
  return isOfServers ? NOTES_OF_ALL : sql.table(name);
}

/** The rows of a table in the order of its primary key: all, or those of some strategies. */
async function* pagesOf(
  db: Kysely<Tables>,
  table: Table,
  source: RawBuilder<unknown>,
  strategies: readonly string[] | undefined,
): AsyncGenerator<readonly Cell[][]> {
  const owner = strategyColumnOf(table);
  if (strategies !== undefined && (owner === null || strategies.length === 0)) return;
  const ofThem =
    strategies === undefined || owner === null
      ? sql`1 = 1`
      : sql`${sql.ref(owner)} IN (${sql.join(strategies)})`;
  const keyColumns = sql.join(table.key.map((column) => sql.ref(column)));
  const columns = sql.join(table.columns.map((column) => sql.ref(column)));
  let last: readonly unknown[] | null = null;
  for (;;) {
    const after: RawBuilder<unknown> = last === null ? sql`` : sql`AND (${keyColumns}) > (${sql.join(last)})`;
    const { rows }: QueryResult<Record<string, unknown>> = await sql<Record<string, unknown>>`
      SELECT ${columns} FROM ${source} WHERE ${ofThem} ${after} ORDER BY ${keyColumns} LIMIT ${sql.lit(PAGE_ROWS)}
    `.execute(db);
    if (rows.length > 0) yield rows.map((row) => table.columns.map((column) => cellOf(table, column, row)));
    const end = rows.at(-1);
    if (rows.length < PAGE_ROWS || end === undefined) return;
    last = table.key.map((column) => end[column]);
  }
}

function cellOf({ name }: Table, column: string, row: Record<string, unknown>): Cell {
  const cell = row[column];
  if (cell === null || typeof cell === "string") return cell;
  if (typeof cell === "number" && Number.isSafeInteger(cell)) return cell;
  throw new Error(`a cell is text or a whole number: ${column} of ${name}`);
}

// A file that has been written whole gets its name, and keeps it through a power cut.

/** What file systems without second names for a file answer. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Gives a synced draft its final name. Throws if a file of that name exists. */
export function publishFile(draft: string, file: string): void {
  try {
    // Unlike a rename, a link never replaces a file that another process has created first.
    linkSync(draft, file);
    rmSync(draft);
  } catch (error) {
    if (existsSync(file)) throw new Error(`${file} exists by now, and is left as it is`, { cause: error });
    if (!(error instanceof Error && "code" in error && NO_LINKS.includes(String(error.code)))) throw error;
    renameSync(draft, file);
  }
  // Windows has no folders to sync.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
