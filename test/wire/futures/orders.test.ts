// Futures orders on the wire: placing, following, cancelling and repeating them, and what an entry may bring
// with it. Source: specification 4.2 and 7.1; reference exchange, section 12.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type Call, type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { refusalOf } from "../../support/spot-trader.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT")]);
const BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.02" };
const SELL = { ...BUY, side: "SELL" };
const RESTING = {
  symbol,
  side: "BUY",
  type: "LIMIT",
  timeInForce: "GTC",
  quantity: "0.01",
  price: "55000",
};
let gateway: InProcessGateway;
let call: Call;
let ask: ReturnType<typeof futuresTrader>;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(async () => {
  market.show(symbol, "59999.9", "60000");
  market.show("ETHUSDT", "3000", "3000.1");
  call = gateway.callsOf(await gateway.seed("FUTURES"));
  ask = futuresTrader(call);
});

describe("placing", () => {
  test("a MARKET order answers with its end", async () => {
    const { status, body } = await ask.place({ ...BUY, newClientOrderId: "web_1.A:/-" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      symbol,
      clientOrderId: "web_1.A:/-",
      status: "FILLED",
      type: "MARKET",
      origType: "MARKET",
      side: "BUY",
      positionSide: "BOTH",
      price: "0.00",
      avgPrice: "60000.00",
      origQty: "0.020",
      executedQty: "0.020",
      cumQty: "0.020",
      cumQuote: "1200",
      reduceOnly: false,
      closePosition: false,
      time: market.time,
    });
    for (const key of ["strategyId", "algoId", "orderListId"]) expect(body).not.toHaveProperty(key);
    expect((await ask.query({ symbol, orderId: body.orderId })).body).toEqual(body);
  });

  test("a LIMIT order is open with its margin locked, and one that the market meets is filled at its limit", async () => {
    const resting = await ask.place(RESTING);
    expect(resting.body).toMatchObject({ status: "NEW", price: "55000.00", avgPrice: "0.00", cumQuote: "0" });
    expect((await ask.account()).body).toMatchObject({ totalOpenOrderInitialMargin: "27.50000000" });
    const reached = await ask.place({ ...RESTING, price: "60500" });
    expect(reached.body).toMatchObject({ status: "FILLED", avgPrice: "60500.00" });
    const [trade] = (await ask.userTrades({ symbol })).body;
    expect(trade).toMatchObject({ maker: true, buyer: true, price: "60500.00", commission: "0.12100000" });
    for (const key of ["isMaker", "isBuyer", "orderListId"]) expect(trade).not.toHaveProperty(key);
  });

  test("with parameters of the exchange that change nothing here is placed as without them", async () => {
    const extras = {
      positionSide: "BOTH",
      newOrderRespType: "RESULT",
      selfTradePreventionMode: "EXPIRE_MAKER",
      priceProtect: "TRUE",
      closePosition: "false",
      priceMatch: "NONE",
      reduceOnly: "False",
      workingType: "CONTRACT_PRICE",
      goodTillDate: 1,
    };
    expect((await ask.place({ ...BUY, ...extras })).body).toMatchObject({ status: "FILLED" });
  });

  test("a reduce-only order is cut to what there is to reduce", async () => {
    await ask.place(BUY);
    const { body } = await ask.place({ ...SELL, quantity: "0.05", reduceOnly: "true" });
    expect(body).toMatchObject({ status: "FILLED", reduceOnly: true, executedQty: "0.020" });
    expect((await ask.positionRisk()).body).toEqual([]);
  });

  test("the leverage of an entry becomes the symbol's, unless a position is open", async () => {
    await ask.place({ ...BUY, leverage: 5 });
    expect((await ask.positionRisk()).body).toMatchObject([{ leverage: "5" }]);
    await ask.place({ ...BUY, leverage: 50 });
    expect((await ask.positionRisk()).body).toMatchObject([{ leverage: "5" }]);
  });

  test("an entry brings its legs with it", async () => {
    const { body } = await ask.place({ ...BUY, takeProfitPrice: "66000", stopLossPrice: "57000.1" });
    expect(body).toMatchObject({ status: "FILLED" });
    const legs = (await ask.openLegs({ symbol })).body;
    expect(legs).toMatchObject([
      { orderType: "STOP_MARKET", side: "SELL", triggerPrice: "57000.10", closePosition: true },
      { orderType: "TAKE_PROFIT_MARKET", side: "SELL", triggerPrice: "66000.00", closePosition: true },
    ]);
    const { clientAlgoId } = legs[0];
    expect((await ask.queryLeg({ clientAlgoId })).body).toEqual(legs[0]);
    expect((await ask.cancelLeg({ clientAlgoId })).body).toMatchObject({ clientAlgoId, code: "200" });
  });

  test("the fill of an open entry arms its legs", async () => {
    await ask.place({ ...RESTING, stopLossPrice: "50000" });
    expect((await ask.openLegs()).body).toMatchObject([{ waitsForEntry: true }]);
    const { orderId } = (await ask.openOrders()).body[0];
    const { strategyId } = await ownStrategy();
    market.show(symbol, "54999.9", "55000");
    const seen = market.quote(symbol)?.ask;
    if (seen === null || seen === undefined) throw new Error("the market was shown");
    await gateway.desk.execute(strategyId, { type: "FillRestingOrder", orderId, seen });
    expect((await ask.openLegs()).body).toMatchObject([{ orderType: "STOP_MARKET", waitsForEntry: false }]);
  });
});

describe("a client id", () => {
  test("that was used before answers with its order in its present state, and places nothing", async () => {
    const first = await ask.place({ ...RESTING, newClientOrderId: "again" });
    const second = await ask.place({ ...BUY, newClientOrderId: "again" });
    expect(second.body).toEqual(first.body);
    await ask.cancel({ symbol, origClientOrderId: "again" });
    const third = await ask.place({ ...RESTING, newClientOrderId: "again" });
    expect(third.body).toMatchObject({ orderId: first.body.orderId, status: "CANCELED" });
    expect((await ask.allOrders({ symbol })).body).toHaveLength(1);
  });

  test("of a MARKET entry with legs answers with the entry", async () => {
    const entry = { ...BUY, newClientOrderId: "entry", takeProfitPrice: "66000", stopLossPrice: "57000" };
    const first = await ask.place(entry);
    expect((await ask.place(entry)).body).toEqual(first.body);
    expect((await ask.openLegs()).body).toHaveLength(2);
  });
});

describe("following", () => {
  test("an order is found by either id; with both orderId prevails", async () => {
    const { body } = await ask.place({ ...RESTING, newClientOrderId: "mine" });
    for (const ids of [
      { orderId: body.orderId },
      { origClientOrderId: "mine" },
      { orderId: body.orderId, origClientOrderId: "other" },
    ]) {
      expect((await ask.query({ symbol, ...ids })).body).toEqual(body);
      expect((await ask.queryOpen({ symbol, ...ids })).body).toEqual(body);
    }
  });

  test("openOrder does not know an ended order, order does", async () => {
    const { body } = await ask.place(BUY);
    expect((await ask.query({ symbol, orderId: body.orderId })).status).toBe(200);
    expect(refusalOf(await ask.queryOpen({ symbol, orderId: body.orderId }))).toMatchObject({ code: -2013 });
  });

  test("open orders are listed, of a symbol or of all", async () => {
    const one = (await ask.place(RESTING)).body;
    const other = (await ask.place({ ...RESTING, symbol: "ETHUSDT", quantity: "0.1", price: "2900" })).body;
    await ask.place(BUY);
    expect((await ask.openOrders()).body).toEqual([one, other]);
    expect((await ask.openOrders({ symbol })).body).toEqual([one]);
  });

  test("a closing trade has its realized profit", async () => {
    await ask.place(BUY);
    market.show(symbol, "61000", "61000.1");
    await ask.place(SELL);
    expect((await ask.userTrades({ symbol })).body).toMatchObject([
      { side: "BUY", realizedPnl: "0.00000000", commission: "0.60000000", quoteQty: "1200", maker: false },
      { side: "SELL", realizedPnl: "20.00000000", commission: "0.61000000", buyer: false },
    ]);
  });
});

describe("cancelling", () => {
  test("answers with the order, and gives back what it locked", async () => {
    const { body } = await ask.place(RESTING);
    const canceled = await ask.cancel({ symbol, orderId: body.orderId });
    expect(canceled.body).toMatchObject({ orderId: body.orderId, status: "CANCELED" });
    expect(canceled.body).not.toHaveProperty("origClientOrderId");
    expect((await ask.account()).body).toMatchObject({ availableBalance: "1000.00000000" });
  });

  test("all of a symbol leaves other symbols and legs alone, and is said also of none", async () => {
    const done = { code: 200, msg: "The operation of cancel all open order is done." };
    await ask.place(BUY);
    const leg = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "50000", closePosition: "true" };
    await ask.placeLeg(leg);
    await ask.place(RESTING);
    await ask.place({ ...RESTING, symbol: "ETHUSDT", quantity: "0.1", price: "2900" });
    expect((await ask.cancelAll({ symbol })).body).toEqual(done);
    expect((await ask.openOrders()).body).toMatchObject([{ symbol: "ETHUSDT" }]);
    expect((await ask.openLegs()).body).toHaveLength(1);
    expect((await ask.cancelAll({ symbol })).body).toEqual(done);
  });

  test.each([
    ["without a symbol", { orderId: 1 }, -1102],
    ["without an id", { symbol }, -1102],
    ["of an order that there is not", { symbol, orderId: 77 }, -2013],
    ["of an id as the exchange has them", { symbol, orderId: "8389765589812345678" }, -2013],
    ["of an id that nobody used", { symbol, origClientOrderId: "nobody" }, -2013],
    ["of an order on a symbol that is not listed", { symbol: "NOSUCH", orderId: 1 }, -1121],
    ["by an id that is no number", { symbol, orderId: "x" }, -1100],
    ["by an id that nobody can have", { symbol, origClientOrderId: "a b" }, -1100],
    ["by an id that is too long", { symbol, origClientOrderId: "a".repeat(37) }, -4015],
  ])("%s is refused", async (_what, parameters, code) => {
    expect(refusalOf(await ask.cancel(parameters))).toMatchObject({ status: 400, code });
    expect(refusalOf(await ask.query(parameters))).toMatchObject({ status: 400, code });
  });

  test("of an ended order is refused with -2011", async () => {
    const { orderId } = (await ask.place(BUY)).body;
    expect(refusalOf(await ask.cancel({ symbol, orderId }))).toEqual({
      status: 400,
      code: -2011,
      msg: "Unknown order sent.",
    });
  });

  test("what is not listed cannot be cancelled in all, nor listed", async () => {
    const named = { symbol: "NOSUCH" };
    expect(refusalOf(await ask.cancelAll(named))).toMatchObject({ status: 400, code: -1121 });
    expect(refusalOf(await ask.openOrders(named))).toMatchObject({ status: 400, code: -1121 });
    expect(refusalOf(await ask.cancelAll())).toMatchObject({ code: -1102 });
  });
});

describe("closing the strategy", () => {
  test("cancels open orders, closes what is held, and is final", async () => {
    await ask.place({ ...BUY, stopLossPrice: "57000" });
    await ask.place(RESTING);
    const { strategyId } = await ownStrategy();
    expect((await ask.close()).body).toEqual({ strategyId, status: "CLOSED" });
    expect((await ask.positionRisk()).body).toEqual([]);
    expect((await ask.openOrders()).body).toEqual([]);
    expect((await ask.openLegs()).body).toEqual([]);
    const closing = (await ask.allOrders({ symbol })).body.at(-1);
    expect(closing).toMatchObject({ side: "SELL", status: "FILLED", type: "MARKET" });
    expect(closing.clientOrderId).toContain("#");
    const { clientOrderId: origClientOrderId } = closing;
    expect((await ask.query({ symbol, origClientOrderId })).body).toEqual(closing);
    expect(refusalOf(await ask.close())).toEqual({
      status: 400,
      code: -2010,
      msg: "Strategy already closed",
    });
    expect(refusalOf(await ask.place(BUY))).toMatchObject({ code: -2010, msg: "Strategy not live" });
  });
});

async function ownStrategy(): Promise<{ strategyId: string }> {
  return { strategyId: (await ask.balance()).body[0].accountAlias };
}
