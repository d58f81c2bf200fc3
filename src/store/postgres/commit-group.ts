// A group of commits as one SQL statement: one transaction and one round trip. It returns the strategies that
// moved, and whether another process watches each. Invariants: a commit takes effect only if its strategy has
// the version that it was decided on, its key is new and so is the signal that it records, if any. Strategies
// are locked in the order of their ids, and signals recorded in that of `receiveSignals`, so that groups
// never wait for each other; after such a wait a row is evaluated again, and the loser moves nothing. It
// notifies nobody: that follows the commit (decision 68).
import type { QueryConfig } from "pg";
import {
  columnNames,
  GROUP_COLUMNS,
  GROUP_TABLES,
  type GroupTable,
  NULL,
  packColumns,
  SEPARATOR,
} from "../group-columns.ts";
import type { Commit } from "../ports/trading.ts";
import { groupRows } from "../rows.ts";

/** A row of the answer, for a strategy that moved. */
export type MovedRow = { readonly id: string; readonly is_watched: boolean };

/**
 * `due`: version and key fit. `moved`: due, and their signal was recorded if they have one; only these get
 * journal, orders, trades, legs, incomes and settled signals. `led`: the journal positions of leads' entries.
 */
const STATEMENT = `
  WITH locked AS MATERIALIZED (
    SELECT given.*, s.version AS present FROM ${commitsGiven()} JOIN strategies s USING (id)
    ORDER BY id FOR UPDATE OF s
  ),
  due AS MATERIALIZED (
    SELECT * FROM locked WHERE present = version - 1
      AND NOT EXISTS (SELECT FROM journal WHERE strategy_id = locked.id AND key = locked.key)
  ),
  received AS MATERIALIZED (
    SELECT * FROM ${rowsGiven("received")} WHERE strategy_id IN (SELECT id FROM due)
  ),
  signed AS (
    INSERT INTO signal_signatures (expires_at, signature, strategy_id, idempotency_key)
    SELECT expires_at, signature, strategy_id, idempotency_key FROM received
    WHERE signature IS NOT NULL ORDER BY expires_at, signature ON CONFLICT DO NOTHING RETURNING strategy_id
  ),
  recorded AS (
    INSERT INTO signals
      (signal_id, strategy_id, idempotency_key, body, received_at, status, processed_at, outcome, attempts, due_at)
    SELECT signal_id, strategy_id, idempotency_key, body, received_at, status, processed_at, outcome, 0, received_at
    FROM received WHERE signature IS NULL OR strategy_id IN (SELECT strategy_id FROM signed)
    ORDER BY strategy_id ON CONFLICT DO NOTHING RETURNING strategy_id
  ),
  moved AS (
    UPDATE strategies s SET state = due.state, status = due.status, version = due.version,
      is_exposed = due.is_exposed
    FROM due WHERE s.id = due.id AND (due.id IN (SELECT strategy_id FROM recorded)
      OR due.id NOT IN (SELECT strategy_id FROM received))
    RETURNING s.id, s.is_lead
  ),
  entered AS (${insertion("journal")} RETURNING strategy_id, version, position),
  led AS (
    INSERT INTO lead_entries (strategy_id, version, position)
    SELECT strategy_id, version, position FROM entered WHERE strategy_id IN (SELECT id FROM moved WHERE is_lead = 1)
  ),
  placed AS (
    ${insertion("orders")}
    ON CONFLICT (strategy_id, symbol, order_id) DO UPDATE SET is_open = excluded.is_open, body = excluded.body,
      first_trade_id = COALESCE(orders.first_trade_id, excluded.first_trade_id),
      last_trade_id = COALESCE(excluded.last_trade_id, orders.last_trade_id)
  ),
  traded AS (${insertion("trades")}),
  legged AS (
    ${insertion("legs")}
    ON CONFLICT (strategy_id, leg_id) DO UPDATE SET body = excluded.body
  ),
  earned AS (${insertion("incomes")}),
  settled AS (${settling()})
  SELECT id, EXISTS (
    SELECT FROM watches w WHERE w.strategy_id = moved.id AND w.server <> $${GROUP_TABLES.flatMap(columnNames).length + 1}
  ) AS is_watched FROM moved`;

/** The statement of a group, to be prepared once on each connection; `process` is the name of who commits. */
export function commitStatement(process: string, group: readonly Commit[]): QueryConfig {
  const rows = groupRows(group);
  const values: unknown[] = GROUP_TABLES.flatMap((table) => packColumns(table, rows[table]));
  return { name: "commit-group", text: STATEMENT, values: [...values, process] };
}

/**
 * A signal is found by its id, however little is known of the table yet: no index has an expression of its
 * strategy.
 */
function settling(): string {
  return `UPDATE signals s SET status = given_signals.status, processed_at = given_signals.processed_at,
      outcome = given_signals.outcome
    FROM ${rowsGiven("signals")}
    WHERE s.signal_id = given_signals.signal_id AND s.strategy_id || '' = given_signals.strategy_id
      AND s.processed_at IS NULL AND given_signals.strategy_id IN (SELECT id FROM moved)`;
}

/**
 * A row for each commit: its strategy, and the key of its journal entry. Both tables are given one row a
 * commit.
 */
function commitsGiven(): string {
  const key = parameterOf("journal") + columnNames("journal").indexOf("key");
  const arrays = [...arraysOf("strategies"), arrayOf(key, "text")];
  return `unnest(${arrays.join(", ")}) AS given (${columnNames("strategies").join(", ")}, key)`;
}

/** The given rows of a table, under its name. */
function rowsGiven(table: GroupTable): string {
  return `unnest(${arraysOf(table).join(", ")}) AS given_${table} (${columnNames(table).join(", ")})`;
}

function arraysOf(table: GroupTable): string[] {
  return Object.values(GROUP_COLUMNS[table]).map((type, index) => arrayOf(parameterOf(table) + index, type));
}

/**
 * The values of a packed column, given as the parameter of this number. In an array the client library would
 * escape every quote of every body: a fifth of the main thread's time.
 */
function arrayOf(parameter: number, type: "text" | "bigint"): string {
  const array = `string_to_array($${parameter}::text, ${literal(SEPARATOR)}, ${literal(NULL)})`;
  return type === "text" ? array : `${array}::${type}[]`;
}

function literal(character: string): string {
  return `E'\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}'`;
}

/** The number of a table's first parameter. */
function parameterOf(table: GroupTable): number {
  return GROUP_TABLES.slice(0, GROUP_TABLES.indexOf(table)).flatMap(columnNames).length + 1;
}

function insertion(table: GroupTable): string {
  const names = columnNames(table).join(", ");
  return `INSERT INTO ${table} (${names})
    SELECT ${names} FROM ${rowsGiven(table)} WHERE strategy_id IN (SELECT id FROM moved)`;
}
