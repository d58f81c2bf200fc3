// The definition of a `lyrebird` command, and the two output formats of rows: a table for people, one line of
// JSON a row for programs.
import { type Config, readConfig } from "../config/config.ts";
import { openDatabaseOf } from "../config/data-directory.ts";
import type { Store } from "../store/store.ts";

/** How the commands are called. */
export const CALL = "npm run -s lyrebird --";

/** For what may have been lost on the way: npm keeps an option that comes before "--" to itself. */
export const OPTIONS_HINT = `options come after "--", as in "${CALL} seed --type spot"`;

/** The options that commands know between them. */
export const OPTIONS = {
  type: { type: "string" },
  profile: { type: "string" },
  latency: { type: "string" },
  queue: { type: "string" },
  fees: { type: "string" },
  discount: { type: "string" },
  data: { type: "string" },
  json: { type: "boolean" },
  verify: { type: "boolean" },
  tape: { type: "string" },
  email: { type: "string" },
  name: { type: "string" },
  promote: { type: "boolean" },
  "password-stdin": { type: "boolean" },
  "master-version": { type: "string" },
  "keep-copies": { type: "boolean" },
  reason: { type: "string" },
  yes: { type: "boolean" },
  "older-than": { type: "string" },
} as const;

export type Options = {
  readonly [N in keyof typeof OPTIONS]?: (typeof OPTIONS)[N]["type"] extends "boolean" ? boolean : string;
};

export type Command = {
  /** The words that call it. */
  readonly name: string;
  /** The operand in the usage line; empty if there is none. */
  readonly operand: string;
  /** The options it takes besides those that all take. */
  readonly options: readonly (keyof Options)[];
  /** Its purpose, in one line. */
  readonly purpose: string;
  /** Further text of its help. */
  readonly details: string;
  /** Executes it. Throws ConfigError if it was called wrongly, and another error if it has failed. */
  run(options: Options, operands: readonly string[]): Promise<void>;
};

/**
 * Prints rows, each a record of the same fields: as JSON lines, or under the titles of the table's columns.
 */
export function printRows<Row extends object>(
  rows: readonly Row[],
  { asJson, columns }: { readonly asJson: boolean; readonly columns: Columns<Row> },
): void {
  const lines = asJson ? rows.map((row) => JSON.stringify(row)) : table(rows, columns);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

function table<Row>(rows: readonly Row[], columns: Columns<Row>): string[] {
  const cells = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((cellOf) => printable(cellOf(row)))),
  ];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** A label is its owner's choice, and a terminal obeys what it is sent: no control character gets through. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "?");
}

/** The settings that say which data a command is about. Throws ConfigError if one is wrong. */
export function configOf({ data }: Options): Config {
  return readConfig(data === undefined ? {} : { DATA_DIR: data }, process.env);
}

/**
 * Opens the database that the options and the environment name. Throws ConfigError if it has never been used.
 */
export async function openNamedDatabase(options: Options): Promise<Store & AsyncDisposable> {
  const { dataDir, databaseUrl } = configOf(options);
  return closedAtEnd(await openDatabaseOf(dataDir, databaseUrl));
}

/** A store that `await using` closes. */
export function closedAtEnd(store: Store): Store & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** Unix ms as ISO 8601. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
