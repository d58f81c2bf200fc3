// Weight, access and order count of each signed futures route: the table of the specification and the other
// routes of stock clients, row by row. The headers of a new key's first request show its cost. Source:
// specification 4.2 and 8.1; reference exchange, sections 11 to 13.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FUTURES_ROUTES } from "../../../src/http/routes/futures.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { send } from "../../support/signed-client.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([contractRow(symbol)]);
market.show(symbol, "59999.9", "60000");
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

const ORDER = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };
const LEG = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "57000", closePosition: "true" };

/** A request that a futures key may make, and what it costs. The first are the rows of specification 4.2. */
const TABLE = [
  ["GET", "/fapi/v3/account", 5, {}],
  ["GET", "/fapi/v2/account", 5, {}],
  ["GET", "/fapi/v3/positionRisk", 5, {}],
  ["GET", "/fapi/v2/positionRisk", 5, { symbol }],
  ["GET", "/fapi/v1/leverageBracket", 1, {}],
  ["GET", "/fapi/v1/commissionRate", 20, { symbol }],
  ["POST", "/fapi/v1/leverage", 1, { symbol, leverage: 10 }],
  ["POST", "/fapi/v1/marginType", 1, { symbol, marginType: "ISOLATED" }],
  ["POST", "/fapi/v1/order", 1, ORDER],
  ["DELETE", "/fapi/v1/order", 1, { symbol, orderId: 1 }],
  ["DELETE", "/fapi/v1/allOpenOrders", 1, { symbol }],
  ["GET", "/fapi/v1/order", 1, { symbol, orderId: 1 }],
  ["GET", "/fapi/v1/openOrders", 1, { symbol }],
  ["GET", "/fapi/v1/openOrders", 40, {}],
  ["GET", "/fapi/v1/openOrders", 40, { symbol: "" }],
  ["GET", "/fapi/v1/allOrders", 5, { symbol }],
  ["GET", "/fapi/v1/userTrades", 5, { symbol }],
  ["GET", "/fapi/v1/platform/fillReceipts", 5, { symbol }],
  ["GET", "/fapi/v1/platform/counterfactuals", 20, { symbol, orderId: 1 }],
  ["POST", "/fapi/v1/algoOrder", 1, LEG],
  ["DELETE", "/fapi/v1/algoOrder", 1, { algoId: 1 }],
  ["DELETE", "/fapi/v1/algoOpenOrders", 1, { symbol }],
  ["GET", "/fapi/v1/algoOrder", 1, { algoId: 1 }],
  ["GET", "/fapi/v1/openAlgoOrders", 1, { symbol }],
  ["GET", "/fapi/v1/openAlgoOrders", 40, {}],
  ["POST", "/fapi/v1/platform/strategy/close", 1, {}],
  ["GET", "/fapi/v3/balance", 5, {}],
  ["GET", "/fapi/v2/balance", 5, {}],
  ["GET", "/fapi/v1/accountConfig", 5, {}],
  ["GET", "/fapi/v1/symbolConfig", 5, {}],
  ["GET", "/fapi/v1/income", 30, {}],
  ["GET", "/fapi/v1/openOrder", 1, { symbol, orderId: 1 }],
  ["GET", "/fapi/v1/allAlgoOrders", 5, { symbol }],
  ["GET", "/fapi/v1/feeBurn", 30, {}],
  ["GET", "/fapi/v1/positionSide/dual", 30, {}],
  ["POST", "/fapi/v1/positionSide/dual", 1, { dualSidePosition: "false" }],
  ["GET", "/fapi/v1/multiAssetsMargin", 30, {}],
  ["POST", "/fapi/v1/multiAssetsMargin", 1, { multiAssetsMargin: "false" }],
] as const;

const PLACEMENTS = ["POST /fapi/v1/order", "POST /fapi/v1/algoOrder"];

test("every path of every row is in the table", () => {
  const paths = FUTURES_ROUTES.flatMap((route) => route.paths.map((path) => `${route.method} ${path}`));
  expect(new Set(TABLE.map(([method, path]) => `${method} ${path}`))).toEqual(new Set(paths));
});

test.each(TABLE)("%s %s costs %i, with %j", async (method, path, weight, parameters) => {
  const call = gateway.callsOf(await gateway.seed("FUTURES"));
  const { headers, body } = await call(method, path, parameters);
  expect(body).not.toMatchObject({ code: -5000 });
  expect(headers.get("x-mbx-used-weight-1m")).toBe(String(weight));
  const counted = PLACEMENTS.includes(`${method} ${path}`) ? "1" : null;
  expect(headers.get("x-mbx-order-count-10s")).toBe(counted);
  expect(headers.get("x-mbx-order-count-1m")).toBe(counted);
});

test.each(TABLE)(
  "spot keys get 400 -2010 on %s %s, and pay its %i",
  async (method, path, weight, parameters) => {
    const call = gateway.callsOf(await gateway.seed("SPOT"));
    const { status, headers, body } = await call(method, path, parameters);
    expect({ status, code: body.code }).toEqual({ status: 400, code: -2010 });
    expect(headers.get("x-mbx-used-weight-1m")).toBe(String(weight));
  },
);

test.each(TABLE)("%s %s without a key is 401 -2015", async (method, path) => {
  const { status, body } = await send(gateway.url, method, path);
  expect({ status, code: body.code }).toEqual({ status: 401, code: -2015 });
});

test.each([
  ["PUT", "/fapi/v1/order"],
  ["GET", "/fapi/v1/account"],
  ["GET", "/fapi/v4/account"],
  ["POST", "/fapi/v1/batchOrders"],
  ["GET", "/fapi/v1/platform/strategy/close"],
  ["POST", "/fapi/v1/positionMargin"],
])("%s %s is not there: 404 -5000", async (method, path) => {
  const call = gateway.callsOf(await gateway.seed("FUTURES"));
  const { status, body } = await call(method, path);
  expect({ status, code: body.code }).toEqual({ status: 404, code: -5000 });
});
