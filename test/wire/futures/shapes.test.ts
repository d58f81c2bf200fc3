// The body of every signed futures route, key by key and type by type, as strictly typed stock clients read
// them: amounts are strings, ids and times integers, flags booleans, brackets alone have numbers. On a market
// of the test's own. Source: specification 2.4; reference exchange, sections 11 to 13.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import {
  decimal,
  eightDecimals,
  exactly,
  flag,
  listOf,
  oneOf,
  rowOf,
  type Shape,
  signedEightDecimals,
  text,
  whole,
} from "../../support/shapes.ts";
import { send, type WireAnswer } from "../../support/signed-client.ts";

const symbol = "BTCUSDT";
const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT")]);
market.show(symbol, "59999.9", "60000");
market.show("ETHUSDT", "3000", "3000.1");
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
});

afterAll(async () => {
  await gateway.close();
});

/** Status, content type and body at once, so that a failure shows what was answered. */
function expectAnswer({ status, headers, body }: WireAnswer, shape: Shape): void {
  expect({ status, type: headers.get("content-type"), faults: shape(body) }).toEqual({
    status: 200,
    type: expect.stringMatching(/^application\/json\b/),
    faults: [],
  });
}

const number: Shape = (value, place = "body") =>
  typeof value === "number" ? [] : [`${place} is no number but ${JSON.stringify(value)}`];
const anyText: Shape = (value, place = "body") =>
  typeof value === "string" ? [] : [`${place} is no text but ${JSON.stringify(value)}`];
const priceDigits: Shape = (value, place = "body") =>
  /^[0-9]+\.[0-9]{2}$/.test(String(value)) ? [] : [`${place} has not two decimals: ${JSON.stringify(value)}`];
const lotDigits: Shape = (value, place = "body") =>
  /^-?[0-9]+\.[0-9]{3}$/.test(String(value))
    ? []
    : [`${place} has not three decimals: ${JSON.stringify(value)}`];

const ORDER = {
  orderId: whole,
  symbol: text,
  status: oneOf("NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "REJECTED", "EXPIRED"),
  clientOrderId: text,
  price: priceDigits,
  avgPrice: priceDigits,
  origQty: lotDigits,
  executedQty: lotDigits,
  cumQty: lotDigits,
  cumQuote: decimal,
  timeInForce: oneOf("GTC"),
  type: oneOf("MARKET", "LIMIT"),
  origType: oneOf("MARKET", "LIMIT"),
  reduceOnly: flag,
  closePosition: flag,
  side: oneOf("BUY", "SELL"),
  positionSide: oneOf("BOTH"),
  stopPrice: decimal,
  workingType: oneOf("CONTRACT_PRICE"),
  priceProtect: oneOf(false),
  priceMatch: oneOf("NONE"),
  selfTradePreventionMode: oneOf("NONE"),
  goodTillDate: oneOf(0),
  time: whole,
  updateTime: whole,
};
const order = exactly(ORDER);
const attachedLeg = exactly({
  algoId: whole,
  clientAlgoId: text,
  orderType: oneOf("STOP_MARKET", "TAKE_PROFIT_MARKET"),
  triggerPrice: priceDigits,
});
const entry = exactly({ ...ORDER, attachedLegs: rowOf(attachedLeg, attachedLeg) });
const LEG = {
  algoId: whole,
  clientAlgoId: text,
  algoType: oneOf("CONDITIONAL"),
  orderType: oneOf("STOP_MARKET", "TAKE_PROFIT_MARKET"),
  symbol: text,
  side: oneOf("BUY", "SELL"),
  positionSide: oneOf("BOTH"),
  timeInForce: oneOf("GTC"),
  quantity: lotDigits,
  algoStatus: oneOf("NEW", "CANCELED", "FINISHED", "EXPIRED"),
  actualOrderId: anyText,
  actualPrice: priceDigits,
  actualType: anyText,
  actualQty: lotDigits,
  triggerPrice: priceDigits,
  stopPrice: priceDigits,
  price: priceDigits,
  icebergQuantity: oneOf(null),
  tpTriggerPrice: priceDigits,
  tpPrice: priceDigits,
  slTriggerPrice: priceDigits,
  slPrice: priceDigits,
  tpOrderType: anyText,
  selfTradePreventionMode: oneOf("NONE"),
  workingType: oneOf("MARK_PRICE"),
  priceMatch: oneOf("NONE"),
  closePosition: oneOf(true),
  priceProtect: oneOf(false),
  reduceOnly: oneOf(true),
  activatePrice: anyText,
  callbackRate: anyText,
  createTime: whole,
  updateTime: whole,
  triggerTime: whole,
  goodTillDate: oneOf(0),
  waitsForEntry: flag,
  endReason: anyText,
};
const leg = exactly({ ...LEG, entryOrderId: oneOf(null) });
const legOfEntry = exactly({ ...LEG, entryOrderId: whole });
const trade = exactly({
  symbol: text,
  id: whole,
  orderId: whole,
  side: oneOf("BUY", "SELL"),
  positionSide: oneOf("BOTH"),
  price: priceDigits,
  qty: lotDigits,
  quoteQty: decimal,
  realizedPnl: signedEightDecimals,
  commission: eightDecimals,
  commissionAsset: oneOf("USDT"),
  time: whole,
  buyer: flag,
  maker: flag,
});

const settings = {
  feeTier: whole,
  canTrade: flag,
  canDeposit: flag,
  canWithdraw: flag,
  dualSidePosition: oneOf(false),
  multiAssetsMargin: oneOf(false),
  tradeGroupId: oneOf(-1),
  updateTime: whole,
};
const ofPosition = {
  symbol: text,
  positionSide: oneOf("BOTH"),
  positionAmt: lotDigits,
  entryPrice: decimal,
  breakEvenPrice: decimal,
  leverage: text,
  notional: signedEightDecimals,
  isolatedMargin: signedEightDecimals,
  isolatedWallet: eightDecimals,
  initialMargin: eightDecimals,
  maintMargin: eightDecimals,
  positionInitialMargin: eightDecimals,
  openOrderInitialMargin: eightDecimals,
  bidNotional: eightDecimals,
  askNotional: eightDecimals,
  updateTime: whole,
};
const risk = exactly({
  ...ofPosition,
  markPrice: eightDecimals,
  unRealizedProfit: signedEightDecimals,
  liquidationPrice: decimal,
  marginType: oneOf("isolated"),
  isAutoAddMargin: oneOf("false"),
  maxNotionalValue: decimal,
  marginAsset: oneOf("USDT"),
  adl: whole,
});
const position = exactly({
  ...ofPosition,
  unrealizedProfit: signedEightDecimals,
  isolated: oneOf(true),
  maxNotional: decimal,
});
const asset = exactly({
  asset: oneOf("USDT"),
  walletBalance: eightDecimals,
  unrealizedProfit: signedEightDecimals,
  marginBalance: eightDecimals,
  maintMargin: eightDecimals,
  initialMargin: eightDecimals,
  positionInitialMargin: eightDecimals,
  openOrderInitialMargin: eightDecimals,
  crossWalletBalance: eightDecimals,
  crossUnPnl: eightDecimals,
  availableBalance: eightDecimals,
  maxWithdrawAmount: eightDecimals,
  marginAvailable: oneOf(true),
  updateTime: whole,
});
const account = exactly({
  ...settings,
  feeBurn: oneOf(false),
  totalInitialMargin: eightDecimals,
  totalMaintMargin: eightDecimals,
  totalWalletBalance: eightDecimals,
  totalUnrealizedProfit: signedEightDecimals,
  totalMarginBalance: eightDecimals,
  totalPositionInitialMargin: eightDecimals,
  totalOpenOrderInitialMargin: eightDecimals,
  totalCrossWalletBalance: eightDecimals,
  totalCrossUnPnl: eightDecimals,
  availableBalance: eightDecimals,
  maxWithdrawAmount: eightDecimals,
  assets: rowOf(asset),
  positions: listOf(position),
});
const balance = exactly({
  accountAlias: text,
  asset: oneOf("USDT"),
  balance: eightDecimals,
  crossWalletBalance: eightDecimals,
  crossUnPnl: eightDecimals,
  availableBalance: eightDecimals,
  maxWithdrawAmount: eightDecimals,
  marginAvailable: oneOf(true),
  updateTime: whole,
});
const income = exactly({
  symbol: anyText,
  incomeType: oneOf("TRANSFER", "COMMISSION", "REALIZED_PNL", "FUNDING_FEE", "INSURANCE_CLEAR"),
  income: signedEightDecimals,
  asset: oneOf("USDT"),
  info: text,
  time: whole,
  tranId: whole,
  tradeId: anyText,
});
const bracket = exactly({
  bracket: whole,
  initialLeverage: whole,
  notionalCap: number,
  notionalFloor: number,
  maintMarginRatio: number,
  cum: number,
});
const brackets = exactly({ symbol: text, brackets: listOf(bracket) });
const config = exactly({
  symbol: text,
  marginType: oneOf("ISOLATED"),
  isAutoAddMargin: oneOf(false),
  leverage: whole,
  maxNotionalValue: decimal,
});
const success = exactly({ code: oneOf(200), msg: oneOf("success") });
const allCanceled = exactly({
  code: oneOf(200),
  msg: oneOf("The operation of cancel all open order is done."),
});

describe("the signed futures routes have exactly their keys and types", () => {
  test("through the life of orders, a position and its legs", async () => {
    const strategy = await gateway.seed("FUTURES");
    const ask = futuresTrader(gateway.callsOf(strategy));
    const leverage = await ask.setLeverage({ symbol, leverage: 10 });
    expectAnswer(leverage, exactly({ leverage: oneOf(10), maxNotionalValue: decimal, symbol: text }));
    expectAnswer(await ask.place({ symbol, side: "BUY", type: "MARKET", quantity: "0.02" }), order);
    const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.01" };
    const resting = await ask.place({ ...limit, price: "50000" });
    expectAnswer(resting, order);
    const { orderId } = resting.body;
    expectAnswer(await ask.query({ symbol, orderId }), order);
    expectAnswer(await ask.queryOpen({ symbol, orderId }), order);
    expectAnswer(await ask.openOrders(), rowOf(order));
    expectAnswer(await ask.allOrders({ symbol }), rowOf(order, order));
    expectAnswer(await ask.userTrades({ symbol }), rowOf(trade));

    const stop = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "55000", closePosition: "true" };
    const placed = await ask.placeLeg(stop);
    expectAnswer(placed, leg);
    const { algoId } = placed.body;
    expectAnswer(await ask.queryLeg({ algoId }), leg);
    expectAnswer(await ask.openLegs(), rowOf(leg));
    expectAnswer(await ask.allLegs({ symbol }), rowOf(leg));

    expectAnswer(await ask.account(), account);
    expectAnswer(await ask.balance(), rowOf(balance));
    expectAnswer(await ask.positionRisk(), rowOf(risk));
    expectAnswer(await ask.positionRisk({ symbol: "ETHUSDT" }), rowOf(risk));
    expectAnswer(await ask.income(), rowOf(income, income));

    expectAnswer(await ask.cancel({ symbol, orderId }), order);
    const legs = { stopLossPrice: "49000", takeProfitPrice: "70000" };
    await ask.cancelLeg({ algoId });
    expectAnswer(await ask.place({ ...limit, price: "50000", ...legs }), entry);
    expectAnswer(await ask.openOrders(), rowOf(entry));
    expectAnswer(await ask.openLegs(), rowOf(legOfEntry, legOfEntry));
    expectAnswer(await ask.cancelAll({ symbol }), allCanceled);
    expectAnswer(await ask.allLegs({ symbol }), rowOf(leg, legOfEntry, legOfEntry));
    const other = await ask.placeLeg(stop);
    expectAnswer(
      await ask.cancelLeg({ algoId: other.body.algoId }),
      exactly({ algoId: whole, clientAlgoId: text, code: oneOf("200"), msg: oneOf("success") }),
    );
    await ask.placeLeg(stop);
    expectAnswer(await ask.cancelAllLegs({ symbol }), allCanceled);
    expectAnswer(
      await ask.close(),
      exactly({ strategyId: oneOf(strategy.strategyId), status: oneOf("CLOSED", "CLOSING") }),
    );
  });

  test.each([
    ["GET", "/fapi/v1/leverageBracket", {}, listOf(brackets)],
    ["GET", "/fapi/v1/leverageBracket", { symbol }, rowOf(brackets)],
    [
      "GET",
      "/fapi/v1/commissionRate",
      { symbol },
      exactly({ symbol: text, makerCommissionRate: oneOf("0.0002"), takerCommissionRate: oneOf("0.0005") }),
    ],
    ["GET", "/fapi/v1/accountConfig", {}, exactly(settings)],
    ["GET", "/fapi/v1/symbolConfig", {}, listOf(config)],
    ["GET", "/fapi/v1/symbolConfig", { symbol }, rowOf(config)],
    ["GET", "/fapi/v1/positionSide/dual", {}, exactly({ dualSidePosition: oneOf(false) })],
    ["GET", "/fapi/v1/multiAssetsMargin", {}, exactly({ multiAssetsMargin: oneOf(false) })],
    ["GET", "/fapi/v1/feeBurn", {}, exactly({ feeBurn: oneOf(false) })],
    ["POST", "/fapi/v1/marginType", { symbol, marginType: "ISOLATED" }, success],
  ] as const)("%s %s %j", async (method, path, parameters, shape) => {
    const call = gateway.callsOf(await gateway.seed("FUTURES"));
    expectAnswer(await call(method, path, parameters), shape);
  });

  test("exchangeInfo has the maximum number of legs, and our budgets", async () => {
    const { body } = await send(gateway.url, "GET", "/fapi/v1/exchangeInfo?symbol=ETHUSDT");
    expect(body.futuresType).toBe("U_MARGINED");
    expect(body.rateLimits.map(({ limit }: { limit: number }) => limit)).toEqual([1_200, 50, 1_200]);
    const row = contractRow(symbol);
    expect(body.symbols[0]).toEqual({
      ...row,
      filters: [...row.filters, { filterType: "MAX_NUM_ALGO_ORDERS", limit: 10 }],
    });
    expect(body.symbols).toHaveLength(2);
  });
});
