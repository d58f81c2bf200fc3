// The programs of docs/clients.md, as they stand but for the address: stock clients,
// unmodified, on the market streams of a real gateway.
import { spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import * as LIMITS from "../../src/sockets/limits.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { tableRows } from "../support/tables.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
/** How long a program may take to connect and to hear of everything, ms. */
const PROGRAM_MS_MAX = 60_000;

const gateway = seededGateway(0);

/** What each program prints, in any order. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  ccxt: ["BTC/USDT BTC/USDT BTC/USDT 6", "BTC/USDT:USDT BTC/USDT:USDT BTC/USDT:USDT 6"],
  binance: ["btcusdt@trade", "btcusdt@depth@100ms", "btcusdt@bookTicker", "ethusdt@markPrice@1s"],
  "@binance/spot and @binance/derivatives-trading-usds-futures": [
    "spot BTCUSDT 5",
    "futures BTCUSDT ETHUSDT",
  ],
  "node-binance-api": ["spot BTCUSDT ETHUSDT", "futures BTCUSDT"],
  "binance-api-node": ["spot BTCUSDT ETHUSDT", "futures BTCUSDT"],
};

const programs = new Map(
  [...DOCUMENT.matchAll(/^## (.+)\n(?:(?!^#)[\s\S])*?^```js\n([\s\S]*?)^```$/gm)].map(
    ([, title = "", text = ""]) => [title, text] as const,
  ),
);

test("the document has a program for each of these clients, and no other", () => {
  expect([...programs.keys()]).toEqual(Object.keys(PRINTED));
});

test.each(Object.keys(PRINTED))("%s", async (title) => {
  const host = new URL(gateway.url).host;
  const printed = await run((programs.get(title) ?? "").replaceAll("localhost:8080", host));
  const lines = printed.split("\n");
  expect(lines).toEqual(expect.arrayContaining([...(PRINTED[title] ?? [])]));
});

test("the lines for user data and trading are those with which tests run a bot's life", () => {
  const SPOT = ["sockets-spot.test.ts", "user-data.ts"];
  const FUTURES = ["sockets-futures.test.ts", "user-data.ts"];
  const rows = tableRows(DOCUMENT, ["Client", "Spot", "Futures"]);
  expect(rows.map(({ cells }) => cells.Client)).toHaveLength(5);
  for (const [column, names] of [
    ["Spot", SPOT],
    ["Futures", FUTURES],
  ] as const) {
    const tested = names
      .map((name) => asWritten(readFileSync(join(ROOT, "test/clients", name), "utf8")))
      .join();
    const lines = rows.flatMap(({ cells }) => (cells[column] ?? "").match(/`[^`]+`/g) ?? []);
    const parts = lines.flatMap((line) => line.match(PART) ?? []);
    expect(parts.length).toBeGreaterThan(8);
    expect(parts.filter((part) => !tested.includes(part))).toEqual([]);
  }
});

/** What says something in a line of code: a setting with its value, a call, or a name of a client's own. */
const PART = /[\w.]+(?::| =) "[^"]*"|[\w.]+\((?:"\w+")?|ccxt[\w.]+|(?<=`)\w+(?=`)/g;

/** A test's code with the addresses of the document. */
function asWritten(code: string): string {
  return code
    .replace(/\$\{(?:sockets\(\)|sockets|socketsOf\(url\))\}/g, "ws://localhost:8080")
    .replace(/(?<=wsUrl: )(?:sockets\(\)|socketsOf\(url\))/g, '"ws://localhost:8080"')
    .replace(/(?<=(?:baseUrl|basePath): )(?:gateway\.url|url)/g, '"http://localhost:8080"')
    .replaceAll("`", '"');
}

test("the bounds in docs/sockets.md are the program's", () => {
  const document = readFileSync(join(ROOT, "docs/sockets.md"), "utf8");
  const rows = [
    ["Streams of a connection", LIMITS.STREAMS_PER_CONNECTION_MAX.toLocaleString("en")],
    [
      "Different streams of a type that all clients together have",
      LIMITS.MARKET_STREAMS_MAX.toLocaleString("en"),
    ],
    [
      "Of those, the streams that only clients of one address have, an IPv6 /64 being one",
      LIMITS.MARKET_STREAMS_PER_ADDRESS_MAX.toLocaleString("en"),
    ],
    [
      "Messages from a client, pings and pongs included",
      `${LIMITS.CONTROL_BURST} at once, then ${LIMITS.CONTROL_PER_SECOND} a second`,
    ],
    ["Bytes that wait for a client that reads slowly", `${LIMITS.CONFLATE_ABOVE_BYTES / 1_024} KiB`],
    ["", `${LIMITS.BUFFERED_BYTES_MAX / 1_024 / 1_024} MiB`],
    ["Age of a connection", `${LIMITS.LIFETIME_MS / 3_600_000} hours`],
    ["Requests of a connection that are in flight", String(LIMITS.REQUESTS_IN_FLIGHT_MAX)],
    ["Length of a message", `${LIMITS.MESSAGE_BYTES_MAX / 1_024} KiB`],
    ["User data subscriptions of a key on a server", String(LIMITS.USER_STREAMS_PER_KEY_MAX)],
    [
      "Attempts to connect of an address",
      `\`STREAM_ATTEMPTS_PER_ADDRESS\` in ${LIMITS.ATTEMPTS_WINDOW_MS / 60_000} minutes`,
    ],
    ["Connections of a server", LIMITS.CONNECTIONS_MAX.toLocaleString("en")],
  ];
  for (const [what, bound] of rows)
    expect(document).toContain(`| ${what}${what === "" ? "" : " "}| ${bound} |`);
});

/** What a program prints until it ends. */
function run(text: string): Promise<string> {
  const directory = newDirectory();
  const file = join(directory, "program.mjs");
  writeFileSync(file, text);
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  const child = spawn(process.execPath, [file], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PROGRAM_MS_MAX,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += String(data)));
  return new Promise((done, fail) => {
    child.once("close", (code) =>
      code === 0 ? done(output) : fail(new Error(`ended with ${code}:\n${output}`)),
    );
  });
}
