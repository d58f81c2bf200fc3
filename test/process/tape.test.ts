// The real program on a recording: its output at the start, and orders that it cannot execute.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { openTape } from "../../src/market/tape/open.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import { type GatewayProcess, newDirectory, startGateway, upstreamEnv } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import { type WrittenTape, writeTape } from "../support/written-tape.ts";

const SYMBOL = "BTCUSDT";
const MARKET = { symbol: SYMBOL, side: "BUY", type: "MARKET" } as const;
const LIMIT = { ...MARKET, type: "LIMIT", timeInForce: "GTC", price: "40000" } as const;
const ENDED = "the recording that serves as the market has ended";

/** Ends with the test. */
async function startOn(tape: WrittenTape): Promise<GatewayProcess> {
  const gateway = await startGateway({ args: ["--market", "tape"], env: { TAPE_FILE: writeTape(tape) } });
  onTestFinished(() => gateway.kill());
  return gateway;
}

/** By type. */
async function untradableGauge({ url }: GatewayProcess): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return ["SPOT", "FUTURES"].map(
    (type) => new RegExp(`^lyrebird_feed_untradable\\{family="${type}"\\} (\\d)$`, "m").exec(text)?.[1] ?? "",
  );
}

test("a contract without mark prices is named at the start, and its orders are always refused", async () => {
  const gateway = await startOn({ types: ["FUTURES"], seconds: 600, hasMarkPrices: false });
  const strategy = gateway.seed("FUTURES");
  expect(gateway.output()).toMatch(
    /^The recording holds BTCUSDT \(futures\) until 2025-05-25T12:10:29\.000Z of its own time\.\nIt has no mark prices, so no futures order can be taken\.$/m,
  );
  for (const order of [MARKET, LIMIT]) {
    const refused = await signed(gateway.url, strategy, "POST", "/fapi/v1/order", {
      ...order,
      quantity: "0.01",
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: -4140, msg: expect.stringMatching(/the recording .* has no mark prices/) },
    });
    expect(refused.headers.get("retry-after")).toBeNull();
  }
  expect(await untradableGauge(gateway)).toEqual(["0", "1"]);
  await gateway.stop();
  expect(gateway.output()).not.toContain("ccxt.binance");
});

test("a recording that has ended is said to have, once, and orders are refused for that reason", async () => {
  const gateway = await startOn({ types: ["SPOT", "FUTURES"], seconds: 2, hasMarkPrices: true });
  await eventually("the end is said", () => gateway.output().includes(ENDED));
  const spot = gateway.seed("SPOT");
  const futures = gateway.seed("FUTURES");
  for (const order of [MARKET, LIMIT]) {
    expect(
      await signed(gateway.url, spot, "POST", "/api/v3/order", { ...order, quantity: "0.001" }),
    ).toMatchObject({ status: 400, body: { code: -1013, msg: `Market is closed: ${ENDED}.` } });
    expect(
      await signed(gateway.url, futures, "POST", "/fapi/v1/order", { ...order, quantity: "0.01" }),
    ).toMatchObject({ status: 400, body: { code: -4141, msg: `Symbol is closed: ${ENDED}.` } });
  }
  expect(await untradableGauge(gateway)).toEqual(["1", "1"]);
  await gateway.stop();
  expect(gateway.output()).toContain("The recording holds BTCUSDT (spot and futures) until");
  expect(gateway.output()).toContain("ccxt.binance(");
  expect(gateway.output()).toContain("ccxt.binanceusdm(");
  expect(gateway.output().split(ENDED)).toHaveLength(2);
});

test("of a recording of one type only what can trade is offered, and it trades", async () => {
  const gateway = await startOn({ types: ["SPOT"], seconds: 600, hasMarkPrices: false });
  const strategy = gateway.seed("SPOT");
  const order = { ...MARKET, quantity: "0.001" };
  const place = () => signed(gateway.url, strategy, "POST", "/api/v3/order", order);
  expect(await priced(place)).toMatchObject({ status: 200, body: { status: "FILLED" } });
  await gateway.stop();
  expect(gateway.output()).toContain("ccxt.binance(");
  expect(gateway.output()).not.toContain("ccxt.binanceusdm(");
});

test("what the recorder has recorded can be replayed, with the books of both types", async () => {
  const exchange = await openSimulatedExchange({ seed: 1008 });
  onTestFinished(() => exchange.close());
  const file = join(newDirectory(), "recorded.ndjson.gz");
  const recorder = spawn(process.execPath, ["tools/record-tape.mjs", SYMBOL, "3", file], {
    env: {
      ...process.env,
      ...upstreamEnv(exchange),
    },
    stdio: "ignore",
  });
  expect(await once(recorder, "exit")).toEqual([0, null]);
  const tape = await openTape({ file, manual: true });
  onTestFinished(() => tape.close());
  expect(tape).toMatchObject({ symbol: SYMBOL, types: ["SPOT", "FUTURES"], hasMarkPrices: true });
  tape.advanceTo(tape.endsAt);
  for (const path of [`${tape.spotRestUrl}/api/v3/depth`, `${tape.futuresRestUrl}/fapi/v1/depth`]) {
    const answer = await fetch(`${path}?symbol=${SYMBOL}&limit=5`);
    const { bids, asks } = (await answer.json()) as { bids: unknown[]; asks: unknown[] };
    expect([bids.length, asks.length]).toEqual([5, 5]);
  }
});
