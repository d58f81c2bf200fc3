// Stock clients, unmodified, on strategies under the fill profile `strict`, made by `lyrebird seed` on the
// simulated market: market orders that walk the book, orders that are filled in part, and what the profile
// takes besides. The market moves on between what a client reads and its order, so orders are repeated until
// the book is right.
import {
  DerivativesTradingUsdsFutures,
  DerivativesTradingUsdsFuturesRestAPI as FuturesApi,
} from "@binance/derivatives-trading-usds-futures";
import { Spot, SpotRestAPI } from "@binance/spot";
import ccxt from "ccxt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { exchangeOf } from "./ccxt-client.ts";
import { errorOf, type Told } from "./client.ts";

stayOnLoopback();

/** Small levels, so that a strategy's funds take several. */
const SPOT_PAIR = "ARB/USDT";
const CONTRACT_PAIR = "UNI/USDT:USDT";
const TERMS = ["--profile", "strict", "--latency", "20"];

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({ args: ["--market", "sim"] });
});
afterAll(() => gateway.stop());

const seeded = (type: "spot" | "futures"): Credentials => gateway.seed(type, TERMS);

type Client = ReturnType<typeof exchangeOf>;
type Placed = Awaited<ReturnType<Client["createOrder"]>>;

/** A client after ccxt's default start-up; its own pace would let the market move on further. */
async function ccxtOn(type: "spot" | "futures"): Promise<Client> {
  const kind = type === "spot" ? "binance" : "binanceusdm";
  const client = exchangeOf(seeded(type), gateway.url, { kind, isPaced: false });
  await client.loadMarkets();
  return client;
}

/** The best price to buy at, and what is displayed there. */
async function bestAsk(client: Client, pair: string) {
  const [[price, quantity] = []] = (await client.fetchOrderBook(pair, 5)).asks;
  if (price === undefined || quantity === undefined) throw new Error("the simulated market has an ask");
  return { price: Number(price), quantity: Number(quantity) };
}

/** An amount for so many times what is displayed, within the funds of a strategy, in the lots of the pair. */
function amountOf(client: Client, pair: string, { price, quantity }: { price: number; quantity: number }) {
  const most = pair === SPOT_PAIR ? 150 : 5_000;
  const wanted = Math.min(Math.max(quantity * 2, 10 / price), most / price);
  return Number(client.amountToPrecision(pair, wanted));
}

describe.each([
  ["spot", SPOT_PAIR],
  ["futures", CONTRACT_PAIR],
] as const)("ccxt on a %s strategy under strict", (type, pair) => {
  let client: Client;
  // What a strategy took is not there for it again at once, so each test and each attempt has its own.
  beforeEach(async () => {
    client = await ccxtOn(type);
  });

  const buy = (amount: number, price?: number, params = {}): Promise<Placed> =>
    client.createOrder(pair, price === undefined ? "market" : "limit", "buy", amount, price, params);

  /**
   * The first result of an attempt. Each has a strategy of its own, and the market moves on in the meantime.
   */
  async function firstOf<Result>(attempt: () => Promise<Result | null>): Promise<Result> {
    const results: Result[] = [];
    await eventually("the book is right for the order", async () => {
      const result = await attempt();
      if (result === null) client = await ccxtOn(type);
      else results.push(result);
      return result !== null;
    });
    return results[0] as Result;
  }

  test("a market order walks the book: its trades are its levels, and add up", async () => {
    const { order, trades } = await firstOf(async () => {
      const amount = amountOf(client, pair, await bestAsk(client, pair));
      const placed = await buy(amount);
      const own = (await client.fetchMyTrades(pair)).filter((trade) => trade.order === placed.id);
      if (own.length > 1) return { order: placed, trades: own };
      return null;
    });
    const sum = trades.reduce((total, { amount }) => total + Number(amount), 0);
    expect(sum).toBeCloseTo(Number(order.filled), 8);
    const prices = trades.map(({ price }) => Number(price));
    expect(prices).toEqual([...prices].sort((one, other) => one - other));
    expect(new Set(prices).size).toBe(prices.length);
    expect(trades.every(({ takerOrMaker }) => takerOrMaker === "taker")).toBe(true);
    const queried = await client.fetchOrder(String(order.id), pair);
    expect(queried).toMatchObject({ id: order.id, filled: order.filled });
    expect(queried.average).toBeCloseTo(Number(queried.cost) / Number(queried.filled), 4);
  });

  test("IOC keeps what it took, and is expired", async () => {
    const order = await firstOf(async () => {
      const best = await bestAsk(client, pair);
      const placed = await buy(amountOf(client, pair, best), best.price, { timeInForce: "IOC" });
      return placed.info.status === "EXPIRED" && Number(placed.filled) > 0 ? placed : null;
    });
    expect(order).toMatchObject({ status: "expired", timeInForce: "IOC" });
    expect(Number(order.remaining)).toBeCloseTo(Number(order.amount) - Number(order.filled), 8);
    expect(order.info.expiryReason).toBe("UNFILLED_IOC_QUANTITY_EXPIRED");
  });

  test("an order that rests with a part of it filled is open, and keeps that part when it is canceled", async () => {
    const { order, open, canceled } = await firstOf(async () => {
      const best = await bestAsk(client, pair);
      const placed = await buy(amountOf(client, pair, best), best.price, { timeInForce: "GTC" });
      const listed = await client.fetchOpenOrders(pair);
      // The market may have filled it by then.
      const ended = await client.cancelOrder(String(placed.id), pair).catch((error: unknown) => {
        if (error instanceof ccxt.OrderNotFound) return null;
        throw error;
      });
      const isRight = placed.info.status === "PARTIALLY_FILLED" && ended !== null;
      if (isRight) return { order: placed, open: listed, canceled: ended };
      return null;
    });
    expect(order.status).toBe("open");
    expect(Number(order.filled)).toBeGreaterThan(0);
    expect(Number(order.filled)).toBeLessThan(Number(order.amount));
    expect(open.map(({ id }) => id)).toContain(order.id);
    expect(canceled.status).toBe("canceled");
    const after = await client.fetchOrder(String(order.id), pair);
    expect(after.status).toBe("canceled");
    expect(Number(after.filled)).toBeGreaterThanOrEqual(Number(order.filled));
  });

  test("post-only orders rest, or are refused where they would take", async () => {
    const { price, quantity } = await bestAsk(client, pair);
    const amount = amountOf(client, pair, { price, quantity });
    const far = Number(client.priceToPrecision(pair, price * 0.9));
    const open = await buy(amount, far, { postOnly: true });
    expect(open).toMatchObject({ status: "open", filled: 0, postOnly: true });
    await client.cancelOrder(String(open.id), pair);
    const through = Number(client.priceToPrecision(pair, price * 1.02));
    const failure: unknown = await errorOf(buy(amount, through, { postOnly: true }));
    expect(failure).toBeInstanceOf(type === "spot" ? ccxt.OrderImmediatelyFillable : ccxt.ExchangeError);
    expect((failure as Error).message).toContain(
      type === "spot" ? "Order would immediately match and take." : "-5022",
    );
    expect((await client.fetchOpenOrders(pair)).length).toBe(0);
  });

  test("FOK is whole or nothing", async () => {
    const outcome = await firstOf(async () => {
      const best = await bestAsk(client, pair);
      const placing = buy(amountOf(client, pair, best), best.price, { timeInForce: "FOK" });
      const placed = await placing.catch((error: Error) => error);
      if (placed instanceof Error || placed.filled === 0) return placed;
      return null;
    });
    if (type === "futures") expect((outcome as Error).message).toContain("-5021");
    else expect(outcome).toMatchObject({ status: "expired", filled: 0 });
  });
});

describe("the exchange's own connectors on strategies under strict", () => {
  const bodyOf = async (answer: Promise<{ data(): Promise<Told> }>): Promise<Told> =>
    await (await answer).data();

  test("spot: terms, LIMIT_MAKER and its refusal, and the fills of a market order", async () => {
    const { apiKey, apiSecret } = seeded("spot");
    const rest = new Spot({ configurationRestAPI: { apiKey, apiSecret, basePath: gateway.url } }).restAPI;
    const symbol = "ARBUSDT";
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
    const { apiKey, apiSecret } = seeded("futures");
    const configurationRestAPI = { apiKey, apiSecret, basePath: gateway.url };
    const rest = new DerivativesTradingUsdsFutures({ configurationRestAPI }).restAPI;
    const symbol = "UNIUSDT";
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
