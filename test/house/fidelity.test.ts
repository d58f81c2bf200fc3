// What docs/fidelity.md says is not there, against a server: each row of the table gets the answer that its
// last cell names.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import WebSocket from "ws";
import type { StrategyType } from "../../src/domain/account.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { tableRows } from "../support/tables.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/fidelity.md"), "utf8");
const gateway = seededGateway(1, { futuresStrategyCount: 1 });

type Ask = readonly [type: StrategyType, method: string, path: string, parameters?: Record<string, string>];

const BTC = { symbol: "BTCUSDT", side: "BUY", quantity: "0.001" };
const SPOT_ORDER = "/api/v3/order";
const FUTURES_ORDER = "/fapi/v1/order";
const later = (timeInForce: string) => ({ ...BTC, type: "LIMIT", price: "60000", timeInForce });

/** By how a row begins; a row of ignored parameters is answered with an order. */
const ASKS: Readonly<Record<string, readonly Ask[]>> = {
  "Order lists": [
    ...["oco", "oto", "otoco", "opo"].map((list): Ask => ["SPOT", "POST", `/api/v3/orderList/${list}`]),
    ["FUTURES", "POST", "/fapi/v1/batchOrders"],
  ],
  "Changing an order": [
    ["SPOT", "POST", "/api/v3/order/cancelReplace"],
    ["SPOT", "PUT", "/api/v3/order/amend/keepPriority"],
    ["FUTURES", "PUT", FUTURES_ORDER],
  ],
  "Test orders": [
    ["SPOT", "POST", "/api/v3/order/test"],
    ["FUTURES", "POST", "/fapi/v1/order/test"],
  ],
  "Listen keys of spot": ["v3", "v1"].flatMap((version) =>
    ["POST", "PUT", "DELETE"].map((method): Ask => ["SPOT", method, `/api/${version}/userDataStream`]),
  ),
  "`countdownCancelAll`": [
    ["FUTURES", "POST", "/fapi/v1/countdownCancelAll"],
    ["FUTURES", "POST", "/fapi/v1/positionMargin"],
    ["FUTURES", "GET", "/fapi/v1/forceOrders"],
    ["SPOT", "GET", "/sapi/v1/asset/tradeFee"],
    ["SPOT", "GET", "/api/v3/account/commission"],
  ],
  "Spot `LIMIT_MAKER`": ["LIMIT_MAKER", "TAKE_PROFIT", "TAKE_PROFIT_LIMIT"].map(
    (type): Ask => ["SPOT", "POST", SPOT_ORDER, { ...BTC, type, price: "60000", stopPrice: "60000" }],
  ),
  "`timeInForce`": [
    ...["IOC", "FOK"].map((time): Ask => ["SPOT", "POST", SPOT_ORDER, later(time)]),
    ...["IOC", "FOK", "GTX", "GTD"].map((time): Ask => ["FUTURES", "POST", FUTURES_ORDER, later(time)]),
  ],
  "Futures `STOP`": ["STOP", "TAKE_PROFIT", "TRAILING_STOP_MARKET"].map(
    (type): Ask => ["FUTURES", "POST", FUTURES_ORDER, { ...BTC, type, price: "60000", stopPrice: "60000" }],
  ),
  "Contracts without leverage brackets": [
    ["FUTURES", "POST", FUTURES_ORDER, { ...BTC, symbol: "DOTUSDT", type: "MARKET" }],
  ],
  "A leg with a quantity": [
    [
      "FUTURES",
      "POST",
      "/fapi/v1/algoOrder",
      { ...BTC, side: "SELL", algoType: "CONDITIONAL", type: "STOP_MARKET", triggerPrice: "60000" },
    ],
  ],
  "`recvWindow` above 30000": [["SPOT", "GET", "/api/v3/account", { recvWindow: "60000" }]],
  "Iceberg orders": [
    ["SPOT", "POST", SPOT_ORDER, { ...BTC, type: "MARKET", selfTradePreventionMode: "EXPIRE_BOTH" }],
  ],
};

test("each row of what exchangeInfo lists is answered as the row says", async () => {
  const keys = { SPOT: gateway.takeStrategy(), FUTURES: gateway.takeFuturesStrategy() };
  const rows = tableRows(text, ["Not there"]).map(({ cells }) => Object.values(cells));
  const names = Object.keys(ASKS);
  expect(rows.map(([first = ""]) => names.find((name) => first.startsWith(name)))).toEqual(names);
  for (const [index, [first = "", says = ""]] of rows.entries()) {
    for (const [type, method, path, parameters] of ASKS[names[index] ?? ""] ?? []) {
      const { status, body } = await signed(gateway.url, keys[type], method, path, parameters ?? {});
      const answer = status === 200 ? "Ignored" : `${status}, ${body.code}`;
      expect(says.startsWith(answer), `${first}: ${method} ${path} is answered ${answer}`).toBe(true);
    }
  }
});

test("exchangeInfo says true to the abilities that the table names", async () => {
  const { body } = await send(gateway.url, "GET", "/api/v3/exchangeInfo?symbol=BTCUSDT");
  const named = [...text.matchAll(/`(\w+Allowed|allow\w+)`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => body.symbols[0][name] !== true)).toEqual([]);
});

test.each([
  "/ws/btcusdt@trade",
  "/stream?streams=btcusdt@trade",
  "/market/ws/btcusdt@markPrice",
  "/ws-api/v3",
  "/ws-fapi/v1",
])("Binance's own sockets are served: %s", async (path) => {
  const socket = new WebSocket(gateway.url.replace("http", "ws") + path);
  await once(socket, "open");
  socket.terminate();
});
