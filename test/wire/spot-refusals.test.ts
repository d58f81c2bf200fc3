// Every refusal of a placement by its parameters: code and text of each, their order of precedence, and that
// nothing is recorded. Source: specification 4.1 and 7.1; reference exchange, section 16.5.
import { beforeAll, describe, expect, test } from "vitest";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  MARKET_BUY,
  type Parameters,
  refusalOf,
  restingPriceOf,
  spotTrader,
  symbol,
} from "../support/spot-trader.ts";

const gateway = seededGateway(10);
/** A price at which a BUY of BTCUSDT stays open. */
let restingPrice: string;

beforeAll(async () => {
  restingPrice = await restingPriceOf(gateway.url);
});

const trader = (strategy = gateway.takeStrategy()) => spotTrader(gateway.url, strategy);

describe("a placement is refused", () => {
  /** Placeholder in the table for that price, which is not known yet. */
  const RESTING = "resting";
  const priced = (parameters: Parameters): Parameters =>
    parameters.price === RESTING ? { ...parameters, price: restingPrice } : parameters;
  const LIMIT = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price: RESTING };
  const STOP = { symbol, side: "BUY", type: "STOP_LOSS", quantity: "0.001", stopPrice: "900000" };
  const STOP_LIMIT = { ...LIMIT, type: "STOP_LOSS_LIMIT", stopPrice: "900000" };
  const missing = (parameter: string) => ({
    code: -1102,
    msg: `Mandatory parameter '${parameter}' was not sent, was empty/null, or malformed.`,
  });
  const notRequired = (parameter: string) => ({
    code: -1106,
    msg: `Parameter '${parameter}' sent when not required.`,
  });
  const illegal = (parameter: string) => ({
    code: -1100,
    msg: expect.stringContaining(`Illegal characters found in parameter '${parameter}'; legal range is `),
  });
  const tooPrecise = (parameter: string) => ({
    code: -1111,
    msg: `Parameter '${parameter}' has too much precision.`,
  });
  const filter = (name: string) => ({ code: -1013, msg: `Filter failure: ${name}` });

  const TABLE: readonly (readonly [string, Parameters, { code: number; msg: unknown }])[] = [
    // What the order is.
    ["without anything", {}, missing("symbol")],
    ["with an empty symbol", { ...LIMIT, symbol: "" }, missing("symbol")],
    ["without a side", { symbol, type: "LIMIT" }, missing("side")],
    ["with a side in lower case", { ...LIMIT, side: "buy" }, { code: -1117, msg: "Invalid side." }],
    ["without a type", { symbol, side: "BUY" }, missing("type")],
    ["of type LIMIT_MAKER", { ...LIMIT, type: "LIMIT_MAKER" }, { code: -1116, msg: "Invalid orderType." }],
    ["of type TAKE_PROFIT", { ...LIMIT, type: "TAKE_PROFIT" }, { code: -1116, msg: "Invalid orderType." }],
    ["of type limit", { ...LIMIT, type: "limit" }, { code: -1116, msg: "Invalid orderType." }],
    ["of type __proto__", { ...LIMIT, type: "__proto__" }, { code: -1116, msg: "Invalid orderType." }],
    ["of type toString", { ...LIMIT, type: "toString" }, { code: -1116, msg: "Invalid orderType." }],
    ["on an unknown symbol", { ...LIMIT, symbol: "NOSUCH" }, { code: -1121, msg: "Invalid symbol." }],
    ["on a symbol in lower case", { ...LIMIT, symbol: "btcusdt" }, { code: -1121, msg: "Invalid symbol." }],
    ["on the symbol __proto__", { ...LIMIT, symbol: "__proto__" }, { code: -1121, msg: "Invalid symbol." }],
    // LIMIT.
    ["as LIMIT without timeInForce", { symbol, side: "BUY", type: "LIMIT" }, missing("timeInForce")],
    ["as LIMIT IOC", { ...LIMIT, timeInForce: "IOC" }, { code: -1115, msg: "Invalid timeInForce." }],
    ["as LIMIT FOK", { ...LIMIT, timeInForce: "FOK" }, { code: -1115, msg: "Invalid timeInForce." }],
    ["as LIMIT GTX", { ...LIMIT, timeInForce: "GTX" }, { code: -1115, msg: "Invalid timeInForce." }],
    ["as LIMIT gtc", { ...LIMIT, timeInForce: "gtc" }, { code: -1115, msg: "Invalid timeInForce." }],
    ["as LIMIT by quote amount", { ...LIMIT, quoteOrderQty: "10" }, notRequired("quoteOrderQty")],
    ["as LIMIT with a stop price", { ...LIMIT, stopPrice: "1" }, notRequired("stopPrice")],
    ["as LIMIT without a quantity", { ...LIMIT, quantity: "" }, missing("quantity")],
    ["as LIMIT without a price", { ...LIMIT, price: "" }, missing("price")],
    // MARKET.
    [
      "as MARKET with neither size",
      { symbol, side: "BUY", type: "MARKET" },
      { code: -1102, msg: "Param 'quantity' or 'quoteOrderQty' must be sent, but both were empty/null!" },
    ],
    [
      "as MARKET with both sizes",
      { ...MARKET_BUY, quoteOrderQty: "10" },
      { code: -1128, msg: expect.stringMatching(/^Combination of optional parameters invalid\./) },
    ],
    ["as MARKET with timeInForce", { ...MARKET_BUY, timeInForce: "GTC" }, notRequired("timeInForce")],
    ["as MARKET with a price", { ...MARKET_BUY, price: "1" }, notRequired("price")],
    ["as MARKET with a stop price", { ...MARKET_BUY, stopPrice: "1" }, notRequired("stopPrice")],
    [
      "as MARKET with legs as objects, which would be left out",
      { ...MARKET_BUY, "takeProfit[triggerPrice]": "1" },
      notRequired("takeProfit[triggerPrice]"),
    ],
    [
      "as MARKET SELL by quote amount",
      { symbol, side: "SELL", type: "MARKET", quoteOrderQty: "10" },
      notRequired("quoteOrderQty"),
    ],
    // Numbers.
    ["with a quantity of -1", { ...MARKET_BUY, quantity: "-1" }, illegal("quantity")],
    ["with a quantity of +1", { ...MARKET_BUY, quantity: "+1" }, illegal("quantity")],
    ["with a quantity of 1e-3", { ...MARKET_BUY, quantity: "1e-3" }, illegal("quantity")],
    ["with a quantity of .5", { ...MARKET_BUY, quantity: ".5" }, illegal("quantity")],
    ["with a quantity of 5.", { ...MARKET_BUY, quantity: "5." }, illegal("quantity")],
    ["with a quantity of 0x10", { ...MARKET_BUY, quantity: "0x10" }, illegal("quantity")],
    ["with a quantity of NaN", { ...MARKET_BUY, quantity: "NaN" }, illegal("quantity")],
    ["with a quantity of Infinity", { ...MARKET_BUY, quantity: "Infinity" }, illegal("quantity")],
    ["with a quantity of 1,5", { ...MARKET_BUY, quantity: "1,5" }, illegal("quantity")],
    ["with a quantity between spaces", { ...MARKET_BUY, quantity: " 1 " }, illegal("quantity")],
    ["with a quantity in other digits", { ...MARKET_BUY, quantity: "１" }, illegal("quantity")],
    ["with a quantity of 21 digits", { ...MARKET_BUY, quantity: "1".repeat(21) }, illegal("quantity")],
    ["with nine decimals", { ...MARKET_BUY, quantity: "0.001000001" }, tooPrecise("quantity")],
    ["with a price of nine decimals", { ...LIMIT, price: "30000.000000001" }, tooPrecise("price")],
    ["with a price of -1", { ...LIMIT, price: "-1" }, illegal("price")],
    [
      "with a quote amount of 1e2",
      { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "1e2" },
      illegal("quoteOrderQty"),
    ],
    // STOP_LOSS and STOP_LOSS_LIMIT.
    ["as STOP_LOSS without a stop price", { ...STOP, stopPrice: "" }, missing("stopPrice")],
    ["as STOP_LOSS without a quantity", { ...STOP, quantity: "" }, missing("quantity")],
    ["as STOP_LOSS with a price", { ...STOP, price: "1" }, notRequired("price")],
    ["as STOP_LOSS with timeInForce", { ...STOP, timeInForce: "GTC" }, notRequired("timeInForce")],
    ["as STOP_LOSS by quote amount", { ...STOP, quoteOrderQty: "10" }, notRequired("quoteOrderQty")],
    ["as STOP_LOSS_LIMIT without timeInForce", { ...STOP_LIMIT, timeInForce: "" }, missing("timeInForce")],
    [
      "as STOP_LOSS_LIMIT IOC",
      { ...STOP_LIMIT, timeInForce: "IOC" },
      { code: -1115, msg: "Invalid timeInForce." },
    ],
    ["as STOP_LOSS_LIMIT without a price", { ...STOP_LIMIT, price: "" }, missing("price")],
    ["as STOP_LOSS_LIMIT without a stop price", { ...STOP_LIMIT, stopPrice: "" }, missing("stopPrice")],
    [
      "as STOP_LOSS_LIMIT by quote amount",
      { ...STOP_LIMIT, quoteOrderQty: "10" },
      notRequired("quoteOrderQty"),
    ],
    ["with a stop price of 1e5", { ...STOP, stopPrice: "1e5" }, illegal("stopPrice")],
    ["with a stop price of nine decimals", { ...STOP, stopPrice: "1.000000001" }, tooPrecise("stopPrice")],
    // The client's id.
    [
      "with a client id of 37",
      { ...MARKET_BUY, newClientOrderId: "x".repeat(37) },
      illegal("newClientOrderId"),
    ],
    [
      "with a client id with a space",
      { ...MARKET_BUY, newClientOrderId: "a b" },
      illegal("newClientOrderId"),
    ],
    [
      "with a client id of two lines",
      { ...MARKET_BUY, newClientOrderId: "a\n" },
      illegal("newClientOrderId"),
    ],
    // Filters.
    ["for nothing", { ...MARKET_BUY, quantity: "0" }, filter("LOT_SIZE")],
    ["for less than a step", { ...MARKET_BUY, quantity: "0.000001" }, filter("LOT_SIZE")],
    ["off the step", { ...MARKET_BUY, quantity: "0.001001" }, filter("LOT_SIZE")],
    ["above the largest lot", { ...LIMIT, quantity: "9000.00001" }, filter("LOT_SIZE")],
    ["for 20 digits", { ...MARKET_BUY, quantity: "9".repeat(20) }, filter("LOT_SIZE")],
    ["above the largest market lot", { ...MARKET_BUY, quantity: "161" }, filter("MARKET_LOT_SIZE")],
    ["off the tick", { ...LIMIT, price: "30000.001" }, filter("PRICE_FILTER")],
    ["at a price of nothing", { ...LIMIT, price: "0" }, filter("PRICE_FILTER")],
    ["above the highest price", { ...LIMIT, price: "1000000.01" }, filter("PRICE_FILTER")],
    ["far above the average price", { ...LIMIT, price: "900000" }, filter("PERCENT_PRICE_BY_SIDE")],
    ["far below the average price", { ...LIMIT, price: "100" }, filter("PERCENT_PRICE_BY_SIDE")],
    ["with a stop price off the tick", { ...STOP, stopPrice: "900000.001" }, filter("PRICE_FILTER")],
    ["with a stop price of nothing", { ...STOP, stopPrice: "0" }, filter("PRICE_FILTER")],
    ["with a stop and off the lot", { ...STOP, quantity: "0.000001" }, filter("LOT_SIZE")],
    [
      "with a stop on this side of the market",
      { ...STOP, stopPrice: "100" },
      { code: -2010, msg: "Stop price would trigger immediately." },
    ],
    [
      "for sale with a stop on this side of the market",
      { ...STOP, side: "SELL", stopPrice: "900000" },
      { code: -2010, msg: "Stop price would trigger immediately." },
    ],
    ["below the smallest notional", { ...LIMIT, quantity: "0.00005" }, filter("NOTIONAL")],
    ["below it at the market", { ...MARKET_BUY, quantity: "0.00001" }, filter("NOTIONAL")],
    [
      "by a quote amount below it",
      { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "4.99999999" },
      filter("NOTIONAL"),
    ],
    [
      "by a quote amount of nothing",
      { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "0" },
      filter("NOTIONAL"),
    ],
    // Funds.
    [
      "for more than there is",
      { ...LIMIT, quantity: "1" },
      { code: -2010, msg: "Account has insufficient balance for requested action." },
    ],
    [
      "for a sale of what is not held",
      { ...MARKET_BUY, side: "SELL" },
      { code: -2010, msg: "Account has insufficient balance for requested action." },
    ],
    [
      "for a quote amount that is not held",
      { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "300" },
      { code: -2010, msg: "Account has insufficient balance for requested action." },
    ],
  ];

  let refused: ReturnType<typeof trader>[];

  beforeAll(() => {
    // Three keys share the table: one key may place 50 orders in ten seconds.
    refused = [trader(), trader(), trader()];
  });

  test.each(TABLE.map((row, index) => [...row, index] as const))(
    "%s",
    async (_how, parameters, { code, msg }, index) => {
      const { place } = refused[index % 3] ?? trader();
      expect(refusalOf(await place(priced(parameters)))).toEqual({ status: 400, code, msg });
    },
  );

  test("and then nothing was recorded and nothing moved", async () => {
    for (const { account, allOrders, openOrders } of refused) {
      expect((await allOrders({ symbol })).body).toEqual([]);
      expect((await openOrders()).body).toEqual([]);
      expect((await account()).body.balances).toEqual([
        { asset: "USDT", free: "200.00000000", locked: "0.00000000" },
      ]);
    }
  });

  test("for the first of several reasons, in the order of this table", async () => {
    const { place } = trader();
    const everythingWrong = { symbol: "", side: "x", type: "x", timeInForce: "x", quantity: "x", price: "x" };
    const order = { ...everythingWrong, newClientOrderId: "!" };
    const steps: [Parameters, number][] = [
      [{ symbol: "NOSUCH" }, -1117],
      [{ side: "BUY" }, -1116],
      [{ type: "LIMIT" }, -1115],
      [{ timeInForce: "GTC" }, -1100],
      [{ quantity: "0.000001" }, -1100],
      [{ price: "0.001" }, -1100],
      [{ newClientOrderId: "ok" }, -1121],
      [{ symbol }, -1013],
      [{ price: restingPrice }, -1013],
      [{ quantity: "0.00005" }, -1013],
      [{ quantity: "1" }, -2010],
    ];
    let parameters: Parameters = order;
    expect(refusalOf(await place(parameters))).toMatchObject({ code: -1102 });
    for (const [repaired, code] of steps) {
      parameters = { ...parameters, ...repaired };
      expect(refusalOf(await place(parameters))).toMatchObject({ code });
    }
    expect(await place({ ...parameters, quantity: "0.001" })).toMatchObject({ status: 200 });
  });
});
