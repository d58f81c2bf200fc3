// The budgets of the bot routes, each rule as a test, under manual time, since a window shows only at its
// edge. Budgets and bans are shared with the exchange-style routes, outlive the process and hold across
// processes on one database. Source: specification 7.1, 7.2, 8.1 and 8.2; design, section 6.
import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMarketFeed, type MarketFeed } from "../../../src/market/client/feed.ts";
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { type BotClient, botClient } from "../../support/bot-client.ts";
import { misfits } from "../../support/bot-shapes.ts";
import { type OwnClockGateway, openGateway } from "../../support/own-clock.ts";
import { exchange, type RawAnswer } from "../../support/raw.ts";
import { type Credentials, newDirectory } from "../../support/servers/gateway.ts";
import { signed } from "../../support/signed-client.ts";
import { seedMany, supplyOf } from "../../support/strategies.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
/** A full minute by the clock. */
const T = 29_920_000 * MINUTE;
/** Refused for funds, so that it changes nothing. */
const ORDER = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "1" };
const NOBODYS = "7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11";
const TOO_MANY_READS = "Too many reads; current limit is 60 requests per 10 SECOND.";
const TOO_MANY_ORDERS = "Too many new orders; current limit is 50 orders per 10 SECOND.";

let market: MarketFeed;
let dataDir: string;
let takeStrategy: () => Credentials;
let takeFutures: () => Credentials;
const closing: (() => Promise<void>)[] = [];

let now: number;
let gateway: OwnClockGateway;
let opened: OwnClockGateway[];
let key: Credentials;
let bot: BotClient;

beforeAll(async () => {
  const simulated = await openSimulatedExchange({ seed: 1 });
  closing.push(() => simulated.close());
  market = createMarketFeed({
    type: "SPOT",
    ...simulated,
    clock: { now: () => Date.now() },
    log: pino({ level: "silent" }),
    asksAboutQuietSymbols: false,
    isMetered: false,
  });
  closing.push(async () => market.close());
  await market.start();
  dataDir = newDirectory();
  takeStrategy = supplyOf(await seedMany(dataDir, 40));
  takeFutures = supplyOf(await seedMany(dataDir, 2, "FUTURES"));
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Cases are hours apart, so that none finds what another has used up. */
let cases = 0;

beforeEach(async () => {
  cases += 1;
  now = T + cases * 60 * MINUTE;
  opened = [];
  gateway = await open();
  key = takeStrategy();
  bot = botOf(key);
});

afterEach(async () => {
  for (const each of opened) await each.kill();
});

async function open(): Promise<OwnClockGateway> {
  const another = await openGateway({ dataDir, market, wallNow: () => now });
  opened.push(another);
  return another;
}

function botOf(credentials: Credentials, at = gateway): BotClient {
  return botClient(at.url, credentials, () => now);
}

async function repeat(times: number, ask: () => Promise<{ status: number }>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let count = 0; count < times; count += 1) statuses.add((await ask()).status);
  return statuses;
}

function expectRefused(answer: RawAnswer, status: number, message: string, retryAfterSeconds: number): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { status: false, message } });
  expect(answer.headers["retry-after"]).toBe(String(retryAfterSeconds));
}

/** A placement of the exchange-style family, which a check after the budgets refuses. */
const place = () => signed(gateway.url, key, "POST", "/api/v3/order", { side: "?", timestamp: now });
const account = () => signed(gateway.url, key, "GET", "/api/v3/account", { timestamp: now });

describe("an answer has the usage of the budget that its request is charged to", () => {
  const READS = "x-bot-used-reads-10s";
  const ORDER_COUNTS = ["x-mbx-order-count-10s", "x-mbx-order-count-1m"] as const;
  const WEIGHT = "x-mbx-used-weight-1m";
  const usedIn = ({ headers }: RawAnswer) =>
    Object.fromEntries(
      [READS, ...ORDER_COUNTS, WEIGHT].flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])),
    );

  test("reads in a header of their own, submissions and the rest as placements and weight elsewhere", async () => {
    expect(usedIn(await bot.pairs())).toEqual({ [READS]: "1" });
    expect(usedIn(await bot.signal(NOBODYS))).toEqual({ [READS]: "2" });
    await place();
    expect(usedIn(await bot.submit(ORDER, "a"))).toEqual({ [ORDER_COUNTS[0]]: "2", [ORDER_COUNTS[1]]: "2" });
    expect(usedIn(await bot.submit("{", "b"))).toEqual({ [ORDER_COUNTS[0]]: "3", [ORDER_COUNTS[1]]: "3" });
    // What was placed under /api/v3 has weighed 1 as well.
    expect(usedIn(await bot.cancel(NOBODYS))).toEqual({ [WEIGHT]: "2" });
  });

  test("refusals by the budget too, and none of unsigned requests", async () => {
    await repeat(60, () => bot.pairs());
    expect(usedIn(await bot.pairs())).toEqual({ [READS]: "61" });
    const stranger = botOf({ ...key, apiSecret: "0".repeat(64) });
    expect(usedIn(await stranger.pairs())).toEqual({});
  });
});

describe("the read bucket: 60 requests per 10 seconds per key", () => {
  test.each<[string, () => Promise<RawAnswer>]>([
    ["GET pairs", () => bot.pairs()],
    ["POST test", () => bot.test({})],
    ["GET orders", () => bot.signals()],
    ["GET signals/<signalId>", () => bot.signal(NOBODYS)],
  ])("%s: the 61st is refused 429 until the ten seconds are over", async (_route, read) => {
    expect((await repeat(60, read)).has(429)).toBe(false);
    now += 2_500;
    expectRefused(await read(), 429, TOO_MANY_READS, 8);
    now += 7_499;
    expectRefused(await read(), 429, TOO_MANY_READS, 1);
    now += 1;
    expect((await read()).status).not.toBe(429);
  });

  test("is one for all reads", async () => {
    await repeat(20, () => bot.pairs());
    await repeat(20, () => bot.test());
    await repeat(10, () => bot.signals());
    await repeat(10, () => bot.signal(NOBODYS));
    for (const read of [bot.pairs(), bot.test(), bot.signals(), bot.signal(NOBODYS)]) {
      expect((await read).status).toBe(429);
    }
  });

  test("its window is the clock's ten seconds, not ten seconds from the first request", async () => {
    now += 10 * SECOND - 1;
    expect(await repeat(60, () => bot.pairs())).toEqual(new Set([200]));
    now += 1;
    expect(await repeat(60, () => bot.pairs())).toEqual(new Set([200]));
  });

  test("is each key's own, and a futures key has one too", async () => {
    await repeat(61, () => bot.pairs());
    expect((await botOf(takeStrategy()).pairs()).status).toBe(200);
    const futures = botOf(takeFutures());
    expect(await repeat(60, () => futures.pairs())).toEqual(new Set([200]));
    expect((await futures.pairs()).status).toBe(429);
  });

  test("takes nothing from the others: a key that has read all may submit, cancel and use the exchange-style routes", async () => {
    await repeat(61, () => bot.pairs());
    expect((await bot.submit(ORDER, "a")).status).toBe(202);
    expect((await bot.cancel(NOBODYS)).status).toBe(404);
    const answer = await account();
    expect(answer.status).toBe(200);
    // The account's own weight and the cancellation's.
    expect(answer.headers.get("x-mbx-used-weight-1m")).toBe("21");
  });

  test("what is refused otherwise is charged, too; what is not authenticated is not", async () => {
    const futures = botOf(takeFutures());
    expect(await repeat(60, () => futures.signals())).toEqual(new Set([400]));
    expect((await futures.pairs()).status).toBe(429);
    const stranger = botClient(gateway.url, { ...key, apiSecret: "" }, () => now);
    expect(await repeat(61, () => stranger.pairs())).toEqual(new Set([401]));
    expect((await bot.pairs()).status).toBe(200);
  });

  test("holds across processes on one database, and outlives them", async () => {
    const other = await open();
    await repeat(30, () => bot.pairs());
    await repeat(30, () => botOf(key, other).pairs());
    for (const each of [gateway, other, gateway]) await each.turn();
    expect((await bot.pairs()).status).toBe(429);
    expect((await botOf(key, other).pairs()).status).toBe(429);
    await gateway.stop();
    gateway = await open();
    expect((await botOf(key).pairs()).status).toBe(429);
  });
});

describe("submissions", () => {
  let sent = 0;
  const submit = () => {
    sent += 1;
    return bot.submit(ORDER, `key ${sent}`);
  };

  test("are placements: the 51st in ten seconds is refused 429, and is not recorded", async () => {
    expect(await repeat(50, submit)).toEqual(new Set([202]));
    expectRefused(await submit(), 429, TOO_MANY_ORDERS, 10);
    expect((await bot.signals()).body.data).toHaveLength(50);
    now += 10 * SECOND;
    expect((await submit()).status).toBe(202);
  });

  test("share the order count with the exchange-style placements", async () => {
    expect(await repeat(25, submit)).toEqual(new Set([202]));
    expect(await repeat(25, place)).toEqual(new Set([400]));
    expect((await submit()).status).toBe(429);
    expect((await place()).body.code).toBe(-1015);
  });

  test("count when they are replayed, malformed or refused", async () => {
    await bot.submit(ORDER, "a");
    await repeat(16, () => bot.submit(ORDER, "a"));
    await repeat(16, () => bot.submit("{", "b"));
    await repeat(17, () => bot.post("/bot/v1/spot/orders", ORDER));
    expect((await bot.submit(ORDER, "a")).status).toBe(429);
  });

  test("need no weight, and none of the read bucket", async () => {
    await repeat(60, account);
    expect((await account()).status).toBe(429);
    expect((await submit()).status).toBe(202);
    const answer = await account();
    expect(answer.headers.get("x-mbx-used-weight-1m")).toBe(String(62 * 20));
  });
});

describe("cancel and close", () => {
  test("weigh 1 of the key's 1,200 a minute, which the exchange-style routes share", async () => {
    await repeat(59, account);
    expect(await repeat(20, () => bot.cancel(NOBODYS))).toEqual(new Set([404]));
    const tooMuch = await bot.cancel(NOBODYS);
    expect(tooMuch.status).toBe(429);
    expect(tooMuch.body.message).toMatch(/^Too much request weight used; current limit is 1200 /);
    expect(tooMuch.headers["retry-after"]).toBe("60");
    expect((await bot.close()).status).toBe(429);
    expect((await account()).status).toBe(429);
    now += MINUTE;
    expect((await bot.close()).status).toBe(200);
  });
});

describe("the ban", () => {
  const inTwoMinutes = () => new Date(now + 2 * MINUTE).toISOString();

  test("ten 429s inside a minute ban the key on both families for two minutes: 418", async () => {
    await repeat(60, () => bot.pairs());
    expect(await repeat(10, () => bot.pairs())).toEqual(new Set([429]));
    for (const banned of [await bot.pairs(), await bot.submit(ORDER, "a"), await bot.close()]) {
      expectRefused(banned, 418, `This key is banned until ${inTwoMinutes()}`, 120);
    }
    expect((await account()).status).toBe(418);
    expect((await botOf(takeStrategy()).pairs()).status).toBe(200);
    now += 2 * MINUTE;
    expect((await bot.pairs()).status).toBe(200);
  });

  test("of a key that the exchange-style routes began holds here, before any other check", async () => {
    await repeat(60, account);
    expect(await repeat(10, account)).toEqual(new Set([429]));
    const headers = { "x-bot-api-key": key.apiKey };
    expect((await exchange(gateway.url, { method: "GET", path: "/bot/v1/spot/pairs", headers })).status).toBe(
      418,
    );
    expect((await bot.signals()).status).toBe(418);
  });

  test("counts the 429s of both families together, and those of all bot budgets", async () => {
    await repeat(60, () => bot.pairs());
    await repeat(4, () => bot.pairs());
    await repeat(50, () => bot.submit("{", "a"));
    await repeat(3, () => bot.submit("{", "a"));
    expect(await repeat(3, place)).toEqual(new Set([429]));
    expect((await bot.cancel(NOBODYS)).status).toBe(418);
  });

  test("of an address does not concern signed requests", async () => {
    const headers = { "x-forwarded-for": "192.0.2.77" };
    const fail = () => exchange(gateway.url, { method: "GET", path: "/bot/v1/spot/pairs", headers });
    expect(await repeat(1_200, fail)).toEqual(new Set([401]));
    expect(await repeat(10, fail)).toEqual(new Set([429]));
    const said = `This address is banned until ${inTwoMinutes()}`;
    expectRefused(await fail(), 418, said, 120);
    // Nor does a key that is merely named.
    const named = { ...headers, "x-bot-api-key": key.apiKey };
    const forged = await exchange(gateway.url, { method: "GET", path: "/bot/v1/spot/pairs", headers: named });
    expectRefused(forged, 418, said, 120);
    expect((await bot.get("/bot/v1/spot/pairs", { headers })).status).toBe(200);
  });
});

test("failed authentications are charged to the address: the 1,201st in a minute is refused 429", async () => {
  const headers = { "x-forwarded-for": "192.0.2.78" };
  const stranger = botClient(gateway.url, { ...key, apiSecret: "" }, () => now);
  const fail = () => stranger.get("/bot/v1/spot/orders", { headers });
  expect(await repeat(1_200, fail)).toEqual(new Set([401]));
  const flooded = await fail();
  expect(flooded.status).toBe(429);
  expect(flooded.headers["retry-after"]).toBe("60");
  expect(misfits("GET", "/bot/v1/spot/orders", flooded)).toEqual([]);
  const other = { "x-forwarded-for": "192.0.2.79" };
  expect((await stranger.get("/bot/v1/spot/orders", { headers: other })).status).toBe(401);
  now += MINUTE;
  expect((await fail()).status).toBe(401);
});

test("an overloaded gateway answers 503 with Retry-After, in the family's shape; a submission is recorded and FAILED", async () => {
  await gateway.overload();
  const busy = await bot.close();
  expectRefused(
    busy,
    503,
    "Server is currently overloaded with other requests. Please try again in a few minutes.",
    1,
  );
  const failed = await bot.submit(ORDER, "a");
  expect(failed.status).toBe(202);
  expect(failed.body).toMatchObject({ status: "FAILED", result: { status: false, code: -1008 } });
});

test("the list of signals has at most 500, the newest", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 503; count += 1) {
    if (count % 50 === 0) now += 10 * SECOND;
    ids.unshift((await bot.submit(ORDER, `key ${count}`)).body.signalId);
  }
  const { data } = (await bot.signals()).body;
  expect(data.map(({ signalId }: { signalId: string }) => signalId)).toEqual(ids.slice(0, 500));
});
