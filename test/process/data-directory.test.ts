// A server on a data directory after a kill, with damage, on an unmounted disk, or with modes open to all
// users.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { databaseFile, openDataDirectory } from "../../src/config/data-directory.ts";
import { checkUnlessClosed } from "../../src/config/database-check.ts";
import { STACK } from "../support/servers/commands.ts";
import { newDirectory, runNode, startGateway } from "../support/servers/gateway.ts";

const NOT_CLOSED = "the database was not closed in order";
const SOUND = "the database was checked and is sound";
const PAGE_BYTES = 8_192;

async function start(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  const gateway = await startGateway({ dataDir, env: { LOG_LEVEL: "info", ...env } });
  onTestFinished(() => gateway.kill());
  return gateway;
}

/** A start that should end at once, by itself. */
function refused(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = runNode(["src/main.ts", "--port", "0", "--data", dataDir], env);
  expect({ status, stdout }).toEqual({ status: expect.any(Number), stdout: "" });
  expect(stderr).not.toMatch(STACK);
  return { status, stderr };
}

/** A data directory that a server has used and closed, made by its parts. */
async function usedDirectory(masterKeyFile: string | null = null): Promise<string> {
  const directory = newDirectory();
  const { store } = await openDataDirectory(directory, masterKeyFile);
  await store.close();
  return directory;
}

/** Overwrites pages in the middle of the database, as a disk that fails does. */
function damage(file: string): void {
  const opened = openSync(file, "r+");
  const pages = Math.floor(statSync(file).size / PAGE_BYTES);
  const first = Math.floor(pages / 2);
  writeSync(opened, Buffer.alloc(PAGE_BYTES * 4, 0xa5), 0, PAGE_BYTES * 4, first * PAGE_BYTES);
  closeSync(opened);
}

describe("the embedded database", () => {
  test("is not read through after an end in order, is after a kill, and is refused with what to do if it is damaged", async () => {
    const dataDir = newDirectory();
    const first = await start(dataDir);
    expect(first.output()).not.toContain(NOT_CLOSED);
    expect(await first.stop()).toBe(0);

    const second = await start(dataDir);
    expect(second.output()).not.toContain(NOT_CLOSED);
    await second.kill();

    const third = await start(dataDir);
    expect(third.output()).toContain(NOT_CLOSED);
    expect(third.output()).toContain(SOUND);
    await third.kill();

    damage(databaseFile(dataDir));
    const before = statSync(databaseFile(dataDir));
    const { status, stderr } = refused(dataDir);
    expect(status).toBe(1);
    expect(stderr).toMatch(/lyrebird\.sqlite is damaged: .*Nothing was changed\..* lyrebird -- restore FILE/);
    expect(statSync(databaseFile(dataDir)).mtimeMs).toBe(before.mtimeMs);
  });

  test("that is no database any more is refused likewise", async () => {
    const dataDir = await usedDirectory();
    const opened = openSync(databaseFile(dataDir), "r+");
    writeSync(opened, Buffer.alloc(PAGE_BYTES, "no database "));
    closeSync(opened);
    expect(refused(dataDir).stderr).toMatch(/is damaged: .*restore FILE/);
  });

  test("that a power cut left within a transaction of a rollback journal is checked when that is undone", async () => {
    const [source, file] = [newDirectory(), newDirectory()].map(databaseFile) as [string, string];
    const writer = new DatabaseSync(source);
    // Few pages fit into memory, so that part of the transaction is in the file before its end.
    writer.exec("PRAGMA cache_size = 2; CREATE TABLE rows (text TEXT); BEGIN");
    for (let row = 0; row < 500; row += 1) writer.prepare("INSERT INTO rows VALUES (?)").run("x".repeat(500));
    for (const part of ["", "-journal"]) copyFileSync(source + part, file + part);
    writer.close();

    await checkUnlessClosed(file, { every: () => () => {}, log: { info() {}, warn() {} } });
    const checked = new DatabaseSync(file);
    expect(checked.prepare("SELECT count(*) AS count FROM rows").get()).toEqual({ count: 0 });
    checked.close();
  });

  test("of which a start logs the progress of the check", async () => {
    const file = databaseFile(await usedDirectory());
    const lines: string[] = [];
    const log = {
      warn: (_: object, text: string) => lines.push(text),
      info: (_: object, text: string) => lines.push(text),
    };
    let isStopped = false;
    const every = (_ms: number, then: () => void) => {
      then();
      return () => {
        isStopped = true;
      };
    };
    await checkUnlessClosed(file, { every, log });
    expect(lines).toEqual([expect.stringContaining(NOT_CLOSED), "the database is being checked", SOUND]);
    expect(isStopped).toBe(true);
  });
});

describe("a data directory that has lost its database does not get a new one", () => {
  test("beside the master key of a demo, until its operator confirms it", async () => {
    const dataDir = await usedDirectory();
    rmSync(databaseFile(dataDir));
    const { status, stderr } = refused(dataDir);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /has lost its database: .*Mount the disk.*restore FILE.*To start with a new database instead: rm \S+/,
    );
    expect(existsSync(databaseFile(dataDir))).toBe(false);
    const command = /rm (\S+)$/m.exec(stderr)?.[1] ?? "";
    rmSync(command);
    expect(await (await start(dataDir)).stop()).toBe(0);
  });

  test("where the master key is elsewhere: what is not mounted looks empty; another directory is new", async () => {
    const keyFile = join(newDirectory(), "master.key");
    renameSync(join(await usedDirectory(), "master.key"), keyFile);
    const dataDir = await usedDirectory(keyFile);
    for (const end of ["", "-wal", "-shm"]) rmSync(`${databaseFile(dataDir)}${end}`, { force: true });
    await expect(openDataDirectory(dataDir, keyFile)).rejects.toThrow(/has lost its database/);
    await expect(usedDirectory(keyFile)).resolves.toEqual(expect.any(String));
  });

  test("and a first start that was cut off before it had one is repeated", async () => {
    const dataDir = await usedDirectory();
    const keyFile = join(dataDir, "master.key");
    rmSync(databaseFile(dataDir));
    rmSync(`${keyFile}.used`);
    const { store } = await openDataDirectory(dataDir, null);
    await store.close();
    expect(existsSync(databaseFile(dataDir))).toBe(true);
  });
});

describe.skipIf(process.platform === "win32")("a file that all users may write to is refused", () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await usedDirectory();
  });

  test("a directory", () => {
    chmodSync(dataDir, 0o777);
    const { status, stderr } = refused(dataDir);
    chmodSync(dataDir, 0o700);
    expect(status).toBe(2);
    expect(stderr).toMatch(/DATA_DIR \S+ may be written to by everybody: chmod o-w it/);
  });

  test.each([0o666, 0o602])("a database of mode %o", async (mode) => {
    chmodSync(databaseFile(dataDir), mode);
    await expect(openDataDirectory(dataDir, null)).rejects.toThrow(
      /lyrebird\.sqlite may be .*: chmod 600 it/,
    );
    chmodSync(databaseFile(dataDir), 0o600);
  });

  test("a database that all users may read is closed to them, and opened", async () => {
    chmodSync(databaseFile(dataDir), 0o644);
    const opened = await openDataDirectory(dataDir, null);
    await opened.store.close();
    expect(statSync(databaseFile(dataDir)).mode & 0o777).toBe(0o640);
    chmodSync(databaseFile(dataDir), 0o600);
  });

  test("and a new database is its owner's alone, whatever the process allows its files", async () => {
    const earlier = process.umask(0);
    try {
      const directory = await usedDirectory();
      expect(statSync(databaseFile(directory)).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(earlier);
    }
  });
});
