// ccxt, unmodified: nothing is changed but the origin of the addresses in its option `urls.api`, as the start of the
// server prints it. All its default start-up calls are made.
import ccxt from "ccxt";
import type { Key, SpotClient, Told } from "./client.ts";

export const PAIR = "BTC/USDT";

/** ccxt on a key of the gateway at an address, at the pace that it keeps by default unless told otherwise. */
export function exchangeOf({ apiKey, apiSecret }: Key, url: string, { isPaced = true } = {}) {
  const exchange = new ccxt.binance({ apiKey, secret: apiSecret, enableRateLimit: isPaced });
  const addresses: Record<string, string> = exchange.urls.api;
  for (const [api, address] of Object.entries(addresses)) {
    addresses[api] = address.replace(/^https?:..[^/]+/, url);
  }
  return exchange;
}

/** What ccxt keeps of an answer: the body as the wire had it. */
async function infoOf(answer: Promise<{ readonly info: Told }>): Promise<Told> {
  return (await answer).info;
}

async function infosOf(answer: Promise<readonly { readonly info: Told }[]>): Promise<Told[]> {
  return (await answer).map(({ info }) => info);
}

/** The same for a bot's life, which asks one thing after another; a unified answer holds the wire's body as `info`. */
export function ccxtClient(key: Key, url: string): SpotClient {
  const exchange = exchangeOf(key, url, { isPaced: false });
  return {
    ping: () => exchange.request("ping", "public"),
    serverTime: async () => Number(await exchange.fetchTime()),
    symbolRules: async () => (await exchange.loadMarkets())[PAIR]?.info,
    bookTicker: async () => (await infosOf(exchange.fetchBidsAsks([PAIR]).then(Object.values)))[0],
    dayTicker: () => infoOf(exchange.fetchTicker(PAIR)),
    candleTimes: async (count) =>
      (await exchange.fetchOHLCV(PAIR, "1m", undefined, count)).map(([time]) => Number(time)),
    async depth(levels) {
      const { bids, asks } = await exchange.fetchOrderBook(PAIR, levels);
      return { bids: bids.map(([price]) => Number(price)), asks: asks.map(([price]) => Number(price)) };
    },
    account: () => infoOf(exchange.fetchBalance()),
    newClientOrderId: () => "once-only",
    async place({ side, type, quantity, quoteOrderQty, price, stopPrice, newClientOrderId }) {
      const way = side === "BUY" ? "buy" : "sell";
      if (quoteOrderQty !== undefined) {
        return await infoOf(exchange.createMarketBuyOrderWithCost(PAIR, Number(quoteOrderQty)));
      }
      const limit = price === undefined ? undefined : Number(price);
      return await infoOf(
        exchange.createOrder(
          PAIR,
          type.endsWith("LIMIT") ? "limit" : "market",
          way,
          Number(quantity),
          limit,
          {
            ...(stopPrice === undefined ? {} : { triggerPrice: Number(stopPrice) }),
            ...(newClientOrderId === undefined ? {} : { clientOrderId: newClientOrderId }),
          },
        ),
      );
    },
    query: (order) =>
      "orderId" in order
        ? infoOf(exchange.fetchOrder(String(order.orderId), PAIR))
        : infoOf(exchange.fetchOrder("", PAIR, { clientOrderId: order.origClientOrderId })),
    cancel: (order) =>
      "orderId" in order
        ? infoOf(exchange.cancelOrder(String(order.orderId), PAIR))
        : infoOf(exchange.cancelOrder("", PAIR, { clientOrderId: order.origClientOrderId })),
    cancelAll: () => infosOf(exchange.cancelAllOrders(PAIR)),
    openOrders: () => infosOf(exchange.fetchOpenOrders(PAIR)),
    allOrders: () => infosOf(exchange.fetchOrders(PAIR)),
    trades: () => infosOf(exchange.fetchMyTrades(PAIR)),
  };
}
