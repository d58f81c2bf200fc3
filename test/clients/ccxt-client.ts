// ccxt, unmodified: nothing is changed but the origin of the addresses in its option `urls.api`, as the start
// of the server prints it. All its default start-up calls are made.
import ccxt from "ccxt";
import { expect } from "vitest";
import {
  type FuturesClient,
  type Key,
  type LegName,
  type OrderName,
  REFUSALS,
  type RefusalName,
  type SpotClient,
  type Told,
} from "./client.ts";

export const PAIR = "BTC/USDT";
export const CONTRACT = "BTC/USDT:USDT";

export type ExchangeOptions = {
  /** The class of ccxt: of all markets of the exchange, or of its perpetuals only. */
  readonly kind?: "binance" | "binanceusdm";
  /** What ccxt is to take calls without a symbol for, if not for its own default. */
  readonly defaultType?: "swap" | "future";
  /** Whether it keeps the pace that it keeps by default. */
  readonly isPaced?: boolean;
};

/** ccxt on a key of the gateway at an address. */
export function exchangeOf(
  { apiKey, apiSecret }: Key,
  url: string,
  { kind = "binance", defaultType, isPaced = true }: ExchangeOptions = {},
) {
  const exchange = new ccxt[kind]({
    apiKey,
    secret: apiSecret,
    enableRateLimit: isPaced,
    ...(defaultType === undefined ? {} : { options: { defaultType } }),
  });
  const addresses: Record<string, string> = exchange.urls.api;
  for (const [api, address] of Object.entries(addresses)) {
    addresses[api] = address.replace(/^https?:..[^/]+/, url);
  }
  return exchange;
}

/**
 * The class of each refusal. On any host but the reference exchange's own ccxt ignores its codes of single
 * markets, so that most futures refusals are only an ExchangeError.
 */
const ERROR_CLASSES = {
  INSUFFICIENT_BALANCE: ccxt.InsufficientFunds,
  LOT_SIZE: ccxt.InvalidOrder,
  ORDER_UNKNOWN: ccxt.OrderNotFound,
  ORDER_OVER: ccxt.OrderNotFound,
  STOP_WOULD_TRIGGER: ccxt.OrderImmediatelyFillable,
  LIMIT_MAKER_WOULD_TAKE: ccxt.OrderImmediatelyFillable,
  WRONG_SECRET: ccxt.AuthenticationError,
  NOT_LIVE: ccxt.InvalidOrder,
  OTHER_FAMILY: ccxt.InvalidOrder,
  MARGIN_INSUFFICIENT: ccxt.ExchangeError,
  QUANTITY_TOO_HIGH: ccxt.BadRequest,
  NOTIONAL_TOO_SMALL: ccxt.ExchangeError,
  REDUCE_ONLY_REJECTED: ccxt.ExchangeError,
  STOP_MISPLACED: ccxt.ExchangeError,
  POST_ONLY_WOULD_TAKE: ccxt.ExchangeError,
  LEG_WOULD_TRIGGER: ccxt.ExchangeError,
  LEG_EXISTS: ccxt.ExchangeError,
  NO_POSITION: ccxt.ExchangeError,
  LEVERAGE_LOWERED: ccxt.ExchangeError,
  CROSSED_MARGIN: ccxt.InvalidOrder,
} satisfies Record<RefusalName, unknown>;

export function expectRefusal(error: unknown, name: RefusalName): void {
  const { code, msg } = REFUSALS[name];
  expect((error as Error).constructor).toBe(ERROR_CLASSES[name]);
  // A refusal without a class of its own has only its code.
  const isUnclassed = ERROR_CLASSES[name] === ccxt.ExchangeError;
  expect((error as Error).message).toContain(isUnclassed ? JSON.stringify({ code, msg }) : msg);
}

type Exchange = ReturnType<typeof exchangeOf>;

/** What ccxt keeps of an answer: the body as the wire had it. */
async function infoOf(answer: Promise<{ readonly info: Told }>): Promise<Told> {
  return (await answer).info;
}

async function infosOf(answer: Promise<readonly { readonly info: Told }[]>): Promise<Told[]> {
  return (await answer).map(({ info }) => info);
}

/** What a bot's life does in either market; a unified answer holds the wire's body as `info`. */
function commonClient(exchange: Exchange, market: string) {
  return {
    ping: () => exchange.request("ping", market === PAIR ? "public" : "fapiPublic"),
    serverTime: async () => Number(await exchange.fetchTime()),
    symbolRules: async () => (await exchange.loadMarkets())[market]?.info,
    bookTicker: async () => (await infosOf(exchange.fetchBidsAsks([market]).then(Object.values)))[0],
    dayTicker: () => infoOf(exchange.fetchTicker(market)),
    candleTimes: async (count: number) =>
      (await exchange.fetchOHLCV(market, "1m", undefined, count)).map(([time]) => Number(time)),
    async depth(levels: number) {
      const { bids, asks } = await exchange.fetchOrderBook(market, levels);
      return { bids: bids.map(([price]) => Number(price)), asks: asks.map(([price]) => Number(price)) };
    },
    account: () => infoOf(exchange.fetchBalance()),
    newClientOrderId: () => "once-only",
    query: (order: OrderName) => infoOf(exchange.fetchOrder(idOf(order), market, clientIdOf(order))),
    cancel: (order: OrderName) => infoOf(exchange.cancelOrder(idOf(order), market, clientIdOf(order))),
    openOrders: () => infosOf(exchange.fetchOpenOrders(market)),
    allOrders: () => infosOf(exchange.fetchOrders(market)),
    trades: () => infosOf(exchange.fetchMyTrades(market)),
  };
}

/** ccxt's own id of an order or a leg, empty where the client's names it. */
function idOf(name: OrderName | LegName): string {
  if ("orderId" in name) return String(name.orderId);
  return "algoId" in name ? String(name.algoId) : "";
}

function clientIdOf(name: OrderName | LegName): { clientOrderId?: string } {
  if ("origClientOrderId" in name) return { clientOrderId: name.origClientOrderId };
  return "clientAlgoId" in name ? { clientOrderId: name.clientAlgoId } : {};
}

/** For a spot bot's life, which asks one thing after another. */
export function ccxtSpotClient(key: Key, url: string): SpotClient {
  const exchange = exchangeOf(key, url, { isPaced: false });
  return {
    ...commonClient(exchange, PAIR),
    async place({ side, type, quantity, quoteOrderQty, price, stopPrice, newClientOrderId }) {
      if (quoteOrderQty !== undefined) {
        return await infoOf(exchange.createMarketBuyOrderWithCost(PAIR, Number(quoteOrderQty)));
      }
      const limit = price === undefined ? undefined : Number(price);
      return await infoOf(
        exchange.createOrder(PAIR, typeOf(type), wayOf(side), Number(quantity), limit, {
          ...(stopPrice === undefined ? {} : { triggerPrice: Number(stopPrice) }),
          ...(newClientOrderId === undefined ? {} : { clientOrderId: newClientOrderId }),
        }),
      );
    },
    cancelAll: () => infosOf(exchange.cancelAllOrders(PAIR)),
  };
}

/** For a futures bot's life. */
export function ccxtFuturesClient(key: Key, url: string, options: ExchangeOptions): FuturesClient {
  const exchange = exchangeOf(key, url, { ...options, isPaced: false });
  const ofLegs = { trigger: true };
  return {
    ...commonClient(exchange, CONTRACT),
    premium: () => infoOf(exchange.fetchFundingRate(CONTRACT)),
    settlements: (count) => infosOf(exchange.fetchFundingRateHistory(CONTRACT, undefined, count)),
    // It reports free and used amounts of each asset; a body of the balances route is requested by name.
    balances: () => exchange.request("balance", "fapiPrivateV3"),
    positions: () => infosOf(exchange.fetchPositions([CONTRACT])),
    isHedged: async () => (await exchange.fetchPositionMode(CONTRACT)).hedged === true,
    setLeverage: (leverage) => exchange.setLeverage(leverage, CONTRACT),
    setMarginType: (marginType) =>
      exchange.setMarginMode(marginType === "ISOLATED" ? "isolated" : "cross", CONTRACT),
    brackets: async () => infosOf(exchange.fetchMarketLeverageTiers(CONTRACT)),
    fees: () => infoOf(exchange.fetchTradingFee(CONTRACT)),
    async place({ side, type, quantity, price, reduceOnly, newClientOrderId }) {
      const limit = price === undefined ? undefined : Number(price);
      return await infoOf(
        exchange.createOrder(CONTRACT, typeOf(type), wayOf(side), Number(quantity), limit, {
          ...(reduceOnly === undefined ? {} : { reduceOnly }),
          ...(newClientOrderId === undefined ? {} : { clientOrderId: newClientOrderId }),
        }),
      );
    },
    cancelAll: async () => (await infosOf(exchange.cancelAllOrders(CONTRACT)))[0],
    incomes: () => infosOf(exchange.fetchLedger("USDT")),
    fundingFees: () => infosOf(exchange.fetchFundingHistory(CONTRACT)),
    async placeLeg({ side, type, triggerPrice, clientAlgoId }) {
      const trigger = type === "STOP_MARKET" ? "stopLossPrice" : "takeProfitPrice";
      return await infoOf(
        // Its types want an amount, which it does not send with a leg that closes the position.
        exchange.createOrder(CONTRACT, "market", wayOf(side), undefined as Told, undefined, {
          [trigger]: Number(triggerPrice),
          closePosition: true,
          ...(clientAlgoId === undefined ? {} : { clientOrderId: clientAlgoId }),
        }),
      );
    },
    queryLeg: (leg) => infoOf(exchange.fetchOrder(idOf(leg), CONTRACT, { ...ofLegs, ...clientIdOf(leg) })),
    cancelLeg: (leg) => infoOf(exchange.cancelOrder(idOf(leg), CONTRACT, { ...ofLegs, ...clientIdOf(leg) })),
    cancelAllLegs: async () => (await infosOf(exchange.cancelAllOrders(CONTRACT, ofLegs)))[0],
    openLegs: () => infosOf(exchange.fetchOpenOrders(CONTRACT, undefined, undefined, ofLegs)),
    allLegs: () => infosOf(exchange.fetchOrders(CONTRACT, undefined, undefined, ofLegs)),
    misplaceStop: () =>
      exchange.request("order", "fapiPrivate", "POST", {
        symbol: "BTCUSDT",
        side: "SELL",
        type: "STOP_MARKET",
        stopPrice: "1000",
        closePosition: "true",
      }),
  };
}

function wayOf(side: "BUY" | "SELL") {
  return side === "BUY" ? "buy" : "sell";
}

function typeOf(type: string) {
  return type.endsWith("LIMIT") ? "limit" : "market";
}
