// The program as its operator meets it: settings that are wrong, what is printed and when, one server a data directory,
// and an end that loses nothing.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ConfigError, readServeConfig } from "../../src/config.ts";
import { holdCommits } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import {
  type GatewayOptions,
  type GatewayProcess,
  newDirectory,
  runNode,
  startGateway,
} from "../support/gateway.ts";
import { send, signed } from "../support/signed-client.ts";

const PROJECT_MODULES = join(import.meta.dirname, "../../node_modules");

/** A gateway that ends with the test. */
async function gatewayOfTest(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const gateway = await startGateway(options);
  onTestFinished(async () => {
    await gateway.kill();
  });
  return gateway;
}

function newFile(text: string): string {
  const file = join(newDirectory(), "file");
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const newMasterKey = () => newFile(`${randomBytes(32).toString("hex")}\n`);

/** Runs a server that is expected to end by itself. */
const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/main.ts", "--port", "0", "--data", newDirectory(), ...args], env);

const lyrebird = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/cli.ts", ...args], env);

const STACK = /\n\s+at /;

describe("settings:", () => {
  const URLS = {
    UPSTREAM_SPOT_REST_URL: "http://127.0.0.1:1",
    UPSTREAM_SPOT_WS_URL: "ws://127.0.0.1:1",
    UPSTREAM_FUTURES_REST_URL: "http://127.0.0.1:1",
  };
  const ALL_URLS = { ...URLS, UPSTREAM_FUTURES_WS_URL: "ws://127.0.0.1:1" };

  test("--help prints how to use it and exits 0", () => {
    const { status, stdout, stderr } = serve(["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const name of [
      "--port",
      "--data",
      "--market",
      "MASTER_KEY_FILE",
      "TAPE_FILE",
      ...Object.keys(ALL_URLS),
    ]) {
      expect(stdout).toContain(name);
    }
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ["an option that there is not", ["--nonsense"], {}, /--nonsense/],
    ["a tape without its file", ["--market", "tape"], {}, /TAPE_FILE/],
    ["three of the four upstream addresses", [], URLS, /UPSTREAM_.*four/],
    ["a port that is no number", ["--port", "abc"], {}, /--port .*"abc"/],
  ])("the program names %s and exits 2", (_what, args, env, message) => {
    const { status, stdout, stderr } = serve(args, env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toContain("--help");
    expect(stderr).not.toMatch(STACK);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ["a word that is no option", ["serve"], {}, /serve/],
    ["a port out of range", ["--port", "65536"], {}, /--port .*"65536"/],
    ["a port below 0", ["--port=-1"], {}, /--port .*"-1"/],
    ["a port that is no whole number", ["--port", "80.5"], {}, /--port .*"80.5"/],
    ["a port that is empty", ["--port", ""], {}, /--port/],
    ["a port of the environment that is no number", [], { PORT: "http" }, /^PORT .*"http"/],
    ["a host that is empty", ["--host", ""], {}, /--host/],
    ["a data directory that is empty", ["--data", ""], {}, /--data/],
    ["a market that there is not", ["--market", "nowhere"], {}, /--market .*sim, live, tape.*"nowhere"/],
    ["a market of the environment that there is not", [], { MARKET: "nowhere" }, /^MARKET .*"nowhere"/],
    ["a speed of nothing", [], { TAPE_SPEED: "0" }, /TAPE_SPEED/],
    ["a seed that is no number", [], { SIM_SEED: "x" }, /SIM_SEED/],
    ["one of the four upstream addresses", [], { UPSTREAM_SPOT_WS_URL: "ws://x" }, /UPSTREAM_.*four/],
    [
      "an upstream address that is none",
      [],
      { ...ALL_URLS, UPSTREAM_SPOT_WS_URL: "x" },
      /UPSTREAM_SPOT_WS_URL/,
    ],
    ["upstream addresses and the simulated market", ["--market", "sim"], ALL_URLS, /UPSTREAM_.*MARKET/],
    ["upstream addresses and a tape", [], { ...ALL_URLS, MARKET: "tape" }, /UPSTREAM_.*MARKET/],
    ["a public address that is none", [], { PUBLIC_URL: "ftp://x" }, /PUBLIC_URL/],
    [
      "a public address with a path",
      [],
      { PUBLIC_URL: "https://example.org/lyrebird" },
      /PUBLIC_URL .*set it to https:\/\/example\.org, /,
    ],
    ["a public address with a password", [], { PUBLIC_URL: "https://me:x@example.org" }, /PUBLIC_URL/],
    ["a log level that there is not", [], { LOG_LEVEL: "loud" }, /LOG_LEVEL .*"loud"/],
    ["a database of another kind", [], { DATABASE_URL: "mysql://x/y" }, /DATABASE_URL .*postgres:/],
    ["a database address that is none", [], { DATABASE_URL: "localhost" }, /DATABASE_URL .*postgres:/],
    ["a certificate without its key", [], { TLS_CERT: "cert.pem" }, /TLS_CERT.*TLS_KEY/],
    ["a mail server without a sender", [], { SMTP_URL: "smtp://mail.example" }, /SMTP_URL.*MAIL_FROM/],
    ["a sender without a mail server", [], { MAIL_FROM: "me@example.org" }, /MAIL_FROM.*SMTP_URL/],
    ["a sender that is no address", [], { SMTP_URL: "smtp://h", MAIL_FROM: "me" }, /MAIL_FROM .*"me"/],
    ["more proxies than there can be", [], { TRUSTED_PROXY_HOPS: "11" }, /TRUSTED_PROXY_HOPS .*"11"/],
    ["proxies that are no number", [], { TRUSTED_PROXY_HOPS: "true" }, /TRUSTED_PROXY_HOPS .*"true"/],
  ])("%s is named", (_what, args, env, message) => {
    const read = () => readServeConfig(args, env);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
  });

  test.each([
    "postgres://me:open#sesame@host/name",
    "postgres://me:open/sesame@host/name",
    "postgres://me:1/sesame@host/name",
    "postgres://me:1?sesame@host/name",
    "mysql://me:sesame@host/name",
  ])("a password that would be cut in two, or that belongs elsewhere, is not repeated: %s", (url) => {
    const error = catchError(() => readServeConfig([], { DATABASE_URL: url }));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(/DATABASE_URL is not a PostgreSQL address/);
    expect(String(error)).not.toMatch(/sesame/);
  });

  test.each([
    { SMTP_URL: "smtp://me:open/sesame@host", MAIL_FROM: "me@example.org" },
    { SMTP_URL: "smtp://me:open#sesame@host", MAIL_FROM: "me@example.org" },
    { SMTP_URL: "http://me:sesame@host", MAIL_FROM: "me@example.org" },
    { METRICS_TOKEN: "sesame" },
    { METRICS_TOKEN: "sesame with spaces in it" },
    { PUBLIC_URL: "https://me:sesame@example.org" },
  ])("neither is any other secret: %j", (env) => {
    const error = catchError(() => readServeConfig([], env));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(/SMTP_URL is not the address|METRICS_TOKEN is|PUBLIC_URL is/);
    expect(String(error)).not.toMatch(/sesame/);
  });

  test("mails and the public address are read as they are meant", () => {
    const mail = { smtpUrl: "smtps://me:open%40sesame@mail.example:465", from: "Lyrebird <me@example.org>" };
    const env = { SMTP_URL: mail.smtpUrl, MAIL_FROM: mail.from, PUBLIC_URL: "https://lyrebird.example/" };
    expect(readServeConfig([], env)).toMatchObject({ mail, publicUrl: "https://lyrebird.example" });
    expect(readServeConfig([], {})).toMatchObject({ mail: null, publicUrl: null, metricsToken: null });
  });

  test.each([
    "postgres://me:open%40sesame@host:5433/name",
    "postgresql://me@host/name?sslmode=verify-full",
    "postgres:///name?host=/var/run/postgresql",
  ])("a database is named by an address as other programs take it: %s", (url) => {
    expect(readServeConfig([], { DATABASE_URL: url })).toMatchObject({ databaseUrl: url });
    expect(readServeConfig([], {})).toMatchObject({ databaseUrl: null });
  });

  test("an option beats the environment, and an empty variable is none", () => {
    expect(
      readServeConfig(["--port", "81"], { PORT: "82", HOST: "", DATA_DIR: "/d", MARKET: "" }),
    ).toMatchObject({
      port: 81,
      host: "127.0.0.1",
      dataDir: "/d",
      market: { kind: "sim", seed: 1 },
    });
    expect(readServeConfig([], ALL_URLS)).toMatchObject({ market: { kind: "live" } });
  });

  test("the operator's command names what is wrong with it in the same way", () => {
    const help = lyrebird(["--help"]);
    expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("seed") });
    for (const [args, message] of [
      [["sow"], /"sow"/],
      [["seed", "--type", "options"], /--type .*"options"/],
    ] as const) {
      const { status, stdout, stderr } = lyrebird(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
  });

  test("a tape that cannot be read is named, and the exit code is 2", () => {
    const { status, stderr } = serve(["--market", "tape"], { TAPE_FILE: "/no/such/tape" });
    expect(status).toBe(2);
    expect(stderr).toContain("/no/such/tape");
    expect(stderr).not.toMatch(STACK);
  });
});

describe("a demo data directory", () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway();
  });

  afterAll(async () => {
    await gateway.stop();
  });

  const keyOf = (output: string) => /^ {2}apiKey {2}(lyre_bot_[0-9a-f]{64})$/m.exec(output)?.[1];
  const secretOf = (output: string) => /^ {2}secret {2}([0-9a-f]{64})$/m.exec(output)?.[1];

  function printedCredentials(output: string) {
    const [apiKey, apiSecret] = [keyOf(output), secretOf(output)];
    if (apiKey === undefined || apiSecret === undefined) throw new Error(`no keys were printed:\n${output}`);
    return { apiKey, apiSecret };
  }

  test("gets a strategy of 200 USDT at its first start, and its keys are printed and work", async () => {
    await eventually("the keys are printed", () => secretOf(gateway.output()) !== undefined);
    const answer = await signed(gateway.url, printedCredentials(gateway.output()), "GET", "/api/v3/account");
    expect(answer.body.balances).toEqual([{ asset: "USDT", free: "200.00000000", locked: "0.00000000" }]);
  });

  test("comes with lines for ccxt that run as they are printed, for spot and for futures", async () => {
    const printed = () =>
      [...gateway.output().matchAll(/^ {2}import ccxt[\s\S]*?createOrder.*$/gm)].map(String);
    await eventually("the lines are printed", () => printed().length === 2);
    // A directory that has the project's packages, as a reader's own project would.
    const directory = newDirectory();
    symlinkSync(PROJECT_MODULES, join(directory, "node_modules"), "dir");
    onTestFinished(() => rmSync(join(directory, "node_modules")));
    for (const [index, lines] of printed().entries()) {
      const file = join(directory, `bot-${index}.mjs`);
      writeFileSync(file, lines);
      const { status, stdout, stderr } = runNode([file]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("closed");
    }
    const [spot, futures] = [...gateway.output().matchAll(/apiKey {2}(\S+)\s+secret {2}(\S+)/g)].map(
      ([, apiKey = "", apiSecret = ""]) => ({ apiKey, apiSecret }),
    );
    if (spot === undefined || futures === undefined) throw new Error("two keys are printed");
    const symbol = "BTCUSDT";
    const trades = await signed(gateway.url, spot, "GET", "/api/v3/myTrades", { symbol });
    expect(trades.body).toMatchObject([{ qty: "0.00100000", isBuyer: true }]);
    const fills = await signed(gateway.url, futures, "GET", "/fapi/v1/userTrades", { symbol });
    expect(fills.body).toMatchObject([{ qty: "0.002", buyer: true }]);
  });

  test("has one server: a second one is refused, exit 1, and the first goes on", async () => {
    const second = runNode(["src/main.ts", "--port", "0", "--data", gateway.dataDir]);
    expect(second).toMatchObject({ status: 1, stdout: "" });
    expect(second.stderr).toMatch(/another server is running on .*--data/);
    expect(second.stderr).not.toMatch(STACK);
    expect((await send(gateway.url, "GET", "/api/v3/time")).status).toBe(200);
  });

  test("cannot be served on a port that is taken, exit 1, and the port is named", async () => {
    const { port } = new URL(gateway.url);
    const dataDir = newDirectory();
    const { status, stdout, stderr } = serve(["--port", port, "--data", dataDir]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`port ${port} is taken.*--port`));
    expect(stderr).not.toMatch(STACK);
    // The start that failed has not used up the keys, which are shown once.
    const next = await startGateway({ dataDir });
    await eventually("the keys are printed", () => /apiKey {2}lyre_bot_/.test(next.output()));
    await next.stop();
  });

  test("takes strategies from the operator's command beside the running server, at once", async () => {
    const { status, stdout, stderr } = lyrebird(["seed", "--type", "spot", "--data", gateway.dataDir]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const seeded = JSON.parse(stdout);
    expect(seeded).toEqual({
      strategyId: expect.any(String),
      type: "SPOT",
      apiKey: expect.stringMatching(/^lyre_bot_[0-9a-f]{64}$/),
      apiSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { body } = await signed(gateway.url, seeded, "GET", "/api/v3/account");
    expect(body).toMatchObject({ strategyId: seeded.strategyId, balances: [{ asset: "USDT" }] });
    const futures = gateway.seed("futures");
    expect((await signed(gateway.url, futures, "GET", "/api/v3/account")).body.code).toBe(-2010);
  });

  test("holds no secret in its database, and its master key is its owner's alone", () => {
    const { apiKey, apiSecret } = printedCredentials(gateway.output());
    const rows = ["lyrebird.sqlite", "lyrebird.sqlite-wal"]
      .map((name) => readFileSync(join(gateway.dataDir, name), "latin1"))
      .join("");
    expect(rows).toContain(apiKey);
    expect(rows).not.toContain(apiSecret);
    expect(statSync(join(gateway.dataDir, "master.key")).mode & 0o777).toBe(0o600);
  });

  test("is served again without keys being printed, and the old ones work", async () => {
    const { dataDir } = gateway;
    const credentials = printedCredentials(gateway.output());
    await gateway.stop();
    gateway = await startGateway({ dataDir });
    const { status } = await signed(gateway.url, credentials, "GET", "/api/v3/account");
    expect(status).toBe(200);
    expect(gateway.output()).not.toMatch(/lyre_bot_|secret/);
  });
});

describe("a data directory that was seeded before its first server", () => {
  let dataDir: string;
  let seeded: ReturnType<typeof lyrebird>;

  beforeAll(() => {
    dataDir = join(newDirectory(), "made", "on", "demand");
    seeded = lyrebird(["seed", "--type", "spot", "--data", dataDir]);
  });

  test("is refused with a master key that is not its own, exit 1", () => {
    const env = { MASTER_KEY_FILE: newMasterKey() };
    const { status, stdout, stderr } = runNode(["src/main.ts", "--port", "0", "--data", dataDir], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(env.MASTER_KEY_FILE);
    expect(stderr).not.toMatch(STACK);
  });

  test("has its strategy, and its first server prints no keys", async () => {
    const gateway = await gatewayOfTest({ dataDir });
    const credentials = JSON.parse(seeded.stdout);
    expect((await signed(gateway.url, credentials, "GET", "/api/v3/account")).status).toBe(200);
    expect(gateway.output()).not.toContain("lyre_bot_");
  });
});

describe("a master key file", () => {
  test("of one's own means no demo strategy, and no key in the data directory", async () => {
    const gateway = await gatewayOfTest({ env: { MASTER_KEY_FILE: newMasterKey() } });
    expect((await send(gateway.url, "GET", "/api/v3/time")).status).toBe(200);
    expect(gateway.output()).not.toContain("lyre_bot_");
    expect(() => statSync(join(gateway.dataDir, "master.key"))).toThrow("ENOENT");
  });

  test("of one's own means that seed refuses", () => {
    const env = { MASTER_KEY_FILE: newMasterKey() };
    const { status, stdout, stderr } = lyrebird(["seed", "--type", "spot", "--data", newDirectory()], env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("MASTER_KEY_FILE");
  });

  test("that is not 64 hex characters is refused with the way to make one", () => {
    const file = newFile("not a key\n");
    const { status, stderr } = serve([], { MASTER_KEY_FILE: file });
    expect(status).toBe(2);
    expect(stderr).toContain(file);
    expect(stderr).toContain("openssl rand -hex 32");
  });

  test("that others may read is refused with what to do", () => {
    const file = newMasterKey();
    chmodSync(file, 0o644);
    const { status, stderr } = serve([], { MASTER_KEY_FILE: file });
    expect(status).toBe(2);
    expect(stderr).toContain("chmod 600");
  });

  test("that does not exist is named with its setting", () => {
    const { status, stderr } = serve([], { MASTER_KEY_FILE: "/no/such/key" });
    expect(status).toBe(2);
    expect(stderr).toContain("/no/such/key");
    expect(stderr).toContain("MASTER_KEY_FILE");
  });
});

test("a database whose master key is missing is refused, and gets no other", async () => {
  const gateway = await gatewayOfTest();
  await gateway.stop();
  rmSync(join(gateway.dataDir, "master.key"));
  for (const { status, stderr } of [
    serve(["--data", gateway.dataDir]),
    runNode(["src/cli.ts", "seed", "--type", "spot", "--data", gateway.dataDir]),
  ]) {
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining(
        "has a database but no master.key: set MASTER_KEY_FILE, or restore the file",
      ),
    });
  }
  expect(existsSync(join(gateway.dataDir, "master.key"))).toBe(false);
});

test("SIGHUP ends a server without HTTPS in order, and the log says so", async () => {
  const gateway = await gatewayOfTest({ env: { LOG_LEVEL: "info" } });
  const exited = once(gateway.process, "exit");
  gateway.process.kill("SIGHUP");
  expect(await exited).toEqual([0, null]);
  await eventually("the end is logged", () => /"signal":"SIGHUP","msg":"closing"/.test(gateway.output()));
});

describe("SIGTERM", () => {
  const END_MS_MAX = 5_000;

  async function expectToEndInTime(gateway: GatewayProcess): Promise<void> {
    const askedAt = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(Date.now() - askedAt).toBeLessThan(END_MS_MAX);
  }

  test("ends a server with exit code 0 from the moment on at which it says that it listens", async () => {
    await expectToEndInTime(await gatewayOfTest());
  });

  test("ends a server with open connections: kept alive, silent, and in the middle of a request", async () => {
    const gateway = await gatewayOfTest();
    const { hostname, port } = new URL(gateway.url);
    const agent = new Agent({ keepAlive: true });
    await new Promise((resolve, reject) => {
      get(`${gateway.url}/api/v3/time`, { agent }, (response) => response.resume().on("end", resolve)).on(
        "error",
        reject,
      );
    });
    const silent = connect(Number(port), hostname);
    const halfWay = connect(Number(port), hostname);
    for (const socket of [silent, halfWay]) socket.on("error", () => {});
    await new Promise((resolve) => {
      halfWay.write("POST /api/v3/order HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsymbol=", resolve);
    });
    gateway.process.kill("SIGTERM");
    // A second one changes nothing.
    await expectToEndInTime(gateway);
    agent.destroy();
    silent.destroy();
    halfWay.destroy();
  });

  test("lets what had been accepted be answered before the server ends", async () => {
    const gateway = await gatewayOfTest();
    const strategy = gateway.seed();
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" };
    // An order costs a unit of weight, a look at the open orders six.
    const unitsOverSixes = async () => {
      const { headers } = await signed(gateway.url, strategy, "GET", "/api/v3/openOrders");
      return Number(headers.get("x-mbx-used-weight-1m")) % 6;
    };
    expect(await unitsOverSixes()).toBe(0);
    const held = holdCommits(gateway.dataDir);
    const answer = signed(gateway.url, strategy, "POST", "/api/v3/order", order).then(
      ({ status, body }) => ({ status, state: body.status }),
      (error: Error) => `no answer: ${error.message}`,
    );
    await eventually("the order was accepted", async () => (await unitsOverSixes()) !== 0);
    const ended = gateway.stop();
    await eventually("the server takes no new connections", () =>
      send(gateway.url, "GET", "/api/v3/time").then(
        () => false,
        () => true,
      ),
    );
    held.release();
    expect(await ended).toBe(0);
    expect(await answer).toEqual({ status: 200, state: "FILLED" });
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
