// `lyrebird keys` and `lyrebird audit`, as their operator runs them beside a server.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_EMAIL } from "../../src/people/demo.ts";
import { auditOf, signUp } from "../../src/store/contract/people/people-records.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { priced } from "../support/prices.ts";
import { changeKeyRows, changeRows } from "../support/servers/database.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  runNode,
  seedStrategy,
  startGateway,
} from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TERMINAL_COLUMNS = 110;

const lyrebird = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/cli.ts", ...args], env);

/** The lines of a command that is expected to succeed and to say nothing else. */
function linesOf(args: readonly string[]): string[] {
  const { status, stdout, stderr } = lyrebird(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trimEnd().split("\n");
}

describe("beside a running server", () => {
  let gateway: GatewayProcess;
  let key: Credentials;

  beforeAll(async () => {
    gateway = await startGateway();
    key = gateway.seed();
  });

  afterAll(async () => {
    await gateway.stop();
  });

  const data = () => ["--data", gateway.dataDir];

  test("a key that is revoked is refused at its next request, and its strategy keeps its history", async () => {
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" };
    const another = gateway.seed();
    for (const each of [key, another]) {
      const place = () => signed(gateway.url, each, "POST", "/api/v3/order", order);
      expect((await priced(place)).status).toBe(200);
    }
    expect(linesOf(["keys", "revoke", key.apiKey, ...data()])).toEqual([
      `${key.apiKey} (strategy ${key.strategyId}) is revoked`,
    ]);
    for (const [method, path] of [
      ["GET", "/api/v3/account"],
      ["POST", "/api/v3/order"],
    ] as const) {
      expect(await signed(gateway.url, key, method, path, order)).toMatchObject({
        status: 401,
        body: { code: -2015, msg: "Invalid API-key, IP, or permissions for action." },
      });
    }
    expect((await signed(gateway.url, another, "GET", "/api/v3/account")).status).toBe(200);
    // Another key of the strategy finds everything as it was.
    changeKeyRows(
      gateway.dataDir,
      "UPDATE api_keys SET strategy_id = ? WHERE api_key = ?",
      key.strategyId,
      another.apiKey,
    );
    const history = await signed(gateway.url, another, "GET", "/api/v3/allOrders", { symbol: "BTCUSDT" });
    expect(history.body).toMatchObject([{ orderId: 1, status: "FILLED" }]);
    const { body } = await signed(gateway.url, another, "GET", "/api/v3/account");
    expect(body.strategyId).toBe(key.strategyId);
  });

  test("a key that was revoked before stays so, which is said and is no error", () => {
    const revoke = ["keys", "revoke", gateway.seed().apiKey, ...data()];
    linesOf(revoke);
    const [first = ""] = linesOf(revoke);
    expect(first).toMatch(/^lyre_bot_[0-9a-f]{64} \(strategy [0-9a-f]{16}\) was revoked before, 20\S+Z$/);
    expect(linesOf(revoke)).toEqual([first]);
  });

  test("a key that there is not is said so, exit 1, and not repeated, since it may be a secret", () => {
    const { status, stdout, stderr } = lyrebird(["keys", "revoke", key.apiSecret, ...data()]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(`there is no such key in DATA_DIR ${gateway.dataDir} `);
    expect(stderr).not.toContain(key.apiSecret);
  });

  test("keys are listed with what they manage", () => {
    const fresh = gateway.seed("FUTURES");
    const [titles = "", ...rows] = linesOf(["keys", "list", ...data()]);
    expect(titles.split(/\s{2,}/)).toEqual([
      "KEY",
      "LABEL",
      "OWNER",
      "TYPE",
      "STRATEGY",
      "STRATEGY STATUS",
      "CREATED",
      "KEY STATUS",
    ]);
    const cells = rows.map((row) => row.split(/ {2,}/));
    expect(cells).toContainEqual([
      fresh.apiKey,
      "demo",
      DEMO_EMAIL,
      "futures",
      fresh.strategyId,
      "live",
      expect.stringMatching(ISO),
      "active",
    ]);
    changeRows(gateway.dataDir, "UPDATE strategies SET status = 'CLOSED' WHERE id = ?", fresh.strategyId);
    const closed = linesOf(["keys", "list", ...data()]).find((row) => row.startsWith(fresh.apiKey));
    expect(closed?.split(/ {2,}/).slice(5)).toEqual(["closed", expect.stringMatching(ISO), "active"]);
    const revoked = cells.find(([apiKey]) => apiKey === key.apiKey);
    expect(revoked?.at(-1)).toMatch(/^revoked \d{4}-\S+Z$/);
    // A column begins where its title does.
    for (const row of rows) expect(row.slice(titles.indexOf("STRATEGY") - 2)).toMatch(/^ {2}\S/);
  });

  test("keys are listed as one line of JSON each, and with nothing that a secret could be derived from", () => {
    const rows = linesOf(["keys", "list", "--json", ...data()]).map((line) => JSON.parse(line));
    expect(rows.find(({ apiKey }) => apiKey === key.apiKey)).toEqual({
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
      apiKey: key.apiKey,
      label: "demo",
      owner: DEMO_EMAIL,
      type: "SPOT",
      strategyId: key.strategyId,
      strategyStatus: "LIVE",
      createdAt: expect.stringMatching(ISO),
      revokedAt: expect.stringMatching(ISO),
    });
    // The demo's own strategy is the oldest.
    expect(rows.map(({ createdAt }) => createdAt)).toEqual(rows.map(({ createdAt }) => createdAt).sort());
  });

  test("a label and a key without a strategy are shown, and a label cannot control the terminal", () => {
    const { apiKey } = gateway.seed();
    const label = "my \u001b[31mred\u0007\nbot";
    changeRows(
      gateway.dataDir,
      "UPDATE api_keys SET label = ?, strategy_id = NULL WHERE api_key = ?",
      label,
      apiKey,
    );
    const row = linesOf(["keys", "list", ...data()]).find((line) => line.startsWith(apiKey));
    expect(row?.split(/ {2,}/).slice(1, 5)).toEqual(["my ?[31mred??bot", DEMO_EMAIL, "-", "-"]);
    const listed = linesOf(["keys", "list", "--json", ...data()]).map((line) => JSON.parse(line));
    expect(listed).toContainEqual(expect.objectContaining({ apiKey, label, strategyId: null, type: null }));
  });

  test("all of it is audited, and no secret is", () => {
    const { apiKey, apiSecret, strategyId } = gateway.seed();
    const revoke = ["keys", "revoke", apiKey, ...data()];
    for (const args of [revoke, revoke]) linesOf(args);
    const text = linesOf(["audit", ...data()]).filter((line) => line.includes(apiKey));
    expect(text.map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ["the command line", "KEY_CREATED", apiKey, `strategyId: ${strategyId}`],
      ["the command line", "KEY_REVOKED", apiKey],
    ]);
    const rows = linesOf(["audit", "--json", ...data()]).map((line) => JSON.parse(line));
    const record = {
      position: expect.any(Number),
      at: expect.stringMatching(ISO),
      who: { kind: "COMMAND_LINE", name: "the command line" },
      about: { kind: "KEY", id: expect.stringMatching(/^[0-9a-f]{16}$/), name: apiKey },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(rows.filter(({ about }) => about.name === apiKey)).toEqual([
      { ...record, what: "KEY_CREATED", details: { strategyId } },
      { ...record, what: "KEY_REVOKED", details: {} },
    ]);
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1));
    const stored = ["lyrebird.sqlite", "lyrebird.sqlite-wal"]
      .map((name) => readFileSync(join(gateway.dataDir, name), "latin1"))
      .join("");
    expect(stored).toContain("KEY_REVOKED");
    expect(stored).not.toContain(apiSecret);
  });

  test("people are named by their address, as owners of keys and in the audit", async () => {
    const { apiKey, strategyId } = gateway.seed();
    const store = await openSqliteStore(join(gateway.dataDir, "lyrebird.sqlite"));
    const ann = await signUp(store, "ann");
    await store.people.audit(auditOf("SIGNED_UP", ann));
    await store.close();
    const id = strategyId;
    changeKeyRows(gateway.dataDir, "UPDATE api_keys SET owner_id = ? WHERE strategy_id = ?", ann, id);
    const [row] = linesOf(["keys", "list", ...data()]).filter((line) => line.startsWith(apiKey));
    expect(row?.split(/ {2,}/)[2]).toBe("ann@example.com");
    const listed = linesOf(["keys", "list", "--json", ...data()]).map((line) => JSON.parse(line));
    expect(listed.find((each) => each.apiKey === apiKey)).toMatchObject({ owner: "ann@example.com" });
    const told = linesOf(["audit", ...data()]).find((line) => line.includes("ann@example.com"));
    expect(told?.split(/ {2,}/).slice(1)).toEqual(["ann@example.com", "SIGNED_UP", "ann@example.com"]);
  });
});

test("the audit is verified: whole as it was written, and where it is not", () => {
  const dataDir = newDirectory();
  const { apiKey } = seedStrategy(dataDir);
  linesOf(["keys", "revoke", apiKey, "--data", dataDir]);
  const verify = ["audit", "--verify", "--data", dataDir];
  const last = linesOf(["audit", "--json", "--data", dataDir])
    .map((line) => JSON.parse(line))
    .at(-1);
  expect(linesOf(verify)).toEqual([
    `the audit is whole: ${last.position} records, the last with the hash ${last.hash}`,
  ]);
  changeRows(dataDir, "UPDATE audit SET what = 'KEY_BOUND' WHERE position = 2");
  const { status, stdout, stderr } = lyrebird(verify);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("the audit is broken at record 2");
});

test("keys can be listed and revoked where the master key is kept elsewhere and out of the operator's reach", () => {
  const dataDir = newDirectory();
  const { apiKey } = seedStrategy(dataDir);
  const env = { MASTER_KEY_FILE: "/no/such/key", DATA_DIR: dataDir };
  expect(lyrebird(["keys", "list"], env)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(apiKey),
  });
  expect(lyrebird(["keys", "revoke", apiKey], env).status).toBe(0);
});

describe("the operator's commands", () => {
  test.each([
    [["--help"], ["seed", "keys list", "keys revoke <api key>", "audit", "--data"]],
    [
      ["keys", "list", "--help"],
      ["keys list", "--json", "--data"],
    ],
    [
      ["keys", "revoke", "-h"],
      ["keys revoke <api key>", "history"],
    ],
    [
      ["seed", "--help"],
      ["--type spot|futures", "apiSecret"],
    ],
    [
      ["audit", "--help"],
      ["--json", "--verify"],
    ],
    [
      ["receipt", "verify", "--help"],
      ["receipt verify <file>", "--tape", "wrong"],
    ],
    [
      ["restore", "--help"],
      ["restore <file>", "--keep-copies"],
    ],
  ])("%j says how to use it, in lines that fit a terminal", (args, words) => {
    const lines = linesOf(args);
    for (const word of words) expect(lines.join("\n")).toContain(word);
    expect(lines.filter((line) => line.length > TERMINAL_COLUMNS)).toEqual([]);
  });

  test.each<[string[], RegExp]>([
    [[], /which command/],
    [["keys"], /"keys"/],
    [["keys", "listing"], /"keys listing"/],
    [["keys", "list", "all"], /too many words: all/],
    [["keys", "revoke"], /one API key/],
    [["keys", "revoke", "a", "b"], /one API key/],
    [["keys", "list", "--type", "spot"], /keys list has no option --type/],
    [["seed", "--type", "spot", "--json"], /seed has no option --json/],
    [["audit", "--nonsense"], /--nonsense/],
    [["keys", "list", "--verify"], /keys list has no option --verify/],
  ])("%j is called wrongly, exit 2", (args, message) => {
    const { status, stdout, stderr } = lyrebird([...args, "--data", newDirectory()]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toContain("--help");
  });

  test.each([["keys", "list"], ["keys", "revoke", "x"], ["audit"]])(
    "%s %s %s creates nothing where there is no database, exit 2",
    (...args) => {
      const place = join(newDirectory(), "nothing");
      const { status, stderr } = lyrebird([...args.filter((arg) => arg !== undefined), "--data", place]);
      expect(status).toBe(2);
      expect(stderr).toContain(place);
      expect(existsSync(place)).toBe(false);
    },
  );

  test("what is no database is named", () => {
    const dataDir = newDirectory();
    writeFileSync(join(dataDir, "lyrebird.sqlite"), randomBytes(5_000));
    const { status, stderr } = lyrebird(["keys", "list", "--data", dataDir]);
    expect(status).toBe(1);
    expect(stderr).toContain("lyrebird.sqlite");
  });
});
