// Stock clients of JavaScript, unmodified, over the exchange's own WebSockets on spot: each trades over the
// WebSocket API where it can, and learns of its orders by its user data stream. How each of them is pointed
// at the gateway is in docs/clients.md.
import { Spot } from "@binance/spot";
import ccxt from "ccxt";
import { describe, expect, test } from "vitest";
import { Reports, type Told } from "../support/reports.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { apiNodeSpot, binanceSpot, nodeBinanceSpot } from "./user-data.ts";

stayOnLoopback();
const gateway = seededGateway(8);

const sockets = () => gateway.url.replace("http", "ws");
const BUY = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" } as const;

const orderOf = async (key: ReturnType<typeof gateway.takeStrategy>, orderId: number) =>
  (await signed(gateway.url, key, "GET", "/api/v3/order", { symbol: "BTCUSDT", orderId })).body;

test("ccxt pro watches its orders, trades and balance, and trades by socket", async () => {
  const key = gateway.takeStrategy();
  const exchange: Told = new ccxt.pro.binance({ apiKey: key.apiKey, secret: key.apiSecret });
  for (const [api, address] of Object.entries(exchange.urls.api as Record<string, Told>)) {
    if (typeof address === "string") exchange.urls.api[api] = address.replace(/^https?:..[^/]+/, gateway.url);
  }
  exchange.urls.api.ws.spot = `${sockets()}/stream/ws`;
  exchange.urls.api.ws["ws-api"].spot = `${sockets()}/ws-api/v3`;
  await exchange.loadHttpProxyAgent();
  try {
    const orders = exchange.watchOrders("BTC/USDT");
    const trades = exchange.watchMyTrades("BTC/USDT");
    const balance = exchange.watchBalance();
    // Its subscription is answered before its first order is sent over the same connection.
    const placed = await exchange.createOrderWs("BTC/USDT", "market", "buy", 0.001);
    expect((await orders)[0]).toMatchObject({ id: placed.id, symbol: "BTC/USDT", side: "buy" });
    const [trade] = await trades;
    expect(trade).toMatchObject({ order: placed.id, amount: 0.001 });
    expect((await balance).BTC.total).toBeGreaterThan(0);

    const price = exchange.priceToPrecision("BTC/USDT", trade.price * 0.9);
    const resting = await exchange.createOrderWs("BTC/USDT", "limit", "buy", 0.001, Number(price));
    expect((await exchange.fetchOrderWs(resting.id, "BTC/USDT")).status).toBe("open");
    expect(await exchange.fetchOpenOrdersWs("BTC/USDT")).toHaveLength(1);
    expect((await exchange.cancelOrderWs(resting.id, "BTC/USDT")).status).toBe("canceled");
    // It reads the rows of this answer of futures only; the body is there.
    expect((await exchange.fetchBalanceWs()).info.balances.length).toBeGreaterThan(0);
    await expect(exchange.createOrderWs("BTC/USDT", "market", "buy", 1_000_000)).rejects.toThrow();
  } finally {
    await exchange.close();
  }
});

test("binance's WebsocketAPIClient trades, and its user data stream reports it", async () => {
  const reports = new Reports();
  const { client, close } = await binanceSpot(gateway.takeStrategy(), gateway.url, reports.take);
  try {
    const placed = await client.submitNewSpotOrder({
      ...BUY,
      quantity: 0.001,
      newOrderRespType: "FULL",
      timestamp: Date.now(),
    });
    expect(placed).toMatchObject({ status: 200, result: { status: "FILLED" } });
    const filled = await reports.first(({ e, x }) => e === "executionReport" && x === "TRADE");
    expect(filled.i).toBe(placed.result.orderId);
    await reports.first(({ e }) => e === "outboundAccountPosition");
    const account = await client.getSpotAccountInformation({ timestamp: Date.now() });
    expect(account.result.balances.length).toBeGreaterThan(0);
  } finally {
    await close();
  }
});

test("@binance/spot trades, and its user data stream reports it", async () => {
  const key = gateway.takeStrategy();
  const reports = new Reports();
  const client = new Spot({
    configurationWebsocketAPI: {
      apiKey: key.apiKey,
      apiSecret: key.apiSecret,
      wsURL: `${sockets()}/ws-api/v3`,
    },
  } as Told);
  const connection: Told = await client.websocketAPI.connect();
  try {
    const { stream } = await connection.userDataStreamSubscribeSignature();
    stream.on("message", reports.take);
    const placed = await connection.orderPlace({ ...BUY, quantity: 0.001, newOrderRespType: "FULL" });
    const { orderId, status } = placed.data;
    expect(status).toBe("FILLED");
    const filled = await reports.first((event) => event.e === "executionReport" && event.X === "FILLED");
    expect(filled).toMatchObject({ i: orderId, z: (await orderOf(key, orderId)).executedQty });
    expect(placed.rateLimits.length).toBeGreaterThan(0);
  } finally {
    await connection.disconnect();
  }
});

test("node-binance-api's userData reports what it trades by REST", async () => {
  const reports = new Reports();
  const { client, close } = await nodeBinanceSpot(gateway.takeStrategy(), gateway.url, reports.take);
  try {
    const { orderId } = await client.marketBuy("BTCUSDT", 0.001);
    const filled = await reports.first((event) => event.e === "executionReport" && event.X === "FILLED");
    expect(filled.i).toBe(orderId);
    await reports.first((event) => event.e === "outboundAccountPosition");
  } finally {
    await close();
  }
});

test("binance-api-node's ws.user reports what it trades by REST", async () => {
  const reports = new Reports();
  const { client, close } = await apiNodeSpot(gateway.takeStrategy(), gateway.url, reports.take);
  try {
    const { orderId } = await client.order(BUY);
    const filled = await reports.first(
      ({ eventType, orderStatus }) => eventType === "executionReport" && orderStatus === "FILLED",
    );
    expect(filled.orderId).toBe(orderId);
  } finally {
    await close();
  }
});

describe("a client that is new to the gateway", () => {
  test("gets 410 from the retired route of user data", async () => {
    const key = gateway.takeStrategy();
    const response = await fetch(`${gateway.url}/api/v3/userDataStream`, {
      method: "POST",
      headers: { "x-mbx-apikey": key.apiKey },
    });
    expect(response.status).toBe(410);
  });
});
