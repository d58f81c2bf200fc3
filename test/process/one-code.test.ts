// A code of an authenticator, and a recovery code, work once, also when two processes receive them at the
// same moment: two of them, on one database, repeatedly use the same code.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readMasterKey } from "../../src/keys/master-key.ts";
import { fileOf, newLine } from "../../src/keys/testing/master-keys.ts";
import { Cookies } from "../../src/people/cookies.ts";
import { Lockout } from "../../src/people/lockout.ts";
import { SecondFactors } from "../../src/people/second-factor.ts";
import { codeAt, newPerson } from "../../src/people/testing/fixture.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import type { Question } from "./code-racer.ts";

const ROUNDS = 60;
const STEP_MS = 30_000;
const EMAIL = "ada@example.com";

type Racer = { ask(question: Question): Promise<unknown> };

async function startRacer(database: string, keyFile: string): Promise<Racer> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, "code-racer.ts"), database, keyFile],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.stdin?.end();
    await exited;
  });
  if (child.stdout === null) throw new Error("it has an output");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  return {
    async ask(question) {
      child.stdin?.write(`${JSON.stringify(question)}\n`);
      return JSON.parse((await lines.next()).value ?? "null");
    },
  };
}

/** Enables a second factor on a new database, and has two processes race for its codes. */
async function race(database: string, isPostgres: boolean): Promise<void> {
  const store = await (isPostgres ? openPostgresStore(database) : openSqliteStore(database));
  onTestFinished(() => store.close());
  const keyFile = fileOf(newLine());
  let now = Date.UTC(2026, 0, 1);
  const parts = { master: readMasterKey(keyFile), wallNow: () => now, log: { error() {} } };
  const lockout = new Lockout({
    people: store.people,
    cookies: new Cookies(() => "http://127.0.0.1:8080"),
    ...parts,
  });
  const secondFactors = new SecondFactors({ store: store.people, lockout, ...parts });
  const person = await newPerson(store, { email: EMAIL, createdAt: now });
  const { secret = "" } = (await secondFactors.begin(person)) ?? {};
  const caller = { address: "127.0.0.1", userAgent: "test", cookies: null };
  const recoveryCodes = await secondFactors.confirm(
    { person, sessionId: "own" },
    codeAt(secret, now),
    caller,
  );
  if (recoveryCodes === "REFUSED" || "lockedForSeconds" in recoveryCodes)
    throw new Error("the code is right");

  const racers = [await startRacer(database, keyFile), await startRacer(database, keyFile)];
  const askBoth = async (code: string) =>
    await Promise.all(
      // Each from an address of its own, so that the loser is not locked out in the end.
      racers.map((racer, index) =>
        racer.ask({ email: EMAIL, code, at: now, address: `198.51.${index}.${(now / STEP_MS) % 250}` }),
      ),
    );
  const both = ["ACCEPTED", "REFUSED"];
  for (let round = 0; round < ROUNDS; round += 1) {
    now += STEP_MS;
    const outcomes = await askBoth(codeAt(secret, now));
    expect(outcomes.toSorted(), `round ${round}`).toEqual(both);
  }
  for (const code of recoveryCodes) {
    now += STEP_MS;
    expect((await askBoth(code)).toSorted()).toEqual(both);
  }
  expect(await store.people.countRecoveryCodes(person.personId)).toBe(0);
  expect(await store.people.verifyAudit()).toBeNull();
}

test("two processes on SQLite: of the two one is accepted, every time", async () => {
  await race(join(newDirectory(), "lyrebird.sqlite"), false);
});

describe.skipIf(!hasPostgres)(postgresTitle("two processes on PostgreSQL"), () => {
  let databases: Databases | null = null;
  beforeAll(async () => {
    databases = await openPostgres();
  });
  afterAll(async () => {
    await databases?.stop();
  });

  test("of the two one is accepted, every time", async () => {
    await race((await databases?.newDatabase()) ?? "", true);
  });
});
