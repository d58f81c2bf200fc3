// ccxt on perpetual contracts, unmodified (`ccxt-client.ts` says how it is pointed here): by its class for
// them, and by its class for all markets, with the option for calls without a symbol. Then its interpretation
// of the gateway's answers: its own markets, orders, positions and balances.
import { describe, expect, test } from "vitest";
import { signedUnits, units } from "../support/exact.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  CONTRACT,
  ccxtFuturesClient,
  type ExchangeOptions,
  exchangeOf,
  expectRefusal,
  PAIR,
} from "./ccxt-client.ts";
import { errorOf, type Told } from "./client.ts";
import { percentOf, sumsOf } from "./contract-sums.ts";
import { describeFuturesLife } from "./futures-life.ts";

stayOnLoopback();
const gateway = seededGateway(6, { futuresStrategyCount: 16 });

const WAYS: Readonly<Record<string, ExchangeOptions>> = {
  "ccxt.binanceusdm": { kind: "binanceusdm" },
  "ccxt.binance for swaps": { defaultType: "swap" },
  "ccxt.binance for futures": { defaultType: "future" },
};

for (const [name, options] of Object.entries(WAYS)) {
  describeFuturesLife({
    name,
    gateway,
    connect: (key) => ccxtFuturesClient(key, gateway.url, options),
    expectRefusal,
  });
}

type Client = ReturnType<typeof exchangeOf>;

/**
 * A client of a strategy of its own, after ccxt's default start-up. It need not pace itself for the few calls
 * of a test.
 */
async function trader(): Promise<Client> {
  const options = { kind: "binanceusdm", isPaced: false } as const;
  const exchange = exchangeOf(gateway.takeFuturesStrategy(), gateway.url, options);
  await exchange.loadMarkets();
  return exchange;
}

async function markPriceOf(exchange: Client): Promise<string> {
  return (await exchange.fetchFundingRate(CONTRACT)).info.markPrice;
}

describe("with ccxt's default start-up for perpetuals, a strategy", () => {
  test("finds the contracts and their rules", async () => {
    const exchange = await trader();
    const markets = Object.values(exchange.markets ?? {});
    expect(markets.length).toBeGreaterThanOrEqual(10);
    expect(markets.every((market) => market?.swap === true && market.linear === true)).toBe(true);
    expect(exchange.market(CONTRACT)).toMatchObject({
      id: "BTCUSDT",
      active: true,
      contractSize: 1,
      settle: "USDT",
      precision: { amount: 0.001, price: 0.1 },
      limits: { amount: { min: 0.001 }, cost: { min: 50 } },
    });
  });

  test("reads every ticker, every funding rate and every contract's brackets", async () => {
    const exchange = await trader();
    expect(Object.keys(await exchange.fetchTickers()).length).toBeGreaterThanOrEqual(10);
    const askedAt = Date.now();
    const rates: Told = await exchange.fetchFundingRates();
    expect(Object.keys(rates).length).toBeGreaterThanOrEqual(10);
    expect(rates[CONTRACT].fundingTimestamp).toBeGreaterThan(askedAt);
    expect((await exchange.fetchOpenInterest(CONTRACT)).openInterestAmount).toBeGreaterThan(0);
    const tiers: Told = await exchange.fetchLeverageTiers();
    expect(Object.keys(tiers).length).toBeGreaterThanOrEqual(10);
    expect(tiers[CONTRACT][0]).toMatchObject({ tier: 1, currency: "USDT", minNotional: 0 });
  });

  test("sees its margin in its balance, and its position with all that ccxt works out of it", async () => {
    const exchange = await trader();
    expect(await exchange.fetchBalance()).toMatchObject({ USDT: { free: 1_000, used: 0, total: 1_000 } });
    await exchange.setLeverage(10, CONTRACT);
    const opened = await exchange.createOrder(CONTRACT, "market", "sell", 0.004);
    expect(opened).toMatchObject({ symbol: CONTRACT, status: "closed", filled: 0.004, reduceOnly: false });
    const [position, ...others]: Told[] = await exchange.fetchPositions();
    expect(others).toEqual([]);
    expect(position).toMatchObject({
      symbol: CONTRACT,
      side: "short",
      contracts: 0.004,
      entryPrice: opened.average,
      leverage: 10,
      marginMode: "isolated",
      hedged: false,
      initialMarginPercentage: 0.1,
      maintenanceMarginPercentage: Number((await tierOf(exchange)).maintMarginRatio),
      timestamp: expect.any(Number),
    });
    expect(position.liquidationPrice).toBeGreaterThan(position.entryPrice);
    const { USDT }: Told = await exchange.fetchBalance();
    expect(USDT.used).toBeCloseTo(position.initialMargin, 1);
    expect(USDT.free).toBeLessThan(1_000 - 0.99 * USDT.used);
    const leverages: Told = await exchange.fetchLeverages([CONTRACT]);
    expect(leverages[CONTRACT]).toMatchObject({
      marginMode: "isolated",
      longLeverage: 10,
      shortLeverage: 10,
    });
  });

  test("takes a limit order that the market meets at once, at its limit and with the maker's fee", async () => {
    const exchange = await trader();
    const limit = Number(percentOf(await markPriceOf(exchange), 101n));
    const order = await exchange.createOrder(CONTRACT, "limit", "buy", 0.002, limit);
    expect(order).toMatchObject({ status: "closed", average: limit, price: limit });
    const [fill]: Told[] = await exchange.fetchMyTrades(CONTRACT);
    const [expected] = sumsOf([{ ...fill.info, price: String(limit) }]).rows;
    expect(fill.info).toMatchObject({ maker: true, commission: expected?.commission });
    expect(fill).toMatchObject({ order: order.id, takerOrMaker: "maker", fee: { currency: "USDT" } });
  });

  test("sees its legs as orders that wait, and as canceled ones", async () => {
    const exchange = await trader();
    await exchange.createOrder(CONTRACT, "market", "buy", 0.002);
    const stopLossPrice = Number(percentOf(await markPriceOf(exchange), 95n));
    const params = { stopLossPrice, closePosition: true };
    const leg = await exchange.createOrder(CONTRACT, "market", "sell", undefined as Told, undefined, params);
    const seen = {
      id: leg.id,
      symbol: CONTRACT,
      side: "sell",
      triggerPrice: stopLossPrice,
      reduceOnly: true,
    };
    expect(leg).toMatchObject({ ...seen, status: "open" });
    const trigger = { trigger: true };
    expect(await exchange.fetchOpenOrders(CONTRACT, undefined, undefined, trigger)).toMatchObject([seen]);
    await exchange.cancelOrder(String(leg.id), CONTRACT, trigger);
    expect(await exchange.fetchOrder(String(leg.id), CONTRACT, trigger)).toMatchObject({
      ...seen,
      status: "canceled",
    });
  });

  test("reads its history, its fills with their fees, and a ledger that adds up", async () => {
    const exchange = await trader();
    const bought = await exchange.createOrder(CONTRACT, "market", "buy", 0.004);
    const price = Number(percentOf(await markPriceOf(exchange), 60n));
    const rested = await exchange.createOrder(CONTRACT, "limit", "buy", 0.003, price);
    const sold = await exchange.createOrder(CONTRACT, "market", "sell", 0.004, undefined, {
      reduceOnly: true,
    });
    expect((await exchange.fetchOrders(CONTRACT)).map(({ id, status }) => [id, status])).toEqual([
      [bought.id, "closed"],
      [rested.id, "open"],
      [sold.id, "closed"],
    ]);
    expect(await exchange.fetchMyTrades(CONTRACT)).toMatchObject([
      { order: bought.id, side: "buy", takerOrMaker: "taker", fee: { currency: "USDT" } },
      { order: sold.id, side: "sell", takerOrMaker: "taker", fee: { currency: "USDT" } },
    ]);
    const ledger: Told[] = await exchange.fetchLedger("USDT");
    expect(ledger.slice(0, 2)).toMatchObject([
      { type: "transfer", direction: "in", amount: 1_000 },
      { type: "commission", direction: "out", referenceId: "1" },
    ]);
    const { info } = await exchange.fetchBalance();
    const sum = ledger.reduce<bigint>((total, { info: { income } }) => total + signedUnits(income), 0n);
    expect(units(info.totalWalletBalance)).toBe(sum);
  });

  test("opens with legs of the platform's own, by a call that passes its parameters through", async () => {
    const exchange = await trader();
    const mark = await markPriceOf(exchange);
    const [takeProfitPrice, stopLossPrice] = [percentOf(mark, 105n), percentOf(mark, 95n)];
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.002", leverage: 7 };
    await exchange.request("order", "fapiPrivate", "POST", { ...order, takeProfitPrice, stopLossPrice });
    const legs = await exchange.fetchOpenOrders(CONTRACT, undefined, undefined, { trigger: true });
    expect(legs.map(({ triggerPrice }) => triggerPrice).sort()).toEqual(
      [stopLossPrice, takeProfitPrice].map(Number),
    );
    expect(await exchange.fetchPositions([CONTRACT])).toMatchObject([{ leverage: 7, contracts: 0.002 }]);
  });
});

describe("with one ccxt.binance for each key, a bot", () => {
  test("trades contracts with the one and pairs with the other, and neither sees the other's", async () => {
    const onFutures = exchangeOf(gateway.takeFuturesStrategy(), gateway.url, { isPaced: false });
    const onSpot = exchangeOf(gateway.takeStrategy(), gateway.url, { isPaced: false });
    // Both markets are listed to either key, at their default start-up.
    for (const exchange of [onFutures, onSpot]) {
      const markets: Told = await exchange.loadMarkets();
      expect([markets[PAIR].spot, markets[CONTRACT].swap]).toEqual([true, true]);
      expect(markets[PAIR].id).toBe(markets[CONTRACT].id);
    }
    const long = await onFutures.createOrder(CONTRACT, "market", "buy", 0.002);
    const bought = await onSpot.createOrder(PAIR, "market", "buy", 0.001);
    expect([long, bought]).toMatchObject([
      { id: "1", symbol: CONTRACT, status: "closed" },
      { id: "1", symbol: PAIR, status: "closed" },
    ]);
    expect(await onFutures.fetchPositions()).toMatchObject([{ symbol: CONTRACT, contracts: 0.002 }]);
    const { total: inMargin }: Told = await onFutures.fetchBalance({ type: "swap" });
    expect(Object.keys(inMargin)).toEqual(["USDT"]);
    expect((await onSpot.fetchBalance()).total).toMatchObject({ BTC: 0.000999 });
    expect(await onSpot.fetchOrders(PAIR)).toHaveLength(1);

    const refused = [
      () => onFutures.createOrder(PAIR, "market", "buy", 0.001),
      () => onFutures.fetchBalance(),
      () => onSpot.createOrder(CONTRACT, "market", "buy", 0.002),
      () => onSpot.fetchPositions([CONTRACT]),
      () => onSpot.setLeverage(10, CONTRACT),
    ];
    for (const call of refused) expectRefusal(await errorOf(call()), "OTHER_FAMILY");
  });

  test("learns that there is no wallet, no margin account and no coin-margined market behind either key", async () => {
    for (const key of [gateway.takeFuturesStrategy(), gateway.takeStrategy()]) {
      const exchange = exchangeOf(key, gateway.url, { isPaced: false });
      expect(await exchange.request("capital/config/getall", "sapi")).toEqual([]);
      expect(await exchange.request("margin/allPairs", "sapi")).toEqual([]);
      expect(await exchange.request("margin/isolated/allPairs", "sapi")).toEqual([]);
      expect(await exchange.request("exchangeInfo", "dapiPublic")).toEqual({ symbols: [] });
    }
  });
});

async function tierOf(exchange: Client): Promise<Told> {
  const [tier] = await exchange.fetchMarketLeverageTiers(CONTRACT);
  return tier?.info;
}
