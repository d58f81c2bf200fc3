// The thread that writes. It commits each group, which it gets as text, in one transaction, so that many
// strategies share one sync to disk; everything else comes as batches of compiled statements, a transaction
// each. Invariants: an outdated commit writes nothing, and the others of its group are committed. If another
// process holds the lock for too long, or the disk is full, nothing is written and the reply says so; any
// other error aborts the group and is reported, and the thread goes on. A thread beside it copies the
// write-ahead log back, so that no commit waits for more than its last pages (decision 17).
import type { StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";
import { columnNames, type GroupTable, type Row, unpackGroup, type Value } from "../group-columns.ts";
import type { CommitOutcome } from "../ports/trading.ts";
import {
  BUSY_TIMEOUT_MS,
  isBusy,
  isFull,
  openDatabase,
  resultCode,
  type WHY_NOT_WRITTEN,
} from "./database.ts";

type Statement = { readonly sql: string; readonly parameters: readonly Value[] };

/** What can be written, and what each answers. Each is one transaction, but for `emptyLog`. */
export type Writes = {
  /** A packed group; for every commit its outcome. */
  group: { given: string; answer: readonly CommitOutcome[] };
  /** For every statement its rows. */
  statements: { given: readonly Statement[]; answer: readonly (readonly unknown[])[] };
  /** It is answered when it was tried. */
  emptyLog: { given: null; answer: null };
};
export type WriteKind = keyof Writes;
/** Ids are the sender's. */
export type WriteRequest = {
  [Kind in WriteKind]: { readonly id: number; readonly kind: Kind; readonly given: Writes[Kind]["given"] };
}[WriteKind];
/** The port of a writer client: another thread of the process that writes. */
type NewWriterClient = { readonly kind: "client"; readonly port: MessagePort };
/** Nothing was written. BUSY: another process held the lock for too long. FULL: the disk has no space. */
export type NotWritten = keyof typeof WHY_NOT_WRITTEN;
export type WriteReply =
  | { readonly id: number; readonly answer: Writes[WriteKind]["answer"] | NotWritten }
  | { readonly id: number; readonly error: string };

const owner = parentPort;
if (owner === null) throw new Error("the commit worker runs as a worker thread");

const database = openDatabase(workerData.file);
/** ?7 to ?9 are the key and the signature of a signal that the commit records; null if it records none. */
const IS_DUE = `id = ?1 AND version = ?3 - 1
  AND NOT EXISTS (SELECT 1 FROM journal WHERE strategy_id = ?1 AND key = ?6)
  AND NOT EXISTS (SELECT 1 FROM signals WHERE strategy_id = ?1 AND idempotency_key = ?7)
  AND NOT EXISTS (SELECT 1 FROM signal_signatures WHERE expires_at = ?8 AND signature = ?9)`;
/**
 * Most commits change neither the status nor whether the market can reach the account, and few strategies are
 * leads. A statement that sets a column of a partial index writes the index, whatever the value was, so this
 * one sets neither column; where it moves nothing, `moveStrategy` decides.
 */
const moveUnchanged = database.prepare(
  `UPDATE strategies SET version = ?3, state = ?5
   WHERE ${IS_DUE} AND status = ?2 AND is_exposed = ?4 AND is_lead = 0`,
);
const moveStrategy = database.prepare(
  `UPDATE strategies SET status = ?2, version = ?3, is_exposed = ?4, state = ?5 WHERE ${IS_DUE} RETURNING is_lead`,
);
const addEntry = database.prepare(insertion("journal"));
const addLeadEntry = database.prepare(
  "INSERT INTO lead_entries (strategy_id, version, position) VALUES (?, ?, ?)",
);
const putOrder = database.prepare(
  `${insertion("orders")}
   ON CONFLICT (strategy_id, symbol, order_id) DO UPDATE SET is_open = excluded.is_open, body = excluded.body,
     first_trade_id = COALESCE(first_trade_id, excluded.first_trade_id),
     last_trade_id = COALESCE(excluded.last_trade_id, last_trade_id)`,
);
const addTrade = database.prepare(insertion("trades"));
const putLeg = database.prepare(
  `${insertion("legs")} ON CONFLICT (strategy_id, leg_id) DO UPDATE SET body = excluded.body`,
);
const addIncome = database.prepare(insertion("incomes"));
const settleSignal = database.prepare(
  `UPDATE signals SET status = ?3, processed_at = ?4, outcome = ?5
   WHERE signal_id = ?2 AND strategy_id = ?1 AND processed_at IS NULL`,
);
const addSignature = database.prepare(
  "INSERT INTO signal_signatures (strategy_id, idempotency_key, expires_at, signature) VALUES (?, ?, ?, ?)",
);
const addSignal = database.prepare(
  `INSERT INTO signals
     (strategy_id, idempotency_key, signal_id, body, received_at, status, processed_at, outcome, attempts, due_at)
   VALUES (?1, ?2, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?7)`,
);
const NO_LEAD = { is_lead: 0 };
/** Where the key is in a row of the journal. */
const KEY_AT = columnNames("journal").indexOf("key");
/** Statements of batches by their text, of which there are only as many as the code has. */
const prepared = new Map<string, StatementSync>();

const writerClients = new Set<MessagePort>();
let hasStopped = false;

/**
 * Pages that the log may be ahead of the database: more make checkpoints cheaper and the next start longer.
 */
const PAGES_AHEAD_MAX = 4_096;
/** When no more are left, they are copied between two groups, and the next commit restarts the log. */
const PAGES_LEFT_MAX = 1_024;
/** How long that may wait for readers, ms. */
const READERS_MS_MAX = 100;
/** Until emptying the log is retried after readers prevented it, ms. */
const EMPTY_RETRY_MS = 1_000;

const logState = database.prepare("PRAGMA wal_checkpoint(NOOP)");
const restartLog = database.prepare("PRAGMA wal_checkpoint(RESTART)");
const truncateLog = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");

let checkpoints: Worker | null = null;
let isCatchingUp = false;
/**
 * Whether the log is to be emptied as soon as possible, and which requests are answered when that was tried.
 */
let isToBeEmptied = false;
let emptyRequests: { readonly port: MessagePort; readonly id: number }[] = [];
/**
 * Pages that were copied when the current pass began, and the size of the log at which the next pass is worth
 * it.
 */
let copiedBefore = 0;
let startAtPages = 0;

owner.on("message", (message: WriteRequest | NewWriterClient | "stop") => handleOwner(owner, message));

function handleOwner(port: MessagePort, message: WriteRequest | NewWriterClient | "stop"): void {
  if (hasStopped) return;
  if (message === "stop") {
    hasStopped = true;
    void stop(port);
  } else if (message.kind === "client") {
    admit(port, message.port);
  } else {
    answer(port, message);
  }
}

/** Each request of a writer client waits until the owner has none. */
function admit(owner: MessagePort, writerClient: MessagePort): void {
  writerClients.add(writerClient);
  writerClient.once("close", () => writerClients.delete(writerClient));
  writerClient.on("message", (request: WriteRequest) => {
    for (let next = receiveMessageOnPort(owner); next; next = receiveMessageOnPort(owner)) {
      handleOwner(owner, next.message);
    }
    if (!hasStopped) answer(writerClient, request);
  });
}

function answer(port: MessagePort, request: WriteRequest): void {
  const { id } = request;
  if (request.kind === "emptyLog") {
    emptyRequests.push({ port, id });
    emptyLog();
    return;
  }
  try {
    const write = () => (request.kind === "group" ? commitGroup(request.given) : request.given.map(execute));
    port.postMessage({ id, answer: transact(write) } satisfies WriteReply);
  } catch (error) {
    port.postMessage({ id, error: describe(error) } satisfies WriteReply);
    return;
  }
  if (isCatchingUp) return;
  const { pages, copied } = pagesOfLog();
  if (pages - copied > PAGES_AHEAD_MAX && pages >= startAtPages) startCatchingUp();
}

/** The error for the operator. */
function describe(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `${workerData.file} could not be written: ${reason} (SQLite ${resultCode(error)})`;
}

/** Writer clients are notified by the end of their ports. */
async function stop(port: MessagePort): Promise<void> {
  for (const writerClient of writerClients) writerClient.close();
  await checkpoints?.terminate();
  database.close();
  port.close();
}

/** Writes all of it in one transaction, or nothing. */
function transact<Answer>(write: () => Answer): Answer | NotWritten {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    if (isBusy(error)) return "BUSY";
    throw error;
  }
  try {
    const answer = write();
    database.exec("COMMIT");
    return answer;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    if (isFull(error)) return "FULL";
    throw error;
  }
}

function commitGroup(packed: string): CommitOutcome[] {
  const group = unpackGroup(packed);
  const outdated = new Set<Value>();
  const leads = new Set<Value>();
  const outcomes: CommitOutcome[] = [];
  const received = new Map(group.received.map((row) => [row[0] ?? null, row]));
  for (const [index, row] of group.strategies.entries()) {
    const [id = null] = row;
    const key = group.journal[index]?.[KEY_AT] ?? null;
    const signal = received.get(id);
    const [, signalKey = null, expiresAt = null, signature = null] = signal ?? [];
    const given = [...row, key, signalKey, expiresAt, signature];
    const isMoved = moveUnchanged.run(...given).changes === 1;
    const moved = isMoved ? NO_LEAD : moveStrategy.get(...given);
    if (moved === undefined) outdated.add(id);
    else if (moved.is_lead === 1) leads.add(id);
    outcomes.push(moved === undefined ? "OUTDATED" : "COMMITTED");
    if (moved === undefined || signal === undefined) continue;
    // At once, so that the group's next commit finds the signature.
    if (signature !== null) addSignature.run(id, signalKey, expiresAt, signature);
    addSignal.run(...signal);
  }
  const isCommitted = ([id = null]: Row) => !outdated.has(id);
  const run = (statement: StatementSync, rows: readonly Row[]) => {
    for (const row of rows) if (isCommitted(row)) statement.run(...row);
  };
  for (const row of group.journal) {
    if (!isCommitted(row)) continue;
    const { lastInsertRowid } = addEntry.run(...row);
    const [id = null, version = null] = row;
    if (leads.has(id)) addLeadEntry.run(id, version, lastInsertRowid);
  }
  run(putOrder, group.orders);
  run(addTrade, group.trades);
  run(putLeg, group.legs);
  run(addIncome, group.incomes);
  run(settleSignal, group.signals);
  return outcomes;
}

function insertion(table: GroupTable): string {
  const names = columnNames(table);
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
}

function execute({ sql, parameters }: Statement): readonly unknown[] {
  let statement = prepared.get(sql);
  if (statement === undefined) {
    statement = database.prepare(sql);
    prepared.set(sql, statement);
  }
  return statement.all(...parameters);
}

/** Pages in the log, and how many of them have been copied back. */
function pagesOfLog(): { pages: number; copied: number } {
  const { log, checkpointed } = logState.get() as { log: number; checkpointed: number };
  return { pages: log, copied: checkpointed };
}

function startCatchingUp(): void {
  if (checkpoints === null) {
    checkpoints = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData });
    checkpoints.on("message", () => continueCatchingUp());
    // A disk that cannot be written to, for another reason than that it is full, ends the thread and with it
    // the process.
    checkpoints.on("error", (error) => {
      throw new Error(describe(error));
    });
  }
  isCatchingUp = true;
  copiedBefore = pagesOfLog().copied;
  checkpoints.postMessage("checkpoint");
}

/** What was committed during one pass is left for the next, which is shorter. */
function continueCatchingUp(): void {
  const { pages, copied } = pagesOfLog();
  if (pages - copied <= PAGES_LEFT_MAX) {
    endCatchingUp();
    isCatchingUp = false;
    startAtPages = 0;
  } else if (copied > copiedBefore) {
    startCatchingUp();
  } else {
    // A reader has an old snapshot (a backup), which no pass can get beyond: retry later.
    isCatchingUp = false;
    startAtPages = pages + PAGES_AHEAD_MAX;
    if (isToBeEmptied) endEmptying(false);
  }
}

/**
 * Copies what is left, so that the log restarts. Readers, such as a backup, may prevent it: the log stays as
 * it is.
 */
function endCatchingUp(): void {
  database.exec(`PRAGMA busy_timeout = ${READERS_MS_MAX}`);
  const isDone = copyTheRest();
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  if (isToBeEmptied) endEmptying(isDone);
}

/** False if a reader prevented it, or the disk is full: the log stays as it is. */
function copyTheRest(): boolean {
  try {
    const { busy } = (isToBeEmptied ? truncateLog : restartLog).get() as { busy: number };
    return busy === 0;
  } catch (error) {
    if (!isFull(error)) throw error;
    return false;
  }
}

/** Empties the log at once, after something was destroyed (decision 42). */
function emptyLog(): void {
  isToBeEmptied = true;
  if (!isCatchingUp) startCatchingUp();
}

/**
 * What was to be destroyed was committed before the request: it is out of the log, or will be after a retry.
 */
function endEmptying(isEmpty: boolean): void {
  isToBeEmptied = !isEmpty;
  for (const { port, id } of emptyRequests) port.postMessage({ id, answer: null } satisfies WriteReply);
  emptyRequests = [];
  if (isEmpty) return;
  setTimeout(() => {
    if (isToBeEmptied && !hasStopped) emptyLog();
  }, EMPTY_RETRY_MS).unref();
}
