// Every way in which a futures placement is refused: code and text of each, their order of precedence, and
// that nothing is recorded. Source: specification 4.2 and 7.1; reference exchange, sections 10.2, 12.1 and
// 16.5.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { type Parameters, refusalOf } from "../../support/spot-trader.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([
  contractRow(symbol),
  contractRow("ETHUSDT"),
  contractRow("STOPPEDUSDT", { status: "SETTLING" }),
]);
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(() => {
  market.show(symbol, "59999.9", "60000");
});

const trader = async () => futuresTrader(gateway.callsOf(await gateway.seed("FUTURES")));

const MARKET = { symbol, side: "BUY", type: "MARKET", quantity: "0.02" };
const LIMIT = { ...MARKET, type: "LIMIT", timeInForce: "GTC", price: "55000" };
const missing = (parameter: string) => ({
  code: -1102,
  msg: `Mandatory parameter '${parameter}' was not sent, was empty/null, or malformed.`,
});
const notRequired = (parameter: string) => ({
  code: -1106,
  msg: `Parameter '${parameter}' sent when not required.`,
});
const ofReduction = (parameter: string) => ({
  code: -1106,
  msg:
    `Parameter '${parameter}' sent when not required: the order only reduces a position, so no leg could ` +
    "close what it opens.",
});
const invalid = (parameter: string) => ({
  code: -1130,
  msg: `Data sent for parameter '${parameter}' is not valid.`,
});
const illegal = (parameter: string) => ({
  code: -1100,
  msg: expect.stringContaining(`Illegal characters found in parameter '${parameter}'; legal range is `),
});
const CONDITIONAL = {
  code: -4120,
  msg: "Order type not supported for this endpoint. Please use the Algo Order API endpoints instead.",
};
const ORDER_TYPE = { code: -1116, msg: "Invalid orderType." };
const TIME_IN_FORCE = { code: -1115, msg: "Invalid timeInForce." };
const PRECISION = { code: -1111, msg: "Precision is over the maximum defined for this asset." };
const MARGIN = { code: -2019, msg: "Margin is insufficient." };
const WOULD_TRIGGER = { code: -2021, msg: "Order would immediately trigger." };

const TABLE: readonly (readonly [string, Parameters, { code: number; msg: unknown }])[] = [
  // What the order is.
  ["without anything", {}, missing("symbol")],
  ["without a side", { symbol, type: "LIMIT" }, missing("side")],
  ["with a side in lower case", { ...LIMIT, side: "buy" }, { code: -1117, msg: "Invalid side." }],
  ["without a type", { symbol, side: "BUY" }, missing("type")],
  ["of type STOP", { ...LIMIT, type: "STOP" }, CONDITIONAL],
  ["of type STOP_MARKET", { ...MARKET, type: "STOP_MARKET" }, CONDITIONAL],
  ["of type TAKE_PROFIT", { ...LIMIT, type: "TAKE_PROFIT" }, CONDITIONAL],
  ["of type TAKE_PROFIT_MARKET", { ...MARKET, type: "TAKE_PROFIT_MARKET" }, CONDITIONAL],
  ["of type TRAILING_STOP_MARKET", { ...MARKET, type: "TRAILING_STOP_MARKET" }, CONDITIONAL],
  ["of type STOP_LOSS", { ...MARKET, type: "STOP_LOSS" }, ORDER_TYPE],
  ["of type LIQUIDATION", { ...MARKET, type: "LIQUIDATION" }, ORDER_TYPE],
  ["of type market", { ...MARKET, type: "market" }, ORDER_TYPE],
  ["of type __proto__", { ...MARKET, type: "__proto__" }, ORDER_TYPE],
  [
    "for the LONG side of a hedge",
    { ...MARKET, positionSide: "LONG" },
    { code: -4061, msg: "Order's position side does not match user's setting." },
  ],
  [
    "for a side that there is not",
    { ...MARKET, positionSide: "both" },
    { code: -4060, msg: "Invalid position side." },
  ],
  // What a futures order does not take.
  ["with a stop price", { ...MARKET, stopPrice: "1" }, notRequired("stopPrice")],
  ["to close the position", { ...MARKET, closePosition: "true" }, notRequired("closePosition")],
  ["to close it perhaps", { ...MARKET, closePosition: "perhaps" }, invalid("closePosition")],
  ["at a price that the exchange matches", { ...LIMIT, priceMatch: "QUEUE" }, notRequired("priceMatch")],
  [
    "with legs as objects, which would be left out",
    { ...MARKET, "stopLoss[triggerPrice]": "1" },
    notRequired("stopLoss[triggerPrice]"),
  ],
  // MARKET.
  ["without a quantity", { ...MARKET, quantity: "" }, missing("quantity")],
  ["by a quote amount", { ...MARKET, quantity: "", quoteOrderQty: "100" }, missing("quantity")],
  ["as MARKET with a price", { ...MARKET, price: "1" }, notRequired("price")],
  ["as MARKET with timeInForce", { ...MARKET, timeInForce: "GTC" }, notRequired("timeInForce")],
  ["for a quantity of 1e2", { ...MARKET, quantity: "1e2" }, illegal("quantity")],
  ["for a quantity below zero", { ...MARKET, quantity: "-1" }, illegal("quantity")],
  // LIMIT.
  ["without timeInForce", { ...LIMIT, timeInForce: "" }, missing("timeInForce")],
  ["IOC", { ...LIMIT, timeInForce: "IOC" }, TIME_IN_FORCE],
  ["FOK", { ...LIMIT, timeInForce: "FOK" }, TIME_IN_FORCE],
  ["GTX", { ...LIMIT, timeInForce: "GTX" }, TIME_IN_FORCE],
  ["GTD", { ...LIMIT, timeInForce: "GTD" }, TIME_IN_FORCE],
  ["without a price", { ...LIMIT, price: "" }, missing("price")],
  ["at a price of one,000", { ...LIMIT, price: "1,000" }, illegal("price")],
  // What an entry may ask for besides.
  ["with reduceOnly 1", { ...MARKET, reduceOnly: "1" }, invalid("reduceOnly")],
  [
    "reduce-only with a take-profit",
    { ...MARKET, reduceOnly: "true", takeProfitPrice: "66000" },
    ofReduction("takeProfitPrice"),
  ],
  [
    "reduce-only with a stop",
    { ...MARKET, reduceOnly: "true", stopLossPrice: "57000" },
    ofReduction("stopLossPrice"),
  ],
  ["with a take-profit of 6e4", { ...MARKET, takeProfitPrice: "6e4" }, illegal("takeProfitPrice")],
  ["with a stop of minus one", { ...MARKET, stopLossPrice: "-1" }, illegal("stopLossPrice")],
  ["with a leverage of nothing", { ...MARKET, leverage: 0 }, { code: -4028, msg: "Leverage 0 is not valid" }],
  ["with a leverage of ten", { ...MARKET, leverage: "ten" }, illegal("leverage")],
  // The client's id.
  [
    "with a client id of 37",
    { ...MARKET, newClientOrderId: "x".repeat(37) },
    { code: -4015, msg: "Client order id length should not be more than 36 chars" },
  ],
  [
    "with a client id with a space",
    { ...MARKET, newClientOrderId: "a b" },
    {
      code: -1100,
      msg: "Illegal characters found in parameter 'newClientOrderId'; legal range is '^[.A-Z:/a-z0-9_-]{1,36}$'.",
    },
  ],
  [
    "with a client id of the service's kind",
    { ...MARKET, newClientOrderId: "close#1" },
    illegal("newClientOrderId"),
  ],
  // The contract.
  [
    "on a symbol that is not listed",
    { ...MARKET, symbol: "NOSUCH" },
    { code: -1121, msg: "Invalid symbol." },
  ],
  [
    "on a contract that is not trading",
    { ...MARKET, symbol: "STOPPEDUSDT" },
    { code: -4140, msg: "Invalid symbol status for opening position" },
  ],
  // Filters.
  ["at a price of nothing", { ...LIMIT, price: "0" }, { code: -4001, msg: "Price less than 0." }],
  [
    "below the lowest price",
    { ...LIMIT, price: "556.7" },
    { code: -4013, msg: "Price less than min price." },
  ],
  [
    "above the highest price",
    { ...LIMIT, price: "4529764.1" },
    { code: -4002, msg: "Price greater than max price." },
  ],
  [
    "off the tick",
    { ...LIMIT, price: "55000.05" },
    { code: -4014, msg: "Price not increased by tick size." },
  ],
  ["at a price too precise", { ...LIMIT, price: "55000.001" }, PRECISION],
  ["at a price of nine decimals", { ...LIMIT, price: "55000.000000001" }, PRECISION],
  [
    "above the band",
    { ...LIMIT, price: "72000.1" },
    { code: -4016, msg: "Price is higher than mark price multiplier cap." },
  ],
  [
    "for sale below the band",
    { ...LIMIT, side: "SELL", price: "47999.9" },
    { code: -4024, msg: "Price is lower than mark price multiplier floor." },
  ],
  ["for nothing", { ...MARKET, quantity: "0" }, { code: -4003, msg: "Quantity less than zero." }],
  ["for a quantity too precise", { ...MARKET, quantity: "0.0005" }, PRECISION],
  ["for a quantity of nine decimals", { ...MARKET, quantity: "0.001000001" }, PRECISION],
  [
    "above the largest lot",
    { ...LIMIT, quantity: "1000.001" },
    { code: -4005, msg: "Quantity greater than max quantity." },
  ],
  [
    "above the largest market lot",
    { ...MARKET, quantity: "120.001" },
    { code: -4005, msg: "Quantity greater than max quantity." },
  ],
  [
    "reduce-only where there is nothing to reduce",
    { ...MARKET, reduceOnly: "true" },
    { code: -2022, msg: "ReduceOnly Order is rejected." },
  ],
  // Legs.
  [
    "with a stop off the tick",
    { ...MARKET, stopLossPrice: "57000.05" },
    { code: -4014, msg: "Price not increased by tick size." },
  ],
  ["with a stop on this side of the market", { ...MARKET, stopLossPrice: "60000" }, WOULD_TRIGGER],
  ["with a take-profit on this side", { ...MARKET, takeProfitPrice: "60000" }, WOULD_TRIGGER],
  ["resting, with a stop above its limit", { ...LIMIT, stopLossPrice: "56000" }, WOULD_TRIGGER],
  // Margin.
  ["for more than there is", { ...LIMIT, quantity: "1" }, MARGIN],
  ["for more than there is at the market", { ...MARKET, quantity: "1" }, MARGIN],
  [
    "for more than its leverage permits",
    { ...MARKET, quantity: "1", leverage: 125 },
    { code: -2027, msg: "Exceeded the maximum allowable position at current leverage." },
  ],
];

describe("a futures placement is refused", () => {
  let refused: Awaited<ReturnType<typeof trader>>;

  beforeAll(async () => {
    refused = await trader();
  });

  test.each(TABLE)("%s", async (_how, parameters, { code, msg }) => {
    expect(refusalOf(await refused.place(parameters))).toEqual({ status: 400, code, msg });
  });

  test("and then nothing was recorded and nothing moved", async () => {
    for (const list of [refused.openOrders, refused.openLegs, refused.positionRisk]) {
      expect((await list()).body).toEqual([]);
    }
    expect((await refused.account()).body).toMatchObject({
      totalWalletBalance: "1000.00000000",
      availableBalance: "1000.00000000",
    });
  });

  test("below the smallest notional, which the text names; not if it only reduces", async () => {
    market.show("ETHUSDT", "3000", "3000.1");
    const { place } = await trader();
    const small = { symbol: "ETHUSDT", side: "BUY", type: "MARKET", quantity: "0.016" };
    expect(refusalOf(await place(small))).toEqual({
      status: 400,
      code: -4164,
      msg: "Order's notional must be no smaller than 50 (unless you choose reduce only).",
    });
    expect((await place({ ...small, quantity: "0.017" })).status).toBe(200);
    const reducing = { ...small, side: "SELL", quantity: "0.001", reduceOnly: "true" };
    expect((await place(reducing)).status).toBe(200);
  });

  test("beyond the number of open orders", async () => {
    const { place } = await trader();
    const resting = { ...LIMIT, quantity: "0.001" };
    for (let count = 0; count < 3; count += 1) expect((await place(resting)).status).toBe(200);
    expect(refusalOf(await place(resting))).toEqual({
      status: 400,
      code: -2025,
      msg: "Reach max open order limit.",
    });
  });

  test("where the best price is too far from the mark", async () => {
    const { place } = await trader();
    market.show(symbol, "59999.9", "63000.1", "60000");
    expect(refusalOf(await place(MARKET))).toMatchObject({ status: 400, code: -4131 });
  });

  test("while the market is silent: certainly not executed", async () => {
    const { place, userTrades } = await trader();
    market.show("ETHUSDT", "3000", "3000.1");
    market.silence("ETHUSDT");
    const { status, body, headers } = await place({ ...MARKET, symbol: "ETHUSDT", quantity: "1" });
    expect({ status, code: body.code }).toEqual({ status: 503, code: -1008 });
    expect(headers.get("retry-after")).toBe("1");
    expect((await userTrades({ symbol: "ETHUSDT" })).body).toEqual([]);
  });

  test("for the first of several reasons, in the order of this table", async () => {
    const { place } = await trader();
    const wrong = { symbol: "", side: "x", type: "x", timeInForce: "x", quantity: "x", price: "x" };
    const order = { ...wrong, positionSide: "x", reduceOnly: "x", leverage: "x", newClientOrderId: "!" };
    const steps: [Parameters, number][] = [
      [{ symbol: "NOSUCH" }, -1117],
      [{ side: "BUY" }, -1116],
      [{ type: "LIMIT" }, -4060],
      [{ positionSide: "BOTH" }, -1115],
      [{ timeInForce: "GTC" }, -1100],
      [{ quantity: "0.0001" }, -1100],
      [{ price: "900000" }, -1130],
      [{ reduceOnly: "false" }, -1100],
      [{ leverage: "10" }, -1100],
      [{ newClientOrderId: "ok" }, -1121],
      [{ symbol }, -4016],
      [{ price: "55000" }, -1111],
      [{ quantity: "1" }, -2019],
    ];
    let parameters: Parameters = order;
    expect(refusalOf(await place(parameters))).toMatchObject({ code: -1102 });
    for (const [repaired, code] of steps) {
      parameters = { ...parameters, ...repaired };
      expect({ repaired, ...refusalOf(await place(parameters)) }).toMatchObject({ repaired, code });
    }
    expect(await place({ ...parameters, quantity: "0.001" })).toMatchObject({ status: 200 });
  });
});

test("a spot key is refused, and a futures key on spot's routes", async () => {
  const spot = futuresTrader(gateway.callsOf(await gateway.seed("SPOT")));
  for (const answer of [await spot.account(), await spot.place(MARKET), await spot.openLegs()]) {
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: -2010 });
  }
  const call = gateway.callsOf(await gateway.seed("FUTURES"));
  expect(refusalOf(await call("GET", "/api/v3/account"))).toMatchObject({ status: 400, code: -2010 });
});
