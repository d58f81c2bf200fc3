// Legs on the wire: the exchange's algo orders that close a position when the mark price reaches them.
// Source: specification 4.2 (algoOrder); reference exchange, section 13; what clients send, section 13.5.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Command } from "../../../src/domain/command.ts";
import { decimal } from "../../../src/money/decimal.ts";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type Call, type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { refusalOf } from "../../support/spot-trader.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT")]);
const BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.02" };
const STOP = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "57000", closePosition: "true" };
const PROFIT = { ...STOP, type: "TAKE_PROFIT_MARKET", stopPrice: "66000" };
let gateway: InProcessGateway;
let strategyId: string;
let ask: ReturnType<typeof futuresTrader>;
let call: Call;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(async () => {
  market.show(symbol, "59999.9", "60000");
  market.show("ETHUSDT", "3000", "3000.1");
  const strategy = await gateway.seed("FUTURES");
  strategyId = strategy.strategyId;
  call = gateway.callsOf(strategy);
  ask = futuresTrader(call);
  await ask.place(BUY);
});

const execute = (command: Command) => gateway.desk.execute(strategyId, command);

describe("placing a leg", () => {
  test("answers with it, waiting", async () => {
    const { status, body } = await ask.placeLeg({ ...STOP, clientAlgoId: "stop.1" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      clientAlgoId: "stop.1",
      algoType: "CONDITIONAL",
      orderType: "STOP_MARKET",
      symbol,
      side: "SELL",
      positionSide: "BOTH",
      quantity: "0.000",
      algoStatus: "NEW",
      triggerPrice: "57000.00",
      stopPrice: "57000.00",
      price: "0.00",
      icebergQuantity: null,
      workingType: "MARK_PRICE",
      closePosition: true,
      reduceOnly: true,
      createTime: market.time,
      triggerTime: 0,
      actualOrderId: "",
    });
    for (const key of ["orderId", "status", "type", "origQty"]) expect(body).not.toHaveProperty(key);
    expect((await ask.openLegs()).body).toEqual([body]);
  });

  test.each([
    ["triggerPrice for stopPrice", { stopPrice: "", triggerPrice: "57000" }],
    ["both, alike", { triggerPrice: "57000" }],
    ["True as Python writes it", { closePosition: "True" }],
    ["what clients add", { algoType: "CONDITIONAL", newOrderRespType: "RESULT", timeInForce: "GTE_GTC" }],
    ["a price to go by", { workingType: "CONTRACT_PRICE", priceProtect: "TRUE", positionSide: "BOTH" }],
    ["a quantity of nothing", { quantity: "0" }],
  ])("takes %s", async (_what, parameters) => {
    const { status, body } = await ask.placeLeg({ ...STOP, ...parameters });
    expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
    expect(body).toMatchObject({ triggerPrice: "57000.00", workingType: "MARK_PRICE" });
  });

  test("a used id answers with its leg in its present state", async () => {
    const first = await ask.placeLeg({ ...STOP, clientAlgoId: "one" });
    expect((await ask.placeLeg({ ...PROFIT, clientAlgoId: "one" })).body).toEqual(first.body);
    await ask.cancelLeg({ clientAlgoId: "one" });
    expect((await ask.placeLeg({ ...STOP, clientAlgoId: "one" })).body).toMatchObject({
      algoId: first.body.algoId,
      algoStatus: "CANCELED",
    });
    expect((await ask.allLegs({ symbol })).body).toHaveLength(1);
  });

  test.each([
    ["without anything", { symbol: "" }, -1102, "symbol"],
    ["without a side", { side: "" }, -1102, "side"],
    ["of another side", { side: "sell" }, -1117, ""],
    ["without a type", { type: "" }, -1102, "type"],
    ["of type LIMIT", { type: "LIMIT" }, -1116, ""],
    ["of type STOP", { type: "STOP" }, -1116, ""],
    ["of type TRAILING_STOP_MARKET", { type: "TRAILING_STOP_MARKET" }, -1116, ""],
    ["of another algo type", { algoType: "VP" }, -1130, "algoType"],
    ["for a side of a hedge", { positionSide: "LONG" }, -4061, ""],
    ["for a side that there is not", { positionSide: "long" }, -4060, ""],
    ["without closePosition", { closePosition: "" }, -1102, "closePosition"],
    ["with closePosition false", { closePosition: "false" }, -1130, "closePosition"],
    ["with closePosition 1", { closePosition: "1" }, -1130, "closePosition"],
    ["with a quantity", { quantity: "0.01" }, -4137, ""],
    ["with reduceOnly", { reduceOnly: "true" }, -1106, "reduceOnly"],
    ["with a price", { price: "57000" }, -1106, "price"],
    ["by a price that there is not", { workingType: "INDEX" }, -4031, "INDEX"],
    ["without a trigger", { stopPrice: "" }, -1102, "stopPrice"],
    ["with two triggers", { triggerPrice: "56000" }, -1128, ""],
    ["with a trigger that is no number", { stopPrice: "5e4" }, -1100, "stopPrice"],
    ["with an id that is too long", { clientAlgoId: "x".repeat(37) }, -4015, ""],
    ["with an id of the service's own kind", { clientAlgoId: "stopLoss#1" }, -1100, "clientAlgoId"],
    ["on a symbol that is not listed", { symbol: "NOSUCH" }, -1121, ""],
    ["at a price of nothing", { stopPrice: "0" }, -4001, ""],
    ["below the lowest price", { stopPrice: "556.7" }, -4013, ""],
    ["above the highest price", { stopPrice: "4529764.1" }, -4002, ""],
    ["off the tick", { stopPrice: "57000.05" }, -4014, ""],
    ["too precise", { stopPrice: "57000.001" }, -1111, ""],
    ["of nine decimals", { stopPrice: "57000.000000001" }, -1111, "Precision is over the maximum"],
    ["where there is no position", { symbol: "ETHUSDT", stopPrice: "2900" }, -4509, ""],
    ["on the side of the position", { side: "BUY", stopPrice: "66000" }, -4509, ""],
    ["that the mark price has reached", { stopPrice: "60000" }, -2021, ""],
  ])("%s is refused with %i", async (_how, changed, code, named) => {
    const answer = await ask.placeLeg({ ...STOP, ...changed });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code });
    expect(answer.body.msg).toContain(named);
    expect((await ask.openLegs()).body).toEqual([]);
  });

  test.each([
    ["with a quantity", { quantity: "0.01" }],
    ["with a quantity and reduceOnly", { quantity: "0.01", reduceOnly: "true" }],
    ["with a quantity and closePosition false", { quantity: "0.01", closePosition: "false" }],
  ])("of a part of the position, %s, is refused with what to send instead", async (_how, sent) => {
    const { status, body } = await ask.placeLeg({ ...STOP, closePosition: "", ...sent });
    expect(status).toBe(400);
    expect(body.msg).toContain(
      "A leg closes the whole position: send closePosition=true, without quantity and reduceOnly.",
    );
  });

  test("a second of its kind is refused, one of the other kind is not", async () => {
    await ask.placeLeg(STOP);
    expect(refusalOf(await ask.placeLeg({ ...STOP, stopPrice: "56000" }))).toMatchObject({ code: -4130 });
    expect((await ask.placeLeg(PROFIT)).status).toBe(200);
  });

  test("has no client id that an open order has, and no order one that an open leg has", async () => {
    const taken = { status: 400, code: -4116, msg: "ClientOrderId is duplicated." };
    await ask.placeLeg({ ...STOP, clientAlgoId: "one" });
    expect(refusalOf(await ask.place({ ...BUY, symbol: "ETHUSDT", newClientOrderId: "one" }))).toEqual(taken);
    const resting = { ...BUY, type: "LIMIT", timeInForce: "GTC", price: "55000" };
    await ask.place({ ...resting, newClientOrderId: "two" });
    expect(refusalOf(await ask.placeLeg({ ...PROFIT, clientAlgoId: "two" }))).toEqual(taken);
    // Sent once more, each still answers with what it was.
    expect((await ask.placeLeg({ ...STOP, clientAlgoId: "one" })).body).toMatchObject({
      clientAlgoId: "one",
    });
    expect((await ask.place({ ...resting, newClientOrderId: "two" })).body).toMatchObject({ status: "NEW" });
  });

  test("counts as an order", async () => {
    const { headers } = await ask.placeLeg(STOP);
    expect(headers.get("x-mbx-order-count-10s")).toBe("1");
  });
});

describe("a leg that the mark price reaches", () => {
  test("closes the position by an order of its own, and its sibling is canceled", async () => {
    const stop = (await ask.placeLeg({ ...STOP, clientAlgoId: "stop" })).body;
    const profit = (await ask.placeLeg(PROFIT)).body;
    market.time += 5_000;
    market.show(symbol, "56999", "56999.1", "57000");
    await execute({ type: "TriggerLeg", legId: stop.algoId, seen: decimal("57000") });
    const fired = (await ask.queryLeg({ algoId: stop.algoId })).body;
    expect(fired).toMatchObject({
      algoStatus: "FINISHED",
      actualPrice: "56999.00",
      actualQty: "0.020",
      actualType: "MARKET",
      triggerTime: market.time,
    });
    expect((await ask.queryLeg({ algoId: profit.algoId })).body).toMatchObject({ algoStatus: "CANCELED" });
    const order = (await ask.allOrders({ symbol })).body.at(-1);
    expect(order).toMatchObject({
      orderId: Number(fired.actualOrderId),
      clientOrderId: "stop",
      type: "MARKET",
      side: "SELL",
      status: "FILLED",
      reduceOnly: true,
      closePosition: true,
    });
    expect((await ask.query({ symbol, origClientOrderId: "stop" })).body).toEqual(order);
    expect((await ask.positionRisk()).body).toEqual([]);
    expect(refusalOf(await ask.cancelLeg({ algoId: stop.algoId }))).toMatchObject({ code: -2011 });
  });

  test("a leg whose position is closed otherwise is EXPIRED", async () => {
    const { algoId } = (await ask.placeLeg(STOP)).body;
    await ask.place({ ...BUY, side: "SELL" });
    expect((await ask.queryLeg({ algoId })).body).toMatchObject({ algoStatus: "EXPIRED", actualOrderId: "" });
  });

  test("a liquidation is an order of the service's own", async () => {
    await ask.placeLeg(STOP);
    const { liquidationPrice } = (await ask.positionRisk()).body[0];
    expect(liquidationPrice).toBe("57259.03614457");
    market.show(symbol, "57259", "57259.1", "57259");
    await execute({ type: "LiquidatePosition", symbol, seen: decimal("57259") });
    expect((await ask.positionRisk()).body).toEqual([]);
    expect((await ask.openLegs()).body).toEqual([]);
    const order = (await ask.allOrders({ symbol })).body.at(-1);
    expect(order).toMatchObject({
      type: "LIQUIDATION",
      status: "FILLED",
      side: "SELL",
      avgPrice: "57259.0361",
    });
    const types = (await ask.income()).body.map(({ incomeType }: { incomeType: string }) => incomeType);
    expect(types).toContain("INSURANCE_CLEAR");
  });
});

describe("finding and cancelling legs", () => {
  test.each(["algoId", "algoid", "orderid"])("by %s, with a symbol or without", async (name) => {
    const { body } = await ask.placeLeg(STOP);
    expect((await ask.queryLeg({ [name]: body.algoId })).body).toEqual(body);
    expect((await ask.queryLeg({ [name]: body.algoId, symbol })).body).toEqual(body);
    expect((await ask.openLegs({ [name]: body.algoId })).body).toEqual([body]);
    const { algoId, clientAlgoId } = body;
    expect((await ask.cancelLeg({ [name]: algoId })).body).toEqual({
      algoId,
      clientAlgoId,
      code: "200",
      msg: "success",
    });
    expect((await ask.openLegs({ symbol })).body).toEqual([]);
  });

  test("by clientAlgoId; with both algoId prevails", async () => {
    const { body } = await ask.placeLeg({ ...STOP, clientAlgoId: "mine" });
    expect((await ask.queryLeg({ clientAlgoId: "mine" })).body).toEqual(body);
    expect((await ask.queryLeg({ algoId: body.algoId, clientAlgoId: "other" })).body).toEqual(body);
  });

  test.each([
    [{}, -1102],
    [{ algoId: 77 }, -2013],
    [{ algoId: "2148719047298374652" }, -2013],
    [{ algoId: "x" }, -1100],
    [{ clientAlgoId: "nobody" }, -2013],
    [{ clientAlgoId: "a b" }, -1100],
    [{ clientAlgoId: "a".repeat(37) }, -4015],
  ])("by %j is refused with %i", async (parameters, code) => {
    expect(refusalOf(await ask.queryLeg(parameters))).toMatchObject({ status: 400, code });
    expect(refusalOf(await ask.cancelLeg(parameters))).toMatchObject({ status: 400, code });
  });

  test("an order's id is no leg's, and a leg's no order's", async () => {
    const { algoId } = (await ask.placeLeg(STOP)).body;
    const [{ orderId }] = (await ask.allOrders({ symbol })).body;
    expect(refusalOf(await ask.queryLeg({ algoId: orderId }))).toMatchObject({ code: -2013 });
    expect(refusalOf(await ask.query({ symbol, orderId: algoId }))).toMatchObject({ code: -2013 });
  });

  test("another strategy's leg is not found", async () => {
    const { algoId } = (await ask.placeLeg({ ...STOP, clientAlgoId: "private" })).body;
    const other = futuresTrader(gateway.callsOf(await gateway.seed("FUTURES")));
    for (const ids of [{ algoId }, { clientAlgoId: "private" }]) {
      expect(refusalOf(await other.queryLeg(ids))).toMatchObject({ code: -2013 });
      expect(refusalOf(await other.cancelLeg(ids))).toMatchObject({ code: -2013 });
    }
    expect((await ask.openLegs()).body).toHaveLength(1);
  });

  test("all of a symbol, also of none; orders stay", async () => {
    const done = { code: 200, msg: "The operation of cancel all open order is done." };
    await ask.place({ ...BUY, type: "LIMIT", timeInForce: "GTC", price: "55000" });
    await ask.placeLeg(STOP);
    await ask.placeLeg(PROFIT);
    expect((await ask.cancelAllLegs({ symbol })).body).toEqual(done);
    expect((await ask.openLegs()).body).toEqual([]);
    expect((await ask.openOrders()).body).toHaveLength(1);
    expect((await ask.cancelAllLegs({ symbol })).body).toEqual(done);
    expect(refusalOf(await ask.cancelAllLegs())).toMatchObject({ code: -1102 });
    expect(refusalOf(await ask.cancelAllLegs({ symbol: "NOSUCH" }))).toMatchObject({ code: -1121 });
  });

  test("a closed strategy cancels none", async () => {
    await ask.close();
    expect(refusalOf(await ask.placeLeg(STOP))).toMatchObject({ code: -2010 });
    expect(refusalOf(await ask.cancelAllLegs({ symbol }))).toMatchObject({ code: -2010 });
  });
});
