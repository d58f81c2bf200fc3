// The thread on which the copier of a server runs, so that a thousand signatures do not delay the server. It
// has connections of its own for reading; on the embedded database its writes go to the one thread that
// writes.
import { randomBytes } from "node:crypto";
import { constants, setPriority } from "node:os";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import pino from "pino";
import { systemTimers } from "../concurrency/time.ts";
import { createKeyWatch } from "../keys/key-watch.ts";
import { readMasterKey } from "../keys/master-key.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { type Copier, openCopier } from "./copier.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-host.ts";

if (parentPort === null) throw new Error("the copier's thread is started by a server");
// Traders' answers come first: where cores are few, this thread takes what the server's others leave. On
// Linux a priority is the calling thread's; elsewhere it would be the whole process's.
if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
const port: MessagePort = parentPort;
const { database, masterKeyFile, allowedVenues, logLevel }: ThreadStart = workerData;

const say = (message: FromThread) => port.postMessage(message);
const log = pino({ level: logLevel, base: null }, { write: (line: string) => say({ kind: "LOG", line }) });

const store = await openStore();
const master = readMasterKey(masterKeyFile);
const keyWatch = createKeyWatch({ master, store, every: systemTimers.every, log });
const copier: Copier = await openCopier({
  store,
  master,
  holder: `thread-${randomBytes(8).toString("hex")}`,
  // One process has the embedded database, and one thread of it at a time copies.
  isAlone: database.kind === "SQLITE",
  allowedVenues,
  wallNow: () => Date.now(),
  timers: systemTimers,
  news: {
    claimed: (strategyIds) => say({ kind: "CLAIMED", strategyIds }),
    copiesChanged: (copyIds) => say({ kind: "COPIES_CHANGED", copyIds }),
    paused: ({ copyId, personId }, reason) => say({ kind: "PAUSED", copyId, personId, reason }),
    failed: ({ message: reason }) => say({ kind: "FAILED", reason }),
  },
  log,
});
// Earlier messages wait at the port.
port.on("message", (message: ToThread) => {
  if (message.kind === "WAKE") copier.wake(message.strategyId, message.version);
  else void close();
});
say({ kind: "READY" });

async function openStore(): Promise<Store> {
  if (database.kind === "POSTGRES") return await openPostgresStore(database.url);
  return await openSqliteStore(database.file, { writer: database.writer });
}

/**
 * Closes everything, and says so. Where cores are busy, the thread itself may take seconds to end after that,
 * so its server does not wait for that.
 */
async function close(): Promise<void> {
  try {
    // The server waits for this. Only some systems permit a priority to be raised again.
    if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_NORMAL);
  } catch {}
  await copier.close();
  await keyWatch.close();
  await store.close();
  say({ kind: "CLOSED" });
  port.close();
}
