// The origin of executions, by the reference exchange's answers: its liquidations are limit orders whose
// client ids say so. Source: reference exchange, sections 11.8, 11.9, 12.2 and 15.6.
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contractRow } from "../../../test/support/own-contracts.ts";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { decimal } from "../../money/decimal.ts";
import { BodiesServer } from "./testing/bodies-server.ts";
import type { VenueClient } from "./venue.ts";
import { createVenues, type Venues } from "./venues.ts";

const HOUR_MS = 3_600_000;
const NOBODY: ReadonlySet<string> = new Set();

let server: BodiesServer;
let time: ManualTime;
let venues: Venues;
let client: VenueClient;

beforeEach(async () => {
  server = await BodiesServer.open();
  time = createManualTime();
  venues = createVenues({ wallNow: time.now, after: time.after, log: pino({ level: "silent" }) });
  // The venue's clock is a minute ahead.
  server.lay("GET /fapi/v1/time", { body: { serverTime: time.now() + 60_000 } });
  server.lay("GET /fapi/v1/exchangeInfo", { body: { rateLimits: [], symbols: [contractRow("BTCUSDT")] } });
  client = venues.venue(server.url, "FUTURES").account("account", { apiKey: "key", apiSecret: "secret" });
});
afterEach(async () => {
  await venues.close();
  await server[Symbol.asyncDispose]();
});

const trade = (id: number, orderId: number) => ({
  ...{ buyer: false, commission: "0.07819010", commissionAsset: "USDT", id, maker: false, orderId },
  ...{ price: "7819.01", qty: "0.002", quoteQty: "15.63802", realizedPnl: "-0.91539999", side: "SELL" },
  ...{ positionSide: "BOTH", symbol: "BTCUSDT", time: 1_569_514_978_020 },
});
const order = (clientOrderId: string, status = "FILLED") => ({
  body: { clientOrderId, type: "LIMIT", origType: "LIMIT", status, timeInForce: "IOC" },
});
const askedOf = (path: string) => server.asked.filter((asked) => asked.startsWith(`GET ${path} `));
const since = () => time.now() - HOUR_MS;

async function giversOf(known: ReadonlySet<string> = NOBODY) {
  const answer = await client.trades("BTCUSDT", { since: since(), known });
  if (answer.kind !== "OK") throw new Error(answer.kind);
  return answer.value?.map(({ venueOrderId, by }) => `${venueOrderId} ${by}`);
}

test("liquidations, ADL and settlements are the venue's; unknown orders are queried, once", async () => {
  const rows = [trade(1, 11), trade(2, 12), trade(3, 13), trade(4, 14), trade(5, 15), trade(6, 11)];
  server.lay("GET /fapi/v1/userTrades", { body: rows });
  server.lay(
    "GET /fapi/v1/order",
    order("autoclose-1596107620040000020"),
    order("adl_autoclose"),
    order("settlement_autoclose-1"),
    order("web_autoclose"),
  );
  const known = new Set(["15"]);
  const told = ["11 VENUE", "12 VENUE", "13 VENUE", "14 OTHER", "15 KNOWN", "11 VENUE"];
  expect(await giversOf(known)).toEqual(told);
  expect(await giversOf(known)).toEqual(told);
  expect(askedOf("/fapi/v1/order")).toHaveLength(4);
  // The venue's clock is known now.
  expect(askedOf("/fapi/v1/userTrades")[1]).toBe(
    `GET /fapi/v1/userTrades symbol=BTCUSDT&startTime=${since() + 60_000}&limit=1000`,
  );
  expect(await client.trades("BTCUSDT", { since: since(), known })).toMatchObject({
    value: [
      {
        ...{ side: "SELL", quantity: decimal("0.002"), quote: decimal("15.63802"), at: 1_569_514_978_020 },
        clientOrderId: "autoclose-1596107620040000020",
      },
      ...[{}, {}, {}, {}, {}],
    ],
  });
});

test("a liquidation in progress is not reported yet, and queried again", async () => {
  server.lay("GET /fapi/v1/userTrades", { body: [trade(1, 11)] });
  server.lay("GET /fapi/v1/order", order("autoclose-1", "PARTIALLY_FILLED"), order("autoclose-1", "EXPIRED"));
  expect(await giversOf()).toEqual(["11 UNKNOWN"]);
  expect(await giversOf()).toEqual(["11 VENUE"]);
});

test("an order that the venue does not show yet is queried again: it may be its owner's", async () => {
  server.lay("GET /fapi/v1/userTrades", { body: [trade(1, 11)] });
  const hidden = { status: 400, body: { code: -2013, msg: "Order does not exist." } };
  server.lay("GET /fapi/v1/order", hidden, order("web_1"));
  const clientIds = async () => {
    const answer = await client.trades("BTCUSDT", { since: since(), known: NOBODY });
    return answer.kind === "OK" ? answer.value?.map(({ clientOrderId }) => clientOrderId) : answer.kind;
  };
  expect(await clientIds()).toEqual([""]);
  expect(await clientIds()).toEqual(["web_1"]);
});

test("very many orders of others are queried in parts", async () => {
  server.lay("GET /fapi/v1/userTrades", {
    body: Array.from({ length: 30 }, (_, index) => trade(index + 1, index + 1)),
  });
  server.lay("GET /fapi/v1/order", order("web_1"));
  expect((await giversOf())?.filter((giver) => giver.endsWith("UNKNOWN"))).toHaveLength(10);
  expect((await giversOf())?.filter((giver) => giver.endsWith("UNKNOWN"))).toEqual([]);
  expect(askedOf("/fapi/v1/order")).toHaveLength(30);
});

test("more than a page is gone on with by id, without a time", async () => {
  const page = Array.from({ length: 1_000 }, (_, index) => trade(index + 1, 11));
  server.lay("GET /fapi/v1/userTrades", { body: page }, { body: [trade(1_001, 11)] });
  expect(await giversOf(new Set(["11"]))).toHaveLength(1_001);
  expect(askedOf("/fapi/v1/userTrades")[1]).toBe(
    "GET /fapi/v1/userTrades symbol=BTCUSDT&fromId=1001&limit=1000",
  );
});

test("what is more than can be listed, or of a contract that is gone, is nothing that could be believed", async () => {
  const page = Array.from({ length: 1_000 }, (_, index) => trade(index + 1, 11));
  server.lay("GET /fapi/v1/userTrades", { body: page });
  expect(await giversOf()).toBeUndefined();
  server.lay("GET /fapi/v1/userTrades", { status: 400, body: { code: -1121, msg: "Invalid symbol." } });
  expect(await client.trades("BTCUSDT", { since: since(), known: NOBODY })).toEqual({
    kind: "OK",
    value: null,
  });
});

test("times further back than the venue permits are not requested", async () => {
  server.lay("GET /fapi/v1/userTrades", { body: [] });
  await client.trades("BTCUSDT", { since: time.now() - 30 * 24 * HOUR_MS, known: NOBODY });
  const startTime = time.now() - 6 * 24 * HOUR_MS;
  expect(askedOf("/fapi/v1/userTrades")[0]).toContain(`startTime=${startTime}`);
});

test("what the insurance fund took is a sum of incomes", async () => {
  const income = (amount: string) => ({ symbol: "BTCUSDT", incomeType: "INSURANCE_CLEAR", income: amount });
  server.lay("GET /fapi/v1/income", { body: [income("-4.33700000"), income("-0.5")] });
  const between = { from: 1_000, until: 2_000 };
  expect(await client.clearance("BTCUSDT", between)).toEqual({ kind: "OK", value: decimal("4.837") });
  expect(server.asked.at(-1)).toBe(
    "GET /fapi/v1/income symbol=BTCUSDT&incomeType=INSURANCE_CLEAR&startTime=1000&endTime=2000&limit=1000",
  );
  server.lay("GET /fapi/v1/income", { body: [income("3")] });
  expect(await client.clearance("BTCUSDT", between)).toEqual({ kind: "OK", value: 0n });
});
