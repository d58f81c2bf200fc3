// The real program on an upstream that goes down and comes back: what it refuses in that time, what still
// works, and that it recovers by itself.
import { expect, onTestFinished, test } from "vitest";
import type { Exchange } from "../../src/market/exchange/open.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { eventually } from "../support/eventually.ts";
import { farBelow } from "../support/exact.ts";
import { priced } from "../support/prices.ts";
import { startGateway, upstreamEnv } from "../support/servers/gateway.ts";
import { freePort } from "../support/servers/postgres.ts";
import { send, signed } from "../support/signed-client.ts";

const SYMBOL = "BTCUSDT";
const SEED = 1008;
/** Silence begins five seconds after the last message; the rest is for a busy machine. */
const SILENT_MS_MAX = 30_000;
/** The next attempt to connect is at most three seconds away; the rest is for a busy machine. */
const CONNECTED_MS_MAX = 30_000;
/** Two requests a second, so that a wait leaves most of the budgets. */
const ASK_AGAIN_MS = 500;

test("an upstream that stops and starts again needs no restart of ours", async () => {
  let exchange: Exchange = await openSimulatedExchange({ seed: SEED, port: await freePort() });
  onTestFinished(() => exchange.close());
  const gateway = await startGateway({
    env: upstreamEnv(exchange),
  });
  onTestFinished(() => gateway.kill());
  const strategy = gateway.seed();
  const ask = (method: string, path: string, parameters: Readonly<Record<string, string>> = {}) =>
    signed(gateway.url, strategy, method, `/api/v3/${path}`, { symbol: SYMBOL, ...parameters });
  const buy = () => ask("POST", "order", { side: "BUY", type: "MARKET", quantity: "0.0001" });
  const holder = gateway.seed("FUTURES");
  const askFutures = (method: string, path: string, parameters: Readonly<Record<string, string>> = {}) =>
    signed(gateway.url, holder, method, `/fapi/${path}`, { symbol: SYMBOL, ...parameters });
  const buyContract = () =>
    askFutures("POST", "v1/order", { side: "BUY", type: "MARKET", quantity: "0.002" });

  const bought = await priced(buy);
  expect(bought).toMatchObject({ status: 200, body: { status: "FILLED" } });
  expect(await priced(buyContract)).toMatchObject({ status: 200, body: { status: "FILLED" } });
  const last = (await send(gateway.url, "GET", `/api/v3/ticker/price?symbol=${SYMBOL}`)).body.price;
  const leg = await askFutures("POST", "v1/algoOrder", {
    ...{ side: "SELL", type: "STOP_MARKET", closePosition: "true" },
    stopPrice: String(Math.round(Number(last) * 0.6)),
  });
  expect(leg).toMatchObject({ status: 200, body: { algoStatus: "NEW" } });

  const port = Number(new URL(exchange.spotRestUrl).port);
  await exchange.close();
  let refused = await buy();
  await eventually(
    "a market order is refused",
    async () => {
      refused = await buy();
      return refused.status !== 200;
    },
    { msMax: SILENT_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
  expect(refused).toMatchObject({ status: 503, body: { code: -1008 } });
  expect(refused.headers.get("retry-after")).toBe("1");
  // Silence begins for each market by itself.
  let contract = await buyContract();
  let contracts = 1;
  await eventually(
    "a contract is refused",
    async () => {
      if (contract.status !== 200) return true;
      contracts += 1;
      contract = await buyContract();
      return false;
    },
    { msMax: SILENT_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
  expect(contract).toMatchObject({ status: 503, body: { code: -1008 } });
  expect((await send(gateway.url, "GET", "/healthz")).status).toBe(200);
  const unready = await send(gateway.url, "GET", "/readyz");
  expect(unready).toMatchObject({ status: 503, body: { checks: { server: "ok", store: "ok" } } });
  expect(unready.body.checks).toMatchObject({ spotMarket: "not connected", futuresMarket: "not connected" });
  const price = farBelow(last);
  const rests = { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price };
  const resting = await ask("POST", "order", rests);
  expect(resting).toMatchObject({ status: 200, body: { status: "NEW" } });
  const { orderId } = resting.body;
  expect(await ask("GET", "order", { orderId })).toMatchObject({ status: 200, body: { status: "NEW" } });
  expect(await ask("GET", "account")).toMatchObject({ status: 200 });
  expect((await ask("GET", "myTrades")).status).toBe(200);
  expect((await askFutures("GET", "v3/account")).status).toBe(200);
  expect(await askFutures("GET", "v3/positionRisk")).toMatchObject({
    status: 200,
    body: [{ positionAmt: (0.002 * contracts).toFixed(3) }],
  });

  exchange = await openSimulatedExchange({ seed: SEED, port });
  let again = await buy();
  await eventually(
    "a market order is filled again",
    async () => {
      again = await buy();
      return again.status !== 503;
    },
    { msMax: CONNECTED_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
  expect(again).toMatchObject({ status: 200, body: { status: "FILLED" } });
  expect(await ask("GET", "order", { orderId })).toMatchObject({ status: 200, body: { status: "NEW" } });
  await eventually("contracts are traded again", async () => (await buyContract()).status === 200, {
    msMax: CONNECTED_MS_MAX,
    askAgainMs: ASK_AGAIN_MS,
  });
  await eventually(
    "every connection is open again",
    async () => (await send(gateway.url, "GET", "/readyz")).status === 200,
    { msMax: CONNECTED_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
  expect(await askFutures("GET", "v1/openAlgoOrders")).toMatchObject({ body: [{ algoId: leg.body.algoId }] });
  expect(gateway.process.exitCode).toBeNull();
});
