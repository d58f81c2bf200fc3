// What a newcomer sees: the lines that a server greets with, on a terminal too, how it ends with its
// terminal, and the hints for what was typed where npm keeps it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { optionKeptByNpm, START } from "../../src/config/npm-options.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { DEMO_EMAIL } from "../../src/people/demo.ts";
import { eventually } from "../support/eventually.ts";
import { changeRows } from "../support/servers/database.ts";
import {
  type GatewayOptions,
  type GatewayProcess,
  newDirectory,
  runNode,
  seedStrategy,
  startGateway,
  upstreamEnv,
} from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";

const ROOT = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const HINT = "npm run -s lyrebird -- seed --type spot";
/** A terminal that is no wider shows each line as one. */
const COLUMNS_MAX = 100;
/**
 * util-linux's `script` runs a program on a terminal of its own; that of other systems takes other arguments.
 */
const CAN_BE_ON_A_TERMINAL = /util-linux/.test(
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout,
);

/** A gateway that ends with the test. */
async function gatewayOfTest(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const gateway = await startGateway(options);
  onTestFinished(() => gateway.kill());
  return gateway;
}

/** A recording of one message. */
function newTape(): string {
  const file = join(newDirectory(), "day.tape.gz");
  const quote = { u: 1, s: "BTCUSDT", b: "60000.00", B: "1.0", a: "60001.00", A: "1.0" };
  const message = JSON.stringify({ stream: "btcusdt@bookTicker", data: quote });
  writeFileSync(file, gzipSync(`1700000000000000000 ${message}\n`));
  return file;
}

function newMasterKey(): string {
  const file = join(newDirectory(), "key");
  writeFileSync(file, `${"5a".repeat(32)}\n`, { mode: 0o600 });
  return file;
}

/** Signs the demo's trader in, and answers the cookies. */
async function signIn(url: string, password: string | undefined): Promise<string[]> {
  const answer = await fetch(`${url}/dashboard/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ email: DEMO_EMAIL, password }),
  });
  expect(answer.status).toBe(200);
  return answer.headers.getSetCookie();
}

const lyrebird = (...args: string[]) => runNode(["src/cli.ts", ...args]);

describe("the greeting", () => {
  test("names address, data and documents at the first start and at any later one, aligned, in at most 100 columns", async () => {
    const dataDir = newDirectory();
    const first = await gatewayOfTest({ dataDir, env: { LOG_LEVEL: "silent" } });
    await first.stop();
    const next = await gatewayOfTest({ dataDir, env: { LOG_LEVEL: "silent" } });
    await next.stop();
    for (const gateway of [first, next]) {
      await eventually("all output was read", () => gateway.process.stdout?.readableEnded === true);
      expect(gateway.output().split("\n").slice(2, 6)).toEqual([
        "  Market     simulated: made-up prices, seed 1 (--market live: Binance's public data)",
        `  Data       ${dataDir}`,
        `  Dashboard  ${gateway.url}`,
        `  API docs   ${gateway.url}/docs (every route, and the streams)`,
      ]);
      const tooLong = gateway.output().replaceAll(dataDir, "./data").split("\n");
      expect(tooLong.filter((line) => line.length > COLUMNS_MAX)).toEqual([]);
      expect(gateway.output()).not.toMatch(/\n\n\n|\n\n$/);
    }
    expect(first.output()).toContain("Demo strategies");
    expect(next.output()).not.toContain("Demo strategies");
  });

  test("names the one of three markets", async () => {
    const exchange = await openSimulatedExchange({ seed: 1 });
    onTestFinished(() => exchange.close());
    const upstream = upstreamEnv(exchange);
    const { host } = new URL(exchange.spotRestUrl);
    const tape = newTape();
    for (const [env, market] of [
      [{ SIM_SEED: "7" }, "simulated: made-up prices, seed 7 (--market live: Binance's public data)"],
      [upstream, `live: Binance's protocol at ${host}`],
      [{ MARKET: "tape", TAPE_FILE: tape, TAPE_SPEED: "2" }, `tape: ${tape}, 2 times as fast`],
    ] as const) {
      const gateway = await gatewayOfTest({ env: { ...env, LOG_LEVEL: "silent" } });
      await eventually("the market is named", () => gateway.output().includes("Market "));
      expect(/^ {2}Market {5}(.*)$/m.exec(gateway.output())?.[1]).toBe(market);
      await gateway.stop();
    }
  });

  test("tells how to make another strategy in this data directory, as a shell reads it", async () => {
    const dataDir = join(newDirectory(), "it's here");
    seedStrategy(dataDir);
    const gateway = await gatewayOfTest({ dataDir });
    await eventually("the hint is printed", () => gateway.output().includes(HINT));
    const command = /^ +npm run -s lyrebird -- (seed .*)$/m.exec(gateway.output())?.[1] ?? "";
    const shell = spawn("sh", ["-c", `exec "$0" src/cli.ts ${command}`, process.execPath], { cwd: ROOT });
    expect(await once(shell, "exit")).toEqual([0, null]);
    const { stdout } = lyrebird("keys", "list", "--data", dataDir);
    // The titles and the two keys.
    expect(stdout.trimEnd().split("\n")).toHaveLength(3);
  });

  test("has no hint where keys cannot be made", async () => {
    const gateway = await gatewayOfTest({ env: { MASTER_KEY_FILE: newMasterKey() } });
    await gateway.stop();
    await eventually("all output was read", () => gateway.process.stdout?.readableEnded === true);
    expect(gateway.output()).toContain("operator create");
    expect(gateway.output()).not.toContain("lyrebird -- seed");
  });

  test("shows the password of the demo's trader at the first start alone, who signs in with it and owns the demo", async () => {
    const dataDir = newDirectory();
    const older = seedStrategy(dataDir);
    const env = { LOG_LEVEL: "silent" };
    const first = await gatewayOfTest({ dataDir, env });
    await eventually("the hint is printed", () => first.output().includes(HINT));
    expect(first.output()).toContain(`\n  Dashboard  ${first.url}\n`);
    const password = /^ {2}password {2}(\S+)$/m.exec(first.output())?.[1];
    const [cookie = ""] = await signIn(first.url, password);
    const answer = await fetch(`${first.url}/dashboard/api/strategies`, {
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    // Made before the trader, by the command.
    const { rows } = (await answer.json()) as { rows: unknown };
    expect(rows).toMatchObject([{ strategyId: older.strategyId }]);
    await first.stop();
    const next = await gatewayOfTest({ dataDir, env });
    await eventually("the hint is printed", () => next.output().includes(HINT));
    expect(next.output()).toContain("Dashboard  ");
    expect(next.output()).not.toContain("password");
    await signIn(next.url, password);
    await next.stop();
  });

  test("tells how to make an operator, as a shell reads it, with a master key of one's own too", async () => {
    const gateway = await gatewayOfTest({ env: { MASTER_KEY_FILE: newMasterKey(), LOG_LEVEL: "silent" } });
    await eventually("the command is printed", () => gateway.output().includes("operator create"));
    expect(gateway.output()).not.toContain("password");
    const command = /^ +npm run -s lyrebird -- (operator create .*)$/m.exec(gateway.output())?.[1] ?? "";
    const shell = spawn("sh", ["-c", `exec "$0" src/cli.ts ${command}`, process.execPath], { cwd: ROOT });
    expect(await once(shell, "exit")).toEqual([0, null]);
    await gateway.stop();
  });

  test("counts what is watched: one order, or more", async () => {
    const dataDir = newDirectory();
    const key = seedStrategy(dataDir);
    const terms = { symbol: "BTCUSDT", side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001" };
    for (const watched of ["1 order", "2 orders"]) {
      const first = await gatewayOfTest({ dataDir });
      const ticker = await send(first.url, "GET", "/api/v3/ticker/price?symbol=BTCUSDT");
      // Far enough below the market to stay open, near enough to be permitted.
      const order = { ...terms, price: String(Math.floor(Number(ticker.body.price) * 0.9)) };
      const { body } = await signed(first.url, key, "POST", "/api/v3/order", order);
      expect(body).toMatchObject({ status: "NEW" });
      await first.stop();
      const next = await gatewayOfTest({ dataDir, env: { LOG_LEVEL: "silent" } });
      await eventually("the hint is printed", () => next.output().includes(HINT));
      expect(/^ {2}Watching {3}(.*)$/m.exec(next.output())?.[1]).toBe(watched);
      await next.stop();
    }
  });
});

test.skipIf(!CAN_BE_ON_A_TERMINAL)(
  "on a terminal the greeting comes last, and nothing before it is JSON or wider than the terminal",
  async () => {
    const dataDir = newDirectory();
    const serve = `exec '${process.execPath}' src/main.ts --port 0 --data '${dataDir}'`;
    const terminal = spawn("script", ["--quiet", "--return", "--flush", "--command", serve, "/dev/null"], {
      cwd: ROOT,
      env: { ...process.env, LOG_LEVEL: "info" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void terminal.kill("SIGKILL"));
    const exited = once(terminal, "exit");
    const lines: string[] = [];
    for await (const line of createInterface({ input: terminal.stdout })) {
      lines.push(line.trimEnd());
      if (!line.includes("operator create")) continue;
      // What a person types: Ctrl+C.
      terminal.stdin.write("\u0003");
    }
    expect(await exited).toEqual([0, null]);
    const first = lines.findIndex((line) => line.startsWith("Lyrebird listens on "));
    const last = lines.findIndex((line) => line.includes("operator create"));
    expect(lines.slice(0, first)).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d UTC {2}warn {3}the master key lies in the data directory/),
    ]);
    expect(lines.slice(last + 1).join("\n")).toMatch(/UTC {2}info {3}closing {2}signal=SIGINT$/);
    const shown = lines.map((line) => line.replaceAll(dataDir, "./data"));
    expect(shown.filter((line) => line.length > COLUMNS_MAX || line.startsWith("{"))).toEqual([]);
  },
);

// As when the terminal is gone. Only Linux has such a file.
test.skipIf(!existsSync("/dev/full"))(
  "SIGHUP ends a server in order whose log cannot be written, and which served until then",
  async () => {
    const dataDir = newDirectory();
    const serve = 'exec "$0" src/main.ts --port 0 --data "$1" 2>/dev/full';
    const server = spawn("sh", ["-c", serve, process.execPath, dataDir], {
      cwd: ROOT,
      env: { ...process.env, LOG_LEVEL: "info" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const exited = once(server, "exit");
    let url: string | undefined;
    for await (const line of createInterface({ input: server.stdout })) {
      url ??= /^Lyrebird listens on (\S+)$/.exec(line)?.[1];
      if (line.includes("operator create")) break;
    }
    expect((await fetch(`${url}/api/v3/ping`)).status).toBe(200);
    server.kill("SIGHUP");
    expect(await exited).toEqual([0, null]);
    // In order: the write-ahead log has been folded back into the database.
    expect(existsSync(join(dataDir, "lyrebird.sqlite-wal"))).toBe(false);
  },
);

test("a master key that is not the one of the database is refused, and its file is named", () => {
  const dataDir = newDirectory();
  seedStrategy(dataDir);
  const keyFile = join(dataDir, "master.key");
  writeFileSync(keyFile, `${"5a".repeat(32)}\n`);
  const { status, stderr } = lyrebird("seed", "--type", "spot", "--data", dataDir);
  expect(status).toBe(1);
  expect(stderr).toContain(keyFile);
  expect(stderr).toContain("is not the one");
});

test("a database of a later version is not called corrupt", () => {
  const dataDir = newDirectory();
  seedStrategy(dataDir);
  changeRows(dataDir, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '2099-01-01')");
  const { status, stderr } = lyrebird("keys", "list", "--data", dataDir);
  expect(status).toBe(1);
  expect(stderr).toMatch(/written by another version of Lyrebird: .*9999-later/);
  expect(stderr).not.toContain("corrupt");
});

describe("what was typed", () => {
  test.each([
    ["8086", "src/main.ts"],
    ["spot", "src/cli.ts", "seed"],
    ["needed", "src/cli.ts", "keys", "revoke", "not"],
  ])("without the two dashes gets a hint at them: %s", (word, ...args) => {
    const { status, stdout, stderr } = runNode([...args, word]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/options come after "--", as in "npm [^"]+ -- [^"]*--\w+/);
  });

  test("with an equals sign is consumed by npm alone, and refused", () => {
    // A server that does not report it finds another error, so that none starts on a port and on data that
    // others use.
    const env = { ...process.env, MARKET: "tape", TAPE_FILE: "/no/such/tape", DATA_DIR: newDirectory() };
    const typed = ["start", "--ignore-scripts", "--port=8086"];
    const { status, stderr } = spawnSync("npm", typed, { cwd: ROOT, env, encoding: "utf8" });
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /npm has kept "--port=8086" .*options come after "--", as in "npm start -- --port/,
    );
  });

  const KEPT = { npm_lifecycle_event: "start", npm_config_data: "/srv/data" };
  test.each([
    ["is warned of each option that takes a value", [], KEPT, "--data=/srv/data"],
    ["is warned of one beside another that was passed on", ["--port", "8086"], KEPT, "--data=/srv/data"],
    ["is warned of one without its value", [], { ...KEPT, npm_config_data: "true" }, "--data=true"],
    ["may have kept what was passed on too", ["--data", "/srv/data"], KEPT, null],
    ["may have kept what was passed on in one word", ["--data=/srv/data"], KEPT, null],
    ["has kept nothing when a variable is empty", [], { ...KEPT, npm_config_data: "" }, null],
    [
      "is warned of a role, without which a server would copy",
      [],
      { ...KEPT, npm_config_data: "", npm_config_role: "gateway" },
      "--role=gateway",
    ],
    ["has kept nothing that another script was given", [], { ...KEPT, npm_lifecycle_event: "test" }, null],
    ["has no part in a server that it did not start", [], { npm_config_data: "/srv/data" }, null],
  ])("npm %s", (_what, args, env, kept) => {
    expect(optionKeptByNpm(START, args, env)).toBe(kept);
  });

  test.each([
    ["--data=../other", ["keys", "list"], { npm_config_data: "../other" }],
    ["--verify=true", ["audit"], { npm_config_verify: "true" }],
    ["--yes=true", ["prune", "closed.backup"], { npm_config_yes: "true" }],
    ["--json=true", ["keys", "list"], { npm_config_json: "true", npm_config_yes: "" }],
    ["--keep-copies=true", ["restore", "a.backup"], { npm_config_keep_copies: "true" }],
  ])("is refused by the commands too, before they do something else: %s", (kept, words, variables) => {
    const env = { npm_lifecycle_event: "lyrebird", DATA_DIR: newDirectory(), ...variables };
    const { status, stdout, stderr } = runNode(["src/cli.ts", ...words], env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(`npm has kept "${kept}" to itself: options come after "--"`);
  });

  test("is not refused when npm has an option that the command does not take", () => {
    const env = {
      npm_lifecycle_event: "lyrebird",
      npm_config_email: "ann@lyrebird.example",
      npm_config_yes: "",
    };
    const { stderr } = runNode(["src/cli.ts", "keys", "list", "--data", newDirectory()], env);
    expect(stderr).not.toContain("npm has kept");
  });

  test("as seed without its type gets the hint too: npm may have kept it", () => {
    const { status, stderr } = lyrebird("seed");
    expect(status).toBe(2);
    expect(stderr).toMatch(/--type .*must be given; options come after "--"/);
  });

  test("as half a command is completed", () => {
    for (const words of [["keys"], ["keys", "listing"]]) {
      expect(lyrebird(...words).stderr).toContain("there are keys list, keys revoke");
    }
  });

  test("as help is --help", () => {
    expect(lyrebird("help")).toMatchObject({ status: 0, stderr: "", stdout: lyrebird("--help").stdout });
    expect(lyrebird("help", "keys", "list").stdout).toBe(lyrebird("keys", "list", "--help").stdout);
  });

  test.each(["src/main.ts", "src/cli.ts"])("as --version is answered by %s", (program) => {
    expect(runNode([program, "--version"])).toMatchObject({ status: 0, stderr: "", stdout: `${version}\n` });
  });

  test("as --help tells who makes keys where the master key is one's own", () => {
    expect(runNode(["src/cli.ts", "seed", "--help"]).stdout).toMatch(
      /MASTER_KEY_FILE[\s\S]*owners make their strategies and keys in\s+the dashboard/,
    );
    expect(runNode(["src/main.ts", "--help"]).stdout).not.toContain("cannot make keys");
  });
});
