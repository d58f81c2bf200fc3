// Legs attached to an entry (takeProfitPrice, stopLossPrice) on the wire: each has an id in the entry's
// answer and a row from then on, and one that could not be armed says why. Source: specification 4.2;
// decision 44.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { decimal } from "../../src/money/decimal.ts";
import { futuresTrader } from "../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../support/own-contracts.ts";
import { type Call, type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";
import { refusalOf } from "../support/spot-trader.ts";

const symbol = "BTCUSDT";
// A higher limit of open orders than in the other tests: here the number of its legs limits an entry.
const row = contractRow(symbol);
const filters = row.filters.filter(({ filterType }) => filterType !== "MAX_NUM_ORDERS");
const market = new OwnContracts([{ ...row, filters }]);
const BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.02" };
const RESTING = { ...BUY, type: "LIMIT", timeInForce: "GTC", price: "55000" };
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
  const strategy = await gateway.seed("FUTURES");
  strategyId = strategy.strategyId;
  call = gateway.callsOf(strategy);
  ask = futuresTrader(call);
});

/** The market falls to the limit of an open entry. */
async function fill(orderId: number, price: string): Promise<void> {
  market.show(symbol, price, price);
  await gateway.desk.execute(strategyId, { type: "FillRestingOrder", orderId, seen: decimal(price) });
}

async function legsNow() {
  return (await ask.allLegs({ symbol })).body;
}

describe("an entry with legs", () => {
  const LEGS = { takeProfitPrice: "66000", stopLossPrice: "50000.1" };

  test("names them in its answer, and its order does as long as it can be queried", async () => {
    const { body } = await ask.place({ ...RESTING, ...LEGS });
    const { orderId } = body;
    expect(body.attachedLegs).toEqual([
      {
        algoId: orderId + 1,
        clientAlgoId: `stopLoss/${orderId}`,
        orderType: "STOP_MARKET",
        triggerPrice: "50000.10",
      },
      {
        algoId: orderId + 2,
        clientAlgoId: `takeProfit/${orderId}`,
        orderType: "TAKE_PROFIT_MARKET",
        triggerPrice: "66000.00",
      },
    ]);
    expect((await ask.query({ symbol, orderId })).body).toEqual(body);
    expect((await ask.openOrders({ symbol })).body).toEqual([body]);
    await fill(orderId, "55000");
    expect((await ask.allOrders({ symbol })).body).toMatchObject([
      { status: "FILLED", attachedLegs: body.attachedLegs },
    ]);
  });

  test("at the market's price names them too; one without legs names none", async () => {
    const { body } = await ask.place({ ...BUY, stopLossPrice: "57000" });
    expect(body).toMatchObject({ status: "FILLED", attachedLegs: [{ orderType: "STOP_MARKET" }] });
    const [leg] = (await ask.openLegs()).body;
    expect(leg).toMatchObject({ algoId: body.attachedLegs[0].algoId, entryOrderId: body.orderId });
    expect(leg.waitsForEntry).toBe(false);
    expect((await ask.place(BUY)).body).not.toHaveProperty("attachedLegs");
  });

  test("sent once more answers with the same order and the same legs", async () => {
    const entry = { ...RESTING, ...LEGS, newClientOrderId: "once" };
    const first = await ask.place(entry);
    expect((await ask.place(entry)).body).toEqual(first.body);
    expect(await legsNow()).toHaveLength(2);
    await fill(first.body.orderId, "55000");
    expect((await ask.place(entry)).body.attachedLegs).toEqual(first.body.attachedLegs);
    expect(await legsNow()).toHaveLength(2);
  });

  test("has a row for each from its placement on: it is listed as open and waits for the entry", async () => {
    const { orderId, attachedLegs } = (await ask.place({ ...RESTING, ...LEGS })).body;
    const rows = await legsNow();
    expect(rows).toMatchObject([
      {
        algoStatus: "NEW",
        entryOrderId: orderId,
        waitsForEntry: true,
        endReason: "",
        updateTime: market.time,
      },
      { algoStatus: "NEW", entryOrderId: orderId, waitsForEntry: true, endReason: "" },
    ]);
    expect((await ask.openLegs()).body).toEqual(rows);
    expect((await ask.queryLeg({ algoId: attachedLegs[0].algoId })).body).toEqual(rows[0]);
    market.time += 5_000;
    await fill(orderId, "55000");
    expect(await legsNow()).toMatchObject([
      { algoStatus: "NEW", waitsForEntry: false, createTime: market.time - 5_000, updateTime: market.time },
      { algoStatus: "NEW", waitsForEntry: false },
    ]);
  });

  test("whose order is canceled loses them with it", async () => {
    const { orderId } = (await ask.place({ ...RESTING, ...LEGS })).body;
    await ask.cancel({ symbol, orderId });
    const ended = { algoStatus: "CANCELED", waitsForEntry: false, endReason: "ENTRY_CANCELED" };
    expect(await legsNow()).toMatchObject([ended, ended]);
    expect((await ask.openLegs()).body).toEqual([]);
  });

  test("can do without one of them: it is canceled like any other leg", async () => {
    const { orderId } = (await ask.place({ ...RESTING, ...LEGS })).body;
    const clientAlgoId = `takeProfit/${orderId}`;
    expect((await ask.cancelLeg({ clientAlgoId })).body).toMatchObject({ clientAlgoId, code: "200" });
    await fill(orderId, "55000");
    expect(await legsNow()).toMatchObject([
      { algoStatus: "NEW", endReason: "" },
      { algoStatus: "CANCELED", endReason: "REQUESTED" },
    ]);
  });
});

describe("a leg that cannot be armed has its reason", () => {
  test("the second stop of two entries: the first one covers the whole position", async () => {
    const first = (await ask.place({ ...RESTING, stopLossPrice: "50000" })).body;
    const second = (await ask.place({ ...RESTING, price: "54000", stopLossPrice: "51000" })).body;
    await fill(first.orderId, "55000");
    await fill(second.orderId, "54000");
    expect(await legsNow()).toMatchObject([
      { algoStatus: "NEW", triggerPrice: "50000.00", endReason: "" },
      { algoStatus: "EXPIRED", triggerPrice: "51000.00", endReason: "LEG_EXISTS", actualOrderId: "" },
    ]);
    const [{ algoId }] = second.attachedLegs;
    expect((await ask.queryLeg({ algoId })).body).toMatchObject({ endReason: "LEG_EXISTS" });
    expect(refusalOf(await ask.cancelLeg({ algoId }))).toMatchObject({ code: -2011 });
  });

  test("that of an entry which has only reduced a position", async () => {
    await ask.place({ ...BUY, side: "SELL" });
    const { orderId } = (await ask.place({ ...RESTING, quantity: "0.01", stopLossPrice: "50000" })).body;
    await fill(orderId, "55000");
    expect(await legsNow()).toMatchObject([{ algoStatus: "EXPIRED", endReason: "ENTRY_ONLY_REDUCED" }]);
  });
});

describe("what is known to be impossible is refused with its order", () => {
  test.each([
    ["MARKET", { quantity: "0.01" }],
    ["MARKET, that closes all", {}],
    ["LIMIT, that is filled on arrival", { type: "LIMIT", timeInForce: "GTC", price: "60000" }],
  ])("legs of a %s which only reduces", async (_what, changed) => {
    await ask.place({ ...BUY, side: "SELL" });
    const legs = { stopLossPrice: "57000", takeProfitPrice: "66000" };
    expect(refusalOf(await ask.place({ ...BUY, ...changed, ...legs }))).toEqual({
      status: 400,
      code: -1106,
      msg:
        "Parameter 'stopLossPrice' sent when not required: the order only reduces a position, so no leg could " +
        "close what it opens.",
    });
    expect((await ask.positionRisk()).body).toMatchObject([{ positionAmt: "-0.020" }]);
    expect(await legsNow()).toEqual([]);
  });

  test("pending legs count: the eleventh on a symbol is refused with its entry", async () => {
    const small = { ...RESTING, quantity: "0.002", stopLossPrice: "50000", takeProfitPrice: "66000" };
    for (let entries = 0; entries < 5; entries += 1) await ask.place(small);
    expect((await ask.openLegs({ symbol })).body).toHaveLength(10);
    expect(refusalOf(await ask.place({ ...small, takeProfitPrice: "" }))).toMatchObject({ code: -4045 });
    expect((await ask.openOrders()).body).toHaveLength(5);
  });
});

describe("the names of attached legs", () => {
  test("have only characters that a client may send, and clients cannot choose them", async () => {
    const { attachedLegs } = (await ask.place({ ...BUY, stopLossPrice: "57000" })).body;
    const [{ clientAlgoId }] = attachedLegs;
    expect(clientAlgoId).toMatch(/^[.A-Z:/a-z0-9_-]{1,36}$/);
    const leg = {
      symbol,
      side: "SELL",
      type: "TAKE_PROFIT_MARKET",
      stopPrice: "66000",
      closePosition: "true",
    };
    for (const taken of [clientAlgoId, "takeProfit/9"]) {
      const refused = { status: 400, code: -1100 };
      expect(refusalOf(await ask.placeLeg({ ...leg, clientAlgoId: taken }))).toMatchObject(refused);
      expect(refusalOf(await ask.place({ ...BUY, newClientOrderId: taken }))).toMatchObject(refused);
    }
    // An id that only resembles one may be chosen.
    expect((await ask.placeLeg({ ...leg, clientAlgoId: "takeProfit-9" })).status).toBe(200);
  });

  test("find the order that the leg has placed", async () => {
    const { attachedLegs } = (await ask.place({ ...BUY, stopLossPrice: "57000" })).body;
    const [{ algoId: legId, clientAlgoId: origClientOrderId }] = attachedLegs;
    market.show(symbol, "56999", "56999.1", "57000");
    await gateway.desk.execute(strategyId, { type: "TriggerLeg", legId, seen: decimal("57000") });
    expect((await ask.query({ symbol, origClientOrderId })).body).toMatchObject({
      closePosition: true,
      status: "FILLED",
      clientOrderId: origClientOrderId,
    });
  });
});
