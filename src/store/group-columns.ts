// A group of commits as text: for PostgreSQL one text a column, for SQLite's commit worker one text for all
// of it. A text costs far less to hand to another thread, or to the client library of a server, than anything
// with a structure.
import type { Tables } from "./schema.ts";

/** What a strategy was made with, or its owner decides, which no commit changes. */
type OwnColumns = "owner_id" | "name" | "created_at" | "is_open_to_copiers" | "is_lead";

type ColumnTypes<Row> = Readonly<Record<keyof Row, "text" | "bigint">>;

/**
 * What a commit says of each table, the strategy's id first. The compiler asks for every column that there
 * is.
 */
export const GROUP_COLUMNS: {
  readonly strategies: ColumnTypes<Omit<Tables["strategies"], "type" | OwnColumns>>;
  readonly journal: ColumnTypes<Omit<Tables["journal"], "position">>;
  readonly orders: ColumnTypes<Tables["orders"]>;
  readonly trades: ColumnTypes<Tables["trades"]>;
  readonly legs: ColumnTypes<Tables["legs"]>;
  readonly incomes: ColumnTypes<Tables["incomes"]>;
  readonly signals: ColumnTypes<
    Pick<Tables["signals"], "strategy_id" | "signal_id" | "status" | "processed_at" | "outcome">
  >;
  readonly received: ColumnTypes<
    Tables["signal_signatures"] & Omit<Tables["signals"], "position" | "attempts" | "due_at">
  >;
} = {
  strategies: { id: "text", status: "text", version: "bigint", is_exposed: "bigint", state: "text" },
  journal: { strategy_id: "text", version: "bigint", key: "text", at: "bigint", events: "text" },
  orders: {
    strategy_id: "text",
    order_id: "bigint",
    symbol: "text",
    client_order_id: "text",
    is_open: "bigint",
    placed_at: "bigint",
    first_trade_id: "bigint",
    last_trade_id: "bigint",
    body: "text",
  },
  trades: {
    strategy_id: "text",
    trade_id: "bigint",
    symbol: "text",
    order_id: "bigint",
    at: "bigint",
    body: "text",
  },
  legs: {
    strategy_id: "text",
    leg_id: "bigint",
    symbol: "text",
    client_leg_id: "text",
    placed_at: "bigint",
    body: "text",
  },
  incomes: {
    strategy_id: "text",
    income_id: "bigint",
    type: "text",
    symbol: "text",
    asset: "text",
    amount: "text",
    at: "bigint",
    trade_id: "bigint",
  },
  // Of such a signal there is a row already.
  signals: {
    strategy_id: "text",
    signal_id: "text",
    status: "text",
    processed_at: "bigint",
    outcome: "text",
  },
  // Of such a one there is none, at most one a commit: its signature, and its row.
  received: {
    strategy_id: "text",
    idempotency_key: "text",
    expires_at: "bigint",
    signature: "text",
    signal_id: "text",
    body: "text",
    received_at: "bigint",
    status: "text",
    processed_at: "bigint",
    outcome: "text",
  },
};

export type GroupTable = keyof typeof GROUP_COLUMNS;
export type Value = string | number | null;
/** The values of a row, in the order of `GROUP_COLUMNS`. */
export type Row = readonly (string | null)[];
/** For each table its rows, as objects. */
export type GroupRows = Readonly<Record<GroupTable, readonly Readonly<Record<string, Value>>[]>>;

export const GROUP_TABLES = Object.keys(GROUP_COLUMNS) as GroupTable[];

const COLUMN_NAMES: Readonly<Record<GroupTable, readonly string[]>> = eachTable((table) =>
  Object.keys(GROUP_COLUMNS[table]),
);

/** The names of a table's columns. */
export function columnNames(table: GroupTable): readonly string[] {
  return COLUMN_NAMES[table];
}

/**
 * Separates values, and stands for one that is null. Values are ids, numbers, keys and JSON, none of which
 * contains a control character.
 */
export const SEPARATOR = "\u001f";
export const NULL = "\u0001";

/** Packs the rows of a table: the values of each column as one text, without rows an empty one. */
export function packColumns(table: GroupTable, rows: GroupRows[GroupTable]): string[] {
  return columnNames(table).map((name) => rows.map((row) => packed(row[name])).join(SEPARATOR));
}

/** Packs a group: for each table the number of its rows, then their values. */
export function packGroup(rows: GroupRows): string {
  const values: (string | number)[] = [];
  for (const table of GROUP_TABLES) {
    const names = columnNames(table);
    const ofTable = rows[table];
    values.push(ofTable.length);
    for (const row of ofTable) for (const name of names) values.push(packed(row[name]));
  }
  return values.join(SEPARATOR);
}

/**
 * The rows of each table of a packed group. Numbers are text, which SQLite stores by the type of the column.
 */
export function unpackGroup(text: string): Readonly<Record<GroupTable, readonly Row[]>> {
  const values = text.split(SEPARATOR);
  let at = 0;
  const rows = eachTable((table) => {
    const width = columnNames(table).length;
    const count = Number(values[at]);
    at += 1;
    return Array.from({ length: count }, (): Row => {
      const row = values.slice(at, at + width).map((value) => (value === NULL ? null : value));
      at += width;
      return row;
    });
  });
  return rows;
}

/** Without rows a text is empty, so no value may be. */
function packed(value: Value | undefined): string | number {
  if (typeof value === "string" && (value === "" || value === NULL || value.includes(SEPARATOR))) {
    throw new Error(`a value of a row can be told from those beside it: ${JSON.stringify(value)}`);
  }
  return value ?? NULL;
}

/** A value for each table, made in their order. */
function eachTable<Made>(make: (table: GroupTable) => Made): Record<GroupTable, Made> {
  return Object.fromEntries(GROUP_TABLES.map((table) => [table, make(table)])) as Record<GroupTable, Made>;
}
