// The project's own client as it is published: built, imported as a package's code, and gone when it is
// closed.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededGateway } from "../support/servers/seeded-gateway.ts";

const ROOT = join(import.meta.dirname, "../..");
const gateway = seededGateway(1);
let built: string;

beforeAll(() => {
  // Below node_modules, so that what it depends on is found as it is for a package.
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(join(cache, "lyrebird-client-"));
  writeFileSync(join(built, "package.json"), JSON.stringify({ type: "module" }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const build = [tsc, "-p", "clients/typescript", "--outDir", join(built, "dist")];
  const { status, stdout } = spawnSync(process.execPath, build, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`the client does not build: ${stdout}`);
});

afterAll(() => rmSync(built, { recursive: true, force: true }));

test("a program that has closed the client ends by itself, with signals and both streams behind it", () => {
  const program = `
    import { LyrebirdClient } from "./dist/index.js";
    const [baseUrl, apiKey, apiSecret] = process.argv.slice(2);
    const client = new LyrebirdClient({ baseUrl, apiKey, apiSecret });
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "20" };
    const { status } = await client.submit(order, { idempotencyKey: "built" });
    await new Promise((resolve) => client.orderBooks({ onBook: resolve }).subscribe({ pair: "BTCUSDT" }));
    await new Promise((resolve) =>
      client.candles({ onCandle: resolve }).subscribe({ pair: "BTCUSDT", timeframe: "1s" }),
    );
    client.close();
    console.log(status);
  `;
  writeFileSync(join(built, "program.js"), program);
  const { apiKey, apiSecret } = gateway.takeStrategy();
  const args = [join(built, "program.js"), gateway.url, apiKey, apiSecret];
  const { stdout, stderr, signal } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 30_000 });
  expect({ stdout, stderr, signal }).toEqual({ stdout: "EXECUTED\n", stderr: "", signal: null });
});
