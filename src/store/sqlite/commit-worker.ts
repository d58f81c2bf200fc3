// The thread that writes. It takes groups of commits as ready columns and carries each group out in one transaction, so that
// many strategies share one sync to disk while the main thread goes on deciding. Entries of the budget log, notes on symbols,
// on people and on keys, what is done to signals beside commits, and what copies have to record come the same way, each a
// transaction of its own.
//
// Other threads of the process, its guests, write through ports of their own. What the owner of this thread has asked for is
// carried out before anything of a guest's, however much that is.
//
// The write-ahead log is copied back into the database by a thread beside this one (`checkpoint-worker.ts`), so that no
// commit waits for it. When it has caught up but for a little, the rest is done here, between two groups, and the next
// commit begins the log anew. Where something was destroyed the log is emptied in the same way, at once.
//
// Within a group every commit checks its strategy's version first: one that is outdated writes nothing and the others
// are committed. If another process holds the database too long, or the disk is full, nothing is written and every caller gets
// that answer. Any other error aborts the whole group and is reported; the thread itself runs until it gets the stop message.
import type { StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";
import type { AdvanceColumns, ProgressColumns } from "../copying/claimed-columns.ts";
import type { LeadClaim } from "../copying/claims.ts";
import type { ClaimedLeadRow } from "../copying/leads.ts";
import {
  type Columns,
  columnNames,
  eachRow,
  type GroupColumns,
  type GroupTable,
  type Value,
} from "../group-columns.ts";
import type { FailedSignIn } from "../people/failed-sign-ins.ts";
import type { KeyUse } from "../people-store.ts";
import type { FoundRow, ReceivedRow, SignalRow } from "../signal-rows.ts";
import type { CommitOutcome } from "../store.ts";
import type { SymbolNote } from "../symbol-notes.ts";
import { copyWrites, type NewVenueReport } from "./copy-writes.ts";
import {
  BUSY_TIMEOUT_MS,
  isBusy,
  isFull,
  openDatabase,
  resultCode,
  type WHY_NOT_WRITTEN,
} from "./database.ts";
import { peopleWrites } from "./people-writes.ts";
import { type FailedHandshake, type SignalClaim, type SignalDelay, signalWrites } from "./signal-writes.ts";

export type BudgetRow = {
  readonly process: string;
  readonly at: number;
  readonly body: string;
  /** Entries that were written before this time are removed. */
  readonly forgetBefore: number;
};
/** What can be written, and what each answers; null where there is nothing to answer. Each is one transaction. */
export type Writes = {
  /** For every commit its outcome. */
  group: { given: GroupColumns; answer: readonly CommitOutcome[] };
  budgets: { given: BudgetRow; answer: null };
  notes: { given: readonly SymbolNote[]; answer: null };
  received: { given: readonly ReceivedRow[]; answer: readonly FoundRow[] };
  claim: { given: SignalClaim; answer: readonly SignalRow[] };
  delay: { given: SignalDelay; answer: null };
  handshake: { given: FailedHandshake; answer: null };
  failedSignIn: { given: FailedSignIn; answer: null };
  keyUses: { given: readonly KeyUse[]; answer: null };
  leadClaim: { given: LeadClaim; answer: readonly ClaimedLeadRow[] };
  leadRelease: { given: string; answer: null };
  /** Whether it was done, here and below. */
  advance: { given: AdvanceColumns; answer: boolean };
  progress: { given: ProgressColumns; answer: boolean };
  venueReport: { given: NewVenueReport; answer: null };
  /** No transaction: it is answered when it was tried. */
  emptyLog: { given: null; answer: null };
};
export type WriteKind = keyof Writes;
/** Ids are the sender's. */
export type WriteRequest = {
  [Kind in WriteKind]: { readonly id: number; readonly kind: Kind; readonly given: Writes[Kind]["given"] };
}[WriteKind];
/** A further line to this thread. */
type NewGuest = { readonly kind: "guest"; readonly port: MessagePort };
/** Nothing was written. BUSY: another process kept the database to itself for too long. FULL: the disk has no space. */
export type NotWritten = keyof typeof WHY_NOT_WRITTEN;
export type WriteReply =
  | { readonly id: number; readonly answer: Writes[WriteKind]["answer"] | NotWritten }
  | { readonly id: number; readonly error: string };

const owner = parentPort;
if (owner === null) throw new Error("the commit worker runs as a worker thread");

const database = openDatabase(workerData.file);
const moveStrategy = database.prepare(
  `UPDATE strategies SET status = ?2, version = ?3, is_exposed = ?4, state = ?5 WHERE id = ?1 AND version = ?3 - 1
   AND NOT EXISTS (SELECT 1 FROM journal WHERE strategy_id = ?1 AND key = ?6)
   RETURNING is_lead`,
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
const signals = signalWrites(database);
const people = peopleWrites(database);
const copying = copyWrites(database);
const guests = new Set<MessagePort>();
let hasStopped = false;

// The lock is held from the start, so positions ascend in the order of commit. The newest entry is never removed.
const addBudgets = database.prepare(
  "INSERT INTO budget_log (position, process, at, body) SELECT COALESCE(MAX(position), 0) + 1, ?, ?, ? FROM budget_log",
);
const forgetBudgets = database.prepare("DELETE FROM budget_log WHERE at < ?");

const putNote = database.prepare(
  `INSERT INTO symbol_notes (kind, symbol, at) VALUES (?, ?, ?)
   ON CONFLICT (kind, symbol) DO UPDATE SET at = excluded.at`,
);

/** Pages that the log may be ahead of the database: more make checkpoints cheaper and the next start longer. */
const PAGES_AHEAD_MAX = 4_096;
/** So few are copied back between two groups, and the next one begins the log anew. */
const PAGES_LEFT_MAX = 1_024;
/** How long that may wait for readers that are in its way, ms. */
const READERS_MS_MAX = 100;

const howFarAhead = database.prepare("PRAGMA wal_checkpoint(NOOP)");
const restartLog = database.prepare("PRAGMA wal_checkpoint(RESTART)");
const emptyLog = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");

/** Until an emptying that readers were in the way of is tried again, ms. */
const EMPTY_AGAIN_MS = 1_000;

let checkpoints: Worker | null = null;
/** Whether the log is to be emptied as soon as it can, and who waits until that was tried. */
let isToBeEmptied = false;
let emptyingAsked: { readonly port: MessagePort; readonly id: number }[] = [];
let isCatchingUp = false;
/** Pages that the pass under way found copied, and pages of the log from which on the next pass is worth it. */
let copiedBefore = 0;
let startAtPages = 0;

owner.on("message", (said: WriteRequest | NewGuest | "stop") => hearOwner(owner, said));

function hearOwner(port: MessagePort, said: WriteRequest | NewGuest | "stop"): void {
  if (hasStopped) return;
  if (said === "stop") {
    hasStopped = true;
    void stop(port);
  } else if (said.kind === "guest") {
    admit(port, said.port);
  } else {
    answer(port, said);
  }
}

/** Each of its requests waits until the owner has none. */
function admit(owner: MessagePort, guest: MessagePort): void {
  guests.add(guest);
  guest.once("close", () => guests.delete(guest));
  guest.on("message", (request: WriteRequest) => {
    for (let waiting = receiveMessageOnPort(owner); waiting; waiting = receiveMessageOnPort(owner)) {
      hearOwner(owner, waiting.message);
    }
    if (!hasStopped) answer(guest, request);
  });
}

function answer(port: MessagePort, request: WriteRequest): void {
  const { id } = request;
  if (request.kind === "emptyLog") {
    emptyingAsked.push({ port, id });
    emptyTheLog();
    return;
  }
  try {
    port.postMessage({ id, answer: transact(() => carryOut(request)) } satisfies WriteReply);
  } catch (error) {
    port.postMessage({ id, error: describe(error) } satisfies WriteReply);
    return;
  }
  if (isCatchingUp) return;
  const { pages, copied } = theLog();
  if (pages - copied > PAGES_AHEAD_MAX && pages >= startAtPages) startCatchingUp();
}

/** In words for the operator. */
function describe(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `${workerData.file} could not be written: ${reason} (SQLite ${resultCode(error)})`;
}

/** Guests hear of it by the end of their ports. */
async function stop(port: MessagePort): Promise<void> {
  for (const guest of guests) guest.close();
  await checkpoints?.terminate();
  database.close();
  port.close();
}

/** Pages in the log, and how many of them have been copied back. */
function theLog(): { pages: number; copied: number } {
  const { log, checkpointed } = howFarAhead.get() as { log: number; checkpointed: number };
  return { pages: log, copied: checkpointed };
}

function startCatchingUp(): void {
  if (checkpoints === null) {
    checkpoints = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData });
    checkpoints.on("message", () => goOnCatchingUp());
    // A disk that cannot be written to for another reason than that it is full: the thread ends, and with it the process.
    checkpoints.on("error", (error) => {
      throw new Error(describe(error));
    });
  }
  isCatchingUp = true;
  copiedBefore = theLog().copied;
  checkpoints.postMessage("checkpoint");
}

/** What was committed during one pass is left for the next, which is shorter. */
function goOnCatchingUp(): void {
  const { pages, copied } = theLog();
  if (pages - copied <= PAGES_LEFT_MAX) {
    beginTheLogAnew();
    isCatchingUp = false;
    startAtPages = 0;
  } else if (copied > copiedBefore) {
    startCatchingUp();
  } else {
    // Somebody reads on an old snapshot (a backup), which no pass can get beyond: later.
    isCatchingUp = false;
    startAtPages = pages + PAGES_AHEAD_MAX;
    if (isToBeEmptied) endEmptying(false);
  }
}

/** Copies what is left. Readers in the way, such as a backup, leave the log as it is. */
function beginTheLogAnew(): void {
  database.exec(`PRAGMA busy_timeout = ${READERS_MS_MAX}`);
  const isDone = copyTheRest();
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  if (isToBeEmptied) endEmptying(isDone);
}

/** False if readers are in the way, or the disk is full: the log stays as it is. */
function copyTheRest(): boolean {
  try {
    const { busy } = (isToBeEmptied ? emptyLog : restartLog).get() as { busy: number };
    return busy === 0;
  } catch (error) {
    if (!isFull(error)) throw error;
    return false;
  }
}

function emptyTheLog(): void {
  isToBeEmptied = true;
  if (!isCatchingUp) startCatchingUp();
}

/** What was asked for was committed before it was asked for: it is out of the log, or will be as soon as nobody is in the way. */
function endEmptying(isEmpty: boolean): void {
  isToBeEmptied = !isEmpty;
  for (const { port, id } of emptyingAsked) port.postMessage({ id, answer: null } satisfies WriteReply);
  emptyingAsked = [];
  if (isEmpty) return;
  setTimeout(() => {
    if (isToBeEmptied && !hasStopped) emptyTheLog();
  }, EMPTY_AGAIN_MS).unref();
}

function carryOut(request: Exclude<WriteRequest, { kind: "emptyLog" }>): Writes[WriteKind]["answer"] {
  switch (request.kind) {
    case "group":
      return commitGroup(request.given);
    case "budgets":
      logBudgets(request.given);
      return null;
    case "notes":
      request.given.forEach(note);
      return null;
    case "received":
      return signals.receive(request.given);
    case "claim":
      return signals.claim(request.given);
    case "delay":
      signals.postpone(request.given);
      return null;
    case "handshake":
      signals.noteHandshake(request.given);
      return null;
    case "failedSignIn":
      people.noteFailure(request.given);
      return null;
    case "keyUses":
      request.given.forEach(people.noteUse);
      return null;
    case "leadClaim":
      return copying.claim(request.given);
    case "leadRelease":
      copying.release(request.given);
      return null;
    case "advance":
      return copying.advance(request.given);
    case "progress":
      return copying.record(request.given);
    case "venueReport":
      copying.noteVenueReport(request.given);
      return null;
  }
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

function commitGroup(group: GroupColumns): CommitOutcome[] {
  const { strategies, journal } = group;
  const outdated = new Set<Value>();
  const leads = new Set<Value>();
  const outcomes: CommitOutcome[] = [];
  const [, , keys = []] = journal;
  eachRow(strategies, (row, index) => {
    const [id = null] = row;
    const moved = moveStrategy.get(...row, keys[index] ?? null);
    if (moved === undefined) outdated.add(id);
    else if (moved.is_lead === 1) leads.add(id);
    outcomes.push(moved === undefined ? "OUTDATED" : "COMMITTED");
  });
  const eachThatStands = (columns: Columns, use: (row: readonly Value[]) => void) =>
    eachRow(columns, (row) => {
      if (!outdated.has(row[0] ?? null)) use(row);
    });
  const add = (statement: StatementSync) => (row: readonly Value[]) => statement.run(...row);
  eachThatStands(journal, (row) => {
    const { lastInsertRowid } = addEntry.run(...row);
    const [id = null, version = null] = row;
    if (leads.has(id)) addLeadEntry.run(id, version, lastInsertRowid);
  });
  eachThatStands(group.orders, add(putOrder));
  eachThatStands(group.trades, add(addTrade));
  eachThatStands(group.legs, add(putLeg));
  eachThatStands(group.incomes, add(addIncome));
  eachThatStands(group.signals, signals.settle);
  return outcomes;
}

function insertion(table: GroupTable): string {
  const names = columnNames(table);
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
}

function logBudgets({ process, at, body, forgetBefore }: BudgetRow): void {
  addBudgets.run(process, at, body);
  forgetBudgets.run(forgetBefore);
}

function note({ kind, symbol, at }: SymbolNote): void {
  putNote.run(kind, symbol, at);
}
