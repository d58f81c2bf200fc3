// The bench still runs, and its sender holds servers to what it says. What it measures here means nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Figure } from "../../bench/figures.ts";
import { type Sender, startSender } from "../../bench/processes/processes.ts";
import type { Report } from "../../bench/table.ts";
import { OVERLOAD_CONNECTIONS, Trial } from "../../bench/trial.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** A quick run takes ten seconds on an idle machine, and this one is not. */
const QUICK_RUN_MS_MAX = 600_000;

test("a quick run of the bench measures every figure", { timeout: QUICK_RUN_MS_MAX }, async () => {
  const bench = spawn(process.execPath, ["bench/main.ts", "--quick", "--json", "--store", "sqlite"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, progress, [code]] = await Promise.all([
    text(bench.stdout),
    text(bench.stderr),
    once(bench, "close"),
  ]);
  expect(code, progress).toBe(0);
  const { machine, sections }: Report = JSON.parse(output);
  expect(machine.commit ?? "unknown").toMatch(/^([0-9a-f]{40}|unknown)$/);
  expect(sections.map(({ title }) => title)).toEqual([
    "The ceiling: a bare node:http server",
    "The gateway on SQLite",
    "Signals on SQLite",
    "Too many orders for the gateway on SQLite",
    "Orders under strict on SQLite",
    "Streams: snapshots of 20 levels to 50 connections",
    "Sockets: trades to 50 connections, and user data connections",
    "Sockets: orders and user data on SQLite",
    "Copying: one order to many copies at a simulated venue",
    "Engine and trigger index, in process",
    "The profile strict, in process",
    "Liquidations, in process, on SQLite",
    "Start",
    "Memory, the gateway on SQLite",
  ]);
  const figures = sections.flatMap((section) => section.figures);
  const names = figures.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      "durable orders, POST /api/v3/order",
      "durable futures orders, POST /fapi/v1/order",
      "signed reads, GET /api/v3/account",
      "signals to EXECUTED, POST /bot/v1/spot/orders",
      "orders acknowledged in time at 2 × capacity",
      "orders acknowledged in time at 4 × capacity",
      "durable orders under strict",
      "bare ws broadcast",
      "bare Socket.IO room broadcast",
      "depth messages of the gateway's streams",
      "  processor time a message",
      "resident memory per connected subscriber, 100 of them",
      "bare ws broadcast of trades",
      "trades of the gateway's market streams",
      "  of what was sent, arrived",
      "resident memory per user data connection, 100 of them",
      "50 connections that come back together, subscribed, p50",
      "orders over REST with nobody subscribed",
      "orders over the WebSocket API",
      "orders over REST, 50 other accounts subscribed",
      "  the 500 trading accounts subscribed",
      "order sent to its event, idle, p99",
      "order sent to its event, at half load, p99",
      "  from the answer to the event",
      "commit to the venue's last answer, 50 copies",
      "  while 50 copies of another's are sent, p99",
      "engine decisions, decided and applied",
      "futures decisions, decided and applied",
      "tick that crosses nothing, 0 resting",
      "tick that crosses nothing, 100,000 resting",
      "mark price that reaches nothing, 100,000 positions",
      "mark price that liquidates one of 100,000, decided and applied",
      "spot diff of 36 levels, 100,000 resting",
      "futures diff of 68 levels, 0 resting",
      "trade that reaches nobody, 100,000 resting",
      "walk of a taker over 5 levels",
      "receipts, built and encoded",
      "decisions under strict, decided and applied",
      "heap of an order in its queue, 10,000 on 50 symbols",
      "heap of a book of 1,000 levels a side",
      "  of it for each liquidation",
      "start to first answer, new SQLite database",
      "resident memory per futures strategy with a position, 1,000",
      "  of it JavaScript's heap",
    ]),
  );
  // On a machine that is busy with other things a moment of overload may acknowledge nothing in time: that
  // has no p99; and a ceiling may answer nothing in a fifth of a second: that has no ratio.
  const isOfNothing = (index: number) =>
    figures[index - 1]?.value.min === 0 || figures[index]?.against?.value.min === 0;
  const unmeasured = figures.filter((figure, index) => !isMeasured(figure) && !isOfNothing(index));
  // Nor may anything be answered in a fifth of a second at half the load; of some store something is.
  const isAtHalf = ({ name }: Figure) => name.endsWith("at half that load");
  expect(unmeasured.filter((figure) => !isAtHalf(figure)).map(({ name }) => name)).toEqual([]);
  expect(figures.filter((figure) => isAtHalf(figure) && isMeasured(figure))).not.toEqual([]);
});

function send(response: ServerResponse, status: number, body: string, headers = {}): void {
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}

function isMeasured({ value, against }: Figure): boolean {
  const spreads = against === null ? [value] : [value, against.value, against.ratio];
  return spreads.every(({ median, min, max }) => [median, min, max].every(Number.isFinite));
}

describe("the sender of an overload", () => {
  const LENGTH = { seconds: 0.4, warmSeconds: 0 };
  const FILLED = '{"status":"FILLED"}';
  let sender: Sender;

  beforeAll(async () => {
    const keys = Array.from({ length: 2 * OVERLOAD_CONNECTIONS }, (_, index) => ({
      apiKey: `key-${index}`,
      apiSecret: `secret-${index}`,
    }));
    const credentials = { SPOT: keys, FUTURES: [] };
    const trips = { SPOT: [{ symbol: "TRXUSDT", buy: "40", sell: "39.9" }], FUTURES: [] };
    sender = await startSender({ credentials, trips }, null);
  });
  afterAll(() => sender.stop());

  /** Sends that many orders a second to a server that replies to each with `answer`. */
  async function overload(perSecond: number, answer: (response: ServerResponse, number: number) => void) {
    let received = 0;
    const server = createServer((request, response) => {
      request.resume();
      request.once("end", () => answer(response, ++received));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const stub = { port, pid: process.pid, isRunning: () => true };
      const trial = new Trial({ name: "a stub", target: "gateway", server: stub, sender, warmSeconds: 0 });
      return { overloaded: await trial.overload(LENGTH, perSecond), received };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  test("orders acknowledged in time count; orders shed with Retry-After are counted separately", async () => {
    const { overloaded, received } = await overload(500, (response, number) => {
      if (number % 2 === 0) send(response, 200, FILLED);
      else send(response, number % 4 === 1 ? 429 : 503, "{}", { "retry-after": "1" });
    });
    const { due, inTime, late, unsent, shed } = overloaded;
    expect(due).toBe(received);
    // A busy machine may be late.
    const acknowledged = inTime + late;
    expect([acknowledged, unsent]).toEqual([Math.floor(due / 2), 0]);
    expect(shed).toEqual({ 429: Math.ceil(due / 4), 503: due - acknowledged - Math.ceil(due / 4) });
    expect(overloaded.goodPerSecond).toBe(inTime / LENGTH.seconds);
  });

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    ["a refusal without Retry-After", (response) => send(response, 503, "{}"), /were bad: 503/],
    ["a fault", (response) => send(response, 500, "{}"), /were bad: 500/],
    ["a timestamp that is too old", (response) => send(response, 400, "{}"), /were bad: 400/],
    ["an order that is not filled", (response) => send(response, 200, '{"status":"NEW"}'), /were bad: 200/],
    ["a cut connection", (response) => response.destroy(), /closed a connection|ECONNRESET/],
  ])("%s is no figure", async (_what, answer, reason) => {
    await expect(overload(100, answer)).rejects.toThrow(reason);
  });

  test("what comes late is no goodput, and what finds no connection is never sent", async () => {
    const held: ServerResponse[] = [];
    const { overloaded, received } = await overload(8 * OVERLOAD_CONNECTIONS, (response) => {
      held.push(response);
      if (held.length < OVERLOAD_CONNECTIONS) return;
      // All connections wait by now. Answered when everything that was due has been due for too long.
      setTimeout(() => {
        for (const each of held.splice(0)) send(each, 200, FILLED);
      }, 2_000);
    });
    const { due, inTime, late, unsent } = overloaded;
    expect(received).toBe(OVERLOAD_CONNECTIONS);
    expect([inTime, late, unsent]).toEqual([0, OVERLOAD_CONNECTIONS, due - OVERLOAD_CONNECTIONS]);
    expect(overloaded.p99Ms).toBeGreaterThan(1_000);
    expect(unsent).toBeGreaterThan(OVERLOAD_CONNECTIONS);
  });
});
