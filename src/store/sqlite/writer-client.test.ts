// A writer client of the embedded store: another thread's way to the one writer, which it neither stops nor
// delays.
import { once } from "node:events";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { MessageChannel, Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import { actionOf, claim, follow, HOLDER, openToCopiers, progressOf } from "../contract/copying/records.ts";
import { accountOf, budgetsOf, commitOf, firstOf, upTo } from "../contract/records.ts";
import { StoreFailure } from "../store.ts";
import { openDatabase } from "./database.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";

let file: string;
let owner: SqliteStore;
let writerClient: SqliteStore;
/** Those that are still open. */
let open: Set<SqliteStore>;
beforeEach(async () => {
  file = join(newDirectory(), "lyrebird.sqlite");
  owner = await openSqliteStore(file);
  writerClient = await openSqliteStore(file, { writer: owner.openWriterPort() });
  open = new Set([writerClient, owner]);
  await openToCopiers(owner, "one");
});
afterEach(async () => {
  for (const store of open) await close(store);
});

async function close(store: SqliteStore): Promise<void> {
  open.delete(store);
  await store.close();
}

/** Has the database kept from the writer, as another process would, until it is let go. */
function keepFromWriter(): DatabaseSync {
  const other = openDatabase(file);
  other.exec("BEGIN IMMEDIATE");
  return other;
}

function letGo(other: DatabaseSync): void {
  other.exec("ROLLBACK");
  other.close();
}

describe("a writer client", () => {
  test("writes through the owner's writer, and each sees what the other has written", async () => {
    expect(await claim(writerClient)).toEqual(["one"]);
    expect(await owner.copying.listClaimed(HOLDER)).toHaveLength(1);
    const [copyId = ""] = await follow(owner, "one", "ann");
    await owner.commit([commitOf(accountOf("one"), 2)]);
    const { account } = firstOf("one");
    const advance = { strategyId: "one", type: "SPOT", account, version: 2, seq: 1 } as const;
    const isDone = await writerClient.copying.advanceLead({
      ...advance,
      holder: HOLDER,
      fromVersion: 0,
      actions: [actionOf(1, 2)],
    });
    expect(isDone).toBe(true);
    expect(await owner.copying.listActions("one", { afterSeq: 0, limit: 9 })).toHaveLength(1);
    expect(await writerClient.copying.recordProgress("one", HOLDER, [progressOf(copyId, 1)])).toBe(true);
    expect(await owner.copying.findCopy(copyId)).toMatchObject({ doneSeq: 1 });
    expect((await writerClient.loadAccount("one"))?.version).toBe(2);
  });

  test("commits to no strategy", async () => {
    await expect(writerClient.commit([commitOf(accountOf("one"), 2)])).rejects.toThrow(StoreFailure);
    expect((await owner.loadAccount("one"))?.version).toBe(1);
    expect(() => writerClient.openWriterPort()).toThrow();
  });

  test("leaves the writer, and other writer clients, alone when it is closed", async () => {
    const other = await openSqliteStore(file, { writer: owner.openWriterPort() });
    await close(writerClient);
    expect(await owner.commit([commitOf(accountOf("one"), 2)])).toEqual(["COMMITTED"]);
    expect(await claim(other)).toEqual(["one"]);
    await expect(claim(writerClient)).rejects.toThrow(StoreFailure);
    await other.close();
  });

  test("is closed when what it has asked for is answered", async () => {
    const other = keepFromWriter();
    const claiming = claim(writerClient);
    const closing = close(writerClient);
    letGo(other);
    expect(await claiming).toEqual(["one"]);
    await closing;
  });

  test("comes after all that the owner has asked for, however much it asks for itself", async () => {
    // The writer waits here, so that everything is there when it goes on.
    const other = keepFromWriter();
    const log = (store: SqliteStore, process: string, at: number) =>
      store.logBudgets([budgetsOf(process, at)], { forgetBefore: 0 });
    const logging = [log(writerClient, "client", 0)];
    // By the time that another writer has answered this one has begun.
    const elsewhere = await openSqliteStore(join(newDirectory(), "elsewhere.sqlite"));
    await log(elsewhere, "elsewhere", 0);
    await elsewhere.close();
    logging.push(...upTo(20).map((at) => log(writerClient, "client", at)));
    logging.push(...upTo(5).map((at) => log(owner, "owner", at)));
    // All of them are posted by the next turn, whenever this thread has it.
    await new Promise((resolve) => setImmediate(resolve));
    letGo(other);
    await Promise.all(logging);
    const written = await owner.listBudgets({ after: 0, exceptOf: "", limit: 1_000 });
    expect(written).toHaveLength(26);
    // One of the writer client's may have been under way.
    const first = written.slice(0, 6).map(({ entry }) => entry.process);
    expect(first.filter((process) => process === "owner")).toHaveLength(5);
  });

  test("is notified when the owner has closed: pending requests reject, as do later ones", async () => {
    const other = keepFromWriter();
    const asked = [claim(writerClient), claim(writerClient)];
    const closing = close(owner);
    const late = claim(writerClient);
    const settling = Promise.allSettled([...asked, late]);
    letGo(other);
    await closing;
    // What came before the end may have been carried out; what came behind it was not.
    const settled = await settling;
    expect(settled.at(-1)).toMatchObject({ status: "rejected", reason: expect.any(StoreFailure) });
    await expect(claim(writerClient)).rejects.toThrow(StoreFailure);
  });

  test("is notified when the writer has died", async () => {
    const port = owner.openWriterPort();
    const other = await openSqliteStore(file, { writer: port });
    // No line says that: the writer does not survive it, and never hears what comes behind.
    port.postMessage(null);
    await expect(claim(other)).rejects.toThrow(StoreFailure);
    await expect(writerClient.copying.releaseLeads(HOLDER)).rejects.toThrow(StoreFailure);
    await expect(owner.commit([commitOf(accountOf("one"), 2)])).rejects.toThrow(StoreFailure);
    await other.close();
  });

  test("whose port has lost its other end fails at once", async () => {
    const { port1, port2 } = new MessageChannel();
    const lost = await openSqliteStore(file, { writer: port2 });
    const claiming = claim(lost);
    port1.close();
    await expect(claiming).rejects.toThrow(StoreFailure);
    await lost.close();
  });

  test("may be a thread of its own, which ends when its store is closed", async () => {
    const port = owner.openWriterPort();
    const worker = new Worker(THREAD, { eval: true, workerData: { file, port }, transferList: [port] });
    // Both at once: the thread may be over before this one hears of its message.
    const [[claimed]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
    expect(claimed).toEqual(["one"]);
    expect(await owner.copying.listClaimed("a thread")).toHaveLength(1);
    expect(await owner.commit([commitOf(accountOf("one"), 2)])).toEqual(["COMMITTED"]);
  });
});

const THREAD = `
  import { parentPort, workerData } from "node:worker_threads";
  import { openSqliteStore } from ${JSON.stringify(new URL("./sqlite-store.ts", import.meta.url).href)};
  const store = await openSqliteStore(workerData.file, { writer: workerData.port });
  const claimed = await store.copying.claimLeads({ holder: "a thread", now: 1, until: 2, isAlone: true });
  parentPort.postMessage(claimed.map(({ strategyId }) => strategyId));
  await store.close();
`;
