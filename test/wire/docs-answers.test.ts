// The answers of a running server, against the schemas that the API reference has of them: every
// exchange-style route is asked once, and nothing may be missing from its answer, too much in it, or of
// another type.
import { expect, test } from "vitest";
import { z } from "zod";
import { ROUTES } from "../../src/http/server.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";

const gateway = seededGateway(1, { futuresStrategyCount: 1 });
const symbol = "BTCUSDT";

type Answer = { readonly status: number; readonly body: Record<string, unknown> };
type Values = Readonly<Record<string, string | number>>;

test("every answer matches the reference", async () => {
  const { paths, components } = (await send(gateway.url, "GET", "/docs/openapi.json")).body;
  const answered = new Set<string>();

  function check(name: string, { status, body }: Answer) {
    answered.add(name);
    const [method = "", path = ""] = name.split(" ");
    const promised = paths[path][method.toLowerCase()].responses["200"]?.content["application/json"].schema;
    expect(status, `${name}: ${JSON.stringify(body)}`).toBe(
      promised !== undefined ? 200 : path.endsWith("/userDataStream") ? 410 : 400,
    );
    if (promised === undefined) return body;
    // The exchange's own lists are not strict: symbols differ in their fields.
    const isStrict = !path.endsWith("exchangeInfo");
    const schema = z.fromJSONSchema(withDefinitions(promised, components.schemas, isStrict));
    expect(schema.safeParse(body).error?.issues ?? [], name).toEqual([]);
    return body;
  }
  const open = async (path: string, query = "") =>
    check(`GET ${path}`, await send(gateway.url, "GET", path + query));
  const signedBy =
    (keys: Credentials) =>
    async (name: string, values: Values = {}) => {
      const [method = "", path = ""] = name.split(" ");
      return check(name, await signed(gateway.url, keys, method, path, values));
    };

  for (const { access, method, parameters, paths } of ROUTES) {
    if (access !== "public" || method !== "GET") continue;
    const mandatory = Object.entries(parameters).filter(([, { required }]) => required === true);
    const query = new URLSearchParams(mandatory.map(([name, { example = "" }]) => [name, example]));
    await open(paths[0], `?${query}`);
  }

  for (const method of ["POST", "PUT", "DELETE"]) {
    const path = "/api/v3/userDataStream";
    await check(`${method} ${path}`, await send(gateway.url, method, path));
  }

  const spot = signedBy(gateway.takeStrategy());
  const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC" };
  const { price: spotPrice } = await open("/api/v3/ticker/price", `?symbol=${symbol}`);
  const resting = { ...limit, quantity: "0.001", price: (Number(spotPrice) * 0.6).toFixed(2) };
  await spot("POST /api/v3/order", { symbol, side: "BUY", type: "MARKET", quoteOrderQty: 20 });
  const { orderId } = await spot("POST /api/v3/order", resting);
  await spot("GET /api/v3/account");
  await spot("GET /api/v3/order", { symbol, orderId: Number(orderId) });
  await spot("GET /api/v3/openOrders");
  await spot("DELETE /api/v3/order", { symbol, orderId: Number(orderId) });
  await spot("POST /api/v3/order", resting);
  await spot("DELETE /api/v3/openOrders", { symbol });
  await spot("GET /api/v3/allOrders", { symbol });
  await spot("GET /api/v3/myTrades", { symbol });
  await spot("GET /api/v3/platform/fillReceipts", { symbol });
  await spot("GET /api/v3/platform/counterfactuals", { symbol, orderId: Number(orderId) });
  await spot("GET /sapi/v1/capital/config/getall");
  await spot("POST /api/v3/platform/strategy/close");

  const futures = signedBy(gateway.takeFuturesStrategy());
  const { price } = await open("/fapi/v1/ticker/price", `?symbol=${symbol}`);
  const times = (factor: number) => String(Math.round((Number(price) * factor) / 10) * 10);
  const stop = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: times(0.95), closePosition: "true" };
  const market = { symbol, side: "BUY", type: "MARKET", quantity: "0.01" };
  await futures("POST /fapi/v1/leverage", { symbol, leverage: 10 });
  await futures("POST /fapi/v1/marginType", { symbol, marginType: "ISOLATED" });
  await futures("POST /fapi/v1/positionSide/dual", { dualSidePosition: "false" });
  await futures("POST /fapi/v1/multiAssetsMargin", { multiAssetsMargin: "false" });
  await futures("POST /fapi/v1/order", { ...market, takeProfitPrice: times(1.3) });
  await futures("POST /fapi/v1/algoOrder", { ...stop, clientAlgoId: "stop" });
  const waiting = await futures("POST /fapi/v1/order", { ...limit, quantity: "0.01", price: times(0.97) });
  const sought = { symbol, orderId: Number(waiting.orderId) };
  for (const path of ["v3/account", "v3/balance", "v3/positionRisk", "v1/accountConfig", "v1/symbolConfig"]) {
    await futures(`GET /fapi/${path}`);
  }
  for (const path of ["leverageBracket", "income", "positionSide/dual", "multiAssetsMargin", "feeBurn"]) {
    await futures(`GET /fapi/v1/${path}`);
  }
  await futures("GET /fapi/v1/commissionRate", { symbol });
  await futures("GET /fapi/v1/openOrders");
  await futures("GET /fapi/v1/openAlgoOrders");
  await futures("GET /fapi/v1/order", sought);
  await futures("GET /fapi/v1/openOrder", sought);
  await futures("GET /fapi/v1/algoOrder", { clientAlgoId: "stop" });
  await futures("DELETE /fapi/v1/order", sought);
  await futures("DELETE /fapi/v1/allOpenOrders", { symbol });
  for (const path of ["allOrders", "userTrades", "allAlgoOrders"])
    await futures(`GET /fapi/v1/${path}`, { symbol });
  await futures("GET /fapi/v1/platform/fillReceipts", { symbol });
  await futures("GET /fapi/v1/platform/counterfactuals", sought);
  await futures("DELETE /fapi/v1/algoOrder", { clientAlgoId: "stop" });
  await futures("DELETE /fapi/v1/algoOpenOrders", { symbol });
  for (const method of ["POST", "PUT", "DELETE"]) await futures(`${method} /fapi/v1/listenKey`);
  await futures("POST /fapi/v1/platform/strategy/close");

  const routes = ROUTES.map(({ method, paths: [path] }) => `${method} ${path}`);
  expect(routes.filter((name) => !answered.has(name))).toEqual([]);
});

/** A schema with all that it refers to; a strict one takes no field that is not in it. */
function withDefinitions(schema: object, definitions: object, isStrict: boolean) {
  const text = JSON.stringify({ ...schema, $defs: definitions });
  return JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"), (_name, value) =>
    isStrict && value?.type === "object" && value.properties !== undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}
