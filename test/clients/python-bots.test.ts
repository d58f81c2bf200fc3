// Bots of Python, unmodified, each trading as it does on the exchange.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seededGateway } from "../support/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import type { Told } from "./client.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { runLife } from "./socket-life.ts";

const freqtrade = await pythonWith("requirements-freqtrade.txt", 12);
const program = "program" in freqtrade ? freqtrade.program : "";
const suffix = "missing" in freqtrade ? ` (${freqtrade.missing})` : "";

const gateway = seededGateway(1, { futuresStrategyCount: 1 });

describe.skipIf(program === "")(`freqtrade_bot.py${suffix}`, () => {
  const ROUTES = {
    spot: { api: "/api/v3", account: "/api/v3/account", seen: ["stop", "candle"] },
    futures: { api: "/fapi/v1", account: "/fapi/v3/account", seen: [] },
  } as const;

  test.each(["spot", "futures"] as const)("cancels an entry, buys and sells on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const { api, account, seen } = ROUTES[type];
    const facts = await runLife([program, join(SCRIPTS, "freqtrade_bot.py")], type, gateway.url, key);
    expect([...facts.keys()]).toEqual(["placed", "buy", ...seen, "sell", "balance", "closed"]);

    const ask = async (path: string) => {
      const { status, body } = await signed(gateway.url, key, "GET", path, { symbol: "BTCUSDT" });
      expect(status).toBe(200);
      return body;
    };
    const orders: Told[] = await ask(`${api}/allOrders`);
    const told = orders.map(({ orderId, side, type, status }) => [orderId, side, type, status]);
    const idOf = (name: string) => facts.get(name).orderId;
    expect(told).toEqual([
      [idOf("placed"), "BUY", "LIMIT", "CANCELED"],
      [idOf("buy"), "BUY", "LIMIT", "FILLED"],
      ...(type === "spot" ? [[idOf("stop"), "SELL", "STOP_LOSS_LIMIT", "CANCELED"]] : []),
      [idOf("sell"), "SELL", "MARKET", "FILLED"],
    ]);
    for (const name of ["buy", "sell"]) {
      const order = orders.find(({ orderId }) => orderId === idOf(name));
      expect(facts.get(name).quantity).toBe(Number(order.executedQty));
    }
    if (type === "spot") {
      const candles = await ask(`${api}/klines?interval=1m`);
      expect(candles.map(([openTime]: [number]) => openTime)).toContain(facts.get("candle").time);
    }
    const { balances, assets } = await ask(account);
    const usdt = (balances ?? assets).find(({ asset }: Told) => asset === "USDT");
    expect(facts.get("balance").USDT).toBe(Number(usdt.free ?? usdt.walletBalance));
  });
});
