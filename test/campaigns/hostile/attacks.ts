// Counts what a stranger, a careless trader and a lagging market can do: a captured request altered in every
// place, an address that opens all the connections it can, orders on a late market, and a copier with the
// default settings while the strategy takes the highest leverage.
import { connect, type Socket } from "node:net";
import { newSettings, settingsOf } from "../../../dashboard/src/copying/settings.ts";
import { openCopiesFixture, places } from "../../../src/copy/testing/copies-fixture.ts";
import { copySettingsForm, settingsFrom } from "../../../src/dashboard-api/copying/copy-settings.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { EXACT_SETTINGS } from "../../../src/domain/copying.ts";
import { CONNECTIONS_PER_ADDRESS_DEFAULT } from "../../../src/rate-limits/connections.ts";
import { percentOf } from "../../clients/contract-sums.ts";
import { eventually } from "../../support/eventually.ts";
import { farBelow } from "../../support/exact.ts";
import { untilPriced } from "../../support/prices.ts";
import { exchange, exchangeSigned, hmacHex } from "../../support/raw.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { openLateMarket } from "../../support/servers/late-market.ts";
import { signed } from "../../support/signed-client.ts";
import { connectStream, MARKET } from "../../support/sockets/stream-client.ts";
import { seedMany } from "../../support/strategies.ts";
import { PATHS } from "../harness/routes.ts";

/** How late a market's messages are, ms: within the bound of 5 s, and beyond it. */
const DELAYS_MS = [1_000, 3_000, 10_000, 30_000] as const;

export type Multiplied = Awaited<ReturnType<typeof multiply>>;

/**
 * Captures orders as they are sent, cuts each in two at every place, and sends the parts as query and body
 * under its signature.
 */
export async function multiply(count: number, onProgress: (done: number) => void) {
  const gateway = await startGateway({ env: { TRUSTED_PROXY_HOPS: "1" } });
  const found = {
    // Captured requests, and those that were made of them by moving the boundary between query and body.
    ...{ captured: 0, moved: 0 },
    // Orders beyond one for each captured request, and orders whose quantity or price is another.
    ...{ more: 0, altered: 0 },
  };
  try {
    for (const type of ["SPOT", "FUTURES"] as const) {
      const [first, ...keys] = await seedMany(gateway.dataDir, 1 + count, type);
      if (first === undefined) throw new Error("strategies were made");
      await untilPriced(gateway.url, first, type);
      for (const [index, key] of keys.entries()) {
        found.captured += 1;
        // From an address each: a limit must not be what refuses them.
        const from = `198.51.100.${found.captured}`;
        const sent = await sendAllCuts(gateway.url, key, { type, isLimit: index % 2 === 1, from });
        found.moved += sent.moved;
        found.more += sent.orders.length - 1;
        const { origQty, price } = sent.placed;
        found.altered += sent.orders.filter(
          (order) => order.origQty !== origQty || order.price !== price,
        ).length;
        onProgress(found.captured);
      }
    }
  } finally {
    await gateway.stop();
  }
  return found;
}

type OrderBody = { readonly origQty: string; readonly price: string };

async function sendAllCuts(
  url: string,
  key: Credentials,
  { type, isLimit, from }: { readonly type: StrategyType; readonly isLimit: boolean; readonly from: string },
) {
  const quantity = type === "SPOT" ? "0.00125" : "0.012";
  const terms = isLimit
    ? `type=LIMIT&timeInForce=GTC&quantity=${quantity}&price=${await priceOf(url, type, from)}`
    : `type=MARKET&quantity=${quantity}`;
  const text = `timestamp=${Date.now()}&symbol=BTCUSDT&side=BUY&newClientOrderId=x-entry-price&${terms}&recvWindow=30000`;
  const signature = `signature=${hmacHex(key.apiSecret, text)}`;
  const request = {
    method: "POST",
    path: PATHS[type].order,
    headers: { "x-mbx-apikey": key.apiKey, "x-forwarded-for": from },
  };
  const first = await exchange(url, { ...request, body: `${text}&${signature}` });
  if (first.status !== 200) throw new Error(`an order is taken: ${first.status} ${first.text}`);
  const listed = async (): Promise<readonly OrderBody[]> => {
    const query = `symbol=BTCUSDT&timestamp=${Date.now()}`;
    const headers = { "x-forwarded-for": from };
    return (await exchangeSigned(url, key, "GET", PATHS[type].allOrders, { query, headers })).body;
  };
  const [placed] = await listed();
  if (placed === undefined) throw new Error("an order that was taken is listed");
  let moved = 0;
  for (let cut = 1; cut < text.length; cut += 1) {
    const [query, body] = [text.slice(0, cut), text.slice(cut)];
    const parts =
      cut % 2 === 0 ? { query: `${query}&${signature}`, body } : { query, body: `${body}&${signature}` };
    const { status, text: said } = await exchange(url, { ...request, ...parts });
    if (status !== 200 && status !== 400) throw new Error(`a cut request was judged: ${status} ${said}`);
    moved += 1;
  }
  return { placed, moved, orders: await listed() };
}

async function priceOf(url: string, type: StrategyType, from: string): Promise<string> {
  const path = type === "SPOT" ? "/api/v3/ticker/bookTicker" : "/fapi/v1/premiumIndex";
  const headers = { "x-forwarded-for": from };
  const { body } = await exchange(url, { method: "GET", path, query: "symbol=BTCUSDT", headers });
  return type === "SPOT" ? farBelow(body.bidPrice) : percentOf(body.markPrice, 90n);
}

export type Crowded = Awaited<ReturnType<typeof crowd>>;

const CROWD = "127.0.0.66";
/** So many connections are opened before it is waited for what becomes of them. */
const BATCH = 250;
const UPGRADE = [
  "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1",
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "",
  "",
].join("\r\n");

/**
 * Opens connections of one address without a key, half of them as streams that never say anything, while
 * another uses streams.
 */
export async function crowd(count: number, onProgress: (opened: number) => void) {
  const gateway = await startGateway();
  const sockets = new Set<Socket>();
  const found = {
    // Of those that were opened, the ones that the server held once it had cut what is beyond its bound, and
    // how long that took, ms.
    ...{ opened: 0, held: 0, cutMs: 0 },
    // Streams that another address opened during the attack, those that were not served, and the longest wait
    // for one, ms.
    ...{ streams: 0, shutOut: 0, longestMs: 0 },
  };
  try {
    const [key] = await seedMany(gateway.dataDir, 1);
    if (key === undefined) throw new Error("one strategy was asked for");
    while (found.opened < count) {
      const batch = Math.min(BATCH, count - found.opened);
      await Promise.all(Array.from({ length: batch }, (_, index) => open(gateway, sockets, index % 2 === 0)));
      found.opened += batch;
      const since = performance.now();
      found.streams += 1;
      if (!(await isServed(gateway, key))) found.shutOut += 1;
      found.longestMs = Math.max(found.longestMs, performance.now() - since);
      onProgress(found.opened);
    }
    const since = performance.now();
    await eventually("the surplus is cut", () => sockets.size <= CONNECTIONS_PER_ADDRESS_DEFAULT);
    found.held = sockets.size;
    found.cutMs = performance.now() - since;
  } finally {
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
  }
  return found;
}

/** Resolves when the connection is open, or refused. */
function open({ url }: GatewayProcess, sockets: Set<Socket>, isStream: boolean): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: CROWD });
    socket.on("error", () => resolve());
    socket.on("data", () => resolve());
    socket.on("close", () => {
      sockets.delete(socket);
      resolve();
    });
    socket.on("connect", () => {
      sockets.add(socket);
      if (isStream) socket.write(UPGRADE);
      else resolve();
    });
  });
}

async function isServed({ url }: GatewayProcess, key: Credentials): Promise<boolean> {
  try {
    const client = await connectStream(url, MARKET, key);
    await client.subscribe({ pair: "BTCUSDT", timeframe: "1m" });
    client.close();
    return true;
  } catch {
    return false;
  }
}

export type Late = {
  readonly delayMs: number;
  readonly orders: number;
  readonly filled: number;
  /** Answered 503, with the reason that the market is late. */
  readonly refused: number;
};

/** Orders at the market's price while what the exchange sends arrives late. */
export async function tradeLate(count: number, onProgress: (delayMs: number) => void): Promise<Late[]> {
  const found: Late[] = [];
  for (const delayMs of DELAYS_MS) {
    const tally = { delayMs, orders: 0, filled: 0, refused: 0 };
    for (const type of ["SPOT", "FUTURES"] as const) {
      await using market = await openLateMarket(type, delayMs);
      await market.pass(12);
      for (let sent = 0; sent < count; sent += 1) {
        const { status, body } = await market.order(sent % 2 === 0 ? "BUY" : "SELL");
        tally.orders += 1;
        if (status === 200) tally.filled += 1;
        else if (status === 503 && /late/.test(body.msg)) tally.refused += 1;
        await market.pass(1);
      }
    }
    found.push(tally);
    onProgress(delayMs);
  }
  return found;
}

export type Exposed = Awaited<ReturnType<typeof expose>>;

const STRATEGY_LEVERAGE = 100;
/**
 * Of the strategy's 1,000 USDT half a per cent a time is margin: 45 such orders are 22.5 times what it has.
 */
const COPIED_QUANTITY = "0.005";
/** The preset lets thirty openings pass a minute. */
const BETWEEN_ORDERS_MS = 2_500;

/**
 * A copy with the settings that the dialog begins with, of a strategy that opens as much as its leverage lets
 * it.
 */
export async function expose(count: number) {
  await using fixture = await openCopiesFixture({ waitsForFees: false });
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const preset = settingsOf(newSettings("FUTURES"));
  if ("errors" in preset) throw new Error("the settings that a dialog begins with can be saved");
  const settings = settingsFrom(copySettingsForm.parse(preset.settings), EXACT_SETTINGS);
  const copier = await fixture.copier(strategy, "FUTURES", settings);
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: STRATEGY_LEVERAGE });
  for (let placed = 0; placed < count; placed += 1) {
    await fixture.does(strategy, places("BUY", COPIED_QUANTITY));
    await fixture.passes(BETWEEN_ORDERS_MS);
  }
  const call = async (path: string) => {
    const { url, time } = fixture.venue;
    return (await signed(url, copier.account, "GET", path, { timestamp: String(time.now()) })).body;
  };
  const { totalWalletBalance } = await call("/fapi/v3/account");
  const [position] = await call("/fapi/v2/positionRisk");
  const { positionAmt, markPrice, liquidationPrice, leverage } = position;
  const mark = Number(markPrice);
  const liquidation = Number(liquidationPrice);
  return {
    orders: count,
    /** Of the strategy, and what the copy opens at. */
    strategyLeverage: STRATEGY_LEVERAGE,
    leverage: Number(leverage),
    /** What the copy's position is worth, as a multiple of its wallet. */
    multiple: (Number(positionAmt) * mark) / Number(totalWalletBalance),
    /** The move of the mark price against it that liquidates it, as a part; null: none does. */
    liquidatedBy: liquidation > 0 ? (mark - liquidation) / mark : null,
  };
}
