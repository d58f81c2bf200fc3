// Answers of the reference exchange where our own gateway's differ, in their published formats. Source:
// reference exchange, sections 7, 11, 12 and 13.
import pino from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contractRow } from "../../../test/support/own-contracts.ts";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { decimal, type Quantity } from "../../money/decimal.ts";
import { CONFIRM_AFTER_MS } from "./answers.ts";
import { BodiesServer } from "./testing/bodies-server.ts";
import { pairRow } from "./testing/own-pairs.ts";
import { order } from "./testing/venue-fixture.ts";
import type { VenueClient } from "./venue.ts";
import {
  createVenues,
  PRICES_AGE_LIMITED_MS,
  PRICES_AGE_MAX_MS,
  RULES_AGE_MAX_MS,
  RULES_RETRY_MS,
  type Venues,
} from "./venues.ts";

const RATE_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 6_000 },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 100 },
];
/** All fills that are listed of an order. */
const LISTED = { symbol: "BTCUSDT", venueOrderId: "28", executed: null };
const CREDENTIALS = { apiKey: "key", apiSecret: "secret" };

let server: BodiesServer;
let time: ManualTime;
let venues: Venues;

beforeEach(async () => {
  server = await BodiesServer.open();
  time = createManualTime();
  venues = createVenues({ wallNow: time.now, after: time.after, log: pino({ level: "silent" }) });
  const serverTime = { body: { serverTime: time.now() } };
  server.lay("GET /api/v3/time", serverTime);
  server.lay("GET /fapi/v1/time", serverTime);
  server.lay("GET /api/v3/exchangeInfo", {
    body: { rateLimits: RATE_LIMITS, symbols: [pairRow("BTCUSDT")] },
  });
  server.lay("GET /fapi/v1/exchangeInfo", {
    body: { rateLimits: RATE_LIMITS, symbols: [contractRow("BTCUSDT"), contractRow("NEWUSDT")] },
  });
});
afterEach(async () => {
  await venues.close();
  await server[Symbol.asyncDispose]();
});

const spot = (): VenueClient => venues.venue(server.url, "SPOT").account("account", CREDENTIALS);
const futures = (): VenueClient => venues.venue(server.url, "FUTURES").account("account", CREDENTIALS);

test("every venue has a report, by type", async () => {
  expect(venues.reports()).toEqual([]);
  server.lay("GET /api/v3/account", { body: { balances: [], canTrade: true } });
  server.lay("GET /fapi/v3/account", { status: 502, body: "" });
  expect(await spot().balances()).toMatchObject({ kind: "OK" });
  expect(await futures().balances()).toMatchObject({ kind: "UNKNOWN" });
  expect(venues.reports()).toMatchObject([
    { origin: server.url, type: "SPOT", health: { isReachable: true, lastAnswerAt: time.now() } },
    { origin: server.url, type: "FUTURES", health: { isReachable: false, answers: { unknown: 1 } } },
  ]);
});

describe("spot", () => {
  const placed = {
    symbol: "BTCUSDT",
    orderId: 28,
    orderListId: -1,
    clientOrderId: "one",
    transactTime: 1_507_725_176_595,
    price: "0.00000000",
    origQty: "0.00300000",
    executedQty: "0.00300000",
    origQuoteOrderQty: "0.000000",
    cummulativeQuoteQty: "180.00000000",
    status: "FILLED",
    timeInForce: "GTC",
    type: "MARKET",
    side: "BUY",
  };
  const fill = (qty: string, price: string, commission: string, commissionAsset: string) => ({
    price,
    qty,
    commission,
    commissionAsset,
    tradeId: 56,
  });

  test.each([
    ["more executed than was ordered", { executedQty: "0.00300001" }],
    ["executed below zero", { executedQty: "-0.003" }],
    ["paid below zero", { cummulativeQuoteQty: "-180" }],
    ["paid without anything executed", { executedQty: "0" }],
    ["executed without anything paid", { cummulativeQuoteQty: "0" }],
  ])("%s is not believed, and so not known", async (_, said) => {
    server.lay("POST /api/v3/order", { body: { ...placed, ...said } });
    server.lay("GET /api/v3/order", { body: { ...placed, ...said } });
    const client = spot();
    const market = order({ type: "MARKET", quantity: decimal("0.003"), clientOrderId: "one" });
    expect(await client.place(market)).toMatchObject({ kind: "UNKNOWN" });
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "UNKNOWN" });
  });

  test("without a route for key rights they are unreported; after a silence they are unknown", async () => {
    server.lay("GET /api/v3/account", { body: { balances: [], canTrade: true } });
    server.lay("GET /sapi/v1/account/apiRestrictions", { status: 404, body: "" });
    expect(await spot().check()).toMatchObject({ kind: "OK", value: { canWithdraw: null } });
    server.lay("GET /sapi/v1/account/apiRestrictions", { status: 400, body: "" });
    expect(await spot().check()).toMatchObject({ kind: "UNKNOWN" });
  });

  test("the fills of a placement are its fees: nothing more is asked", async () => {
    const fills = [fill("0.001", "59990", "0.000001", "BTC"), fill("0.002", "60005", "0.12001", "USDT")];
    server.lay("POST /api/v3/order", { body: { ...placed, fills } });
    const client = spot();
    const answer = await client.place(
      order({ type: "MARKET", quantity: decimal("0.003"), clientOrderId: "one" }),
    );
    expect(answer).toMatchObject({
      kind: "OK",
      value: {
        venueOrderId: "28",
        executedQuote: decimal("180"),
        updatedAt: 1_507_725_176_595,
        fills: { fee: decimal("0.18"), feeInBase: decimal("0.000001") },
      },
    });
    expect(server.asked.filter((asked) => asked.includes("myTrades"))).toEqual([]);
    expect(server.asked).toContain(
      "POST /api/v3/order symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.003&newClientOrderId=one&newOrderRespType=FULL",
    );
  });

  test("fees in a third asset are requested, and valued at its price", async () => {
    const fills = [fill("0.003", "60000", "0.00025", "BNB")];
    server.lay("POST /api/v3/order", { body: { ...placed, fills } });
    server.lay("GET /api/v3/myTrades", { body: [{ ...fills[0], id: 56, orderId: 28 }] });
    server.lay("GET /api/v3/ticker/price", { body: [{ symbol: "BNBUSDT", price: "600.00000000" }] });
    const client = spot();
    await client.place(order({ type: "MARKET", quantity: decimal("0.003"), clientOrderId: "one" }));
    const value = { fee: decimal("0.15"), feeInBase: 0n };
    expect(await client.fills(LISTED)).toEqual({
      kind: "OK",
      value,
    });
  });

  test("fills that do not add up to what was executed say nothing of fees; what came later is not counted", async () => {
    const row = { ...fill("0.001", "60000", "0.06", "USDT"), orderId: 28 };
    server.lay(
      "GET /api/v3/myTrades",
      { body: [] },
      { body: [{ ...row, id: 1 }] },
      { body: [1, 2, 3].map((id) => ({ ...row, id })) },
    );
    const asked = { symbol: "BTCUSDT", venueOrderId: "28", executed: decimal<Quantity>("0.002") };
    const client = spot();
    expect(await client.fills(asked)).toEqual({ kind: "OK", value: null });
    expect(await client.fills(asked)).toEqual({ kind: "OK", value: null });
    expect(await client.fills(asked)).toMatchObject({ value: { fee: decimal("0.12") } });
    expect(await client.fills({ ...asked, executed: decimal("0.0025") })).toEqual({
      kind: "OK",
      value: null,
    });
  });

  test("fills of another order are not believed: its fees stay unknown", async () => {
    server.lay("GET /api/v3/myTrades", {
      body: [{ ...fill("0.003", "60000", "0.18", "USDT"), id: 1, orderId: 29 }],
    });
    expect(await spot().fills(LISTED)).toMatchObject({ kind: "UNKNOWN" });
  });

  test("fees of several orders are listed at once; those that do not add up yet are left out", async () => {
    const row = fill("0.001", "60000", "0.06", "USDT");
    const of = (orderId: number, id: number) => ({ ...row, orderId, id });
    server.lay("GET /api/v3/myTrades", { body: [of(28, 1), of(29, 2), of(30, 3), of(28, 4)] });
    const size = (text: string) => decimal<Quantity>(text);
    const orders = new Map([
      ["28", size("0.002")],
      ["29", size("0.002")],
      ["31", size("0.001")],
    ]);
    const answer = await spot().fillsSince({ symbol: "BTCUSDT", since: 0, orders });
    expect(answer).toEqual({
      kind: "OK",
      value: new Map([["28", { fee: decimal("0.12"), feeInBase: 0n }]]),
    });
    const asked = server.asked.filter((each) => each.includes("myTrades"));
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toContain("orderId");
  });

  test("more fills than a page has are requested page by page", async () => {
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        ...fill("0.00001", "60000", "0.01", "USDT"),
        id: from + index,
      }));
    server.lay("GET /api/v3/myTrades", { body: rows(1, 1_000) }, { body: rows(1_001, 3) });
    expect(await spot().fills(LISTED)).toMatchObject({
      value: { fee: decimal("10.03") },
    });
    expect(server.asked.at(-1)).toBe("GET /api/v3/myTrades symbol=BTCUSDT&orderId=28&fromId=1001&limit=1000");
  });

  test("fees of a symbol that is listed no more are not reckoned", async () => {
    server.lay("GET /api/v3/exchangeInfo", { body: { rateLimits: RATE_LIMITS, symbols: [] } });
    server.lay("GET /api/v3/myTrades", { status: 400, body: { code: -1121, msg: "Invalid symbol." } });
    const value = { fee: 0n, feeInBase: 0n };
    expect(await spot().fills({ symbol: "OLDUSDT", venueOrderId: "28", executed: null })).toEqual({
      kind: "OK",
      value,
    });
  });

  test("account polls and fees wait once four fifths of the weight are used; an order goes", async () => {
    const headers = { "X-MBX-USED-WEIGHT-1M": "4800" };
    server.lay("GET /api/v3/account", { headers, body: { balances: [], canTrade: true } });
    server.lay("GET /api/v3/myTrades", { body: [{ ...fill("0.003", "60000", "0.18", "USDT"), id: 1 }] });
    const client = spot();
    // The venue has reported its limits before it reports what is left of them.
    expect(await venues.venue(server.url, "SPOT").rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await client.balances()).toMatchObject({ kind: "OK" });
    const looker = venues.venue(server.url, "SPOT").account("account", CREDENTIALS, { priority: "POLL" });
    expect(await looker.balances()).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    expect(await client.fills(LISTED)).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    server.lay("POST /api/v3/order", { body: placed });
    const sell = order({ type: "MARKET", side: "SELL", clientOrderId: "one" });
    expect(await client.place(sell)).toMatchObject({ kind: "OK" });
    time.advance(60_000);
    expect(await client.fills(LISTED)).toMatchObject({ value: { fee: decimal("0.18") } });
  });

  test("with nine tenths of the weight used an opening waits for the next minute; an exit goes", async () => {
    const headers = { "X-MBX-USED-WEIGHT-1M": "5400" };
    server.lay("GET /api/v3/account", { headers, body: { balances: [], canTrade: true } });
    server.lay("POST /api/v3/order", { body: placed });
    const client = spot();
    expect(await venues.venue(server.url, "SPOT").rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await client.balances()).toMatchObject({ kind: "OK" });
    const market = order({ type: "MARKET", clientOrderId: "one" });
    const opening = { ...market, priority: "OPEN" } as const;
    expect(await client.place(opening)).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    expect(await client.place({ ...market, side: "SELL", priority: "REDUCE" })).toMatchObject({ kind: "OK" });
    // Where the caller does not say, and where the order may only reduce, it goes as well.
    expect(await client.place(market)).toMatchObject({ kind: "OK" });
    expect(await client.place({ ...opening, reduceOnly: true })).toMatchObject({ kind: "OK" });
    time.advance(60_000);
    expect(await client.place(opening)).toMatchObject({ kind: "OK" });
  });

  test("with nothing left of the weight an exit goes, at the last prices", async () => {
    server.lay("GET /api/v3/ticker/price", {
      headers: { "X-MBX-USED-WEIGHT-1M": "5700" },
      body: [{ symbol: "BTCUSDT", price: "60000.00" }],
    });
    server.lay("POST /api/v3/order", { body: placed });
    const venue = venues.venue(server.url, "SPOT");
    expect(await venue.rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await venue.prices()).toMatchObject({ kind: "OK" });
    time.advance(PRICES_AGE_MAX_MS);
    const asked = server.asked.length;
    expect(await venue.prices()).toEqual({ kind: "OK", value: new Map([["BTCUSDT", decimal("60000")]]) });
    expect(server.asked).toHaveLength(asked);
    const client = spot();
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    const sale = order({ type: "MARKET", side: "SELL", clientOrderId: "one", priority: "REDUCE" });
    expect(await client.place(sale)).toMatchObject({ kind: "OK" });
  });

  test("prices of a minute ago are not used, whatever the limits are", async () => {
    const body = [{ symbol: "BTCUSDT", price: "60000.00" }];
    server.lay("GET /api/v3/ticker/price", { body }, { status: 429, body: { code: -1003, msg: "" } });
    const venue = venues.venue(server.url, "SPOT");
    expect(await venue.rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await venue.prices()).toMatchObject({ kind: "OK" });
    time.advance(PRICES_AGE_LIMITED_MS);
    expect(await venue.prices()).toMatchObject({ kind: "OK" });
    time.advance(PRICES_AGE_MAX_MS);
    expect(await venue.prices()).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
  });

  test("with more used than is assumed before the limits are known, they are asked for all the same", async () => {
    const headers = { "X-MBX-USED-WEIGHT-1M": "2000" };
    server.lay("GET /api/v3/time", { headers, body: { serverTime: time.now() } });
    server.lay("GET /api/v3/order", { body: placed });
    const client = spot();
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    expect(await venues.venue(server.url, "SPOT").rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "OK" });
  });

  test.each([
    ["another client id", { clientOrderId: "other" }],
    ["another symbol", { symbol: "ETHUSDT" }],
  ])("an answer that names %s is not believed: the order's outcome is not known", async (_, said) => {
    server.lay("POST /api/v3/order", { body: { ...placed, ...said } });
    server.lay("GET /api/v3/order", { body: { ...placed, ...said } });
    server.lay("DELETE /api/v3/order", { body: { ...placed, ...said, status: "CANCELED" } });
    const client = spot();
    const market = order({ type: "MARKET", quantity: decimal("0.003"), clientOrderId: "one" });
    expect(await client.place(market)).toMatchObject({ kind: "UNKNOWN" });
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "UNKNOWN" });
    expect(await client.cancel("BTCUSDT", "one")).toMatchObject({ kind: "UNKNOWN" });
  });

  test("a cancel of another order is not believed, whatever id the cancel itself has", async () => {
    const canceled = { ...placed, status: "CANCELED", origClientOrderId: "other", clientOrderId: "one" };
    server.lay("DELETE /api/v3/order", { body: canceled });
    expect(await spot().cancel("BTCUSDT", "one")).toMatchObject({ kind: "UNKNOWN" });
  });

  test("a cancel answers with a client id of its own, and keeps what was executed", async () => {
    const canceled = {
      ...placed,
      origClientOrderId: "one",
      clientOrderId: "cancelMyOrder1",
      status: "CANCELED",
      executedQty: "0.00100000",
      cummulativeQuoteQty: "60.00000000",
    };
    server.lay("DELETE /api/v3/order", { body: canceled });
    expect(await spot().cancel("BTCUSDT", "one")).toMatchObject({
      kind: "OK",
      value: { clientOrderId: "one", status: "CANCELED", executedQuantity: decimal("0.001") },
    });
  });

  test("a status or an amount that is not understood leaves the outcome open", async () => {
    for (const changed of [
      { status: "HALF" },
      { executedQty: "1e-5" },
      { executedQty: 0.001 },
      { orderId: null },
    ]) {
      server.lay("POST /api/v3/order", { body: { ...placed, ...changed } });
      const answer = await spot().place(order({ type: "MARKET", clientOrderId: "one" }));
      expect(answer.kind, JSON.stringify(changed)).toBe("UNKNOWN");
    }
  });

  test("the key's rights are reported where the venue has them; a rejected key is no silence", async () => {
    const account = {
      canTrade: true,
      balances: [{ asset: "USDT", free: "5.00000000", locked: "1.00000000" }],
    };
    const restrictions = { ipRestrict: false, enableWithdrawals: true, enableSpotAndMarginTrading: false };
    server.lay("GET /api/v3/account", { body: account });
    server.lay("GET /sapi/v1/account/apiRestrictions", { body: restrictions });
    expect(await spot().check()).toMatchObject({ kind: "OK", value: { canTrade: false, canWithdraw: true } });
    server.lay("GET /sapi/v1/account/apiRestrictions", { status: 404, body: "<html>" });
    expect(await spot().check()).toMatchObject({ kind: "OK", value: { canTrade: true, canWithdraw: null } });
    server.lay("GET /sapi/v1/account/apiRestrictions", {
      status: 401,
      body: { code: -2015, msg: "Invalid API-key." },
    });
    expect(await spot().check()).toMatchObject({ kind: "REJECTED" });
  });
});

describe("a key that the venue rejects", () => {
  const rejected = { status: 401, body: { code: -2015, msg: "Invalid API-key, IP, or permissions." } };
  const account = { body: { balances: [], canTrade: true } };

  const NOT_BELIEVED = { kind: "DELAYED", why: "REJECTED" };

  test("is final for a running copy when the venue repeats it three seconds later", async () => {
    server.lay("GET /api/v3/account", rejected);
    const client = spot();
    const until = time.now() + CONFIRM_AFTER_MS;
    expect(await client.balances()).toMatchObject({ ...NOT_BELIEVED, until });
    time.advance(CONFIRM_AFTER_MS - 1);
    expect(await client.balances()).toMatchObject(NOT_BELIEVED);
    time.advance(1);
    expect(await client.balances()).toMatchObject({ kind: "REJECTED", code: -2015 });
    expect(await client.balances()).toMatchObject({ kind: "REJECTED", code: -2015 });
  });

  test("is in order again once the venue accepts it: an earlier rejection counts no more", async () => {
    server.lay("GET /api/v3/account", rejected, account, rejected);
    const client = spot();
    expect(await client.balances()).toMatchObject(NOT_BELIEVED);
    time.advance(CONFIRM_AFTER_MS);
    expect(await client.balances()).toMatchObject({ kind: "OK" });
    expect(await client.balances()).toMatchObject(NOT_BELIEVED);
  });

  test("concerns neither another account, nor the key that replaces it", async () => {
    server.lay("GET /api/v3/account", rejected);
    const venue = venues.venue(server.url, "SPOT");
    expect(await spot().balances()).toMatchObject(NOT_BELIEVED);
    time.advance(CONFIRM_AFTER_MS);
    expect(await venue.account("other", CREDENTIALS).balances()).toMatchObject(NOT_BELIEVED);
    const replaced = { ...CREDENTIALS, apiSecret: "corrected" };
    expect(await venue.account("account", replaced).balances()).toMatchObject(NOT_BELIEVED);
  });

  test("is reported at once to a person who checks it, and has no effect on a running copy", async () => {
    server.lay("GET /api/v3/account", rejected);
    server.lay("GET /sapi/v1/account/apiRestrictions", rejected);
    server.lay("GET /fapi/v2/account", rejected);
    expect(await spot().check()).toMatchObject({ kind: "REJECTED", code: -2015 });
    expect(await spot().keyRights("SPOT")).toMatchObject({ kind: "REJECTED", code: -2015 });
    expect(await futures().check()).toMatchObject({ kind: "REJECTED", code: -2015 });
    time.advance(CONFIRM_AFTER_MS);
    expect(await spot().balances()).toMatchObject(NOT_BELIEVED);
  });

  test("a load balancer's page with status 401 rejects nothing, however often it comes", async () => {
    server.lay("GET /api/v3/account", { status: 401, body: "<html>401 Authorization Required</html>" });
    const client = spot();
    for (let each = 0; each < 3; each += 1) {
      expect(await client.balances()).toMatchObject({ kind: "UNKNOWN", status: 401 });
      expect(await client.check()).toMatchObject({ kind: "UNKNOWN", status: 401 });
      time.advance(CONFIRM_AFTER_MS);
    }
  });
});

test("rules that cannot be fetched again stay in use; a symbol that was never seen has none", async () => {
  const venue = venues.venue(server.url, "SPOT");
  const known = await venue.rules("BTCUSDT");
  expect(known).toMatchObject({ kind: "OK", value: { symbol: "BTCUSDT" } });
  server.lay("GET /api/v3/exchangeInfo", { status: 502, body: "<html>" });
  time.advance(RULES_AGE_MAX_MS);
  expect(await venue.rules("BTCUSDT")).toEqual(known);
  expect(await venue.rules("BTCUSDT")).toEqual(known);
  expect(server.asked.filter((asked) => asked.includes("exchangeInfo"))).toHaveLength(2);
  expect((await venue.rules("ETHUSDT")).kind).toBe("UNKNOWN");
  time.advance(RULES_RETRY_MS);
  const halted = { ...pairRow("BTCUSDT"), status: "HALT" };
  server.lay("GET /api/v3/exchangeInfo", { body: { rateLimits: RATE_LIMITS, symbols: [halted] } });
  expect(await venue.rules("BTCUSDT")).toMatchObject({ value: { status: "HALT" } });
});

describe("futures", () => {
  /** The newest form: what was paid is not in it. */
  const placed = {
    clientOrderId: "one",
    cumQty: "10",
    executedQty: "10",
    orderId: 22_542_179,
    origQty: "10",
    price: "0",
    reduceOnly: false,
    side: "BUY",
    positionSide: "BOTH",
    status: "FILLED",
    symbol: "BTCUSDT",
    type: "MARKET",
    updateTime: 1_566_818_724_722,
  };

  test("a fee in the asset that a contract is named after is taken from no position", async () => {
    const fill = { price: "600", qty: "3", commission: "0.0015", commissionAsset: "BTC" };
    server.lay("GET /fapi/v1/userTrades", { body: [{ ...fill, id: 1, orderId: 28 }] });
    const value = { fee: decimal("0.9"), feeInBase: 0n };
    expect(await futures().fills(LISTED)).toEqual({ kind: "OK", value });
  });

  test("an order that does not say what was paid is queried", async () => {
    server.lay("POST /fapi/v1/order", { body: placed });
    server.lay("GET /fapi/v1/order", { body: { ...placed, avgPrice: "9300.00000", cumQuote: "93000" } });
    const market = order({ type: "MARKET", quantity: decimal("10"), clientOrderId: "one", reduceOnly: true });
    expect(await futures().place(market)).toMatchObject({
      kind: "OK",
      value: { executedQuote: decimal("93000") },
    });
    expect(server.asked.at(-2)).toBe(
      "POST /fapi/v1/order symbol=BTCUSDT&side=BUY&type=MARKET&quantity=10&newClientOrderId=one&reduceOnly=true&newOrderRespType=RESULT",
    );
    server.lay("GET /fapi/v1/order", { status: 400, body: { code: -2013, msg: "Order does not exist." } });
    expect((await futures().place(market)).kind).toBe("UNKNOWN");
  });

  test("a margin type that is set already is no refusal", async () => {
    const unchanged = { code: -4046, msg: "No need to change margin type." };
    server.lay("POST /fapi/v1/marginType", { status: 400, body: unchanged });
    server.lay("POST /fapi/v1/leverage", {
      body: { leverage: 21, maxNotionalValue: "1000000", symbol: "BTCUSDT" },
    });
    expect(await futures().setLeverage("BTCUSDT", 21)).toEqual({ kind: "OK", value: null });
    expect(server.asked.slice(-2)).toEqual([
      "POST /fapi/v1/marginType symbol=BTCUSDT&marginType=ISOLATED",
      "POST /fapi/v1/leverage symbol=BTCUSDT&leverage=21",
    ]);
    server.lay("POST /fapi/v1/marginType", {
      status: 400,
      body: { code: -4048, msg: "there exists position." },
    });
    expect(await futures().setLeverage("BTCUSDT", 20)).toMatchObject({ kind: "REFUSED", code: -4048 });
  });

  test("a leg that is not found by its id is looked for among the open ones", async () => {
    const leg = { algoId: 2_146_760, clientAlgoId: "leg", algoStatus: "NEW", updateTime: 1_750_485_492_076 };
    server.lay("GET /fapi/v1/algoOrder", {
      status: 400,
      body: { code: -2013, msg: "Order does not exist." },
    });
    server.lay("GET /fapi/v1/openAlgoOrders", { body: [leg] });
    expect(await futures().findLeg("BTCUSDT", "leg")).toMatchObject({
      value: { status: "RESTING", venueOrderId: "2146760" },
    });
    server.lay("GET /fapi/v1/openAlgoOrders", { body: [] });
    expect(await futures().findLeg("BTCUSDT", "leg")).toEqual({ kind: "OK", value: null });
  });

  test("an answer that names another order, or another leg, is not believed", async () => {
    const filled = { ...placed, avgPrice: "9300.00000", cumQuote: "93000" };
    const market = order({ type: "MARKET", quantity: decimal("10"), clientOrderId: "one" });
    const client = futures();
    for (const other of [{ clientOrderId: "two" }, { symbol: "ETHUSDT" }]) {
      server.lay("POST /fapi/v1/order", { body: { ...filled, ...other } });
      expect(await client.place(market), JSON.stringify(other)).toMatchObject({ kind: "UNKNOWN" });
    }
    const leg = { symbol: "BTCUSDT", algoId: 7, clientAlgoId: "leg", algoStatus: "NEW", updateTime: 1 };
    for (const other of [{ clientAlgoId: "other" }, { symbol: "ETHUSDT" }]) {
      server.lay("GET /fapi/v1/algoOrder", { body: { ...leg, ...other } });
      server.lay("DELETE /fapi/v1/algoOrder", { body: { ...leg, ...other } });
      expect(await client.findLeg("BTCUSDT", "leg"), JSON.stringify(other)).toMatchObject({
        kind: "UNKNOWN",
      });
      expect(await client.cancelLeg("BTCUSDT", "leg"), JSON.stringify(other)).toMatchObject({
        kind: "UNKNOWN",
      });
    }
  });

  test("the order that a leg became may have a client id of its own, but not another order id", async () => {
    const leg = { symbol: "BTCUSDT", algoId: 7, clientAlgoId: "leg", updateTime: 1 };
    server.lay("GET /fapi/v1/algoOrder", { body: { ...leg, algoStatus: "FINISHED", actualOrderId: "28" } });
    const fired = { ...placed, clientOrderId: "its-own", orderId: 28, cumQuote: "93000" };
    server.lay("GET /fapi/v1/order", { body: fired });
    expect(await futures().findLeg("BTCUSDT", "leg")).toMatchObject({
      kind: "OK",
      value: { clientOrderId: "leg", venueOrderId: "28", executedQuote: decimal("93000") },
    });
    server.lay("GET /fapi/v1/order", { body: { ...fired, orderId: 29 } });
    expect(await futures().findLeg("BTCUSDT", "leg")).toMatchObject({ kind: "UNKNOWN" });
  });

  test("with the whole weight of a minute used an exit and a stop still go: they cost only the order count", async () => {
    const headers = { "X-MBX-USED-WEIGHT-1M": "6001" };
    server.lay("GET /fapi/v3/account", { headers, body: { assets: [], positions: [] } });
    server.lay("POST /fapi/v1/order", { body: { ...placed, cumQuote: "93000" } });
    const leg = { symbol: "BTCUSDT", algoId: 7, clientAlgoId: "leg", algoStatus: "NEW", updateTime: 1 };
    server.lay("POST /fapi/v1/algoOrder", { body: leg });
    const client = futures();
    expect(await venues.venue(server.url, "FUTURES").rules("BTCUSDT")).toMatchObject({ kind: "OK" });
    expect(await client.balances()).toMatchObject({ kind: "OK" });
    expect(await client.find("BTCUSDT", "one")).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    const exit = order({ type: "MARKET", quantity: decimal("10"), clientOrderId: "one", reduceOnly: true });
    expect(await client.place(exit)).toMatchObject({ kind: "OK" });
    const stop = { symbol: "BTCUSDT", side: "SELL", type: "STOP_MARKET", clientOrderId: "leg" } as const;
    expect(await client.placeLeg({ ...stop, triggerPrice: decimal("50000") })).toMatchObject({ kind: "OK" });
    const opening = { ...exit, reduceOnly: false, priority: "OPEN" } as const;
    expect(await client.place(opening)).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
  });

  test("an account that has nothing yet, one with both modes, and contracts that we have no brackets of", async () => {
    const account = { canTrade: true, assets: [], positions: [{ symbol: "BTCUSDT", positionAmt: "0.000" }] };
    server.lay("GET /fapi/v2/account", { body: account });
    server.lay("GET /fapi/v1/positionSide/dual", { body: { dualSidePosition: true } });
    expect(await futures().check()).toMatchObject({
      kind: "OK",
      value: {
        balances: { wallet: 0n, available: 0n, held: new Map() },
        isHedgeMode: true,
        canWithdraw: null,
      },
    });
    const rules = await venues.venue(server.url, "FUTURES").rules("NEWUSDT");
    expect(rules).toMatchObject({ kind: "OK", value: { symbol: "NEWUSDT", contract: { brackets: [] } } });
  });
});
