// A strategy under the fill profile `strict` on the wire: what it may place that others may not, partial
// fills in bodies and lists, its terms and its receipts. Figures are those of the worked examples. Source:
// strict fills, sections 10, 11 and 15.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import type { MarketTrade } from "../../src/domain/market.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { BUNDLED_TIERS, STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { contractRules } from "../../src/engine/testing/contract-rules.ts";
import { type Levels, MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { decimal } from "../../src/money/decimal.ts";
import { misfits } from "../support/bot-shapes.ts";
import { type Call, type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";

const symbol = "BTCUSDT";

class OwnMarket extends MarketStub {
  override time = 1_000_000;

  /** Shows a book, a minute after the one before: what the strategy took of that one counts no more. */
  show(asks: Levels, bids: Levels): void {
    this.time += 60_000;
    this.showBook(symbol, asks, bids);
  }
}

/** The worked examples' books S and F. */
const S_ASKS: Levels = [
  ["60000", "0.0005"],
  ["60001", "0.0005"],
  ["60010", "0.001"],
  ["60100", "5"],
];
const S_BIDS: Levels = [
  ["59999.99", "0.001"],
  ["59999", "0.002"],
  ["59990", "1"],
];
const F_ASKS: Levels = [
  ["60000.1", "0.004"],
  ["60001", "0.004"],
  ["60010", "1"],
];
const F_BIDS: Levels = [
  ["60000", "1"],
  ["59990", "5"],
];

const spotMarket = new OwnMarket([
  symbolRules("BTC", { orderTypes: [...symbolRules("BTC").orderTypes, "LIMIT_MAKER"] }),
]);
const futuresMarket = new OwnMarket([contractRules("BTC")]);
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await openInProcess({ SPOT: spotMarket, FUTURES: futuresMarket });
});

afterAll(async () => {
  await gateway.close();
});

function profileOf(type: StrategyType, changed: Partial<typeof STRICT_DEFAULTS> = {}) {
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: 0, ...changed }, BUNDLED_TIERS);
  if (profile === null) throw new Error("the tier is bundled");
  return profile;
}

describe("a spot strategy under strict", () => {
  const BUY = { symbol, side: "BUY" };
  const place = (call: Call, order: Readonly<Record<string, string | number>>) =>
    call("POST", "/api/v3/order", { ...BUY, ...order });

  async function strict(changed: Partial<typeof STRICT_DEFAULTS> = {}) {
    spotMarket.show(S_ASKS, S_BIDS);
    const strategy = await gateway.seed("SPOT", profileOf("SPOT", changed));
    return { strategy, call: gateway.callsOf(strategy) };
  }

  test("shows its terms and its own rates", async () => {
    const { call } = await strict({ feeTier: "vip3", latency: { p50: 20, p90: 40, p99: 90 } });
    const { body } = await call("GET", "/api/v3/account");
    expect(body.commissionRates).toMatchObject({ maker: "0.00042000", taker: "0.00060000" });
    expect(body.fillProfile).toEqual({
      name: "strict",
      version: 1,
      latencyMs: { p50: 20, p90: 40, p99: 90 },
      queue: "trades",
      refreshMs: 5_000,
      fees: "vip3",
      feeDiscount: "none",
    });
  });

  test("walks the book, with a receipt for each level", async () => {
    const { call } = await strict();
    const placed = await place(call, { type: "MARKET", quantity: "0.0015" });
    expect(placed.body).toMatchObject({
      status: "FILLED",
      executedQty: "0.00150000",
      cummulativeQuoteQty: "90.00550000",
      selfTradePreventionMode: "EXPIRE_MAKER",
    });
    expect(placed.body).not.toHaveProperty("expiryReason");
    const { body: trades } = await call("GET", "/api/v3/myTrades", { symbol });
    expect(trades).toHaveLength(3);
    expect(trades[0]).not.toHaveProperty("receipt");
    const path = "/api/v3/platform/fillReceipts";
    const { body: receipts } = await call("GET", path, { symbol, orderId: placed.body.orderId });
    expect(receipts.map(({ tradeId }: { tradeId: number }) => tradeId)).toEqual([1, 2, 3]);
    expect(receipts[1]).toEqual({
      ...{ tradeId: 2, orderId: 1, symbol, market: "SPOT", profile: "strict", profileVersion: 1 },
      cause: "WALK",
      ...{ side: "BUY", price: "60001.00000000", quantity: "0.00050000", remaining: "0.00100000" },
      ...{ admittedAt: expect.any(Number), latencyMs: 0, arrivedAt: spotMarket.time, at: spotMarket.time },
      book: {
        lastUpdateId: 77,
        eventTime: spotMarket.time - 10,
        receivedAt: spotMarket.time - 4,
        tickerUpdateId: null,
        lastTradeId: null,
      },
      levels: [
        {
          ...{ index: 1, price: "60001.00000000", displayed: "0.00050000", fromTicker: false },
          ...{ newerTrades: "0.00000000", ownConsumed: "0.00000000", available: "0.00050000" },
          ...{ taken: "0.00050000", step: "0.00001000" },
        },
      ],
      queue: null,
      marketTrade: null,
      fee: {
        ...{ rate: "0.00100000", tier: "regular", isMaker: false },
        ...{ amount: "0.00000050", asset: "BTC" },
      },
      terms: { queue: "trades", refreshMs: 5_000 },
    });
    const { body: later } = await call("GET", path, { symbol, fromId: 2, limit: 1 });
    expect(later.map(({ tradeId }: { tradeId: number }) => tradeId)).toEqual([2]);
    expect((await call("GET", path, { symbol, orderId: 99 })).body).toEqual([]);
  });

  test("IOC, FOK and LIMIT_MAKER end as the exchange ends them", async () => {
    const { call } = await strict();
    const limit = { type: "LIMIT", price: "60001" };
    const fok = await place(call, { ...limit, timeInForce: "FOK", quantity: "0.0011" });
    expect(fok.body).toMatchObject({
      ...{ status: "EXPIRED", timeInForce: "FOK", executedQty: "0.00000000" },
      expiryReason: "UNFILLED_FOK_ORDER_EXPIRED",
    });
    const ioc = await place(call, { ...limit, timeInForce: "IOC", quantity: "0.002" });
    expect(ioc.body).toMatchObject({
      ...{ status: "EXPIRED", timeInForce: "IOC", executedQty: "0.00100000" },
      ...{ cummulativeQuoteQty: "60.00050000", expiryReason: "UNFILLED_IOC_QUANTITY_EXPIRED" },
    });
    const maker = { type: "LIMIT_MAKER", quantity: "0.0005" };
    const taking = await place(call, { ...maker, price: "60001" });
    expect(taking).toMatchObject({
      status: 400,
      body: { code: -2010, msg: "Order would immediately match and take." },
    });
    const open = await place(call, { ...maker, price: "59990" });
    expect(open.body).toMatchObject({ status: "NEW", type: "LIMIT_MAKER", timeInForce: "GTC" });
    expect((await place(call, { ...maker, price: "59990", timeInForce: "GTC" })).body.code).toBe(-1106);
    expect((await place(call, { ...limit, quantity: "0.001", timeInForce: "GTX" })).body.code).toBe(-1115);
  });

  test("has one self-trade prevention mode, and refuses all others", async () => {
    const { call } = await strict();
    const order = { type: "MARKET", quantity: "0.0005" };
    for (const selfTradePreventionMode of ["EXPIRE_TAKER", "EXPIRE_BOTH", "no such mode"]) {
      const { status, body } = await place(call, { ...order, selfTradePreventionMode });
      expect([status, body.code]).toEqual([400, -1013]);
    }
    expect((await call("GET", "/api/v3/allOrders", { symbol })).body).toEqual([]);
    for (const selfTradePreventionMode of ["EXPIRE_MAKER", "NONE"]) {
      const { body } = await place(call, { ...order, selfTradePreventionMode });
      expect(body).toMatchObject({ status: "FILLED", selfTradePreventionMode: "EXPIRE_MAKER" });
    }
  });

  test("a limit that is filled in part rests, is filled by a trade, and keeps what it has when it is canceled", async () => {
    const { strategy, call } = await strict();
    const placed = await place(call, {
      type: "LIMIT",
      timeInForce: "GTC",
      price: "60001",
      quantity: "0.002",
    });
    expect(placed.body).toMatchObject({ status: "PARTIALLY_FILLED", executedQty: "0.00100000" });
    const { orderId } = placed.body;
    expect((await call("GET", "/api/v3/openOrders")).body).toMatchObject([
      { orderId, status: "PARTIALLY_FILLED" },
    ]);
    const trade: MarketTrade = {
      ...{ aggregateId: 5, price: decimal("60001"), quantity: decimal("0.0004") },
      ...{ side: "BID", time: spotMarket.time + 1 },
    };
    const matched = { type: "MatchTrade", symbol, trade, queues: new Map() } as const;
    expect(isRefusal(await gateway.desk.execute(strategy.strategyId, matched))).toBe(false);
    const { body: receipts } = await call("GET", "/api/v3/platform/fillReceipts", { symbol, fromId: 3 });
    expect(receipts).toMatchObject([
      {
        ...{ tradeId: 3, cause: "TRADE_AT_PRICE", book: null, levels: [] },
        queue: {
          model: "trades",
          aheadAtPlacement: "0.00000000",
          bookAtPlacement: { lastUpdateId: 77 },
          ahead: "0.00000000",
        },
        marketTrade: { aggregateId: 5, price: "60001.00000000", available: "0.00040000" },
        fee: { isMaker: true },
      },
    ]);
    const canceled = await call("DELETE", "/api/v3/order", { symbol, orderId });
    expect(canceled.body).toMatchObject({ status: "CANCELED", executedQty: "0.00140000" });
    const { body: account } = await call("GET", "/api/v3/account");
    expect(account.balances).toEqual([
      { asset: "USDT", free: "115.99910000", locked: "0.00000000" },
      { asset: "BTC", free: "0.00139860", locked: "0.00000000" },
    ]);
  });

  test("takes LIMIT_MAKER from a signal, which is rejected where it would take", async () => {
    const { strategy } = await strict();
    const bot = gateway.botOf(strategy);
    const maker = { symbol, tradeType: "BUY", orderType: "LIMIT_MAKER", quantity: "0.0005" };
    const submitted = async (price: string) => {
      const order = { ...maker, price };
      const { status, body } = await bot.submit(order, price);
      return { status, signal: body };
    };
    expect(await submitted("59990")).toMatchObject({ status: 202, signal: { status: "EXECUTED" } });
    expect(await submitted("60001")).toMatchObject({ status: 202, signal: { status: "REJECTED" } });
    const call = gateway.callsOf(strategy);
    expect((await call("GET", "/api/v3/openOrders")).body).toMatchObject([{ type: "LIMIT_MAKER" }]);
  });

  test("has signals and cancels of the published shape", async () => {
    const { strategy, call } = await strict();
    const bot = gateway.botOf(strategy);
    const [ORDERS, CANCEL] = ["/bot/v1/spot/orders", "/bot/v1/spot/orders/cancel"];
    const order = { symbol, tradeType: "BUY", quantity: "0.0005" };
    const maker = await bot.submit({ ...order, orderType: "LIMIT_MAKER", price: "59990" }, "maker");
    expect(maker.body).toMatchObject({ status: "EXECUTED", result: { data: { type: "LIMIT_MAKER" } } });
    expect(misfits("POST", ORDERS, maker)).toEqual([]);
    const { collectiveId } = maker.body;
    expect(misfits("POST", CANCEL, await bot.cancel(String(collectiveId)))).toEqual([]);

    spotMarket.show(S_ASKS.slice(0, 1), S_BIDS);
    const expired = await bot.submit({ ...order, quantity: "0.001" }, "market");
    expect(expired.body).toMatchObject({
      result: { data: { status: "EXPIRED", expiryReason: "INSUFFICIENT_LIQUIDITY" } },
    });
    expect(misfits("POST", ORDERS, expired)).toEqual([]);
    const ioc = { type: "LIMIT", timeInForce: "IOC", price: "50000", quantity: "0.001" };
    const { body } = await place(call, ioc);
    const over = await bot.cancel(body.collectiveId);
    expect(over.body).toMatchObject({ data: { timeInForce: "IOC" } });
    expect(misfits("POST", CANCEL, over)).toEqual([]);
    expect(misfits("GET", ORDERS, await bot.signals())).toEqual([]);
  });

  test("refuses bounds of the receipts' parameters", async () => {
    const { call } = await strict();
    const path = "/api/v3/platform/fillReceipts";
    expect((await call("GET", path)).body.code).toBe(-1102);
    for (const limit of [0, 1_001])
      expect((await call("GET", path, { symbol, limit })).body.code).toBe(-1130);
    expect((await call("GET", path, { symbol, orderId: "x" })).body.code).toBe(-1100);
    expect((await call("GET", path, { symbol: "NOSUCH" })).body.code).toBe(-1121);
  });
});

describe("a strategy under standard", () => {
  test.each<[what: string, order: Readonly<Record<string, string>>, code: number]>([
    ["IOC", { type: "LIMIT", timeInForce: "IOC", quantity: "0.001", price: "60000" }, -1115],
    ["FOK without a quantity", { type: "LIMIT", timeInForce: "FOK", price: "60000" }, -1115],
    ["LIMIT_MAKER", { type: "LIMIT_MAKER", quantity: "0.001", price: "60000" }, -1116],
    ["LIMIT_MAKER without a price", { type: "LIMIT_MAKER" }, -1116],
    ["a type that there is not", { type: "PEGGED" }, -1116],
  ])("is refused %s", async (_what, order, code) => {
    spotMarket.show(S_ASKS, S_BIDS);
    const call = gateway.callsOf(await gateway.seed("SPOT"));
    const { status, body } = await call("POST", "/api/v3/order", { symbol, side: "BUY", ...order });
    expect({ status, code: body.code }).toEqual({ status: 400, code });
  });

  test("is refused a LIMIT_MAKER signal as before, and nothing is recorded", async () => {
    const bot = gateway.botOf(await gateway.seed("SPOT"));
    const order = { symbol, tradeType: "BUY", orderType: "LIMIT_MAKER", quantity: "0.001", price: "1" };
    const { status, body } = await bot.submit(order, "a");
    const message = "orderType must be one of MARKET, LIMIT, STOP_LOSS, STOP_LOSS_LIMIT";
    expect([status, body.message]).toEqual([400, message]);
    expect((await bot.signals()).body.data).toEqual([]);
  });

  test("has no terms in its account, no receipts, and the bodies that it had", async () => {
    spotMarket.show(S_ASKS, S_BIDS);
    const call = gateway.callsOf(await gateway.seed("SPOT"));
    expect((await call("GET", "/api/v3/account")).body).not.toHaveProperty("fillProfile");
    const { body } = await call("POST", "/api/v3/order", {
      symbol,
      side: "BUY",
      type: "MARKET",
      quantity: "0.001",
    });
    expect(body).toMatchObject({ status: "FILLED", selfTradePreventionMode: "NONE" });
    expect((await call("GET", "/api/v3/platform/fillReceipts", { symbol })).body).toEqual([]);
  });

  test("has a leg by the mark price whatever working type it names", async () => {
    futuresMarket.show(F_ASKS, F_BIDS);
    const call = gateway.callsOf(await gateway.seed("FUTURES"));
    await call("POST", "/fapi/v1/order", { symbol, side: "BUY", type: "MARKET", quantity: "0.010" });
    const leg = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "59800", closePosition: "true" };
    const { body } = await call("POST", "/fapi/v1/algoOrder", {
      ...leg,
      workingType: "CONTRACT_PRICE",
      priceProtect: "perhaps",
    });
    expect(body).toMatchObject({ algoStatus: "NEW", workingType: "MARK_PRICE", priceProtect: false });
  });
});

describe("a futures strategy under strict", () => {
  const BUY = { symbol, side: "BUY" };

  async function strict(): Promise<Call> {
    futuresMarket.show(F_ASKS, F_BIDS);
    return gateway.callsOf(await gateway.seed("FUTURES", profileOf("FUTURES", { feeDiscount: "bnb" })));
  }

  test("shows its terms and its own rates", async () => {
    const call = await strict();
    expect((await call("GET", "/fapi/v1/commissionRate", { symbol })).body).toEqual({
      symbol,
      makerCommissionRate: "0.00018",
      takerCommissionRate: "0.00045",
    });
    expect((await call("GET", "/fapi/v3/account")).body).toMatchObject({
      feeTier: 0,
      fillProfile: { name: "strict", latencyMs: 0, fees: "regular", feeDiscount: "bnb" },
    });
  });

  test("walks the book: the average price is rounded at two digits more than prices", async () => {
    const call = await strict();
    const { body } = await call("POST", "/fapi/v1/order", { ...BUY, type: "MARKET", quantity: "0.011" });
    // 660.0344 / 0.011 = 60003.12727…
    expect(body).toMatchObject({ status: "FILLED", cumQuote: "660.0344", avgPrice: "60003.1273" });
    const { body: receipts } = await call("GET", "/fapi/v1/platform/fillReceipts", { symbol });
    expect(receipts[0]).toMatchObject({
      cause: "WALK",
      levels: [{ index: 0, price: "60000.10000000", taken: "0.00400000" }],
      fee: { rate: "0.00045000" },
    });
  });

  test("IOC, FOK and GTX end as the exchange ends them", async () => {
    const call = await strict();
    const limit = { ...BUY, type: "LIMIT", price: "60001", quantity: "0.009" };
    const refused = async (timeInForce: string) =>
      (await call("POST", "/fapi/v1/order", { ...limit, timeInForce })).body.code;
    expect(await refused("FOK")).toBe(-5021);
    expect(await refused("GTX")).toBe(-5022);
    expect(await refused("GTD")).toBe(-1115);
    expect((await call("GET", "/fapi/v1/allOrders", { symbol })).body).toEqual([]);
    const { body } = await call("POST", "/fapi/v1/order", { ...limit, timeInForce: "IOC" });
    expect(body).toMatchObject({
      ...{ status: "EXPIRED", timeInForce: "IOC", executedQty: "0.008", avgPrice: "60000.55" },
      ...{ expiryReason: "UNFILLED_IOC_QUANTITY_EXPIRED", selfTradePreventionMode: "EXPIRE_MAKER" },
    });
  });

  test("has one self-trade prevention mode, and refuses all others", async () => {
    const call = await strict();
    const order = { ...BUY, type: "MARKET", quantity: "0.002" };
    const placed = (selfTradePreventionMode: string) =>
      call("POST", "/fapi/v1/order", { ...order, selfTradePreventionMode });
    expect((await placed("EXPIRE_BOTH")).body.code).toBe(-5039);
    expect((await placed("EXPIRE_MAKER")).body.status).toBe("FILLED");
  });

  test("has legs by the last price, with price protection", async () => {
    const call = await strict();
    await call("POST", "/fapi/v1/order", { ...BUY, type: "MARKET", quantity: "0.010" });
    const leg = { symbol, side: "SELL", stopPrice: "59800", closePosition: "true" };
    const { body } = await call("POST", "/fapi/v1/algoOrder", {
      ...{ ...leg, type: "STOP_MARKET", workingType: "CONTRACT_PRICE", priceProtect: "TRUE" },
    });
    expect(body).toMatchObject({ workingType: "CONTRACT_PRICE", priceProtect: true });
    const malformed = { ...leg, type: "STOP_MARKET", priceProtect: "perhaps" };
    expect((await call("POST", "/fapi/v1/algoOrder", malformed)).body.code).toBe(-1130);
  });
});
