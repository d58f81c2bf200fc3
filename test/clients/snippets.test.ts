// The lines that the dashboard and the README show for a key, run as they are shown but for the keys and the
// address: each buys on the key's strategy.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SECRET_PLACE, snippetsFor } from "../../dashboard/src/snippets/snippets.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const TYPES = ["SPOT", "FUTURES"] as const;
const TRADES_PATH = { SPOT: "/api/v3/myTrades", FUTURES: "/fapi/v1/userTrades" } as const;

/** How each language is run, and what this machine lacks for it. */
const RUNNERS = {
  JavaScript: { args: (file: string) => [process.execPath, file], name: "first-trade.mjs", missing: "" },
  Python: {
    args: (file: string) => ["python3", file],
    name: "first_trade.py",
    missing: lacking("python-binance", "python3", "-c", "import binance"),
  },
  Shell: {
    args: (file: string) => ["bash", file],
    name: "first-trade.sh",
    missing: lacking("curl and openssl", "bash", "-c", "command -v curl && command -v openssl"),
  },
} as const;

const gateway = seededGateway(5, { futuresStrategyCount: 3 });

describe.each(TYPES)("%s", (type) => {
  const titles = snippetsFor({ type, apiKey: "", publicUrl: "" });
  for (const [index, { title, language }] of titles.entries()) {
    const runner = RUNNERS[language];
    test.skipIf(runner.missing !== "")(`${title} buys${runner.missing}`, async () => {
      const keys = type === "SPOT" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
      const snippet = snippetsFor({ type, apiKey: keys.apiKey, publicUrl: gateway.url })[index];
      await run(
        runner.args(fileOf((snippet?.text ?? "").replace(SECRET_PLACE, keys.apiSecret), runner.name)),
      );
      const trades = await signed(gateway.url, keys, "GET", TRADES_PATH[type], { symbol: "BTCUSDT" });
      expect(trades.status).toBe(200);
      expect(trades.body).not.toHaveLength(0);
      expect(trades.body).toEqual(
        expect.arrayContaining([
          expect.objectContaining(type === "SPOT" ? { isBuyer: true } : { side: "BUY" }),
        ]),
      );
    });
  }
});

describe("the README", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const blocksOf = (language: string) =>
    [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
      ([, text = ""]) => text,
    );
  const withKeys = (text: string, { apiKey, apiSecret }: { apiKey: string; apiSecret: string }) =>
    text
      .replaceAll("http://127.0.0.1:8080", gateway.url)
      .replace("lyre_bot_…", apiKey)
      .replace('"…"', `"${apiSecret}"`);

  test("its script for ccxt buys, and its retry under an id of one's own buys once", async () => {
    const [script = "", retry = "", ...others] = blocksOf("js");
    expect(others).toEqual([]);
    const keys = gateway.takeStrategy();
    const text = withKeys([script, retry, retry].join("\n"), keys);
    await run(RUNNERS.JavaScript.args(fileOf(text, RUNNERS.JavaScript.name)));
    const { body } = await signed(gateway.url, keys, "GET", TRADES_PATH.SPOT, { symbol: "BTCUSDT" });
    expect(body).toHaveLength(2);
  });

  const { missing } = RUNNERS.Python;
  test.skipIf(missing !== "")(`its lines for python-binance buy${missing}`, async () => {
    const [script = ""] = blocksOf("python");
    const keys = gateway.takeStrategy();
    await run(RUNNERS.Python.args(fileOf(withKeys(script, keys), RUNNERS.Python.name)));
    const { body } = await signed(gateway.url, keys, "GET", TRADES_PATH.SPOT, { symbol: "BTCUSDT" });
    expect(body).toHaveLength(1);
  });
});

async function run([program = "", ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  expect(code, output).toBe(0);
}

/** A file in a directory from which the project's packages are found. */
function fileOf(text: string, name: string): string {
  const directory = newDirectory();
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

/** Why a test is skipped, for its title, unless a program succeeds. */
function lacking(what: string, program: string, ...args: readonly string[]): string {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0 ? "" : ` (skipped: needs ${what})`;
}
