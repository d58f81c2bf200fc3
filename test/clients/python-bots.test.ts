// Stock bots of Python, unmodified, trading against a running server. What each of them reports is compared
// with REST.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { runLife } from "./socket-life.ts";

const freqtrade = await pythonWith("requirements-freqtrade.txt", { minor: 12 });
const freqtradeProgram = "program" in freqtrade ? freqtrade.program : "";
const freqtradeSuffix = "missing" in freqtrade ? ` (${freqtrade.missing})` : "";

// The package has no binaries: pip compiles it. Its own setting makes that quick.
const hummingbot = await pythonWith("requirements-hummingbot.txt", {
  minor: 12,
  pipOptions: ["--no-deps"],
  env: { WITHOUT_CYTHON_OPTIMIZATIONS: "1" },
});
const hummingbotProgram = "program" in hummingbot ? hummingbot.program : "";
const hummingbotSuffix = "missing" in hummingbot ? ` (${hummingbot.missing})` : "";

const gateway = seededGateway(2, { futuresStrategyCount: 2 });

describe.skipIf(freqtradeProgram === "")(`freqtrade_bot.py${freqtradeSuffix}`, () => {
  const ROUTES = {
    spot: { api: "/api/v3", account: "/api/v3/account", seen: ["stop", "candle"] },
    futures: { api: "/fapi/v1", account: "/fapi/v3/account", seen: [] },
  } as const;

  test.each(["spot", "futures"] as const)("cancels an entry, buys and sells on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const { api, account, seen } = ROUTES[type];
    const facts = await runLife(
      [freqtradeProgram, join(SCRIPTS, "freqtrade_bot.py")],
      type,
      gateway.url,
      key,
    );
    expect([...facts.keys()]).toEqual(["placed", "buy", ...seen, "sell", "balance", "closed"]);

    const { body: orders } = await signed(gateway.url, key, "GET", `${api}/allOrders`, { symbol: SYMBOL });
    const told = orders.map(({ orderId, side, type, status }: Told) => [orderId, side, type, status]);
    const idOf = (name: string) => facts.get(name).orderId;
    expect(told).toEqual([
      [idOf("placed"), "BUY", "LIMIT", "CANCELED"],
      [idOf("buy"), "BUY", "LIMIT", "FILLED"],
      ...(type === "spot" ? [[idOf("stop"), "SELL", "STOP_LOSS_LIMIT", "CANCELED"]] : []),
      [idOf("sell"), "SELL", "MARKET", "FILLED"],
    ]);
    for (const name of ["buy", "sell"]) {
      const order = orders.find(({ orderId }: Told) => orderId === idOf(name));
      expect(facts.get(name).quantity).toBe(Number(order.executedQty));
    }
    if (type === "spot") {
      const query = `symbol=${SYMBOL}&interval=1m&limit=10`;
      const { body: candles } = await send(gateway.url, "GET", `${api}/klines?${query}`);
      expect(candles.map(([openTime]: [number]) => openTime)).toContain(facts.get("candle").time);
    }
    const { body } = await signed(gateway.url, key, "GET", account);
    const usdt = (body.balances ?? body.assets).find(({ asset }: Told) => asset === "USDT");
    expect(facts.get("balance").USDT).toBe(Number(usdt.free ?? usdt.walletBalance));
  });
});

describe.skipIf(hummingbotProgram === "")(`hummingbot_bot.py${hummingbotSuffix}`, () => {
  const ROUTES = {
    spot: { orders: "/api/v3/allOrders", trades: "/api/v3/myTrades", account: "/api/v3/account" },
    futures: { orders: "/fapi/v1/allOrders", trades: "/fapi/v1/userTrades", account: "/fapi/v3/account" },
  } as const;
  const NAMES = {
    spot: ["ready", "book", "placed", "canceled", "buy", "held", "sell", "balance", "complaints", "closed"],
    futures: [
      ...["ready", "leverage", "book", "placed", "canceled", "buy", "position", "sell", "balance"],
      ...["complaints", "closed"],
    ],
  } as const;

  test.each(["spot", "futures"] as const)("cancels an order, buys and sells on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const command = [hummingbotProgram, join(SCRIPTS, "hummingbot_bot.py")];
    const facts = await runLife(command, type, gateway.url, key);
    expect(facts.get("complaints")).toEqual({ texts: [] });
    expect([...facts.keys()]).toEqual(NAMES[type]);
    const { orders: ordersRoute, trades: tradesRoute, account } = ROUTES[type];
    const ask = async (path: string, parameters = {}) => {
      const { status, body } = await signed(gateway.url, key, "GET", path, parameters);
      expect(status).toBe(200);
      return body;
    };

    const orders: Told[] = await ask(ordersRoute, { symbol: SYMBOL });
    const [placed, buy, sell] = ["placed", "buy", "sell"].map((name) => facts.get(name));
    const told = orders.map((order) =>
      ["orderId", "clientOrderId", "side", "type", "status"].map((name) => order[name]),
    );
    expect(told).toEqual([
      [placed.orderId, placed.clientOrderId, "BUY", "LIMIT", "CANCELED"],
      [buy.orderId, buy.clientOrderId, "BUY", "MARKET", "FILLED"],
      [sell.orderId, sell.clientOrderId, "SELL", "MARKET", "FILLED"],
    ]);
    expect(Number(placed.price)).toBe(Number(orders[0].price));
    expect(facts.get("canceled")).toEqual({ clientOrderId: placed.clientOrderId });

    const trades: Told[] = await ask(tradesRoute, { symbol: SYMBOL });
    for (const [index, told] of [buy, sell].entries()) {
      const { orderId, id, price, qty, commission, commissionAsset } = trades[index];
      expect(told).toMatchObject({ orderId, tradeId: id, feeAsset: commissionAsset });
      expect([told.price, told.quantity, told.fee].map(Number)).toEqual([price, qty, commission].map(Number));
    }
    expect(trades).toHaveLength(2);

    const { balances, assets, positions } = await ask(account);
    for (const [asset, amount] of Object.entries(facts.get("balance"))) {
      const row = (balances ?? assets).find((each: Told) => each.asset === asset);
      expect(Number(amount)).toBe(Number(row.free ?? row.walletBalance));
    }
    if (type === "spot") {
      expect(Number(facts.get("held").BTC)).toBeCloseTo(Number(buy.quantity) - Number(buy.fee), 8);
    } else {
      const { quantity, entry, leverage } = facts.get("position");
      expect([quantity, entry].map(Number)).toEqual([buy.quantity, buy.price].map(Number));
      expect([Number(leverage), facts.get("leverage").leverage]).toEqual([3, 3]);
      expect(positions).toEqual([]);
    }
  });
});
