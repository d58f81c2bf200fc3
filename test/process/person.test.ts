// `lyrebird person …`: an operator's changes of a person's account on the machine.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { newPerson } from "../../src/people/testing/fixture.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { newDirectory, runNode, seedStrategy } from "../support/servers/gateway.ts";

const ADA = "ada@example.com";
let dataDir = "";
beforeAll(async () => {
  dataDir = newDirectory();
  seedStrategy(dataDir);
  await withStore((store) => newPerson(store, { email: ADA, createdAt: 1_000 }));
});

const person = (command: string, ...args: string[]) =>
  runNode(["src/cli.ts", "person", command, ...args, "--data", dataDir]);

async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore(join(dataDir, "lyrebird.sqlite"));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test("a person is locked, shown, unlocked and closed, each audited as done by the command line", async () => {
  expect(person("lock", "--email", ADA)).toMatchObject({ status: 2 });
  expect(person("lock", "--email", ` ${ADA.toUpperCase()} `, "--reason", "stolen laptop")).toMatchObject({
    status: 0,
    stdout: `${ADA} is locked\n`,
  });
  expect(person("lock", "--email", ADA, "--reason", "again").stdout).toBe(`${ADA} was locked before\n`);
  expect(person("show", "--email", ADA).stdout).toMatch(/locked since .*\n.*live keys: 0/);
  expect(person("unlock", "--email", ADA).stdout).toBe(`${ADA} is unlocked\n`);
  expect(person("end-sessions", "--email", ADA).stdout).toBe(`${ADA}: 0 sessions ended\n`);
  expect(person("reset-second-factor", "--email", ADA).stdout).toBe(`${ADA} had no second factor\n`);

  const asked = person("close", "--email", ADA);
  expect({ status: asked.status, stdout: asked.stdout }).toEqual({ status: 2, stdout: "" });
  expect(asked.stderr).toContain(
    "would close the account of ada@example.com for good, with 0 sessions, 0 live keys",
  );
  expect(await withStore(({ people }) => people.findPersonByEmail(ADA))).not.toBe(null);
  expect(person("close", "--email", ADA, "--yes")).toMatchObject({ status: 0 });
  expect(await withStore(({ people }) => people.findPersonByEmail(ADA))).toBe(null);

  const records = await withStore(({ people }) => people.listAudit({ limit: 3 }));
  expect(records.map(({ what, who }) => [what, who.kind])).toEqual([
    ["ACCOUNT_CLOSED", "COMMAND_LINE"],
    ["PERSON_UNLOCKED", "COMMAND_LINE"],
    ["PERSON_LOCKED", "COMMAND_LINE"],
  ]);
});

test("an unknown address is reported, and nothing is done", () => {
  const { status, stderr } = person("lock", "--email", "nobody@example.com", "--reason", "x");
  expect(status).toBe(1);
  expect(stderr).toContain("is nobody's address");
  expect(person("lock", "--reason", "x")).toMatchObject({ status: 2 });
});
