// Every command of the README is run, here or (npm test itself) by the person who runs this test.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { readServeConfig } from "../../src/config/config.ts";
import { greeting } from "../../src/greeting.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { newDirectory, upstreamEnv } from "../support/servers/gateway.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const documents = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".md") && !/(^|\/)(node_modules|data)\//.test(name),
);
const commands = [...readme.matchAll(/`+(?:sh\n)?\s*(npm [^`]+?)\s*`+/g)].map(([, command = ""]) => command);

test("these are the commands of the README", () => {
  expect([...new Set(commands)].sort()).toEqual([
    "npm run -s lyrebird -- keys list",
    "npm run -s lyrebird -- keys revoke lyre_bot_…",
    "npm run -s lyrebird -- operator create --email you@example.org",
    "npm run -s lyrebird -- seed --type futures",
    "npm run -s lyrebird -- seed --type spot --profile strict --latency 80",
    "npm run bench",
    "npm run crash",
    "npm start",
    "npm start -- --help",
    "npm start -- --market live",
    "npm test",
  ]);
});

test("the first trade is the script that the first start prints for spot", () => {
  const config = readServeConfig([], {});
  if (typeof config === "string") throw new Error("no options are a configuration");
  const printed = greeting(
    {
      url: "http://127.0.0.1:8080",
      firstStrategies: [{ strategyId: "1", type: "SPOT", apiKey: "lyre_bot_…", apiSecret: "…" }],
      demoPassword: null,
      triggerCounts: [],
      marketContents: [],
    },
    config,
  );
  const [, script = ""] = /^```js\n(import ccxt[\s\S]*?)```$/m.exec(readme) ?? [];
  expect(script).toContain("createOrder");
  expect(printed).toContain(script.replaceAll(/^/gm, "  ").trimEnd());
});

test("the picture, the two commands and the first trade are in the first screen", () => {
  const screen = readme.split("\n").slice(0, 60).join("\n");
  for (const part of ["**Binance**", "![", "```sh\nnpm start\n", "```sh\nnpm test\n", "createOrder("]) {
    expect(screen).toContain(part);
  }
});

test("every link of a document leads somewhere", () => {
  const broken = documents.flatMap((name) =>
    [...readFileSync(join(ROOT, name), "utf8").matchAll(/\]\(([^)#:]+)\)/g)]
      .map(([, target = ""]) => join(dirname(name), target))
      .filter((target) => !existsSync(join(ROOT, target))),
  );
  expect(documents).toContain("README.md");
  expect(broken).toEqual([]);
});

/**
 * `npm` with arguments in a process group of its own, since npm's child is what listens, until it prints
 * `last`.
 */
async function startNpm(args: readonly string[], { env = {}, last }: { env?: object; last: string }) {
  const server = spawn("npm", args, {
    cwd: ROOT,
    env: { ...process.env, PORT: "0", DATA_DIR: newDirectory(), LOG_LEVEL: "silent", ...env },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const exited = once(server, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: server.stdout })) {
    lines.push(line);
    if (line.includes(last)) break;
  }
  const text = lines.join("\n");
  return {
    text,
    url: /^Lyrebird listens on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(text)?.[1] ?? "",
    async stop() {
      process.kill(-(server.pid ?? 0), "SIGTERM");
      await exited;
    },
  };
}

test("every data directory that a document names is ./data or outside the clone, so that git never sees it", () => {
  const named = documents.flatMap((name) =>
    [...readFileSync(join(ROOT, name), "utf8").matchAll(/(?:--data |DATA_DIR=)([^\s`]+)/g)].map(
      ([, directory = ""]) => directory,
    ),
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((directory) => !/^(\.\.\/|\.\/data$|\/|DIR$)/.test(directory))).toEqual([]);
});

test("npm start serves, prints the demo's keys, and ends on SIGTERM", async () => {
  const { text, url, stop } = await startNpm(["start"], { last: "operator create" });
  expect(text).toMatch(/apiKey {2}lyre_bot_[0-9a-f]{64}/);
  expect(await (await fetch(`${url}/api/v3/ping`)).json()).toEqual({});
  await stop();
  await expect(fetch(`${url}/api/v3/ping`)).rejects.toThrow();
});

test("npm start -- --market live serves; here the public data comes from another host", async () => {
  const exchange = await openSimulatedExchange({ seed: 1 });
  onTestFinished(() => exchange.close());
  const env = upstreamEnv(exchange);
  const started = await startNpm(["start", "--", "--market", "live"], { env, last: "operator create" });
  expect(started.text).toMatch(/^ {2}Market {5}live: /m);
  expect(await (await fetch(`${started.url}/api/v3/ping`)).json()).toEqual({});
  await started.stop();
});

test("npm start -- --help, npm run bench -- --help and npm run crash -- --help say what they take", () => {
  for (const [args, words] of [
    [["start", "--silent", "--", "--help"], "--market"],
    [["run", "--silent", "bench", "--", "--help"], "--seconds"],
    [["run", "--silent", "crash", "--", "--help"], "--cycles"],
  ] as const) {
    const { status, stdout } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout).toContain(words);
  }
});

test("lyrebird seed prints one line of JSON and nothing else; keys list shows the key, keys revoke ends it, operator create makes one", () => {
  const DATA_DIR = newDirectory();
  const lyrebird = (...args: string[]) =>
    spawnSync("npm", ["run", "-s", "lyrebird", "--", ...args], {
      cwd: ROOT,
      env: { ...process.env, DATA_DIR },
      encoding: "utf8",
    });
  const { status, stdout } = lyrebird("seed", "--type", "futures");
  expect(status).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  const { apiKey } = JSON.parse(stdout);
  expect(lyrebird("keys", "list").stdout).toContain(apiKey);
  expect(lyrebird("keys", "revoke", apiKey).status).toBe(0);
  expect(lyrebird("keys", "list").stdout).toMatch(/revoked/i);
  const created = lyrebird("operator", "create", "--email", "you@example.org");
  expect(created.status).toBe(0);
  expect(created.stdout).toMatch(/^you@example\.org is an operator\npassword: \S+/);
  expect(JSON.parse(stdout)).toEqual({
    strategyId: expect.stringMatching(/^[0-9a-f]{16}$/),
    type: "FUTURES",
    apiKey: expect.stringMatching(/^lyre_bot_[0-9a-f]{64}$/),
    apiSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
