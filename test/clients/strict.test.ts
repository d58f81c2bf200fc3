// Stock clients, unmodified, on strategies under the fill profile `strict`: ccxt in its unified terms on a
// book that never changes by itself, and the exchange's own connectors on the simulated market, where
// `lyrebird seed` made the strategies.
import {
  DerivativesTradingUsdsFutures,
  DerivativesTradingUsdsFuturesRestAPI as FuturesApi,
} from "@binance/derivatives-trading-usds-futures";
import { Spot, SpotRestAPI } from "@binance/spot";
import ccxt from "ccxt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { untilPriced } from "../support/prices.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { CONTRACT, exchangeOf, PAIR } from "./ccxt-client.ts";
import { CONNECTOR_TIMEOUT_MS, errorOf, REFUSALS, type Told } from "./client.ts";
import { openStrictFixture, type StrictFixture } from "./strict-fixture.ts";

stayOnLoopback();

describe.each([
  { type: "SPOT", kind: "binance", pair: PAIR, level: 0.0005 },
  { type: "FUTURES", kind: "binanceusdm", pair: CONTRACT, level: 0.004 },
] as const)("ccxt on a $type strategy under strict", ({ type, kind, pair, level }) => {
  let fixture: StrictFixture;
  let client: ReturnType<typeof exchangeOf>;

  beforeAll(async () => {
    fixture = await openStrictFixture();
  });
  afterAll(() => fixture?.close());
  // What a strategy took is not there for it again, so each test has its own.
  beforeEach(async () => {
    client = exchangeOf(await fixture.seed(type), fixture.url, { kind, isPaced: false });
  });

  /** The two best levels are of the same quantity; a limit at the second one takes no more than both. */
  const limit = (amount: number, params: object, price = 60_001) =>
    client.createOrder(pair, "limit", "buy", amount, price, params);
  const both = 2 * level;

  test("a market order walks the book: its trades are its levels, and add up", async () => {
    const placed = await client.createOrder(pair, "market", "buy", both + level / 2);
    const trades = (await client.fetchMyTrades(pair)).filter((trade) => trade.order === placed.id);
    const best = type === "SPOT" ? 60_000 : 60_000.1;
    expect(trades).toMatchObject([
      { price: best, amount: level, takerOrMaker: "taker" },
      { price: 60_001, amount: level, takerOrMaker: "taker" },
      { price: 60_010, amount: level / 2, takerOrMaker: "taker" },
    ]);
    const queried = await client.fetchOrder(String(placed.id), pair);
    expect(queried).toMatchObject({ status: "closed", filled: both + level / 2 });
    expect(queried.average).toBeCloseTo((2 * best + 2 * 60_001 + 60_010) / 5, 3);
  });

  test("IOC keeps what it took, and is expired", async () => {
    const placed = await limit(both + level, { timeInForce: "IOC" });
    const order = await client.fetchOrder(String(placed.id), pair);
    expect(order).toMatchObject({ status: "expired", timeInForce: "IOC", filled: both, remaining: level });
    expect(order.info.expiryReason).toBe("UNFILLED_IOC_QUANTITY_EXPIRED");
  });

  test("an order that rests with a part of it filled is open, and keeps that part when it is canceled", async () => {
    const { id, ...placed } = await limit(both + level, {});
    expect(placed).toMatchObject({ status: "open", filled: both, remaining: level });
    expect(await client.fetchOpenOrders(pair)).toMatchObject([{ id, status: "open", filled: both }]);
    expect(await client.cancelOrder(String(id), pair)).toMatchObject({ id, status: "canceled" });
    expect(await client.fetchOrder(String(id), pair)).toMatchObject({ status: "canceled", filled: both });
  });

  test("post-only orders rest, or are refused where they would take", async () => {
    const open = await limit(level, { postOnly: true }, 59_990);
    expect(open).toMatchObject({ status: "open", filled: 0, postOnly: true });
    const failure = (await errorOf(limit(level, { postOnly: true }))) as Error;
    expect(failure).toBeInstanceOf(type === "SPOT" ? ccxt.OrderImmediatelyFillable : ccxt.InvalidOrder);
    const { msg } = REFUSALS[type === "SPOT" ? "LIMIT_MAKER_WOULD_TAKE" : "POST_ONLY_WOULD_TAKE"];
    expect(failure.message).toContain(msg);
  });

  test("FOK is whole or nothing", async () => {
    const placed = limit(both + level, { timeInForce: "FOK" });
    if (type === "SPOT") expect(await placed).toMatchObject({ status: "expired", filled: 0 });
    else expect(((await errorOf(placed)) as Error).message).toContain("-5021");
    const whole = await limit(both, { timeInForce: "FOK" });
    expect(await client.fetchOrder(String(whole.id), pair)).toMatchObject({ status: "closed", filled: both });
  });
});

describe("the exchange's own connectors on strategies under strict", () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway({ args: ["--market", "sim"] });
  });
  afterAll(() => gateway.stop());

  const terms = ["--profile", "strict", "--latency", "20"];
  const seeded = (type: StrategyType): Credentials => gateway.seed(type, terms);
  const connectionOf = ({ apiKey, apiSecret }: Credentials) => ({
    ...{ apiKey, apiSecret, basePath: gateway.url, timeout: CONNECTOR_TIMEOUT_MS },
  });
  const bodyOf = async (answer: Promise<{ data(): Promise<Told> }>): Promise<Told> =>
    await (await answer).data();

  test("spot: terms, LIMIT_MAKER and its refusal, and the fills of a market order", async () => {
    const rest = new Spot({ configurationRestAPI: connectionOf(seeded("SPOT")) }).restAPI;
    const symbol = "ARBUSDT";
    await untilPriced(gateway.url, seeded("SPOT"), "SPOT", symbol);
    const account = await bodyOf(rest.getAccount());
    expect(account.fillProfile).toMatchObject({ name: "strict", latencyMs: 20, fees: "regular" });
    const { NewOrderSideEnum: side, NewOrderTypeEnum: type } = SpotRestAPI;
    const best = Number((await bodyOf(rest.tickerBookTicker({ symbol }))).askPrice);
    const maker = { symbol, side: side.BUY, type: type.LIMIT_MAKER, quantity: 200 };
    const price = (factor: number) => Number((best * factor).toFixed(4));
    const open = await bodyOf(rest.newOrder({ ...maker, price: price(0.9) }));
    expect(open).toMatchObject({ status: "NEW", type: "LIMIT_MAKER" });
    expect(await errorOf(rest.newOrder({ ...maker, price: price(1.02) }))).toMatchObject({
      name: "BadRequestError",
      message: "Order would immediately match and take.",
    });
    const bought = await bodyOf(rest.newOrder({ symbol, side: side.BUY, type: type.MARKET, quantity: 200 }));
    expect(["FILLED", "EXPIRED"]).toContain(bought.status);
    const trades: Told[] = await bodyOf(rest.myTrades({ symbol, orderId: bought.orderId }));
    const sum = trades.reduce((total, { qty }) => total + Number(qty), 0);
    expect(sum).toBeCloseTo(Number(bought.executedQty), 8);
  });

  test("futures: own rates, and GTX refused where it would take", async () => {
    const configurationRestAPI = connectionOf(seeded("FUTURES"));
    const rest = new DerivativesTradingUsdsFutures({ configurationRestAPI }).restAPI;
    const symbol = "UNIUSDT";
    await untilPriced(gateway.url, seeded("FUTURES"), "FUTURES", symbol);
    const rates = await bodyOf(rest.userCommissionRate({ symbol }));
    expect(rates).toMatchObject({ makerCommissionRate: "0.0002", takerCommissionRate: "0.0005" });
    const best = Number((await bodyOf(rest.symbolOrderBookTicker({ symbol }))).askPrice);
    const order = {
      symbol,
      side: FuturesApi.NewOrderSideEnum.BUY,
      type: FuturesApi.NewOrderTypeEnum.LIMIT,
      ...{ quantity: 10, price: Number((best * 1.02).toFixed(3)) },
    };
    const { GTX, IOC } = FuturesApi.NewOrderTimeInForceEnum;
    const refused = await errorOf(rest.newOrder({ ...order, timeInForce: GTX }));
    expect(refused).toMatchObject({ name: "BadRequestError" });
    expect(await bodyOf(rest.allOrders({ symbol }))).toEqual([]);
    const taken = await bodyOf(rest.newOrder({ ...order, timeInForce: IOC }));
    expect(taken).toMatchObject({ status: "FILLED", timeInForce: "IOC" });
    const trades: Told[] = await bodyOf(rest.accountTradeList({ symbol }));
    expect(trades.every(({ maker }) => maker === false)).toBe(true);
  });
});
