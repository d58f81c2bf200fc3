// The thread that writes. It takes groups of commits as ready rows and carries each group out in one transaction, so that
// many strategies share one sync to disk while the main thread goes on deciding. Entries of the budget log and notes of when
// symbols were heard of come the same way, each a transaction of its own.
//
// Within a group every commit checks its strategy's version first: one that is outdated writes nothing and the others
// stand. If another process holds the database too long nothing is written and all are told so. Any error aborts the whole
// group and is reported; the thread itself goes on until it is told to stop.
import { parentPort, workerData } from "node:worker_threads";
import type { CommitOutcome } from "../store.ts";
import { isBusy, openDatabase } from "./database.ts";

export type CommitRows = {
  readonly strategy: readonly [state: string, status: string, version: number, id: string];
  readonly journal: readonly [
    strategyId: string,
    version: number,
    key: string | null,
    at: number,
    events: string,
  ];
  readonly orders: readonly OrderValues[];
  readonly trades: readonly TradeValues[];
};
export type OrderValues = readonly [
  strategyId: string,
  orderId: number,
  symbol: string,
  clientOrderId: string,
  isOpen: number,
  placedAt: number,
  body: string,
];
export type TradeValues = readonly [
  strategyId: string,
  tradeId: number,
  symbol: string,
  orderId: number,
  at: number,
  body: string,
];
export type BudgetRow = {
  readonly process: string;
  readonly at: number;
  readonly body: string;
  /** Entries that were written before this time are removed. */
  readonly forgetBefore: number;
};
export type HeardRow = readonly [symbol: string, at: number];
/** Each is one transaction; ids are the sender's. */
export type WriteRequest =
  | { readonly id: number; readonly group: readonly CommitRows[] }
  | { readonly id: number; readonly budgets: BudgetRow }
  | { readonly id: number; readonly heard: readonly HeardRow[] };
/** An outcome for every row. */
export type WriteReply =
  | { readonly id: number; readonly outcomes: readonly CommitOutcome[] }
  | { readonly id: number; readonly error: string };

const port = parentPort;
if (port === null) throw new Error("the commit worker runs as a worker thread");

const database = openDatabase(workerData.file);
const moveStrategy = database.prepare(
  "UPDATE strategies SET state = ?, status = ?, version = ? WHERE id = ? AND version = ?",
);
const addEntry = database.prepare(
  "INSERT INTO journal (strategy_id, version, key, at, events) VALUES (?, ?, ?, ?, ?)",
);
const putOrder = database.prepare(
  `INSERT INTO orders (strategy_id, order_id, symbol, client_order_id, is_open, placed_at, body)
   VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (strategy_id, order_id) DO UPDATE SET is_open = excluded.is_open, body = excluded.body`,
);
const addTrade = database.prepare(
  "INSERT INTO trades (strategy_id, trade_id, symbol, order_id, at, body) VALUES (?, ?, ?, ?, ?, ?)",
);

// The lock is held from the start, so positions ascend in the order of commit. The newest entry is never removed.
const addBudgets = database.prepare(
  "INSERT INTO budget_log (position, process, at, body) SELECT COALESCE(MAX(position), 0) + 1, ?, ?, ? FROM budget_log",
);
const forgetBudgets = database.prepare("DELETE FROM budget_log WHERE at < ?");

const putHeard = database.prepare(
  "INSERT INTO symbols_heard (symbol, at) VALUES (?, ?) ON CONFLICT (symbol) DO UPDATE SET at = excluded.at",
);

port.on("message", (request: WriteRequest | "stop") => {
  if (request === "stop") {
    database.close();
    port.close();
    return;
  }
  const { id } = request;
  try {
    port.postMessage({ id, outcomes: carryOut(request) } satisfies WriteReply);
  } catch (error) {
    port.postMessage({ id, error: String(error) } satisfies WriteReply);
  }
});

function carryOut(request: WriteRequest): CommitOutcome[] {
  if ("group" in request) return transact(request.group, commitOne);
  if ("budgets" in request) return transact([request.budgets], logBudgets);
  return transact(request.heard, noteHeard);
}

/** Writes all of them in one transaction; none if the database is another process's for too long. */
function transact<Row>(rows: readonly Row[], write: (row: Row) => CommitOutcome): CommitOutcome[] {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    if (isBusy(error)) return rows.map(() => "BUSY");
    throw error;
  }
  try {
    const outcomes = rows.map(write);
    database.exec("COMMIT");
    return outcomes;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function commitOne({ strategy, journal, orders, trades }: CommitRows): CommitOutcome {
  const [state, status, version, id] = strategy;
  const moved = moveStrategy.run(state, status, version, id, version - 1);
  if (moved.changes !== 1) return "OUTDATED";
  addEntry.run(...journal);
  for (const order of orders) putOrder.run(...order);
  for (const trade of trades) addTrade.run(...trade);
  return "COMMITTED";
}

function logBudgets({ process, at, body, forgetBefore }: BudgetRow): CommitOutcome {
  addBudgets.run(process, at, body);
  forgetBudgets.run(forgetBefore);
  return "COMMITTED";
}

function noteHeard(heard: HeardRow): CommitOutcome {
  putHeard.run(...heard);
  return "COMMITTED";
}
