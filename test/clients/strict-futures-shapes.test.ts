// What typed clients of other languages need of a futures body, field by field, checked on answers in every
// state that a body has. The account is on a market that the test controls, so that legs fire, funding is
// settled and a position is liquidated; the public answers are the real program's. `futures-needs.ts` has the
// clients' needs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Command } from "../../src/domain/command.ts";
import { decimal, type Price } from "../../src/money/decimal.ts";
import { futuresTrader } from "../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../support/own-contracts.ts";
import { type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, type WireAnswer } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { FUTURES_NEEDS, NEVER_IN_A_LEG, NEVER_IN_A_TRADE, NEVER_IN_AN_ORDER } from "./futures-needs.ts";
import { faultsOf, rowsOf } from "./needs.ts";

stayOnLoopback();
const program = seededGateway(0);
const symbol = SYMBOL;

const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT")]);
const bodies: Record<string, Told[]> = {};
const answers: WireAnswer[] = [];
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

/**
 * A long, a short, a liquidated and no position, orders and legs in every state, and all routes about them.
 */
beforeAll(async () => {
  market.show(symbol, "59999.9", "60000");
  market.show("ETHUSDT", "3000", "3000.1");
  const strategy = await gateway.seed("FUTURES");
  const call = gateway.callsOf(strategy);
  const told = async (answer: Promise<WireAnswer>): Promise<Told> => {
    answers.push(await answer);
    return (await answer).body;
  };
  const read = (path: string, parameters = {}) => told(call("GET", `/fapi/${path}`, parameters));
  const ask = futuresTrader(call);
  const execute = async (command: Command, key?: string) => {
    const executed = await gateway.desk.execute(
      strategy.strategyId,
      command,
      key === undefined ? {} : { key },
    );
    if ("refusal" in executed) throw new Error(`the market's command was refused: ${executed.refusal}`);
  };
  const trade = (side: string, quantity = "0.02") =>
    told(ask.place({ symbol, side, type: "MARKET", quantity }));
  const stop = { symbol, side: "SELL", type: "STOP_MARKET", closePosition: "true", triggerPrice: "58000" };
  const profit = { ...stop, type: "TAKE_PROFIT_MARKET", triggerPrice: "62000" };
  const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.01", price: "50000" };
  const entry = { ...limit, stopLossPrice: "40000", takeProfitPrice: "70000" };
  const stand = async () => ({
    account: await told(ask.account()),
    balance: (await told(ask.balance()))[0],
    risk: (await told(ask.positionRisk()))[0],
  });

  const leverage = await told(ask.setLeverage({ symbol, leverage: 10 }));
  const placed = [await trade("BUY"), await told(ask.place(limit)), await told(ask.place(entry))];
  const legs = [await told(ask.placeLeg(stop)), await told(ask.placeLeg(profit))];
  const long = await stand();
  const { orderId } = placed[1];
  const queried = [await told(ask.query({ symbol, orderId })), ...(await told(ask.openOrders()))];
  legs.push(...(await told(ask.openLegs())));
  const canceled = [await told(ask.cancel({ symbol, orderId }))];
  const allCanceled = [await told(ask.cancelAll({ symbol }))];
  market.time += 3_600_000;
  await execute({ type: "SettleFunding", settlement: market.settlement(symbol, "0.0001") }, "funding:one");
  // One leg fires and takes the other with it.
  const seen = decimal<Price>(stop.triggerPrice);
  await execute({ type: "TriggerLeg", legId: legs[0].algoId, seen });

  // A canceled leg, one that has lost its position, and the order that would have reduced that position.
  placed.push(await trade("BUY"));
  const { algoId } = await told(ask.placeLeg(stop));
  const canceledLeg = [await told(ask.cancelLeg({ algoId }))];
  allCanceled.push(await told(ask.cancelAllLegs({ symbol })));
  await ask.placeLeg(stop);
  placed.push(await told(ask.place({ ...limit, side: "SELL", price: "70000", reduceOnly: "true" })));
  placed.push(await trade("SELL"));

  placed.push(await trade("SELL"));
  const short = await stand();
  // Between the liquidation price and the bankruptcy price, so that something is left to be cleared.
  market.show(symbol, "65799.9", "65800");
  await execute({ type: "LiquidatePosition", symbol, seen: decimal<Price>("65800") });

  legs.push(...(await told(ask.allLegs({ symbol }))), await told(ask.queryLeg({ algoId })));
  queried.push(...(await told(ask.allOrders({ symbol }))));
  const brackets: Told[] = [
    ...(await read("v1/leverageBracket")),
    ...(await read("v1/leverageBracket", { symbol })),
  ];
  const stands = [long, short];
  const accounts = stands.map(({ account }) => account);
  const exchange = (await send(program.url, "GET", "/fapi/v1/exchangeInfo")).body;
  Object.assign(bodies, {
    placed,
    canceled,
    queried,
    allCanceled,
    leg: legs,
    canceledLeg,
    account: [...accounts, await told(ask.account())],
    asset: accounts.flatMap(({ assets }) => assets),
    position: accounts.flatMap(({ positions }) => positions),
    balance: stands.map(({ balance }) => balance),
    risk: stands.map(({ risk }) => risk),
    flatRisk: await told(ask.positionRisk({ symbol: "ETHUSDT" })),
    trade: await told(ask.userTrades({ symbol })),
    income: await told(ask.income()),
    leverage: [leverage],
    brackets,
    bracket: brackets.flatMap((row) => row.brackets),
    fees: [await read("v1/commissionRate", { symbol })],
    symbolConfig: await read("v1/symbolConfig"),
    accountConfig: [await read("v1/accountConfig")],
    exchange: [exchange],
    contract: exchange.symbols,
    premium: (await send(program.url, "GET", "/fapi/v1/premiumIndex")).body,
    settlement: (await send(program.url, "GET", `/fapi/v1/fundingRate?symbol=${symbol}`)).body,
    error: [
      await told(ask.place({})),
      await told(ask.query({ symbol, orderId: 4_711 })),
      await read("v1/nothing"),
      await told(ask.place({ ...limit, type: "STOP_MARKET" })),
      await told(ask.placeLeg(stop)),
    ],
  });
});

describe("a typed client reads", () => {
  test.each(rowsOf(FUTURES_NEEDS))("$body as $client needs it", ({ body, shape }) => {
    const found = bodies[body] ?? [];
    expect(found.length).toBeGreaterThan(0);
    expect(found.flatMap((told) => faultsOf(told, shape))).toEqual([]);
  });

  test("every state of an order, of a leg and of a position, and every kind of income, that there is to read", () => {
    const orders = bodies.queried?.map(({ type, status }) => `${type} ${status}`);
    expect([...new Set(orders)].sort()).toEqual([
      "LIMIT CANCELED",
      "LIMIT EXPIRED",
      "LIMIT NEW",
      "LIQUIDATION FILLED",
      "MARKET FILLED",
    ]);
    const legs = bodies.leg?.map(({ algoStatus }) => algoStatus);
    expect([...new Set(legs)].sort()).toEqual(["CANCELED", "EXPIRED", "FINISHED", "NEW"]);
    expect(bodies.risk).toMatchObject([{ positionAmt: "0.020" }, { positionAmt: "-0.020" }]);
    const incomes = bodies.income?.map(({ incomeType }) => incomeType);
    expect([...new Set(incomes)].sort()).toEqual([
      "COMMISSION",
      "FUNDING_FEE",
      "INSURANCE_CLEAR",
      "REALIZED_PNL",
      "TRANSFER",
    ]);
  });

  test("no order, leg or fill with a name that means something else to it", () => {
    const { placed = [], canceled = [], queried = [], leg = [], trade = [] } = bodies;
    const namesIn = (told: Told, never: readonly string[]) => never.filter((name) => name in told);
    for (const order of [...placed, ...canceled, ...queried]) {
      expect(namesIn(order, NEVER_IN_AN_ORDER)).toEqual([]);
    }
    for (const row of leg) expect(namesIn(row, NEVER_IN_A_LEG)).toEqual([]);
    for (const fill of trade) expect(namesIn(fill, NEVER_IN_A_TRADE)).toEqual([]);
  });

  test("JSON that says so, in answers and errors", () => {
    expect(answers.some(({ status }) => status >= 400)).toBe(true);
    for (const { headers } of answers) expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  });

  test("what an order of its leg's has in common with it, by either's id", () => {
    const fired = bodies.leg?.find(({ algoStatus }) => algoStatus === "FINISHED");
    const order = bodies.queried?.find(({ orderId }) => String(orderId) === fired.actualOrderId);
    expect(order).toMatchObject({
      clientOrderId: fired.clientAlgoId,
      type: fired.actualType,
      avgPrice: fired.actualPrice,
      executedQty: fired.actualQty,
      reduceOnly: true,
    });
    expect(order.orderId).not.toBe(fired.algoId);
  });
});
