// Stock bots of Python, unmodified, trading against a running server. What each of them reports is compared
// with REST.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seededGateway } from "../support/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { pythonWith, SCRIPTS } from "./client-programs.ts";
import { runLife } from "./socket-life.ts";

const freqtrade = await pythonWith("requirements-freqtrade.txt", 12);
const freqtradeProgram = "program" in freqtrade ? freqtrade.program : "";
const freqtradeSuffix = "missing" in freqtrade ? ` (${freqtrade.missing})` : "";

const gateway = seededGateway(1, { futuresStrategyCount: 1 });

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
