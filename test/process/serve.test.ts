// The program as its operator meets it: what is printed and when, one server a data directory,
// and an end that loses nothing.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { untilPriced } from "../support/prices.ts";
import { lyrebird, STACK, serve } from "../support/servers/commands.ts";
import { holdCommits } from "../support/servers/database.ts";
import {
  type GatewayOptions,
  type GatewayProcess,
  newDirectory,
  runNode,
  startGateway,
} from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { MARKET_BUY, spotTrader } from "../support/spot-trader.ts";

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
    for (const type of ["SPOT", "FUTURES"] as const) await untilPriced(gateway.url, gateway.seed(type), type);
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

  test("has one server: a second one is refused, exit 1, and the first keeps running", async () => {
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
    const futures = gateway.seed("FUTURES");
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

test("SIGHUP ends a server without HTTPS in order, and logs it", async () => {
  const gateway = await gatewayOfTest({ env: { LOG_LEVEL: "info" } });
  gateway.process.kill("SIGHUP");
  expect(await gateway.exited).toBe(0);
  expect(gateway.output()).toMatch(/"signal":"SIGHUP","msg":"closing"/);
});

describe("SIGTERM", () => {
  /** Less than a connection is kept alive; the rest is for a busy machine. */
  const END_MS_MAX = 30_000;

  test("with DRAIN_SECONDS says at once on /readyz that the server is going, and serves new connections until then", async () => {
    const gateway = await gatewayOfTest({ env: { DRAIN_SECONDS: "30" } });
    await untilPriced(gateway.url, gateway.seed(), "SPOT");
    const trader = spotTrader(gateway.url, gateway.seed());
    gateway.process.kill("SIGTERM");
    const ready = () => fetch(`${gateway.url}/readyz`, { headers: { connection: "close" } });
    await eventually("it is not ready", async () => (await ready()).status === 503);
    expect(await (await ready()).json()).toMatchObject({ checks: { server: "closing" } });
    expect(await trader.place(MARKET_BUY)).toMatchObject({ status: 200, body: { status: "FILLED" } });
    expect(await gateway.exited).toBe(0);
  });

  async function expectToEndInTime(gateway: GatewayProcess): Promise<void> {
    const askedAt = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(Date.now() - askedAt).toBeLessThan(END_MS_MAX);
  }

  test("ends a server with exit code 0 from the moment on at which it prints its address", async () => {
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

  test("answers accepted requests before the server ends", async () => {
    const gateway = await gatewayOfTest();
    const strategy = gateway.seed();
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" };
    await untilPriced(gateway.url, gateway.seed(), "SPOT");
    // The used weight is reset at each minute.
    await eventually("a minute with time left", () => Date.now() % 60_000 < 50_000);
    // An order costs a unit of weight, a read of the open orders six.
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
    const isAccepted = async () => (await unitsOverSixes()) !== 0;
    await eventually("the order was accepted", isAccepted, { askAgainMs: 50 });
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
