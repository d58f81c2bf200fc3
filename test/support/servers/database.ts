// What only an operator with the database open could do: for states that no request can bring about.
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { chained, EMPTY_CHAIN } from "../../../src/store/audit-chain.ts";

const BUSY_MS_MAX = 5_000;

/** Changes rows beside the running server. */
export function changeRows(dataDir: string, sql: string, ...values: SQLInputValue[]): void {
  const database = openBeside(dataDir);
  try {
    const { changes } = database.prepare(sql).run(...values);
    if (changes === 0) throw new Error(`no row was changed by: ${sql}`);
  } finally {
    database.close();
  }
}

/**
 * Changes rows of keys, or of the strategies they belong to, and records it in the audit as each change must
 * be.
 */
export function changeKeyRows(dataDir: string, sql: string, ...values: SQLInputValue[]): void {
  changeRows(dataDir, sql, ...values);
  const database = openBeside(dataDir);
  try {
    database.exec("BEGIN IMMEDIATE");
    const head = database.prepare("SELECT position, hash FROM audit_head").get() ?? EMPTY_CHAIN;
    const { position, hash } = chained(
      {
        who: { kind: "COMMAND_LINE" },
        what: "KEY_REVOKED",
        about: { kind: "KEY", id: "" },
        at: 0,
        details: {},
      },
      { position: Number(head.position), hash: String(head.hash) },
    );
    database
      .prepare("INSERT INTO audit VALUES (?, 0, 'COMMAND_LINE', NULL, 'KEY_REVOKED', 'KEY', '', '{}', ?)")
      .run(position, hash);
    database.prepare("INSERT OR REPLACE INTO audit_head VALUES (1, ?, ?)").run(position, hash);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}

/** How many rows a strategy has in a table: asking the server again and again would spend its budget. */
export function countRows(dataDir: string, table: "orders" | "trades", strategyId: string): number {
  const database = openBeside(dataDir);
  try {
    const row = database
      .prepare(`SELECT count(*) AS count FROM ${table} WHERE strategy_id = ?`)
      .get(strategyId);
    return (row as { count: number }).count;
  } finally {
    database.close();
  }
}

/**
 * Keeps the server from committing until released: its commits wait, as behind another process's transaction.
 */
export function holdCommits(dataDir: string): { release(): void } {
  const database = openBeside(dataDir);
  database.exec("BEGIN IMMEDIATE");
  return {
    release() {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

/** The database of a server, opened beside it: a lock that the server holds is waited for. */
export function openBeside(dataDir: string): DatabaseSync {
  return new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { timeout: BUSY_MS_MAX });
}
