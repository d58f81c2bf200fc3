// ccxt.pro, unmodified, on the market streams of a real gateway: every watch of public data, both markets of
// one object, the book over many changes.
import ccxt from "ccxt";
import { afterEach, expect, test } from "vitest";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";

stayOnLoopback();
const gateway = seededGateway(0);

// biome-ignore lint/suspicious/noExplicitAny: ccxt's own types lack much of what its methods take.
type Exchange = any;
let opened: Exchange = null;

afterEach(async () => {
  await opened?.close();
});

/** As docs/sockets.md has it. */
async function open(): Promise<Exchange> {
  const exchange: Exchange = new ccxt.pro.binance();
  const { api } = exchange.urls;
  for (const [name, address] of Object.entries(api)) {
    if (typeof address === "string") api[name] = address.replace(/^https:..[^/]+/, gateway.url);
  }
  const ws = gateway.url.replace("http", "ws");
  api.ws.spot = `${ws}/stream/ws`;
  api.ws.future = `${ws}/ws`;
  await exchange.loadHttpProxyAgent();
  opened = exchange;
  return exchange;
}

test.each(["BTC/USDT", "BTC/USDT:USDT"])("%s is watched", async (symbol) => {
  const exchange = await open();
  const other = symbol.replace("BTC", "ETH");
  expect((await exchange.watchTicker(symbol)).last).toBeGreaterThan(0);
  expect(Object.keys(await exchange.watchTickers([symbol, other]))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(BTC|ETH)/)]),
  );
  for (const trade of await exchange.watchTrades(symbol)) expect(trade).toMatchObject({ symbol });
  const [candle] = await exchange.watchOHLCV(symbol, "1m");
  expect(candle).toHaveLength(6);
  const bidsAsks = await exchange.watchBidsAsks([symbol]);
  expect(bidsAsks[symbol].bid).toBeLessThan(bidsAsks[symbol].ask);
});

test("all tickers and mark prices are watched", async () => {
  const exchange = await open();
  expect(Object.keys(await exchange.watchTickers()).length).toBeGreaterThan(1);
  expect((await exchange.watchMarkPrice("BTC/USDT:USDT")).markPrice).toBeGreaterThan(0);
  expect(Object.keys(await exchange.watchMarkPrices()).length).toBeGreaterThan(1);
});

// ccxt throws ChecksumError when a snapshot and the changes do not fit together.
test.each(["BTC/USDT", "BTC/USDT:USDT"])("the book of %s stays in step", async (symbol) => {
  const exchange = await open();
  let nonce = 0;
  for (let update = 0; update < 50; update += 1) {
    const book = await exchange.watchOrderBook(symbol);
    expect(book.nonce).toBeGreaterThanOrEqual(nonce);
    nonce = book.nonce;
    expect(book.bids[0][0]).toBeLessThan(book.asks[0][0]);
  }
  // A book that lost a change would keep levels that are gone.
  const { bids, asks } = await exchange.fetchOrderBook(symbol, 100);
  const book = await exchange.watchOrderBook(symbol);
  expect(Math.abs(book.bids.length - bids.length)).toBeLessThanOrEqual(1);
  expect(Math.abs(book.asks.length - asks.length)).toBeLessThanOrEqual(1);
});

test("a name that cannot be a stream is an error, not a wait without an end", async () => {
  const exchange = await open();
  await exchange.loadMarkets();
  const url = `${exchange.urls.api.ws.spot}/0`;
  const message = { method: "SUBSCRIBE", params: ["two words"], id: 77 };
  const subscription = { id: 77 };
  await expect(exchange.watch(url, "two words", message, "two words", subscription)).rejects.toThrow(
    /invalid stream/,
  );
});
