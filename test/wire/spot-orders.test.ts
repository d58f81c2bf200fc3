// Spot on the wire: exact shapes, and what each route means. Refused placements are in
// `spot-refusals.test.ts`, history in `history.test.ts`. Source: specification 2.3, 2.5, 2.6, 4.1 and 7.1;
// design, section 6.
import { beforeAll, describe, expect, test } from "vitest";
import { balancesAfter, decimalText, expectedFill, units } from "../support/exact.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send } from "../support/signed-client.ts";
import {
  MARKET_BUY,
  type Parameters,
  refusalOf,
  restingPriceOf,
  spotTrader,
  symbol,
} from "../support/spot-trader.ts";

const gateway = seededGateway(40);
/** A price at which a BUY of BTCUSDT stays open. */
let restingPrice: string;

beforeAll(async () => {
  restingPrice = await restingPriceOf(gateway.url);
});

const trader = (strategy = gateway.takeStrategy()) => spotTrader(gateway.url, strategy);

const restingBuy = (quantity = "0.001") => ({
  ...MARKET_BUY,
  type: "LIMIT",
  timeInForce: "GTC",
  quantity,
  price: restingPrice,
});

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

  test("newOrderRespType changes nothing, whatever its value", async () => {
    const { place } = trader();
    for (const newOrderRespType of ["ACK", "RESULT", "FULL", "NONSENSE"]) {
      const { body } = await place({ ...restingBuy("0.0002"), newOrderRespType });
      expect(body).toEqual(ORDER);
    }
  });

  test("a canceled order has in addition its original id, and takes the cancel's id if it has one", async () => {
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

  test("every answer is JSON with its content type, errors too", async () => {
    const { place, query } = trader();
    const answers = [
      await place(MARKET_BUY),
      await place({}),
      await query({ symbol }),
      await send(gateway.url, "GET", "/api/v3/account"),
      await send(gateway.url, "GET", "/api/v3/nothing"),
      await send(gateway.url, "GET", "/api/v3/time"),
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

  test("an open order locks its cost, and canceling releases it all", async () => {
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

  test("an open sale locks the base asset", async () => {
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

  test("what open orders have locked cannot be spent", async () => {
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
    // The commission of a purchase is a thousandth of it.
    await place({ ...MARKET_BUY, symbol: "DOGEUSDT", quantity: "1000" });
    await place({ ...MARKET_BUY, symbol: "DOGEUSDT", side: "SELL", quantity: "999" });
    await place({ ...MARKET_BUY, quantity: "0.001" });
    expect((await account()).body.balances[1]).toMatchObject({ asset: "DOGE", free: "0.00000000" });
    for (const omitZeroBalances of ["true", "True"]) {
      const { body } = await account({ omitZeroBalances });
      expect(body.balances.map(({ asset }: { asset: string }) => asset)).toEqual(["USDT", "BTC"]);
    }
    expect(refusalOf(await account({ omitZeroBalances: "yes" }))).toMatchObject({ status: 400, code: -1130 });
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
      [{ symbol, orderId: "8389765589812345678" }, -2013],
      [{ symbol, orderId: "9".repeat(20) }, -2013],
      [{ symbol, orderId: "9".repeat(21) }, -1100],
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

  test("with cancelRestrictions happens only in the state that they name", async () => {
    const { place, cancel, query } = trader();
    const { orderId } = (await place(restingBuy())).body;
    const restricted = (restrictions: string) =>
      cancel({ symbol, orderId, cancelRestrictions: restrictions });
    expect(refusalOf(await restricted("ONLY_PARTIALLY_FILLED"))).toEqual({
      status: 400,
      code: -2011,
      msg: "Order was not canceled due to cancel restrictions.",
    });
    for (const restrictions of ["ONLY_FILLED", "only_new", "NEW"]) {
      expect(refusalOf(await restricted(restrictions))).toEqual({
        status: 400,
        code: -1145,
        msg: "Invalid cancelRestrictions.",
      });
    }
    expect((await query({ symbol, orderId })).body).toMatchObject({ status: "NEW" });
    expect(await restricted("ONLY_NEW")).toMatchObject({ status: 200, body: { status: "CANCELED" } });
    expect(refusalOf(await restricted("ONLY_NEW"))).toMatchObject({
      code: -2011,
      msg: "Unknown order sent.",
    });
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
