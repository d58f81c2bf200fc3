// Budgets of keys and addresses, their headers, and the ban of a client that ignores 429s. Windows end with
// the clock's minute and ten seconds, also in the middle of a test: a test that exhausts a budget sends until
// it is exhausted, and reads from the headers that it was within one window. Source: specification 7.1 and
// 8.1; design, section 6.
import { describe, expect, onTestFinished, test } from "vitest";
import { startGateway } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";
import { seedMany } from "../support/strategies.ts";

const gateway = seededGateway(10);

/** Two windows' worth of requests and the ten refusals that lead to a ban: nothing needs more. */
const SENT_MAX = 2_500;

/** Sends one request after another until one is answered with this status; all answers. */
async function sendUntil(status: number, ask: () => Promise<WireAnswer>): Promise<WireAnswer[]> {
  const answers: WireAnswer[] = [];
  while (answers.at(-1)?.status !== status) {
    if (answers.length >= SENT_MAX) throw new Error(`${SENT_MAX} requests and none was answered ${status}`);
    answers.push(await ask());
  }
  return answers;
}

function used({ headers }: WireAnswer, budget: string): number {
  return Number(headers.get(`x-mbx-${budget}`) ?? Number.NaN);
}

function last<Row>(rows: readonly Row[]): Row {
  const row = rows.at(-1);
  if (row === undefined) throw new Error("there is at least one");
  return row;
}

/** Every answer counts on from the one before, or from nothing where a window began. */
function expectToCount(answers: readonly WireAnswer[], budget: string, step: number): void {
  const counts = answers.map((answer) => used(answer, budget));
  for (const [index, count] of counts.slice(1).entries()) {
    expect([(counts[index] ?? 0) + step, step]).toContain(count);
  }
}

function expectRetryWithin(answer: WireAnswer, seconds: number): void {
  const wait = Number(answer.headers.get("retry-after"));
  expect(Number.isInteger(wait)).toBe(true);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(seconds);
}

const TOO_MUCH_WEIGHT =
  "Too much request weight used; current limit is 1200 request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API.";

describe("a key", () => {
  const order = {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "MARKET",
    quantity: "0.001",
    newClientOrderId: "one",
  };

  test("may place 50 orders in ten seconds; the next is refused 429 -1015, and replays and refusals count", async () => {
    const key = gateway.takeStrategy();
    let sent = 0;
    const answers = await sendUntil(429, () => {
      sent += 1;
      // Replays of one order, and now and then one that a filter refuses.
      return signed(
        gateway.url,
        key,
        "POST",
        "/api/v3/order",
        sent % 5 === 0 ? { ...order, side: "?" } : order,
      );
    });
    expectToCount(answers, "order-count-10s", 1);
    expectToCount(answers, "order-count-1m", 1);
    expectToCount(answers, "used-weight-1m", 1);
    const refused = last(answers);
    expect(used(refused, "order-count-10s")).toBe(51);
    expect(refused.body).toEqual({
      code: -1015,
      msg: "Too many new orders; current limit is 50 orders per 10 SECOND.",
    });
    expectRetryWithin(refused, 10);

    // Reads and cancels go on.
    expect(await signed(gateway.url, key, "GET", "/api/v3/openOrders")).toMatchObject({
      status: 200,
      body: [],
    });
    const canceled = await signed(gateway.url, key, "DELETE", "/api/v3/openOrders", { symbol: "BTCUSDT" });
    expect(canceled.status).toBe(200);
    expect(canceled.headers.has("x-mbx-order-count-10s")).toBe(false);
    // Another key has its own count.
    const other = await signed(gateway.url, gateway.takeStrategy(), "POST", "/api/v3/order", order);
    expect(used(other, "order-count-10s")).toBe(1);
    // All of it placed one order.
    const history = await signed(gateway.url, key, "GET", "/api/v3/allOrders", { symbol: "BTCUSDT" });
    expect(history.body).toHaveLength(1);
  });

  test("may use a weight of 1200 in a minute; more is refused 429 -1003 and, the tenth time passed, 418 for two minutes", async () => {
    const key = gateway.takeStrategy();
    const ask = () => signed(gateway.url, key, "GET", "/api/v3/account");
    const answers = await sendUntil(429, ask);
    expectToCount(answers, "used-weight-1m", 20);
    expect(used(last(answers), "used-weight-1m")).toBe(1_220);
    expect(last(answers).body).toEqual({ code: -1003, msg: TOO_MUCH_WEIGHT });
    expectRetryWithin(last(answers), 60);

    const more = await sendUntil(418, ask);
    expect(answers.concat(more).filter(({ status }) => status === 429)).toHaveLength(10);
    const banned = last(more);
    const until = /IP banned until (\d+)\./.exec(banned.body.msg)?.[1];
    expect(banned.body).toEqual({
      code: -1003,
      msg: `Way too much request weight used; IP banned until ${until}. Please use WebSocket Streams for live updates to avoid bans.`,
    });
    expect(Number(until) - Date.now()).toBeGreaterThan(100_000);
    expect(Number(until) - Date.now()).toBeLessThanOrEqual(120_000);
    expectRetryWithin(banned, 120);

    // The ban comes before every other check of a signed request.
    const unsigned = { headers: { "x-mbx-apikey": key.apiKey } };
    expect((await send(gateway.url, "POST", "/api/v3/order?timestamp=abc", unsigned)).status).toBe(418);
    // It concerns this key alone: not its address, not another key.
    expect((await send(gateway.url, "GET", "/api/v3/time", unsigned)).status).toBe(200);
    expect((await send(gateway.url, "GET", "/api/v3/nothing", unsigned)).status).toBe(404);
    expect((await signed(gateway.url, gateway.takeStrategy(), "GET", "/api/v3/account")).status).toBe(200);
  });

  test("is charged the weight that the specification gives each route, whatever comes of the request", async () => {
    const key = gateway.takeStrategy();
    const WEIGHTS = [
      ["GET", "/api/v3/account", 20],
      ["POST", "/api/v3/order", 1],
      ["DELETE", "/api/v3/order", 1],
      ["DELETE", "/api/v3/openOrders", 1],
      ["GET", "/api/v3/order", 4],
      ["GET", "/api/v3/openOrders", 6],
      ["GET", "/api/v3/allOrders", 20],
      ["GET", "/api/v3/myTrades", 20],
    ] as const;
    let before = 0;
    for (const [method, path, weight] of WEIGHTS) {
      const answer = await signed(gateway.url, key, method, path, { symbol: "NOSUCH" });
      const count = used(answer, "used-weight-1m");
      expect([before + weight, weight]).toContain(count);
      before = count;
    }
  });

  test("is not charged for requests that others could make in its name", async () => {
    const key = gateway.takeStrategy();
    for (const query of ["", "?timestamp=abc", `?timestamp=${Date.now()}&signature=${"0".repeat(64)}`]) {
      const answer = await send(gateway.url, "POST", `/api/v3/order${query}`, {
        headers: { "x-mbx-apikey": key.apiKey },
      });
      expect(answer.headers.get("x-mbx-order-count-10s")).toBeNull();
    }
    await signed(gateway.url, key, "POST", "/api/v3/order", { timestamp: 1 });
    expect(used(await signed(gateway.url, key, "GET", "/api/v3/openOrders"), "used-weight-1m")).toBe(6);
  });
});

describe("an address", () => {
  test("may use a weight of 1200 a minute on public routes, then 429, then 418, which no key shares", async () => {
    const ask = () => send(gateway.url, "GET", "/api/v3/exchangeInfo?symbol=BTCUSDT");
    const answers = await sendUntil(418, ask);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expectToCount(answers.slice(0, -1), "used-weight-1m", 20);
    expect(refused[0]?.body).toEqual({ code: -1003, msg: TOO_MUCH_WEIGHT });
    expectRetryWithin(last(refused), 60);

    // The ban comes before the route, and applies to requests without a key.
    expect((await send(gateway.url, "GET", "/api/v3/nothing")).status).toBe(418);
    expect((await send(gateway.url, "GET", "/api/v3/account")).status).toBe(418);
    // Requests with a key are served.
    expect((await signed(gateway.url, gateway.takeStrategy(), "GET", "/api/v3/account")).status).toBe(200);
  });

  test("may fail to authenticate 1200 times a minute, then 429 and 418, which no key shares", async () => {
    // The address is banned at the other gateway: this one needs a gateway of its own.
    const fresh = await startGateway();
    onTestFinished(async () => {
      await fresh.stop();
    });
    const stranger = { headers: { "x-mbx-apikey": `lyre_bot_${"0".repeat(64)}` } };
    const unsigned = `timestamp=1&signature=${"0".repeat(64)}`;
    const ask = (path: string) => send(fresh.url, "GET", `${path}?${unsigned}`, stranger);
    const statuses: number[] = [];
    while (!statuses.includes(418) && statuses.length < SENT_MAX) {
      const batch = Array.from({ length: 25 }, () => ask("/api/v3/account"));
      for (const { status } of await Promise.all(batch)) statuses.push(status);
    }
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(1_200);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(statuses).toContain(418);
    expect((await ask("/api/v3/time")).status).toBe(418);
    expect((await signed(fresh.url, fresh.seed(), "GET", "/api/v3/account")).status).toBe(200);
  });
});

describe("a restart", () => {
  /** A gateway that ends with the test. */
  const start = async (dataDir?: string) => {
    const gateway = await startGateway(dataDir === undefined ? {} : { dataDir });
    onTestFinished(async () => {
      await gateway.kill();
    });
    return gateway;
  };

  test("in order forgets nothing that was charged in the present minute", async () => {
    let { url, dataDir, stop } = await start();
    const [key] = await seedMany(dataDir, 1);
    if (key === undefined) throw new Error("one strategy was asked for");
    const ask = () => signed(url, key, "GET", "/api/v3/openOrders");
    // Where the minute ends between the two, that shows nothing: then once more.
    for (let minutes = 0; minutes < 2; minutes += 1) {
      const minute = Math.floor(Date.now() / 60_000);
      const before = used(await ask(), "used-weight-1m");
      await stop();
      ({ url, stop } = await start(dataDir));
      const after = used(await ask(), "used-weight-1m");
      if (Math.floor(Date.now() / 60_000) !== minute) continue;
      expect(after).toBe(before + 6);
      return;
    }
    throw new Error("a restart takes less than a minute");
  });

  test("after kill -9 has all bans still in force, until the same time", async () => {
    const { url, dataDir, kill } = await start();
    const [key] = await seedMany(dataDir, 1);
    if (key === undefined) throw new Error("one strategy was asked for");
    const refused = (await sendUntil(418, () => signed(url, key, "GET", "/api/v3/account"))).at(-1);
    await kill();
    const again = await start(dataDir);
    const banned = await signed(again.url, key, "GET", "/api/v3/account");
    expect(banned).toMatchObject({ status: 418, body: refused?.body });
  });
});
