// ccxt, unmodified (`ccxt-client.ts` says how it is pointed here), and its interpretation of the gateway's
// answers: its own markets, orders, balances and error classes.
import ccxt from "ccxt";
import { beforeAll, describe, expect, test } from "vitest";
import { balancesAfter, decimalText, expectedFill, type Fill, farBelow, units } from "../support/exact.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { ccxtSpotClient, exchangeOf, expectRefusal, PAIR } from "./ccxt-client.ts";
import { errorOf } from "./client.ts";
import { describeSpotLife } from "./spot-life.ts";

stayOnLoopback();
const gateway = seededGateway(20);

type Client = ReturnType<typeof exchangeOf>;

function idOf({ id }: { readonly id?: string | undefined }): string {
  if (id === undefined) throw new Error("an order that was placed has an id");
  return id;
}

/** A client of a strategy of its own, after ccxt's default start-up. */
async function trader(): Promise<Client & { readonly credentials: Credentials }> {
  const credentials = gateway.takeStrategy();
  const exchange = exchangeOf(credentials, gateway.url);
  await exchange.loadMarkets();
  return Object.assign(exchange, { credentials });
}

/** A price at which a BUY stays open. */
async function restingPrice(exchange: Client): Promise<number> {
  const { ask } = await exchange.fetchTicker(PAIR);
  return Number(farBelow(String(ask)));
}

/** Every fill as the wire has it: ccxt's own numbers are floating point. */
async function fillsOf(exchange: Client): Promise<(Fill & { quoteQty: string; commission: string })[]> {
  return (await exchange.fetchMyTrades(PAIR)).map(({ info }) => info);
}

async function balancesOf(exchange: Client): Promise<Record<string, { free: string; locked: string }>> {
  const { info } = await exchange.fetchBalance();
  const rows: { asset: string; free: string; locked: string }[] = info.balances;
  return Object.fromEntries(rows.map(({ asset, free, locked }) => [asset, { free, locked }]));
}

async function expectBalancesToFollowFrom(exchange: Client): Promise<void> {
  const fills = await fillsOf(exchange);
  for (const fill of fills) expect(fill).toMatchObject(expectedFill(fill));
  const { base, quote } = balancesAfter(fills);
  const balances = await balancesOf(exchange);
  expect(balances.USDT).toEqual({ free: quote, locked: "0.00000000" });
  expect(balances.BTC ?? { free: "0.00000000", locked: "0.00000000" }).toEqual({
    free: base,
    locked: "0.00000000",
  });
}

describeSpotLife({
  name: "ccxt",
  gateway,
  connect: (key) => ccxtSpotClient(key, gateway.url),
  expectRefusal,
});

describe("ccxt's public calls", () => {
  let exchange: Client;

  beforeAll(async () => {
    exchange = await trader();
  });

  test("find the spot pairs and their rules", async () => {
    const spot = Object.values(exchange.markets ?? {}).filter((market) => market?.spot === true);
    expect(spot.length).toBeGreaterThanOrEqual(20);
    expect(exchange.market(PAIR)).toMatchObject({
      id: "BTCUSDT",
      active: true,
      precision: { amount: 0.00001, price: 0.01 },
      limits: { amount: { min: 0.00001 }, cost: { min: 5 } },
    });
  });

  test("find the perpetuals on the same host", () => {
    const perpetuals = Object.values(exchange.markets ?? {}).filter((market) => market?.swap === true);
    expect(perpetuals.length).toBeGreaterThanOrEqual(10);
  });

  test("tell the time", async () => {
    expect(Math.abs(((await exchange.fetchTime()) ?? 0) - Date.now())).toBeLessThan(30_000);
  });

  test("read a ticker whose best prices do not cross", async () => {
    const { symbol, bid, ask, last } = await exchange.fetchTicker(PAIR);
    expect(symbol).toBe(PAIR);
    expect(bid).toBeGreaterThan(0);
    expect(ask).toBeGreaterThan(bid ?? Number.POSITIVE_INFINITY);
    expect(last).toBeGreaterThan(0);
  });

  test("read every ticker, and a few", async () => {
    const all = await exchange.fetchTickers();
    expect(Object.keys(all).length).toBeGreaterThanOrEqual(20);
    const few = await exchange.fetchTickers([PAIR, "ETH/USDT"]);
    expect(Object.keys(few).sort()).toEqual([PAIR, "ETH/USDT"]);
  });

  test("read an order book of the asked depth, best first, not crossed", async () => {
    const { bids, asks } = await exchange.fetchOrderBook(PAIR, 5);
    expect([bids.length, asks.length]).toEqual([5, 5]);
    const bidPrices = bids.map(([price]) => Number(price));
    const askPrices = asks.map(([price]) => Number(price));
    expect(bidPrices).toEqual([...bidPrices].sort((left, right) => right - left));
    expect(askPrices).toEqual([...askPrices].sort((left, right) => left - right));
    expect(bidPrices[0]).toBeLessThan(askPrices[0] ?? 0);
  });

  test("read candles of the asked number, oldest first, each within its extremes", async () => {
    const candles = await exchange.fetchOHLCV(PAIR, "1m", undefined, 10);
    expect(candles).toHaveLength(10);
    const [first] = candles;
    for (const [index, [time, open, high, low, close]] of candles.entries()) {
      expect(time).toBe(Number(first?.[0]) + index * 60_000);
      expect(Math.max(Number(open), Number(close))).toBeLessThanOrEqual(Number(high));
      expect(Math.min(Number(open), Number(close))).toBeGreaterThanOrEqual(Number(low));
    }
  });
});

// ccxt paces itself, so its tests, each on a strategy of its own, run in parallel.
describe.concurrent("with ccxt, a strategy", () => {
  test("starts with 200 USDT", async () => {
    const exchange = await trader();
    const balance = await exchange.fetchBalance();
    expect(balance.total).toMatchObject({ USDT: 200 });
    expect(await balancesOf(exchange)).toMatchObject({
      USDT: { free: "200.00000000", locked: "0.00000000" },
    });
  });

  test("buys at the market by amount, and its balances follow from the fill to the last digit", async () => {
    const exchange = await trader();
    const order = await exchange.createOrder(PAIR, "market", "buy", 0.00123);
    expect(order).toMatchObject({
      status: "closed",
      side: "buy",
      type: "market",
      amount: 0.00123,
      filled: 0.00123,
    });
    expect(order.cost).toBeGreaterThan(0);
    expect(await fillsOf(exchange)).toHaveLength(1);
    await expectBalancesToFollowFrom(exchange);
  });

  test("buys at the market by cost, never for more", async () => {
    const exchange = await trader();
    const order = await exchange.createMarketBuyOrderWithCost(PAIR, 50);
    expect(order).toMatchObject({ status: "closed", filled: order.amount });
    const [fill] = await fillsOf(exchange);
    if (fill === undefined) throw new Error("a filled order has a fill");
    // The largest quantity on the step that 50 USDT buy.
    const step = units("0.00001");
    expect(units(fill.qty)).toBe(((units("50") * 10n ** 8n) / units(fill.price) / step) * step);
    expect(units(fill.quoteQty)).toBeLessThanOrEqual(units("50"));
    await expectBalancesToFollowFrom(exchange);
  });

  test("sells at the market what it bought, and keeps the dust that its fee left", async () => {
    const exchange = await trader();
    await exchange.createOrder(PAIR, "market", "buy", 0.002);
    const sold = await exchange.createOrder(PAIR, "market", "sell", 0.00199);
    expect(sold).toMatchObject({ status: "closed", side: "sell", filled: 0.00199 });
    const fills = await fillsOf(exchange);
    expect(fills.map(({ isBuyer }) => isBuyer)).toEqual([true, false]);
    await expectBalancesToFollowFrom(exchange);
    expect(await balancesOf(exchange)).toMatchObject({ BTC: { free: "0.00000800" } });
  });

  test("places a limit order with its funds locked, finds it, and cancels it", async () => {
    const exchange = await trader();
    const price = await restingPrice(exchange);
    const placed = await exchange.createOrder(PAIR, "limit", "buy", 0.001, price);
    expect(placed).toMatchObject({ status: "open", price, amount: 0.001, filled: 0, remaining: 0.001 });

    const locked = decimalText(units(price) / 1_000n);
    const free = decimalText(units("200") - units(locked));
    expect(await balancesOf(exchange)).toMatchObject({ USDT: { free, locked } });
    expect(await exchange.fetchOrder(idOf(placed), PAIR)).toMatchObject({ id: placed.id, status: "open" });
    expect(await exchange.fetchOpenOrders(PAIR)).toMatchObject([{ id: placed.id, status: "open" }]);

    const canceled = await exchange.cancelOrder(idOf(placed), PAIR);
    expect(canceled).toMatchObject({ id: placed.id, status: "canceled" });
    expect(await exchange.fetchOpenOrders(PAIR)).toEqual([]);
    expect(await exchange.fetchOrder(idOf(placed), PAIR)).toMatchObject({
      id: placed.id,
      status: "canceled",
    });
    await expectBalancesToFollowFrom(exchange);
  });

  test("shows a stop that waits with its trigger price, and cancels it", async () => {
    const exchange = await trader();
    await exchange.createOrder(PAIR, "market", "buy", 0.001);
    const triggerPrice = await restingPrice(exchange);
    const placed = await exchange.createOrder(PAIR, "market", "sell", 0.0005, undefined, { triggerPrice });
    const stop = { id: placed.id, status: "open", type: "market", side: "sell", triggerPrice, filled: 0 };
    expect(placed).toMatchObject(stop);
    expect(await exchange.fetchOpenOrders(PAIR)).toMatchObject([stop]);
    expect(await exchange.cancelOrder(idOf(placed), PAIR)).toMatchObject({ status: "canceled" });
    await expectBalancesToFollowFrom(exchange);
  });

  test("takes a limit order that the market meets at once, at the market's better price", async () => {
    const exchange = await trader();
    const { ask } = await exchange.fetchTicker(PAIR);
    const order = await exchange.createOrder(PAIR, "limit", "buy", 0.001, Math.ceil(Number(ask) * 1.02));
    expect(order).toMatchObject({ status: "closed", filled: 0.001 });
    expect(order.average).toBeLessThan(Number(ask) * 1.02);
    expect(await exchange.fetchMyTrades(PAIR)).toMatchObject([{ takerOrMaker: "taker", order: order.id }]);
    await expectBalancesToFollowFrom(exchange);
  });

  test("cancels all its orders of a pair", async () => {
    const exchange = await trader();
    const price = await restingPrice(exchange);
    const placed = [
      await exchange.createOrder(PAIR, "limit", "buy", 0.001, price),
      await exchange.createOrder(PAIR, "limit", "buy", 0.0005, price),
    ];
    const canceled = await exchange.cancelAllOrders(PAIR);
    expect(canceled.map(({ id }) => id)).toEqual(placed.map(({ id }) => id));
    expect(await exchange.fetchOpenOrders(PAIR)).toEqual([]);
    expect(await exchange.cancelAllOrders(PAIR)).toEqual([]);
    await expectBalancesToFollowFrom(exchange);
  });

  test("gets the first order again for a client order id that it repeats", async () => {
    const exchange = await trader();
    const buy = () =>
      exchange.createOrder(PAIR, "market", "buy", 0.001, undefined, { clientOrderId: "once-only" });
    const first = await buy();
    const second = await buy();
    expect(second.id).toBe(first.id);
    expect(second.info).toEqual(first.info);
    expect(await fillsOf(exchange)).toHaveLength(1);
    await expectBalancesToFollowFrom(exchange);
  });

  test("reads its history, newest last, and its fills with their fees", async () => {
    const exchange = await trader();
    const price = await restingPrice(exchange);
    const bought = await exchange.createOrder(PAIR, "market", "buy", 0.001);
    const rested = await exchange.createOrder(PAIR, "limit", "buy", 0.0005, price);
    const sold = await exchange.createOrder(PAIR, "market", "sell", 0.0005);

    const orders = await exchange.fetchOrders(PAIR);
    expect(orders.map(({ id, status }) => [id, status])).toEqual([
      [bought.id, "closed"],
      [rested.id, "open"],
      [sold.id, "closed"],
    ]);
    const trades = await exchange.fetchMyTrades(PAIR);
    expect(trades).toMatchObject([
      { order: bought.id, side: "buy", takerOrMaker: "taker", fee: { currency: "BTC", cost: 0.000001 } },
      { order: sold.id, side: "sell", takerOrMaker: "taker", fee: { currency: "USDT" } },
    ]);
    expect(await exchange.fetchOrderTrades(idOf(sold), PAIR)).toMatchObject([{ order: sold.id }]);
    const closed = await exchange.fetchClosedOrders(PAIR);
    expect(closed.map(({ id }) => id)).toEqual([bought.id, sold.id]);
  });

  test("agrees with the wire on every order that ccxt shows", async () => {
    const exchange = await trader();
    const order = await exchange.createOrder(PAIR, "market", "buy", 0.001);
    const { body } = await signed(gateway.url, exchange.credentials, "GET", "/api/v3/order", {
      symbol: "BTCUSDT",
      orderId: idOf(order),
    });
    expect(order).toMatchObject({
      clientOrderId: body.clientOrderId,
      cost: Number(body.cummulativeQuoteQty),
      timestamp: body.time,
    });
  });
});

describe.concurrent("ccxt's own error classes are right", () => {
  test("a notional that is too small: BadRequest", async () => {
    const exchange = await trader();
    const error = await errorOf(exchange.createOrder(PAIR, "market", "buy", 0.00001));
    expect(error).toBeInstanceOf(ccxt.BadRequest);
    expect(String(error)).toContain("Filter failure: NOTIONAL");
  });

  test("an unknown key: AuthenticationError", async () => {
    const exchange = exchangeOf({ apiKey: "nobody", apiSecret: "nothing" }, gateway.url);
    expect(await errorOf(exchange.fetchBalance())).toBeInstanceOf(ccxt.AuthenticationError);
  });

  test("an unknown pair, once it gets through to the server: BadSymbol", async () => {
    const exchange = await trader();
    const error = await errorOf(
      exchange.request("order", "private", "GET", { symbol: "NOSUCH", orderId: 1 }),
    );
    expect(error).toBeInstanceOf(ccxt.BadSymbol);
  });
});
