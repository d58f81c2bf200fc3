// `lyrebird operator create` and `operator remove`: operators are made on the machine alone.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { verify } from "@node-rs/argon2";
import { beforeAll, expect, test } from "vitest";
import type { Person } from "../../src/domain/person.ts";
import { newPerson } from "../../src/people/testing/fixture.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { openBeside } from "../support/servers/database.ts";
import { newDirectory, runNode, seedStrategy } from "../support/servers/gateway.ts";

const ROOT = join(import.meta.dirname, "../..");

let dataDir = "";
beforeAll(() => {
  dataDir = newDirectory();
  seedStrategy(dataDir);
});

let addresses = 0;
/** A new address. */
function newEmail(): string {
  addresses += 1;
  return `ops-${addresses}@example.com`;
}

const operator = (command: "create" | "remove", ...args: string[]) =>
  runNode(["src/cli.ts", "operator", command, ...args, "--data", dataDir]);
const create = (...args: string[]) => operator("create", ...args);

function createWithPassword(password: string, ...args: string[]) {
  const command = ["src/cli.ts", "operator", "create", "--password-stdin", ...args, "--data", dataDir];
  return spawnSync(process.execPath, command, { cwd: ROOT, encoding: "utf8", input: password });
}

async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore(join(dataDir, "lyrebird.sqlite"));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Signs a person in. */
async function newSession({ personId }: Pick<Person, "personId">): Promise<void> {
  const createdAt = Date.now();
  const session = {
    sessionId: `session of ${personId}`,
    personId,
    tokenHash: `hash of ${personId}`,
    address: "192.0.2.7",
    userAgent: "a browser",
    createdAt,
    expiresAt: createdAt + 3_600_000,
  };
  await withStore((store) => store.people.createSession(session, 30));
}

const countSessions = ({ personId }: Pick<Person, "personId">) =>
  withStore(async (store) => {
    return (await store.people.listSessions(personId, { expiresAfter: 0, usedAfter: 0 })).length;
  });

const find = (email: string) => withStore((store) => store.people.findPersonByEmail(email));

/** Whether a password is the one that a person signs in with. */
async function isPasswordOf({ personId }: Pick<Person, "personId">, password: string): Promise<boolean> {
  const hash = await withStore((store) => store.people.findPasswordHash(personId));
  return await verify(hash ?? "", password);
}

test("an operator is made, verified, with a password that is printed once and kept as a hash; it is audited", async () => {
  const email = newEmail();
  const { status, stdout, stderr } = create("--email", ` ${email.toUpperCase()} `, "--name", "Olga");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const password = /^password: (\S{24}) /m.exec(stdout)?.[1] ?? "";
  const person = await find(email);
  expect(person).toMatchObject({
    email,
    name: "Olga",
    role: "OPERATOR",
    isEmailVerified: true,
    kyc: "NONE",
  });
  expect(await isPasswordOf(person as Person, password)).toBe(true);
  expect(await isPasswordOf(person as Person, `${password}x`)).toBe(false);
  const audit = await withStore((store) => store.people.listAudit({ limit: 1 }));
  expect(audit).toMatchObject([
    {
      who: { kind: "COMMAND_LINE" },
      what: "OPERATOR_CREATED",
      about: { kind: "PERSON", id: person?.personId },
      details: { email },
    },
  ]);
  expect(JSON.stringify(audit)).not.toContain(password);
});

test("a password from standard input is taken as it is, is not printed, and must be fit", async () => {
  const email = newEmail();
  const given = createWithPassword("correct horse battery\n", "--email", email);
  expect(given).toMatchObject({ status: 0, stderr: "", stdout: `${email} is an operator\n` });
  expect(await isPasswordOf((await find(email)) as Person, "correct horse battery")).toBe(true);
  for (const unfit of ["", "short\n", "other@example.com\n"]) {
    const refused = createWithPassword(unfit, "--email", "other@example.com");
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).not.toContain("short");
  }
  expect(await find("other@example.com")).toBeNull();
});

test("an address that is taken is refused, and nothing of it is changed", async () => {
  const email = newEmail();
  const there = await withStore((store) => newPerson(store, { email, createdAt: 1 }));
  const refused = create("--email", email);
  expect(refused).toMatchObject({ status: 1, stdout: "" });
  expect(refused.stderr).toContain("--promote");
  expect(await find(email)).toEqual(there);
});

test("an existing person is promoted on request: name and password stay, sessions end", async () => {
  const email = newEmail();
  const there = await withStore((store) => newPerson(store, { email, name: "Ada", createdAt: 1 }));
  await newSession(there);
  expect(create("--email", email, "--promote")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: `${email} is an operator\n`,
  });
  expect(await find(email)).toEqual({ ...there, role: "OPERATOR" });
  expect(await countSessions(there)).toBe(0);
  await newSession(there);
  expect(create("--email", email, "--promote").stdout).toContain("before");
  const audit = await withStore((store) => store.people.listAudit({ personId: there.personId, limit: 10 }));
  expect(audit.map(({ what }) => what)).toEqual(["OPERATOR_CREATED", "SIGNED_UP"]);
  // Nothing was changed the second time.
  expect(await countSessions(there)).toBe(1);
});

test("a removed operator is an ordinary person again, signed out, which is audited; once", async () => {
  const email = newEmail();
  expect(create("--email", email, "--name", "Olga").status).toBe(0);
  const there = (await find(email)) as Person;
  await newSession(there);
  const remove = (address: string) => operator("remove", "--email", address);
  expect(remove(` ${email.toUpperCase()}`)).toMatchObject({
    status: 0,
    stderr: "",
    stdout: `${email} is no operator any more\n`,
  });
  expect(await find(email)).toEqual({ ...there, role: "PERSON" });
  expect(await countSessions(there)).toBe(0);
  expect(remove(email)).toMatchObject({ status: 0, stdout: `${email} was no operator before\n` });
  const audit = await withStore((store) => store.people.listAudit({ personId: there.personId, limit: 10 }));
  expect(audit).toMatchObject([
    { what: "OPERATOR_REMOVED", who: { kind: "COMMAND_LINE" }, details: { email } },
    { what: "OPERATOR_CREATED" },
  ]);
  const nobody = remove("nobody@example.com");
  expect(nobody).toMatchObject({ status: 1, stdout: "" });
  expect(nobody.stderr).toContain("nobody's address");
  expect(operator("remove").status).toBe(2);
  expect(create("--email", email, "--promote")).toMatchObject({ status: 0 });
});

test("no person is promoted who does not exist, whose address is not verified, or who has strategies or keys", async () => {
  const trader = await withStore(async (store) => {
    const { personId } = await newPerson(store, { email: "trader@example.com", createdAt: 1 });
    await store.people.adoptStrategies(personId);
    await newPerson(store, { email: "eve@example.com", createdAt: 1 });
    using database = openBeside(dataDir);
    database.exec("UPDATE people SET email_verified = 0 WHERE email = 'eve@example.com'");
    const { personId: ownerId } = await newPerson(store, { email: "keys@example.com", createdAt: 2 });
    const key = { keyId: "loose", apiKey: "lyre_bot_loose", ownerId, strategyId: null, label: "loose" };
    await store.people.createKey(
      { ...key, salt: "00", masterVersion: 1, createdAt: 2, revokedAt: null },
      {
        who: { kind: "PERSON", personId: ownerId },
        what: "KEY_CREATED",
        about: { kind: "KEY", id: key.keyId },
        at: 2,
        details: {},
      },
    );
    return personId;
  });
  for (const [email, reason] of [
    ["nobody@example.com", "nobody's address"],
    ["trader@example.com", "has strategies"],
    ["eve@example.com", "not been verified"],
    ["keys@example.com", "has live keys"],
  ] as const) {
    const refused = create("--email", email, "--promote");
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain(reason);
  }
  expect((await withStore((store) => store.people.findPerson(trader)))?.role).toBe("PERSON");
  expect((await find("eve@example.com"))?.role).toBe("PERSON");
  expect((await find("keys@example.com"))?.role).toBe("PERSON");
});

test("of two commands at once one makes the operator", async () => {
  const email = newEmail();
  const outcomes = await withStore(async (store) => {
    const { makePerson } = await import("../../src/people/made-people.ts");
    const made = { email, name: "Olga", role: "OPERATOR", profile: "COPIER", kyc: "NONE" } as const;
    const terms = { who: { kind: "COMMAND_LINE" }, what: "OPERATOR_CREATED", at: 1 } as const;
    const make = (password: string) => makePerson(store.people, made, { password, ...terms });
    return await Promise.all([make("correct horse one"), make("correct horse two")]);
  });
  expect(outcomes.filter((personId) => personId !== null)).toHaveLength(1);
});
