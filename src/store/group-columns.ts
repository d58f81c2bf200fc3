// A group of commits as columns: for each table an array a column, which is how both stores take it. A few long arrays cost
// far less to hand to another thread, or to a server, than many short rows.
import type { Tables } from "./schema.ts";

/** What a strategy was made with, or its owner decides, which no commit changes. */
type OwnColumns = "owner_id" | "name" | "created_at" | "is_open_to_copiers" | "is_lead";

type ColumnTypes<Row> = Readonly<Record<keyof Row, "text" | "bigint">>;

/** What a commit says of each table, the strategy's id first. The compiler asks for every column that there is. */
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
  // Of a signal there is a row already.
  signals: {
    strategy_id: "text",
    signal_id: "text",
    status: "text",
    processed_at: "bigint",
    outcome: "text",
  },
};

export type GroupTable = keyof typeof GROUP_COLUMNS;
export type Value = string | number | null;
/** An array a column, in the order of `GROUP_COLUMNS`. */
export type Columns = readonly (readonly Value[])[];
export type GroupColumns = Readonly<Record<GroupTable, Columns>>;

export const GROUP_TABLES = Object.keys(GROUP_COLUMNS) as GroupTable[];

/** The names of a table's columns. */
export function columnNames(table: GroupTable): string[] {
  return Object.keys(GROUP_COLUMNS[table]);
}

/** Goes through the rows of columns. The array is the same one for every row. */
export function eachRow(columns: Columns, use: (row: readonly Value[], index: number) => void): void {
  const count = columns[0]?.length ?? 0;
  const row: Value[] = [];
  for (let index = 0; index < count; index += 1) {
    columns.forEach((column, at) => {
      row[at] = column[index] ?? null;
    });
    use(row, index);
  }
}
