// A new version of the master key: adding one to its file, and a running server that finds it.
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { issueApiKey, secretOf } from "./api-keys.ts";
import { createKeyWatch, LOOK_MS } from "./key-watch.ts";
import { checkValueOf, readMasterKey, verifyMasterKey } from "./master-key.ts";
import { rotateMasterKey } from "./rotation.ts";
import { fileOf, newLine, writeLines } from "./testing/master-keys.ts";

const AT = Date.UTC(2026, 0, 1);
const TERMS = { label: "test", ownerId: null, strategyId: null, createdAt: AT };

/** A master key that a server runs with, and a copy of it on another machine that was rotated. */
async function rotatedElsewhere() {
  const store = await newStore();
  const line = newLine();
  const running = readMasterKey(fileOf(line));
  await verifyMasterKey(store, running);
  const elsewhere = readMasterKey(fileOf(line));
  await rotateMasterKey(store, elsewhere, AT);
  return { store, line, running, elsewhere };
}

async function newStore(): Promise<Store> {
  const store = await openSqliteStore(join(dirname(fileOf(newLine())), "lyrebird.sqlite"));
  onTestFinished(() => store.close());
  return store;
}

describe("rotating", () => {
  test("adds a line, keeps the file's mode and leaves nothing beside it; it is stored and audited", async () => {
    const store = await newStore();
    const line = newLine();
    const master = readMasterKey(fileOf(line));
    chmodSync(master.file, 0o400);
    await verifyMasterKey(store, master);
    expect(await rotateMasterKey(store, master, AT)).toBe(2);
    expect(master.current).toBe(2);
    const lines = readFileSync(master.file, "utf8").split("\n");
    expect(lines).toEqual([line, expect.stringMatching(/^[0-9a-f]{64}$/), ""]);
    expect(statSync(master.file).mode & 0o777).toBe(0o400);
    expect(readdirSync(dirname(master.file))).toEqual(["master.key"]);
    expect(await store.rememberMasterKey(2, "another")).toBe(checkValueOf(master.keyOf(2)));
    const [record] = await store.people.listAudit({ limit: 1 });
    expect(record).toMatchObject({
      who: { kind: "COMMAND_LINE" },
      what: "MASTER_KEY_ROTATED",
      about: { kind: "MASTER_KEY", id: "2" },
      at: AT,
    });
    expect(await rotateMasterKey(store, master, AT)).toBe(3);
    await verifyMasterKey(store, readMasterKey(master.file));
  });

  test("replaces the file that a link leads to, and keeps the link", async () => {
    const store = await newStore();
    const file = fileOf(newLine());
    const link = `${file}.link`;
    symlinkSync(file, link);
    const master = readMasterKey(link);
    await verifyMasterKey(store, master);
    await rotateMasterKey(store, master, AT);
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(2);
    expect(readMasterKey(link).newest).toBe(2);
  });

  test("is refused where another file of the same database was rotated, and changes nothing", async () => {
    const store = await newStore();
    const line = newLine();
    const [one, other] = [readMasterKey(fileOf(line)), readMasterKey(fileOf(line))];
    await verifyMasterKey(store, one);
    await verifyMasterKey(store, other);
    await rotateMasterKey(store, one, AT);
    await expect(rotateMasterKey(store, other, AT)).rejects.toThrow(
      /another version 2 .* copy the master key/,
    );
    expect(readFileSync(other.file, "utf8")).toBe(`${line}\n`);
    expect(readdirSync(dirname(other.file))).toEqual(["master.key"]);
    // After copying the file, as the message says, rotation works.
    writeFileSync(other.file, readFileSync(one.file));
    other.lookAgain();
    expect(await rotateMasterKey(store, other, AT)).toBe(3);
  });

  test("that was interrupted after the database stored it is finished with the same key", async () => {
    const store = await newStore();
    const master = readMasterKey(fileOf(newLine()));
    await verifyMasterKey(store, master);
    const interrupted = {
      ...store,
      rememberMasterKey: async (version: number, checkValue: string) => {
        await store.rememberMasterKey(version, checkValue);
        throw new Error("the power is gone");
      },
    };
    await expect(rotateMasterKey(interrupted, master, AT)).rejects.toThrow("the power is gone");
    expect(readMasterKey(master.file).newest).toBe(1);
    const made = readFileSync(`${master.file}.next`, "utf8");
    expect(await rotateMasterKey(store, master, AT)).toBe(2);
    expect(readFileSync(master.file, "utf8")).toBe(made);
    expect(existsSync(`${master.file}.next`)).toBe(false);
    await verifyMasterKey(store, readMasterKey(master.file));
  });

  test("of a file that cannot be replaced says what to do, and changes nothing", async () => {
    const store = await newStore();
    const line = newLine();
    const master = readMasterKey(fileOf(line));
    await verifyMasterKey(store, master);
    // As of a file that is a mount of its own.
    const rename = () => {
      throw new Error("EBUSY: resource busy or locked");
    };
    const rotating = rotateMasterKey(store, master, AT, rename);
    await expect(rotating).rejects.toThrow(/cannot be replaced: mount its directory.*EBUSY/);
    expect(await store.newestMasterVersion()).toBe(1);
    expect(await store.people.listAudit({ limit: 1 })).toEqual([]);
    expect(readFileSync(master.file, "utf8")).toBe(`${line}\n`);
    expect(readdirSync(dirname(master.file))).toEqual(["master.key"]);
    expect(await rotateMasterKey(store, master, AT)).toBe(2);
  });

  test("finishes a check that was interrupted before the file was replaced by its copy", async () => {
    const store = await newStore();
    const line = newLine();
    const master = readMasterKey(fileOf(line));
    await verifyMasterKey(store, master);
    writeLines(`${master.file}.next`, line);
    expect(await rotateMasterKey(store, master, AT)).toBe(2);
    expect(readdirSync(dirname(master.file))).toEqual(["master.key"]);
  });

  test("does not take what is left of another rotation", async () => {
    const store = await newStore();
    const master = readMasterKey(fileOf(newLine()));
    await verifyMasterKey(store, master);
    writeLines(`${master.file}.next`, newLine(), newLine());
    await expect(rotateMasterKey(store, master, AT)).rejects.toThrow("move it away");
    expect(readMasterKey(master.file).newest).toBe(1);
    expect(await store.rememberMasterKey(2, "nothing before")).toBe("nothing before");
  });
});

describe("a running server", () => {
  /** A watch whose checks the test triggers, and its log. */
  function watchOf(store: Store, master: ReturnType<typeof readMasterKey>) {
    const logged: string[] = [];
    const log = {
      info: (_: object, text: string) => void logged.push(text),
      error: (what: object) => void logged.push(JSON.stringify(what)),
    };
    const intervals: number[] = [];
    const every = (intervalMs: number) => {
      intervals.push(intervalMs);
      return () => void intervals.pop();
    };
    const watch = createKeyWatch({ master, store, every, log } as never);
    return { watch, logged, intervals };
  }

  test("uses a version of others' at once, and makes keys with it after the next check", async () => {
    const store = await newStore();
    const running = readMasterKey(fileOf(newLine()));
    await verifyMasterKey(store, running);
    const { watch, logged, intervals } = watchOf(store, running);
    expect(intervals).toEqual([LOOK_MS]);
    const beside = readMasterKey(running.file);
    await rotateMasterKey(store, beside, AT);
    const { record, secret } = issueApiKey(beside, TERMS);
    expect(secretOf(running, record)).toBe(secret);
    expect(issueApiKey(running, TERMS).record.masterVersion).toBe(1);
    await watch.run();
    expect(issueApiKey(running, TERMS).record.masterVersion).toBe(2);
    await watch.run();
    expect(logged).toEqual(["the master key was rotated"]);
    await watch.close();
    expect(intervals).toEqual([]);
  });

  test("does not make keys with a version that differs in the database, and says so once", async () => {
    const { store, line, running } = await rotatedElsewhere();
    writeLines(running.file, line, newLine());
    const { watch, logged } = watchOf(store, running);
    await watch.run();
    await watch.run();
    expect(running.current).toBe(1);
    expect(logged).toEqual([expect.stringContaining("version 2 of the master key is not the one")]);
  });

  test("whose file lacks a version that the database has been used with says so once", async () => {
    const { store, running, elsewhere } = await rotatedElsewhere();
    const { record, secret } = issueApiKey(elsewhere, TERMS);
    expect(() => secretOf(running, record)).toThrow(StoreUnavailable);
    expect(() => secretOf(running, record)).toThrow("version 2 in");
    const { watch, logged } = watchOf(store, running);
    await watch.run();
    await watch.run();
    expect(logged).toEqual([expect.stringContaining("copy the file from the server")]);
    writeLines(running.file, ...readFileSync(elsewhere.file, "utf8").trim().split("\n"));
    expect(secretOf(running, record)).toBe(secret);
    await watch.run();
    expect(logged.slice(1)).toEqual(["the master key was rotated"]);
  });

  test("says nothing of its master key while the database is out of reach", async () => {
    const store = await newStore();
    const running = readMasterKey(fileOf(newLine()));
    await verifyMasterKey(store, running);
    const away = { newestMasterVersion: () => Promise.reject(new StoreUnavailable("away")) };
    const { watch, logged } = watchOf({ ...store, ...away }, running);
    await watch.run();
    expect(logged).toEqual([]);
  });

  test("continues with the known versions when its file is gone, and says so once", async () => {
    const store = await newStore();
    const running = readMasterKey(fileOf(newLine()));
    await verifyMasterKey(store, running);
    const { watch, logged } = watchOf(store, running);
    unlinkSync(running.file);
    await watch.run();
    await watch.run();
    expect(logged).toEqual([expect.stringContaining("cannot be read")]);
    expect(issueApiKey(running, TERMS).record.masterVersion).toBe(1);
  });
});
