// `lyrebird master-key`, `keys revoke-all` and `operator create`, as their operator runs them beside a
// server.
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCredentials, sealCredentials } from "../../src/copy/credentials.ts";
import { LOOK_MS } from "../../src/keys/key-watch.ts";
import { readMasterKey } from "../../src/keys/master-key.ts";
import { open } from "../../src/keys/sealing.ts";
import { openForm, sealForm } from "../../src/people/kyc/sealed-forms.ts";
import { sealSeed } from "../../src/people/seeds.ts";
import { newPerson } from "../../src/people/testing/fixture.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../support/eventually.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  runNode,
  seedStrategy,
  startGateway,
} from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";

const SEED = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
const FORM = "what Ada is known by";
const CREDENTIALS = { apiKey: "Ada's key at a venue", apiSecret: "Ada's secret there" };

const lyrebird = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/cli.ts", ...args], env);

/** The output of a command that must succeed without any error message. */
function said(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = lyrebird(args, env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

async function withStore<Result>(dataDir: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore(join(dataDir, "lyrebird.sqlite"));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

describe("rotating the master key beside a running server", () => {
  let gateway: GatewayProcess;
  let old: Credentials;
  let fresh: Credentials;
  const data = () => ["--data", gateway.dataDir];
  const keyFile = () => join(gateway.dataDir, "master.key");
  const statusOf = async (key: Credentials) =>
    (await signed(gateway.url, key, "GET", "/api/v3/account")).status;
  const shown = () =>
    said(["master-key", "show", "--json", ...data()])
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  beforeAll(async () => {
    gateway = await startGateway({ env: { LOG_LEVEL: "info" } });
    old = gateway.seed();
    await withStore(gateway.dataDir, async (store) => {
      const { personId } = await newPerson(store, { email: "ada@example.com", createdAt: 1 });
      const master = readMasterKey(keyFile());
      await store.people.beginSecondFactor(personId, sealSeed(master, personId, SEED), 1);
      const about = { kind: "PERSON", id: personId } as const;
      await store.people.submitKyc(
        { submissionId: "one", personId, sealedForm: sealForm(master, "one", FORM), submittedAt: 1 },
        { who: { kind: "PERSON", personId }, what: "KYC_SUBMITTED", about, at: 1, details: {} },
      );
      await store.copying.connectAccount(
        {
          accountId: "at-a-venue",
          personId,
          type: "SPOT",
          venue: "https://venue.example.com",
          label: "Main",
          keyHint: "Ada's",
          sealed: sealCredentials(master, "at-a-venue", CREDENTIALS),
          status: "CONNECTED",
          failure: null,
          createdAt: 1,
          checkedAt: 1,
          disconnectedAt: null,
        },
        { who: { kind: "PERSON", personId }, what: "VENUE_ACCOUNT_CONNECTED", about, at: 1, details: {} },
        { liveMax: 1 },
      );
    });
  });

  afterAll(async () => {
    await gateway.kill();
  });

  test("old keys still work, new ones are made with the new version and work at once, seeds are resealed", async () => {
    expect(shown()).toEqual([
      { version: 1, status: "current", liveKeys: 3, seeds: 1, forms: 1, credentials: 1 },
    ]);
    const before = readFileSync(keyFile(), "utf8");
    const output = said(["master-key", "rotate", ...data()]);
    expect(output).toContain(`${keyFile()} has version 2 of the master key`);
    expect(output).toContain("Resealed: 1 seed, 1 identity form, credentials of 1 venue account.");
    expect(output).not.toMatch(/[0-9a-f]{64}/);
    const after = readFileSync(keyFile(), "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(after).toMatch(/^([0-9a-f]{64}\n){2}$/);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);

    fresh = gateway.seed();
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([200, 200]);
  });

  test("what was made and sealed is shown by version, and seeds, forms and credentials open", async () => {
    expect(shown()).toEqual([
      { version: 1, status: "old", liveKeys: 3, seeds: 0, forms: 0, credentials: 0 },
      { version: 2, status: "current", liveKeys: 1, seeds: 1, forms: 1, credentials: 1 },
    ]);
    await withStore(gateway.dataDir, async (store) => {
      const [{ personId, sealedSeed } = { personId: "", sealedSeed: "" }] =
        await store.people.listSecondFactors();
      const master = readMasterKey(keyFile());
      expect(open(master, { purpose: "totp seed", row: personId }, sealedSeed)).toBe(SEED);
      const form = await store.people.findKyc("one");
      expect(form === null ? null : openForm(master, form)).toBe(FORM);
      const [account] = await store.copying.listAccountsOf(personId);
      expect(openCredentials(master, "at-a-venue", account?.sealed ?? "")).toEqual(CREDENTIALS);
      expect(await store.people.verifyAudit()).toBeNull();
    });
  });

  test("the running server takes the version up, and so does one that is started again", async () => {
    await eventually(
      "the server makes keys with it too",
      () => gateway.output().includes("the master key was rotated"),
      { msMax: LOOK_MS * 4 },
    );

    await gateway.stop();
    gateway = await startGateway({ dataDir: gateway.dataDir });
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([200, 200]);
  });

  test("the keys of a version that has leaked are ended, though never those of the current one", async () => {
    const current = lyrebird(["keys", "revoke-all", "--master-version", "2", ...data()]);
    expect(current.status).toBe(2);
    expect(current.stderr).toContain("the current one");
    expect(said(["keys", "revoke-all", "--master-version", "1", ...data()])).toContain(
      "3 keys of version 1 of the master key are revoked",
    );
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([401, 200]);
    expect(said(["keys", "revoke-all", "--master-version", "1", ...data()])).toContain("0 keys");
    expect(said(["audit", "--json", ...data()])).toContain("MASTER_KEY_ROTATED");
  });

  test("a server does not start with a version that is not the database's", async () => {
    await gateway.stop();
    const lines = readFileSync(keyFile(), "utf8");
    const wrong = `${lines.split("\n")[0]}\n${randomBytes(32).toString("hex")}\n`;
    writeFileSync(keyFile(), wrong);
    await expect(startGateway({ dataDir: gateway.dataDir })).rejects.toThrow(
      /version 2 of the master key is not the one/,
    );
    expect(lyrebird(["master-key", "rotate", ...data()])).toMatchObject({ status: 1, stdout: "" });
    expect(readFileSync(keyFile(), "utf8")).toBe(wrong);
    // An old copy lacks what keys were made with: that is shown.
    writeFileSync(keyFile(), `${lines.split("\n")[0]}\n`);
    expect(shown()).toMatchObject([{ version: 1 }, { version: 2, status: "missing", liveKeys: 1 }]);
    const older = /ends with version 1, and the database has been used with version 2: copy the file/;
    await expect(startGateway({ dataDir: gateway.dataDir })).rejects.toThrow(older);
    const unused = lyrebird(["seed", "--type", "spot", ...data()]);
    expect(unused).toMatchObject({ status: 1, stdout: "" });
    expect(unused.stderr).toMatch(older);
    writeFileSync(keyFile(), lines);
    gateway = await startGateway({ dataDir: gateway.dataDir });
  });
});

test("with MASTER_KEY_FILE that file is rotated, and the data directory gets none", () => {
  const dataDir = newDirectory();
  seedStrategy(dataDir);
  const file = join(newDirectory(), "key");
  writeFileSync(file, readFileSync(join(dataDir, "master.key")), { mode: 0o600 });
  said(["master-key", "rotate", "--data", dataDir], { MASTER_KEY_FILE: file });
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(2);
  expect(readFileSync(join(dataDir, "master.key"), "utf8").trim().split("\n")).toHaveLength(1);
  chmodSync(file, 0o644);
  const open = lyrebird(["master-key", "rotate", "--data", dataDir], { MASTER_KEY_FILE: file });
  expect(open.status).toBe(2);
  expect(open.stderr).toContain("chmod 600");
});

test("nothing is made where there is no database, nor done with options that are wrong", () => {
  const dataDir = newDirectory();
  for (const command of [
    ["master-key", "rotate"],
    ["master-key", "show"],
    ["keys", "revoke-all", "--master-version", "1"],
    ["operator", "create", "--email", "ops@example.com"],
  ]) {
    const { status, stdout, stderr } = lyrebird([...command, "--data", dataDir]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("holds no database");
  }
  for (const wrong of [
    ["keys", "revoke-all"],
    ["keys", "revoke-all", "--master-version", "one"],
    ["keys", "revoke-all", "--master-version", "0"],
    ["operator", "create"],
    ["operator", "create", "--email", "no address"],
    ["operator", "create", "--email", "ops@example.com", "--name", " "],
    ["operator", "create", "--email", "ops@example.com", "--promote", "--name", "Ops"],
    ["master-key", "rotate", "--email", "ops@example.com"],
  ]) {
    expect(lyrebird([...wrong, "--data", dataDir])).toMatchObject({ status: 2, stdout: "" });
  }
});
