// The rules of budgets and bans, each as a test, under manual time, since a window shows only at its edge.
// Source: specification 7.1 and 8.1; design, section 6.
import { describe, expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { PLACEMENTS_PER_PERSON_PER_DAY } from "../../src/rate-limits/budgets.ts";
import { personHolder } from "../../src/rate-limits/holder.ts";
import { botClient } from "../support/bot-client.ts";
import {
  BAD_ORDER,
  budgetFixture,
  MINUTE,
  ORDER,
  orders,
  retryAfter,
  SECOND,
  statuses,
  TOO_MANY_ORDERS,
  TOO_MUCH_WEIGHT,
  times,
  used,
} from "../support/budget-fixture.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";
import { type ApiAnswer, ApiSocket, signedParams } from "../support/sockets/api-socket.ts";

const fixture = budgetFixture(32);
const { account, ask, banKey, exhaust, fail, look, place, takeStrategy } = fixture;

/** The orders of ten seconds and of a minute that an answer of the WebSocket API shows. */
const orderCountsOf = ({ rateLimits }: ApiAnswer): readonly number[] =>
  rateLimits.flatMap(({ rateLimitType, count }: { rateLimitType: string; count: number }) =>
    rateLimitType === "ORDERS" ? count : [],
  );

describe("request weight", () => {
  test("is 1,200 a minute per API key on signed routes", async () => {
    await exhaust();
    const refused = await ask("GET", "/api/v3/order", { symbol: "BTCUSDT", orderId: 1 });
    expect(refused).toMatchObject({ status: 429, body: TOO_MUCH_WEIGHT });
    expect(used(refused)).toBe("1204");
    // Another key of the same address has its own.
    const other = await ask("GET", "/api/v3/account", {}, takeStrategy());
    expect([other.status, used(other)]).toEqual([200, "20"]);
  });

  test("is 1,200 a minute per address on public routes, shared by its clients, whatever key they send", async () => {
    const keyed = { "x-mbx-apikey": fixture.key.apiKey };
    expect(new Set(statuses(await times(30, () => look())))).toEqual(new Set([200]));
    expect(new Set(statuses(await times(30, () => look("192.0.2.1", keyed))))).toEqual(new Set([200]));
    const refused = await look("192.0.2.1", keyed);
    expect(refused).toMatchObject({ status: 429, body: TOO_MUCH_WEIGHT });
    expect(used(refused)).toBe("1220");
    expect(used(await look("192.0.2.2"))).toBe("20");
    expect(used(await account())).toBe("20");
  });

  test("of an IPv6 client is its /64's, of an IPv4 client its address's, however either is spelt", async () => {
    expect(used(await look("2001:db8:1:2::1"))).toBe("20");
    expect(used(await look("2001:0db8:1:2:ffff::"))).toBe("40");
    expect(used(await look("2001:db8:1:3::1"))).toBe("20");
    expect(used(await look("192.0.2.9"))).toBe("20");
    expect(used(await look("::ffff:192.0.2.9"))).toBe("40");
  });

  test("is counted in windows aligned to the clock: the minute's budget is new on the minute, not before", async () => {
    fixture.now += 59_999;
    await exhaust();
    const refused = await account();
    expect([refused.status, retryAfter(refused)]).toEqual([429, "1"]);
    fixture.now += 1;
    const granted = await account();
    expect([granted.status, used(granted)]).toEqual([200, "20"]);
  });

  test("that is exhausted has in Retry-After the seconds left of the minute", async () => {
    await exhaust();
    fixture.now += 15_500;
    expect(retryAfter(await account())).toBe("45");
    fixture.now += 44_499;
    expect(retryAfter(await account())).toBe("1");
  });

  test("is charged before execution and not refunded on error", async () => {
    const wrong = await ask("GET", "/api/v3/allOrders", { symbol: "NOSUCH" });
    expect([wrong.status, used(wrong)]).toEqual([400, "20"]);
    const missing = await ask("GET", "/api/v3/order", { symbol: "BTCUSDT", orderId: 1 });
    expect([missing.status, used(missing)]).toEqual([400, "24"]);
    const bad = await place();
    expect([bad.status, used(bad)]).toEqual([400, "25"]);
    // A refused request is charged like any other, so a client over the limit stays over it.
    await times(59, account);
    expect(used(await account())).toBe("1225");
  });

  test("is not charged to an unidentified client, nor for an unknown path", async () => {
    const keyed = { "x-mbx-apikey": fixture.key.apiKey, "x-forwarded-for": "192.0.2.1" };
    for (const query of ["", "?timestamp=abc", `?timestamp=${fixture.now}&signature=${"0".repeat(64)}`]) {
      await send(fixture.gateway.url, "GET", `/api/v3/account${query}`, { headers: keyed });
    }
    await ask("GET", "/api/v3/nothing");
    expect(used(await account())).toBe("20");
    expect(used(await look())).toBe("20");
  });
});

describe("order count", () => {
  test("is one of REST and the WebSocket API, which refuses with -1015 too", async () => {
    const client = await ApiSocket.open(fixture.gateway.url);
    onTestFinished(() => client.close());
    const placeThere = () =>
      client.request("order.place", signedParams(fixture.key, { ...BAD_ORDER, timestamp: fixture.now }));
    for (let count = 1; count < 50; count += 2) {
      expect(orders(await place())).toEqual([String(count), String(count)]);
      expect(orderCountsOf(await placeThere())).toEqual([count + 1, count + 1]);
    }
    const refused = await placeThere();
    expect(refused).toMatchObject({
      status: 429,
      error: { ...TOO_MANY_ORDERS, data: { serverTime: fixture.now, retryAfter: fixture.now + 10 * SECOND } },
    });
    expect(orderCountsOf(refused)).toEqual([51, 51]);
    expect(await place()).toMatchObject({ status: 429, body: TOO_MANY_ORDERS });
    fixture.now += 10 * SECOND;
    expect(orderCountsOf(await placeThere())).toEqual([1, 53]);
    expect(orders(await place())).toEqual(["2", "54"]);
  });

  test("is 50 in ten seconds per API key; replays and orders refused later count", async () => {
    const placed = await place(ORDER);
    expect([placed.status, ...orders(placed)]).toEqual([200, "1", "1"]);
    expect(statuses(await times(24, () => place(ORDER)))).toEqual(Array(24).fill(200));
    expect(statuses(await times(25, () => place(BAD_ORDER)))).toEqual(Array(25).fill(400));
    const refused = await place(ORDER);
    expect(refused).toMatchObject({ status: 429, body: TOO_MANY_ORDERS });
    expect([...orders(refused), used(refused), retryAfter(refused)]).toEqual(["51", "51", "51", "10"]);
    expect((await ask("GET", "/api/v3/allOrders", { symbol: "BTCUSDT" })).body).toHaveLength(1);
    // Another key has its own.
    const other = await ask("POST", "/api/v3/order", BAD_ORDER, takeStrategy());
    expect(orders(other)).toEqual(["1", "1"]);
  });

  test("is new on every tenth second of the clock, while the minute's continues", async () => {
    fixture.now += 9_999;
    await times(50, () => place());
    const refused = await place();
    expect([refused.status, retryAfter(refused)]).toEqual([429, "1"]);
    fixture.now += 1;
    expect(orders(await place())).toEqual(["1", "52"]);
    fixture.now += 50 * SECOND;
    expect(orders(await place())).toEqual(["1", "1"]);
  });

  test("is of placements alone: cancels and reads count only as weight, also when it is exhausted", async () => {
    await times(50, () => place());
    expect((await place()).status).toBe(429);
    const cancel = await ask("DELETE", "/api/v3/openOrders", { symbol: "BTCUSDT" });
    expect([cancel.status, used(cancel), ...orders(cancel)]).toEqual([200, "52", null, null]);
    const read = await ask("GET", "/api/v3/openOrders");
    expect([read.status, used(read), ...orders(read)]).toEqual([200, "58", null, null]);
  });

  test("is not reached by a placement whose weight is refused", async () => {
    await exhaust();
    const refused = await place();
    expect(refused).toMatchObject({ status: 429, body: TOO_MUCH_WEIGHT });
    expect(orders(refused)).toEqual(["0", "0"]);
  });
});

describe("a ban", () => {
  test("follows ten 429s inside one minute: the tenth is a 429, everything in the next two minutes 418", async () => {
    await exhaust();
    const refused = await times(12, account);
    expect(statuses(refused)).toEqual([...Array(10).fill(429), 418, 418]);
    const until = fixture.now + 2 * MINUTE;
    const banned = refused.at(-1) as WireAnswer;
    expect(banned.body).toMatchObject({
      code: -1003,
      msg: expect.stringContaining(`banned until ${until}.`),
    });
    expect(retryAfter(banned)).toBe("120");
    // In the next minute there would be weight enough; a valid request is refused all the same, and it costs
    // nothing.
    fixture.now = until - 1;
    const last = await place(ORDER);
    expect([last.status, retryAfter(last), used(last)]).toEqual([418, "1", "0"]);
    fixture.now = until;
    expect((await account()).status).toBe(200);
  });

  test("is not made longer by the requests that it refuses", async () => {
    await banKey();
    const until = fixture.now + 2 * MINUTE;
    for (fixture.now = until - 30 * SECOND; fixture.now < until; fixture.now += SECOND) {
      expect((await account()).status).toBe(418);
    }
    expect((await account()).status).toBe(200);
  });

  test("counts both kinds of 429, and no other refusal", async () => {
    await times(50, () => place());
    expect(statuses(await times(5, () => place()))).toEqual(Array(5).fill(429));
    expect(statuses(await times(20, () => ask("GET", "/api/v3/order", { symbol: "X" })))).not.toContain(429);
    await times(53, account);
    expect(statuses(await times(4, account))).toEqual(Array(4).fill(429));
    expect((await place()).status).toBe(429);
    expect((await account()).status).toBe(418);
  });

  test("takes the ten inside one sliding minute: nine and one a minute later are none", async () => {
    fixture.now += 30 * SECOND;
    await exhaust();
    expect(statuses(await times(9, account))).toEqual(Array(9).fill(429));
    fixture.now += MINUTE;
    await exhaust();
    expect(statuses(await times(9, account))).toEqual(Array(9).fill(429));
    fixture.now += 29_999;
    // The tenth within a minute.
    expect((await account()).status).toBe(429);
    expect((await account()).status).toBe(418);
  });

  test("of requests sent all at once refuses with 429 ten times and no more", async () => {
    await exhaust();
    const answers = await Promise.all(Array.from({ length: 40 }, account));
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(10);
    expect(statuses(answers).filter((status) => status === 418)).toHaveLength(30);
  });

  test("of a key comes before every check of its signed requests, and leaves its address and other keys alone", async () => {
    await banKey();
    const keyed = { "x-mbx-apikey": fixture.key.apiKey };
    expect(
      (await send(fixture.gateway.url, "POST", "/api/v3/order?timestamp=abc", { headers: keyed })).status,
    ).toBe(418);
    expect((await look("192.0.2.1", keyed)).status).toBe(200);
    expect((await ask("GET", "/api/v3/account", {}, takeStrategy())).status).toBe(200);
  });

  test("of an address is of public and unauthenticated requests only", async () => {
    await times(60, () => look());
    expect(statuses(await times(11, () => look()))).toEqual([...Array(10).fill(429), 418]);
    const from = { "x-forwarded-for": "192.0.2.1" };
    expect((await fail()).status).toBe(418);
    expect((await send(fixture.gateway.url, "GET", "/api/v3/nothing", { headers: from })).status).toBe(418);
    const large = { headers: from, body: "x".repeat(20_000) };
    expect((await send(fixture.gateway.url, "POST", "/api/v3/order", large)).status).toBe(418);
    expect((await account()).status).toBe(200);
    expect((await look("192.0.2.2")).status).toBe(200);
  });
});

describe("failed authentications", () => {
  test("have a bucket of their own per address: 1,200 a minute, then 429 and a ban", async () => {
    const failed = await times(12, () => Promise.all(Array.from({ length: 100 }, () => fail())));
    expect(new Set(statuses(failed.flat()))).toEqual(new Set([401]));
    // They have used neither the address's read budget nor another address's failures.
    expect(used(await look())).toBe("20");
    expect((await fail("192.0.2.2")).status).toBe(401);
    fixture.now += 20 * SECOND;
    const refused = await times(10, () => fail());
    expect(statuses(refused)).toEqual(Array(10).fill(429));
    expect(refused[0]?.body).toMatchObject(TOO_MUCH_WEIGHT);
    expect(retryAfter(refused[0] as WireAnswer)).toBe("40");
    expect([(await fail()).status, (await look()).status]).toEqual([418, 418]);
    expect((await account()).status).toBe(200);
  });
});

describe("every answer", () => {
  test("of an exchange-style route has the usage of its holder, and of its address if it is not authenticated", async () => {
    await look();
    const from = { "x-forwarded-for": "192.0.2.1" };
    const at = async (method: string, path: string, body?: string) => {
      const answer = await send(fixture.gateway.url, method, path, {
        headers: from,
        ...(body === undefined ? {} : { body }),
      });
      return [answer.status, used(answer)];
    };
    expect(await at("GET", "/api/v3/account")).toEqual([401, "20"]);
    expect(await at("GET", "/api/v3/nothing")).toEqual([404, "20"]);
    expect(await at("GET", "/fapi/v1/nothing")).toEqual([404, "20"]);
    // A public request is charged although its parameters cannot be read.
    expect(await at("GET", "/api/v3/exchangeInfo?a=1&a=2")).toEqual([400, "40"]);
    expect(await at("POST", "/api/v3/order", "x".repeat(20_000))).toEqual([413, "40"]);
    // The bot routes have no such budget.
    expect(await at("GET", "/bot/v1/nothing")).toEqual([404, null]);

    await account();
    const late = await signed(fixture.gateway.url, fixture.key, "GET", "/api/v3/account", {
      timestamp: fixture.now - MINUTE,
    });
    expect([late.status, used(late)]).toEqual([400, "0"]);
    expect(used(await account())).toBe("40");
  });

  test("to a signed placement has the key's placements, also if it is refused; to an unsigned one it has not", async () => {
    expect(orders(await place())).toEqual(["1", "1"]);
    const keyed = { headers: { "x-mbx-apikey": fixture.key.apiKey } };
    const unsigned = await send(fixture.gateway.url, "POST", "/api/v3/order", keyed);
    expect([unsigned.status, ...orders(unsigned)]).toEqual([400, null, null]);
    const large = await send(fixture.gateway.url, "POST", "/api/v3/order", {
      ...keyed,
      body: "x".repeat(20_000),
    });
    expect([large.status, ...orders(large)]).toEqual([413, null, null]);
    await times(60, account);
    const exhausted = await place();
    expect([exhausted.status, ...orders(exhausted)]).toEqual([429, "1", "1"]);
    await times(9, account);
    const banned = await place();
    expect([banned.status, ...orders(banned), retryAfter(banned)]).toEqual([418, null, null, "120"]);
  });

  test("503 has Retry-After and the usage", async () => {
    await fixture.gateway.overload();
    const busy = await place(ORDER);
    expect([busy.status, retryAfter(busy), used(busy), ...orders(busy)]).toEqual([503, "1", "1", "1", "1"]);
  });
});

test("a person with a day's placements, with whatever keys, is refused until midnight, and nothing of it is recorded", async () => {
  const { store } = await openDataDirectory(fixture.dataDir, null);
  onTestFinished(() => store.close());
  const { strategyId } = fixture.key;
  const noCharge = { weight: 0, reads: 0, failures: 0, refusedAt: [] };
  const charge = {
    ...noCharge,
    holder: personHolder(strategyId),
    tenSeconds: Math.floor(fixture.now / 10_000),
    orders: PLACEMENTS_PER_PERSON_PER_DAY - 1,
  };
  // What another server has taken of the person's placements today.
  await store.logBudgets([{ process: "another", at: fixture.now, charges: [charge], bans: [] }], {
    forgetBefore: 0,
  });
  fixture.gateway = await fixture.open();
  expect(await fixture.place(ORDER)).toMatchObject({ status: 200 });
  const refused = await fixture.place({ ...ORDER, newClientOrderId: "two" });
  expect(refused).toMatchObject({ status: 429, body: TOO_MANY_ORDERS });
  expect(refused.body.msg).toBe("Too many new orders; current limit is 432000 orders per 1 DAY.");
  const untilMidnight = 86_400_000 - (fixture.now % 86_400_000);
  expect(retryAfter(refused)).toBe(String(untilMidnight / 1_000));
  const bot = botClient(fixture.gateway.url, fixture.key, () => fixture.now);
  const order = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.001" };
  expect(await bot.submit(order, "a key")).toMatchObject({ status: 429 });
  expect(await store.listSignals(strategyId, { limit: 10 })).toEqual([]);
  expect((await fixture.account()).status).toBe(200);
  fixture.now += untilMidnight;
  expect((await fixture.place({ ...ORDER, newClientOrderId: "three" })).status).toBe(200);
});
