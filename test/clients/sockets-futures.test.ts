// Stock clients of JavaScript, unmodified, over the exchange's own WebSockets on futures: each opens its
// listen key, trades (over the WebSocket API where it can), and learns of its orders, its position and its
// wallet by its user data stream. How each of them is pointed at the gateway is in docs/clients.md.
import { DerivativesTradingUsdsFutures } from "@binance/derivatives-trading-usds-futures";
import { USDMClient, WebsocketAPIClient } from "binance";
import ccxt from "ccxt";
import { expect, test } from "vitest";
import { Reports, type Told } from "../support/reports.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { CONNECTOR_TIMEOUT_MS } from "./client.ts";
import { apiNodeFutures, binanceFutures, nodeBinanceFutures } from "./user-data.ts";

stayOnLoopback();
const gateway = seededGateway(0, { futuresStrategyCount: 6 });

const sockets = () => gateway.url.replace("http", "ws");
const BUY = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.01" } as const;
/** So little that the money lasts until a stream is open. */
const REPEATED_QUANTITY = "0.002";

/** A fill is reported, and the wallet of the event is the one that REST shows. */
async function expectFill(reports: Reports, key: Credentials, orderId: number): Promise<void> {
  const filled = await reports.first(
    ({ e, o }) => e === "ORDER_TRADE_UPDATE" && o.X === "FILLED" && o.x === "TRADE",
  );
  expect(filled.o.i).toBe(orderId);
  const update = await reports.first(({ e, a }) => e === "ACCOUNT_UPDATE" && a.m === "ORDER");
  expect(update.a.P[0]).toMatchObject({ s: "BTCUSDT", pa: "0.010", ps: "BOTH" });
  const balances = await signed(gateway.url, key, "GET", "/fapi/v3/balance");
  expect(update.a.B[0].wb).toBe(balances.body[0].balance);
}

/** Some clients do not say when their stream is open: trades until something is reported. */
async function untilReported(reports: Reports, trade: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(
      async () => {
        await trade();
        return reports.all.length;
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBeGreaterThan(0);
}

test("ccxt pro watches its orders, trades, balance and positions, and trades by socket", async () => {
  const key = gateway.takeFuturesStrategy();
  const exchange: Told = new ccxt.pro.binanceusdm({ apiKey: key.apiKey, secret: key.apiSecret });
  for (const [api, address] of Object.entries(exchange.urls.api as Record<string, Told>)) {
    if (typeof address === "string") exchange.urls.api[api] = address.replace(/^https?:..[^/]+/, gateway.url);
  }
  exchange.urls.api.ws.future = `${sockets()}/ws`;
  exchange.urls.api.ws["ws-api"].future = `${sockets()}/ws-fapi/v1`;
  await exchange.loadHttpProxyAgent();
  const CONTRACT = "BTC/USDT:USDT";
  try {
    const orders = exchange.watchOrders(CONTRACT);
    // Its listen key has to be there before its first order.
    await expect
      .poll(() => Object.keys(exchange.clients).some((url) => url.includes("listenKey")))
      .toBe(true);
    const client: Told = Object.entries(exchange.clients).find(([url]) => url.includes("listenKey"))?.[1];
    await client.connected;
    const trades = exchange.watchMyTrades(CONTRACT);
    const balance = exchange.watchBalance();
    // It answers what REST shows first: no position yet.
    const positions = (async () => {
      for (;;) {
        const rows = await exchange.watchPositions([CONTRACT]);
        if (rows.length > 0) return rows;
      }
    })();
    const placed = await exchange.createOrderWs(CONTRACT, "market", "buy", 0.01);
    expect((await orders)[0]).toMatchObject({ id: placed.id, symbol: CONTRACT, side: "buy" });
    expect((await trades)[0]).toMatchObject({ order: placed.id, amount: 0.01 });
    expect((await balance).USDT.total).toBeGreaterThan(0);
    expect((await positions)[0]).toMatchObject({ symbol: CONTRACT, contracts: 0.01, side: "long" });
    expect((await exchange.fetchPositionsWs([CONTRACT]))[0]).toMatchObject({ contracts: 0.01 });
    const price = exchange.priceToPrecision(CONTRACT, placed.average * 0.9);
    const resting = await exchange.createOrderWs(CONTRACT, "limit", "buy", 0.01, Number(price));
    expect((await exchange.cancelOrderWs(resting.id, CONTRACT)).status).toBe("canceled");
  } finally {
    await exchange.close();
  }
});

test("binance's clients trade by socket, and the listen key's stream reports it", async () => {
  const key = gateway.takeFuturesStrategy();
  const reports = new Reports();
  const options: Told = {
    api_key: key.apiKey,
    api_secret: key.apiSecret,
    wsUrl: sockets(),
    restOptions: { baseUrl: gateway.url },
  };
  const api: Told = new WebsocketAPIClient({ ...options, attachEventListeners: false });
  const rest: Told = new USDMClient({ ...options, baseUrl: gateway.url });
  const { close } = await binanceFutures(key, gateway.url, reports.take);
  try {
    const placed = await api.submitNewFuturesOrder("usdm", {
      ...BUY,
      quantity: 0.01,
      newOrderRespType: "RESULT",
      timestamp: Date.now(),
    });
    expect(placed).toMatchObject({ status: 200, result: { status: "FILLED" } });
    await expectFill(reports, key, placed.result.orderId);
    expect((await rest.getPositionsV3())[0].positionAmt).toBe("0.010");
  } finally {
    await close();
    api.getWSClient().closeAll(true);
  }
});

test("@binance/derivatives-trading-usds-futures trades by socket, and its stream reports it", async () => {
  const key = gateway.takeFuturesStrategy();
  const reports = new Reports();
  const { apiKey, apiSecret } = key;
  const client: Told = new DerivativesTradingUsdsFutures({
    configurationRestAPI: { apiKey, apiSecret, basePath: gateway.url, timeout: CONNECTOR_TIMEOUT_MS },
    configurationWebsocketAPI: { apiKey, apiSecret, wsURL: `${sockets()}/ws-fapi/v1` },
    configurationWebsocketStreams: { wsURL: sockets() },
  } as Told);
  const streams = await client.websocketStreams.connect();
  const api = await client.websocketAPI.connect();
  try {
    const { listenKey } = await (await client.restAPI.startUserDataStream()).data();
    streams.userData(listenKey).on("message", reports.take);
    const placed = await api.newOrder({ ...BUY, quantity: 0.01, newOrderRespType: "RESULT" });
    await expectFill(reports, key, Number(placed.data.orderId));
    const leg = await api.newAlgoOrder({
      algoType: "CONDITIONAL",
      symbol: "BTCUSDT",
      side: "SELL",
      type: "STOP_MARKET",
      triggerPrice: Math.round(Number(placed.data.avgPrice) * 0.9),
      closePosition: "true",
    });
    const reported = await reports.first(({ e }) => e === "ALGO_UPDATE");
    expect(reported.o).toMatchObject({ aid: Number(leg.data.algoId), X: "NEW", o: "STOP_MARKET" });
  } finally {
    await streams.disconnect();
    await api.disconnect();
  }
});

test("node-binance-api's userFutureData reports what it trades by REST", async () => {
  const reports = new Reports();
  const { client, close } = await nodeBinanceFutures(
    gateway.takeFuturesStrategy(),
    gateway.url,
    reports.take,
  );
  try {
    const buy = () => client.futuresMarketBuy("BTCUSDT", REPEATED_QUANTITY, { newOrderRespType: "RESULT" });
    await untilReported(reports, buy);
    const { orderId } = await buy();
    await reports.first(({ e, o }) => e === "ORDER_TRADE_UPDATE" && o.X === "FILLED" && o.i === orderId);
  } finally {
    await close();
  }
});

test("binance-api-node's ws.futuresUser reports what it trades by REST", async () => {
  const reports = new Reports();
  const { client, close } = await apiNodeFutures(gateway.takeFuturesStrategy(), gateway.url, reports.take);
  try {
    const buy = () =>
      client.futuresOrder({ ...BUY, quantity: REPEATED_QUANTITY, newOrderRespType: "RESULT" });
    await untilReported(reports, buy);
    const { orderId } = await buy();
    await reports.first((event) => event.orderStatus === "FILLED" && event.orderId === orderId);
  } finally {
    await close();
  }
});
