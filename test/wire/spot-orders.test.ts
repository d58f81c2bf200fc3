// The spot family on the wire: exact shapes, refusals and their order, and what each route means.
// Source: specification 2.3, 2.5, 2.6, 4.1 and 7.1; design, section 6.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { balancesAfter, decimalText, expectedFill, farBelow, units } from "../support/exact.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/gateway.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";
import { seedMany, supplyOf } from "../support/strategies.ts";

let gateway: GatewayProcess;
let url: string;
let takeStrategy: () => Credentials;
let takeFuturesStrategy: () => Credentials;
/** A price at which a BUY of BTCUSDT rests. */
let restingPrice: string;

beforeAll(async () => {
  gateway = await startGateway();
  url = gateway.url;
  takeStrategy = supplyOf(await seedMany(gateway.dataDir, 40));
  takeFuturesStrategy = supplyOf(await seedMany(gateway.dataDir, 1, "FUTURES"));
  const ticker = await send(url, "GET", "/api/v3/ticker/bookTicker?symbol=BTCUSDT");
  restingPrice = farBelow(ticker.body.bidPrice);
});

afterAll(async () => {
  await gateway.stop();
});

type Parameters = Readonly<Record<string, string | number>>;

/** One strategy and the routes of the family. */
function trader(strategy: Credentials = takeStrategy()) {
  const call =
    (method: string, path: string) =>
    (parameters: Parameters = {}) =>
      signed(url, strategy, method, `/api/v3/${path}`, parameters);
  return {
    strategy,
    account: call("GET", "account"),
    place: call("POST", "order"),
    cancel: call("DELETE", "order"),
    cancelAll: call("DELETE", "openOrders"),
    query: call("GET", "order"),
    openOrders: call("GET", "openOrders"),
    allOrders: call("GET", "allOrders"),
    myTrades: call("GET", "myTrades"),
  };
}

const symbol = "BTCUSDT";
const MARKET_BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };
const restingBuy = (quantity = "0.001") => ({
  symbol,
  side: "BUY",
  type: "LIMIT",
  timeInForce: "GTC",
  quantity,
  price: restingPrice,
});

function refusalOf({ status, body }: WireAnswer) {
  return { status, code: body.code, msg: body.msg };
}

const DECIMAL = expect.stringMatching(/^\d+\.\d{8}$/);
const CLIENT_ID = expect.stringMatching(/^[a-zA-Z0-9-_]{1,36}$/);
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const INTEGER = expect.toSatisfy((value) => Number.isSafeInteger(value), "a safe integer");
const JUST_NOW = expect.toSatisfy(
  (value) => Number.isSafeInteger(value) && Math.abs(value - Date.now()) < 60_000,
  "Unix ms of the last minute",
);

/** Everything that an order body has, and nothing else. */
const ORDER = {
  symbol,
  orderId: INTEGER,
  orderListId: -1,
  clientOrderId: CLIENT_ID,
  transactTime: JUST_NOW,
  price: DECIMAL,
  origQty: DECIMAL,
  executedQty: DECIMAL,
  origQuoteOrderQty: DECIMAL,
  cummulativeQuoteQty: DECIMAL,
  status: expect.stringMatching(/^(NEW|PARTIALLY_FILLED|FILLED|CANCELED|REJECTED|EXPIRED)$/),
  timeInForce: "GTC",
  type: expect.stringMatching(/^(MARKET|LIMIT)$/),
  side: expect.stringMatching(/^(BUY|SELL)$/),
  stopPrice: DECIMAL,
  icebergQty: DECIMAL,
  time: JUST_NOW,
  updateTime: JUST_NOW,
  isWorking: true,
  workingTime: JUST_NOW,
  selfTradePreventionMode: "NONE",
  collectiveId: UUID,
};

const TRADE = {
  symbol,
  id: INTEGER,
  orderId: INTEGER,
  orderListId: -1,
  price: DECIMAL,
  qty: DECIMAL,
  quoteQty: DECIMAL,
  commission: DECIMAL,
  commissionAsset: expect.stringMatching(/^(BTC|USDT)$/),
  time: JUST_NOW,
  isBuyer: expect.any(Boolean),
  isMaker: expect.any(Boolean),
  isBestMatch: true,
};

describe("shapes:", () => {
  test("an account has the fields of the specification, in their types", async () => {
    const { account, place, strategy } = trader();
    await place(MARKET_BUY);
    const { status, body } = await account();
    expect(status).toBe(200);
    const rates = { maker: "0.00100000", taker: "0.00100000", buyer: "0.00000000", seller: "0.00000000" };
    expect(body).toEqual({
      makerCommission: 10,
      takerCommission: 10,
      buyerCommission: 0,
      sellerCommission: 0,
      commissionRates: rates,
      canTrade: true,
      canWithdraw: false,
      canDeposit: false,
      brokered: false,
      requireSelfTradePrevention: false,
      preventSor: false,
      updateTime: JUST_NOW,
      accountType: "SPOT",
      balances: [
        { asset: "USDT", free: DECIMAL, locked: "0.00000000" },
        { asset: "BTC", free: "0.00099900", locked: "0.00000000" },
      ],
      permissions: ["SPOT"],
      uid: INTEGER,
      strategyId: strategy.strategyId,
      isSimulated: true,
    });
  });

  test("a placed order has the fields of the specification, no fills and no strategyId", async () => {
    const { place, query } = trader();
    const filled = await place({ ...MARKET_BUY, newOrderRespType: "FULL" });
    expect(filled.body).toEqual({ ...ORDER, type: "MARKET", status: "FILLED", price: "0.00000000" });
    expect(filled.body.transactTime).toBe(filled.body.updateTime);
    const rested = await place(restingBuy());
    expect(rested.body).toEqual({
      ...ORDER,
      type: "LIMIT",
      status: "NEW",
      price: restingPrice,
      origQty: "0.00100000",
      executedQty: "0.00000000",
      cummulativeQuoteQty: "0.00000000",
    });
    for (const { body } of [filled, rested]) {
      expect((await query({ symbol, orderId: body.orderId })).body).toEqual(body);
    }
  });

  test("newOrderRespType changes nothing, whatever it says", async () => {
    const { place } = trader();
    for (const newOrderRespType of ["ACK", "RESULT", "FULL", "NONSENSE"]) {
      const { body } = await place({ ...restingBuy("0.0002"), newOrderRespType });
      expect(body).toEqual(ORDER);
    }
  });

  test("a cancelled order says in addition which order it was, and takes the cancel's id if it has one", async () => {
    const { place, cancel, query } = trader();
    const placed = await place({ ...restingBuy(), newClientOrderId: "mine" });
    const { orderId } = placed.body;
    const canceled = await cancel({ symbol, orderId, newClientOrderId: "the-cancel" });
    expect(canceled).toMatchObject({ status: 200 });
    expect(canceled.body).toEqual({
      ...ORDER,
      status: "CANCELED",
      clientOrderId: "the-cancel",
      origClientOrderId: "mine",
    });
    const found = await query({ symbol, orderId });
    expect(found.body).toMatchObject({ status: "CANCELED", clientOrderId: "mine" });

    const other = await place({ ...restingBuy(), newClientOrderId: "another" });
    const plain = await cancel({ symbol, orderId: other.body.orderId });
    expect(plain.body).toMatchObject({ clientOrderId: "another", origClientOrderId: "another" });
  });

  test("lists hold the same bodies", async () => {
    const { place, openOrders, allOrders, cancelAll, myTrades } = trader();
    const bought = await place(MARKET_BUY);
    const rested = await place(restingBuy());
    expect((await openOrders()).body).toEqual([rested.body]);
    expect((await openOrders({ symbol })).body).toEqual([rested.body]);
    expect((await openOrders({ symbol: "ETHUSDT" })).body).toEqual([]);
    expect((await allOrders({ symbol })).body).toEqual([bought.body, rested.body]);
    expect((await cancelAll({ symbol })).body).toEqual([
      { ...ORDER, status: "CANCELED", origClientOrderId: rested.body.clientOrderId },
    ]);
    expect((await myTrades({ symbol })).body).toEqual([
      { ...TRADE, orderId: bought.body.orderId, commissionAsset: "BTC", isBuyer: true, isMaker: false },
    ]);
  });

  test("every answer is JSON and says so, errors too", async () => {
    const { place, query } = trader();
    const answers = [
      await place(MARKET_BUY),
      await place({}),
      await query({ symbol }),
      await send(url, "GET", "/api/v3/account"),
      await send(url, "GET", "/api/v3/nothing"),
      await send(url, "GET", "/api/v3/time"),
    ];
    for (const { headers } of answers) expect(headers.get("content-type")).toMatch(/^application\/json\b/);
    for (const { status, body } of answers.filter((answer) => answer.status >= 400)) {
      expect(status).toBeLessThan(500);
      expect(body).toEqual({ code: INTEGER, msg: expect.stringMatching(/\S/) });
    }
  });
});

describe("money:", () => {
  test("balances follow from the fills to the last digit, whatever the sizes", async () => {
    const { place, myTrades, account } = trader();
    for (const size of [
      { side: "BUY", quantity: "0.00123" },
      { side: "BUY", quoteOrderQty: "33.33333333" },
      { side: "SELL", quantity: "0.00017" },
      { side: "SELL", quantity: "0.00111" },
    ]) {
      expect(await place({ symbol, type: "MARKET", ...size })).toMatchObject({ status: 200 });
    }
    const { body: fills } = await myTrades({ symbol });
    expect(fills).toHaveLength(4);
    for (const fill of fills) expect(fill).toMatchObject(expectedFill(fill));
    const { base, quote } = balancesAfter(fills);
    expect((await account()).body.balances).toEqual([
      { asset: "USDT", free: quote, locked: "0.00000000" },
      { asset: "BTC", free: base, locked: "0.00000000" },
    ]);
  });

  test("a resting order locks what it would pay, and cancelling gives it all back", async () => {
    const { place, account, cancel } = trader();
    const { body } = await place(restingBuy("0.00333"));
    const locked = (units(restingPrice) * units("0.00333") + 10n ** 8n - 1n) / 10n ** 8n;
    expect((await account()).body.balances).toEqual([
      { asset: "USDT", free: decimalText(units("200") - locked), locked: decimalText(locked) },
    ]);
    await cancel({ symbol, orderId: body.orderId });
    expect((await account()).body.balances).toEqual([
      { asset: "USDT", free: "200.00000000", locked: "0.00000000" },
    ]);
  });

  test("a resting sale locks the base asset", async () => {
    const { place, account } = trader();
    const { body } = await place(MARKET_BUY);
    const high = decimalText(((units(body.cummulativeQuoteQty) * 1_500n) / 1_000_000n) * 1_000_000n);
    const sale = { ...restingBuy("0.0005"), side: "SELL", price: high };
    expect(await place(sale)).toMatchObject({ status: 200, body: { status: "NEW" } });
    expect((await account()).body.balances[1]).toEqual({
      asset: "BTC",
      free: "0.00049900",
      locked: "0.00050000",
    });
  });

  test("what resting orders have locked cannot be spent", async () => {
    const { place } = trader();
    // 0.003 at six tenths of the price takes well over half of the 200 USDT, whatever the market does.
    const half = decimalText((units("150") * 10n ** 8n) / units(restingPrice));
    const quantity = half.slice(0, half.indexOf(".") + 6);
    expect(await place(restingBuy(quantity))).toMatchObject({ status: 200 });
    expect(refusalOf(await place(restingBuy(quantity)))).toEqual({
      status: 400,
      code: -2010,
      msg: "Account has insufficient balance for requested action.",
    });
  });

  test("omitZeroBalances leaves out what is empty", async () => {
    const { account, place } = trader();
    await place({ ...MARKET_BUY, quantity: "0.001" });
    const { body } = await account({ omitZeroBalances: "true" });
    expect(body.balances.map(({ asset }: { asset: string }) => asset)).toEqual(["USDT", "BTC"]);
  });
});

describe("a placement is refused", () => {
  /** Stands in the table for the price at which an order rests, which is not known yet. */
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

describe("a client order id", () => {
  test("may have 36 characters of letters, digits, - and _", async () => {
    const { place } = trader();
    const newClientOrderId = `${"aZ09-_".repeat(6)}`;
    expect(newClientOrderId).toHaveLength(36);
    const { body } = await place({ ...restingBuy(), newClientOrderId });
    expect(body).toMatchObject({ clientOrderId: newClientOrderId });
  });

  test("that is empty was not given", async () => {
    const { place } = trader();
    const first = await place({ ...restingBuy("0.0005"), newClientOrderId: "" });
    const second = await place({ ...restingBuy("0.0005"), newClientOrderId: "" });
    expect(second.body.orderId).not.toBe(first.body.orderId);
    expect(second.body.clientOrderId).not.toBe(first.body.clientOrderId);
  });

  test("names an order in two strategies independently", async () => {
    const [one, other] = [trader(), trader()];
    const order = { ...restingBuy(), newClientOrderId: "shared" };
    const [first, second] = [await one.place(order), await other.place(order)];
    expect(first.body.collectiveId).not.toBe(second.body.collectiveId);
    await one.cancel({ symbol, origClientOrderId: "shared" });
    expect((await other.query({ symbol, origClientOrderId: "shared" })).body.status).toBe("NEW");
  });
});

describe("an order is found", () => {
  test("by either id, and only on its symbol", async () => {
    const { place, query, cancel } = trader();
    const { body } = await place({ ...restingBuy(), newClientOrderId: "found" });
    const byBoth = { symbol, orderId: body.orderId, origClientOrderId: "found" };
    expect((await query(byBoth)).body).toEqual(body);
    const wrong: [Parameters, number][] = [
      [{ symbol: "ETHUSDT", orderId: body.orderId }, -2013],
      [{ symbol, orderId: body.orderId + 1 }, -2013],
      [{ symbol, orderId: 0 }, -2013],
      [{ symbol, origClientOrderId: "lost" }, -2013],
      [{ symbol, orderId: body.orderId, origClientOrderId: "lost" }, -2039],
      [{ symbol }, -1102],
      [{ orderId: body.orderId }, -1102],
      [{ symbol, orderId: "one" }, -1100],
      [{ symbol, orderId: "-1" }, -1100],
      [{ symbol: "NOSUCH", orderId: body.orderId }, -1121],
    ];
    for (const [parameters, code] of wrong) {
      expect(refusalOf(await query(parameters))).toMatchObject({ status: 400, code });
      expect(refusalOf(await cancel(parameters))).toMatchObject({ status: 400, code });
    }
    expect((await query(byBoth)).body).toEqual(body);
  });

  test("by its own strategy alone: another's does not exist (-2013)", async () => {
    const [owner, stranger] = [trader(), trader()];
    const { body } = await owner.place({ ...restingBuy(), newClientOrderId: "private" });
    for (const id of [{ orderId: body.orderId }, { origClientOrderId: "private" }]) {
      const unknown = { status: 400, code: -2013, msg: "Order does not exist." };
      expect(refusalOf(await stranger.query({ symbol, ...id }))).toEqual(unknown);
      expect(refusalOf(await stranger.cancel({ symbol, ...id }))).toEqual(unknown);
    }
    expect((await owner.query({ symbol, orderId: body.orderId })).body).toEqual(body);
    expect((await stranger.allOrders({ symbol })).body).toEqual([]);
  });
});

describe("cancelling", () => {
  test("an order that was never placed is refused -2013", async () => {
    const { cancel } = trader();
    expect(refusalOf(await cancel({ symbol, orderId: 1 }))).toEqual({
      status: 400,
      code: -2013,
      msg: "Order does not exist.",
    });
  });

  test("an order that is filled or cancelled already is refused -2011", async () => {
    const { place, cancel } = trader();
    const over = { status: 400, code: -2011, msg: "Unknown order sent." };
    const filled = await place(MARKET_BUY);
    expect(refusalOf(await cancel({ symbol, orderId: filled.body.orderId }))).toEqual(over);
    const rested = await place(restingBuy());
    expect(await cancel({ symbol, orderId: rested.body.orderId })).toMatchObject({ status: 200 });
    expect(refusalOf(await cancel({ symbol, orderId: rested.body.orderId }))).toEqual(over);
  });

  test("at the same time from many sides succeeds once", async () => {
    const { place, cancel, account } = trader();
    const { body } = await place(restingBuy());
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => cancel({ symbol, orderId: body.orderId })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.body.code === -2011)).toHaveLength(9);
    expect((await account()).body.balances).toEqual([
      { asset: "USDT", free: "200.00000000", locked: "0.00000000" },
    ]);
  });

  test("all open orders answers [] where there are none, and leaves other symbols alone", async () => {
    const { place, cancelAll, openOrders } = trader();
    expect(await cancelAll({ symbol })).toMatchObject({ status: 200, body: [] });
    const { body } = await place(restingBuy());
    expect(await cancelAll({ symbol: "ETHUSDT" })).toMatchObject({ status: 200, body: [] });
    expect((await openOrders()).body).toEqual([body]);
    expect(refusalOf(await cancelAll())).toMatchObject({ code: -1102 });
    expect(refusalOf(await cancelAll({ symbol: "NOSUCH" }))).toMatchObject({ code: -1121 });
  });
});

describe("history", () => {
  let owner: ReturnType<typeof trader>;
  let ids: number[];
  let times: number[];

  beforeAll(async () => {
    owner = trader();
    ids = [];
    times = [];
    for (let placed = 0; placed < 6; placed += 1) {
      const { body } = await owner.place({ ...MARKET_BUY, quantity: "0.0002" });
      ids.push(body.orderId);
      times.push(body.time);
    }
  });

  const idsOf = ({ body }: WireAnswer): number[] => body.map(({ orderId }: { orderId: number }) => orderId);

  test("is ascending, the newest last", async () => {
    expect(idsOf(await owner.allOrders({ symbol }))).toEqual(ids);
    expect(idsOf(await owner.myTrades({ symbol }))).toEqual(ids);
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("of a limit is the newest so many, or from an id on the oldest", async () => {
    expect(idsOf(await owner.allOrders({ symbol, limit: 2 }))).toEqual([5, 6]);
    expect(idsOf(await owner.myTrades({ symbol, limit: 2 }))).toEqual([5, 6]);
    expect(idsOf(await owner.allOrders({ symbol, orderId: 3, limit: 2 }))).toEqual([3, 4]);
    expect(idsOf(await owner.myTrades({ symbol, fromId: 3, limit: 2 }))).toEqual([3, 4]);
    expect(idsOf(await owner.myTrades({ symbol, orderId: 4 }))).toEqual([4]);
  });

  test("of a limit above 1000 is clamped", async () => {
    for (const limit of [1_000, 1_001, 999_999_999]) {
      expect(idsOf(await owner.allOrders({ symbol, limit }))).toEqual(ids);
      expect(idsOf(await owner.myTrades({ symbol, limit }))).toEqual(ids);
    }
  });

  test("of a limit that is none is refused", async () => {
    for (const [limit, code] of [
      ["0", -1130],
      ["-1", -1100],
      ["ten", -1100],
      ["1.5", -1100],
    ] as const) {
      expect(refusalOf(await owner.allOrders({ symbol, limit }))).toMatchObject({ status: 400, code });
      expect(refusalOf(await owner.myTrades({ symbol, limit }))).toMatchObject({ status: 400, code });
    }
  });

  test("of a time range has both its ends", async () => {
    const [third, fifth] = [times[2] ?? 0, times[4] ?? 0];
    const within = ids.filter((_id, index) => {
      const time = times[index] ?? 0;
      return time >= third && time <= fifth;
    });
    const range = { symbol, startTime: third, endTime: fifth };
    expect(idsOf(await owner.allOrders(range))).toEqual(within);
    expect(idsOf(await owner.myTrades(range))).toEqual(within);
    expect(idsOf(await owner.allOrders({ symbol, startTime: fifth + 60_000 }))).toEqual([]);
    expect(idsOf(await owner.allOrders({ symbol, endTime: (times[0] ?? 0) - 1 }))).toEqual([]);
    expect(refusalOf(await owner.allOrders({ symbol, startTime: "yesterday" }))).toMatchObject({
      code: -1100,
    });
  });

  test("needs a symbol", async () => {
    expect(refusalOf(await owner.allOrders())).toMatchObject({ code: -1102 });
    expect(refusalOf(await owner.myTrades())).toMatchObject({ code: -1102 });
    expect(refusalOf(await owner.allOrders({ symbol: "NOSUCH" }))).toMatchObject({ code: -1121 });
    expect((await owner.allOrders({ symbol: "ETHUSDT" })).body).toEqual([]);
  });
});

describe("routes:", () => {
  test.each([
    ["GET", "/api/v3/nothing"],
    ["GET", "/api/v3"],
    ["GET", "/api/v3/"],
    ["GET", "/api/v3/account/"],
    ["GET", "/api/v3/ACCOUNT"],
    ["GET", "/api/v3/account/commission"],
    ["GET", "/api/v4/account"],
    ["PUT", "/api/v3/order"],
    ["PATCH", "/api/v3/order"],
    ["POST", "/api/v3/account"],
    ["DELETE", "/api/v3/account"],
    ["POST", "/api/v3/time"],
    ["GET", "/sapi/v1/asset/tradeFee"],
    ["GET", "/fapi/v1/nothing"],
    ["GET", "/dapi/v1/nothing"],
  ])("%s %s is none: 404 -5000", async (method, path) => {
    expect(refusalOf(await send(url, method, path))).toEqual({
      status: 404,
      code: -5000,
      msg: `Path ${path}, Method ${method} is invalid`,
    });
  });

  test("a futures key is refused -2010 on every route of the family", async () => {
    const futures = trader(takeFuturesStrategy());
    const answers = [
      await futures.account(),
      await futures.place(MARKET_BUY),
      await futures.cancel({ symbol, orderId: 1 }),
      await futures.cancelAll({ symbol }),
      await futures.query({ symbol, orderId: 1 }),
      await futures.openOrders(),
      await futures.allOrders({ symbol }),
      await futures.myTrades({ symbol }),
      await signed(url, futures.strategy, "POST", "/api/v3/platform/strategy/close"),
    ];
    for (const answer of answers) expect(refusalOf(answer)).toMatchObject({ status: 400, code: -2010 });
  });
});
