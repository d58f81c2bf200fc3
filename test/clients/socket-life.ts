// The life of a bot whose client listens on sockets, in a program of its own: it follows the market and its
// account, places an order and cancels it, buys, sees both, and disconnects. The program prints one line of
// JSON per fact; each fact is compared with REST here.
import { expect } from "vitest";
import type { Credentials } from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { output } from "./client-programs.ts";

const LIFE_MS_MAX = 110_000;

export type LifeType = "spot" | "futures";

export const MARKET_FACTS = ["ticker", "trades", "candle", "book"];
export const ORDER_FACTS = ["placed", "canceled", "filled", "fill"];
export const ACCOUNT_FACTS = { spot: ["balance"], futures: ["balance", "position"] } as const;

const ROUTES = {
  spot: {
    market: "/api/v3",
    orders: "/api/v3/allOrders",
    openOrders: "/api/v3/openOrders",
    trades: "/api/v3/myTrades",
    account: "/api/v3/account",
    quantity: "0.00100000",
  },
  futures: {
    market: "/fapi/v1",
    orders: "/fapi/v1/allOrders",
    openOrders: "/fapi/v1/openOrders",
    trades: "/fapi/v1/userTrades",
    account: "/fapi/v3/account",
    quantity: "0.004",
  },
} as const;

/** The facts of a program by their names; each has one. */
export async function runLife(
  command: readonly string[],
  type: LifeType,
  url: string,
  { apiKey, apiSecret }: Credentials,
  env: Readonly<Record<string, string>> = {},
): Promise<Map<string, Told>> {
  const [program = "", ...args] = command;
  const lines = await output(program, [...args, type, url, apiKey, apiSecret], { env, msMax: LIFE_MS_MAX });
  const facts = new Map<string, Told>();
  for (const line of lines.trim().split("\n")) {
    const { fact, ...values } = JSON.parse(line);
    expect(facts, lines).not.toContain(fact);
    facts.set(fact, values);
  }
  return facts;
}

/** Every fact agrees with REST, and none is missing. */
export async function expectLife(
  facts: ReadonlyMap<string, Told>,
  names: readonly string[],
  type: LifeType,
  url: string,
  key: Credentials,
): Promise<void> {
  expect([...facts.keys()]).toEqual(names);
  await expectMarketFacts(facts, type, url);
  const route = ROUTES[type];
  const ask = async (path: string) => {
    const { status, body } = await signed(url, key, "GET", path, { symbol: SYMBOL });
    expect(status).toBe(200);
    return body;
  };
  const orders: Told[] = await ask(route.orders);
  const order = (id: number) => orders.find(({ orderId }) => orderId === id);
  const [placed, filled, fill] = ["placed", "filled", "fill"].map((name) => facts.get(name));
  expect(await ask(route.openOrders)).toEqual([]);
  expect(orders).toHaveLength(2);
  expect(order(placed.orderId)).toMatchObject({ status: "CANCELED", clientOrderId: placed.clientOrderId });
  expect(Number(order(placed.orderId).price)).toBe(Number(placed.price));
  expect(facts.get("canceled").orderId).toBe(placed.orderId);
  expect(order(filled.orderId)).toMatchObject({ status: "FILLED", executedQty: route.quantity });
  expect(Number(filled.quantity)).toBe(Number(route.quantity));

  const [trade, ...others]: Told[] = await ask(route.trades);
  expect(others).toEqual([]);
  expect(trade).toMatchObject({ orderId: filled.orderId, id: fill.tradeId, qty: route.quantity });
  expect(fill.orderId).toBe(filled.orderId);
  expect([Number(fill.price), Number(fill.quantity)]).toEqual([Number(trade.price), Number(trade.qty)]);

  const account = await ask(route.account);
  for (const name of ["balance", "balance over the WebSocket API"]) {
    for (const [asset, amount] of Object.entries(facts.get(name) ?? {})) {
      expect(Number(amount), name).toBe(balanceOf(account, asset));
    }
  }
  for (const name of ["position", "position over the WebSocket API"]) {
    const position = facts.get(name);
    if (position !== undefined) expect(Number(position.quantity)).toBe(Number(route.quantity));
  }
}

function balanceOf({ balances, assets }: Told, asset: string): number {
  const row = (balances ?? assets).find((each: Told) => each.asset === asset);
  return Number(row.free ?? row.walletBalance);
}

async function expectMarketFacts(
  facts: ReadonlyMap<string, Told>,
  type: LifeType,
  url: string,
): Promise<void> {
  const get = async (path: string) => (await send(url, "GET", `${ROUTES[type].market}${path}`)).body;
  const price = Number((await get(`/ticker/price?symbol=${SYMBOL}`)).price);
  const isNear = (told: unknown) => {
    expect(Number(told)).toBeGreaterThan(0.9 * price);
    expect(Number(told)).toBeLessThan(1.1 * price);
  };
  for (const name of ["ticker", "trades", "book"]) expect(facts.get(name).symbol).toMatch(/^BTC\/?USDT/);
  isNear(facts.get("ticker").last);

  const candle = facts.get("candle");
  if (candle !== undefined) {
    const candles: [number][] = await get(`/klines?symbol=${SYMBOL}&interval=1m&limit=10`);
    expect(candles.map(([openTime]) => openTime)).toContain(candle.time);
    isNear(candle.close);
  }

  const trades: { id: number }[] = await get(`/trades?symbol=${SYMBOL}&limit=1000`);
  const ids: number[] = facts.get("trades").ids;
  expect(ids).not.toHaveLength(0);
  expect(trades.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));

  const { bid, ask, nonces } = facts.get("book");
  isNear(bid);
  expect(Number(ask)).toBeGreaterThan(Number(bid));
  expect(nonces).toEqual([...new Set<number>(nonces)].sort((one, other) => one - other));
}
