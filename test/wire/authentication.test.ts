// The checks of a signed request and their order. `signed-parameters.test.ts` covers the transport of its
// parameters. Source: specification 5.1; design, section 6.
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { exchange, exchangeSigned, hmacHex } from "../support/raw.ts";
import { changeKeyRows, holdCommits } from "../support/servers/database.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { AUTHENTICATED, QUERY, READ, readWith, seen } from "../support/signed-read.ts";

const gateway = seededGateway(34, { futuresStrategyCount: 1 });
/** For requests that cost little: the budget of one key is enough for them all. */
let reader: Credentials;

beforeAll(() => {
  reader = gateway.takeStrategy();
});

const ORDER = "/api/v3/order";
const read = (parameters: string) => readWith(gateway.url, reader, parameters);
const now = () => Date.now();

describe("the key", () => {
  const REFUSED = { status: 401, code: -2015 };

  test("is asked for", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${QUERY}&timestamp=${now()}`,
    });
    expect(answer).toMatchObject({
      status: 401,
      body: { code: -2015, msg: "Invalid API-key, IP, or permissions for action." },
    });
  });

  test("must be known", async () => {
    const stranger = { apiKey: `lyre_bot_${"0".repeat(64)}`, apiSecret: reader.apiSecret };
    const answer = await exchangeSigned(gateway.url, stranger, "GET", READ, { query: `timestamp=${now()}` });
    expect(seen(answer)).toEqual(REFUSED);
  });

  test.each([
    ["empty", () => ""],
    ["in another case", (key: string) => key.toUpperCase()],
    ["cut short", (key: string) => key.slice(0, -1)],
    ["a wildcard", () => "%"],
    ["an injection", () => "' OR '1'='1"],
    ["sent twice", (key: string) => `${key}, ${key}`],
  ])("is refused when it is %s", async (_how, spoil) => {
    const answer = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `${QUERY}&timestamp=${now()}`,
      headers: { "x-mbx-apikey": spoil(reader.apiKey) },
    });
    expect(seen(answer)).toEqual(REFUSED);
  });

  test("is found whatever the case of the header's name", async () => {
    const query = `${QUERY}&timestamp=${now()}`;
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${query}&signature=${hmacHex(reader.apiSecret, query)}`,
      headers: { "X-MBX-APIKEY": reader.apiKey },
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test("stops working at once when it is revoked", async () => {
    const strategy = gateway.takeStrategy();
    const ask = () => signed(gateway.url, strategy, "GET", "/api/v3/openOrders");
    expect((await ask()).status).toBe(200);
    changeKeyRows(
      gateway.dataDir,
      "UPDATE api_keys SET revoked_at = ? WHERE api_key = ?",
      now(),
      strategy.apiKey,
    );
    expect(await ask()).toMatchObject({ status: 401, body: { code: -2015 } });
  });

  test("that is bound to no strategy is refused -2010", async () => {
    const strategy = gateway.takeStrategy();
    changeKeyRows(
      gateway.dataDir,
      "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?",
      strategy.apiKey,
    );
    expect(await signed(gateway.url, strategy, "GET", "/api/v3/openOrders")).toMatchObject({
      status: 400,
      body: { code: -2010 },
    });
  });

  test("of a strategy that is not live reads, and is refused -2010 when it writes", async () => {
    const strategy = gateway.takeStrategy();
    changeKeyRows(
      gateway.dataDir,
      "UPDATE strategies SET status = 'CLOSED' WHERE id = ?",
      strategy.strategyId,
    );
    const reads = ["/api/v3/account", "/api/v3/openOrders"];
    for (const path of reads) expect((await signed(gateway.url, strategy, "GET", path)).status).toBe(200);
    const notLive = { status: 400, body: { code: -2010, msg: "Strategy not live" } };
    expect(await signed(gateway.url, strategy, "POST", ORDER)).toMatchObject(notLive);
    expect(await signed(gateway.url, strategy, "DELETE", ORDER)).toMatchObject(notLive);
    expect(await signed(gateway.url, strategy, "DELETE", "/api/v3/openOrders")).toMatchObject(notLive);
    expect(await signed(gateway.url, strategy, "POST", "/api/v3/platform/strategy/close")).toMatchObject({
      status: 400,
      body: { code: -2010 },
    });
  });

  test("is ignored on a public route", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: "/api/v3/time",
      headers: { "x-mbx-apikey": "nobody" },
    });
    expect(answer.status).toBe(200);
  });
});

describe("the timestamp", () => {
  test.each([
    "",
    "timestamp=",
    "timestamp=abc",
    "timestamp=1.5",
    "timestamp=--1",
    "timestamp=1e12",
    "timestamp=0x1f",
    "timestamp=%2B1",
    "timestamp",
  ])('is refused -1102 as "%s"', async (parameter) => {
    const answer = await exchangeSigned(gateway.url, reader, "GET", READ, { query: `${QUERY}&${parameter}` });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: -1102,
        msg: "Mandatory parameter 'timestamp' was not sent, was empty/null, or malformed.",
      },
    });
  });

  test("may be as old as recvWindow, which is 5000 ms unless said", async () => {
    expect(await read(`timestamp=${now() - 2_000}`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() - 5_001}`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now() - 25_000}&recvWindow=30000`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() - 30_001}&recvWindow=30000`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now() - 101}&recvWindow=100`)).toEqual({ status: 400, code: -1021 });
  });

  test("may be ahead by less than a second", async () => {
    expect(await read(`timestamp=${now() + 999}`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() + 999}&recvWindow=1`)).toEqual(AUTHENTICATED);
    // A larger window is for clocks that are behind, not for those that are ahead.
    expect(await read(`timestamp=${now() + 20_000}&recvWindow=30000`)).toEqual({ status: 400, code: -1021 });
  });

  test("that is in nanoseconds, microseconds or seconds is outside of any window", async () => {
    expect(await read(`timestamp=${now()}000000`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now()}${"0".repeat(400)}`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now()}000`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${Math.floor(now() / 1_000)}`)).toEqual({ status: 400, code: -1021 });
    expect(await read("timestamp=0")).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=-${now()}`)).toEqual({ status: 400, code: -1021 });
  });

  test("is refused with a text that says in which direction it is wrong", async () => {
    const late = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `timestamp=${now() - 6_000}`,
    });
    expect(late.body.msg).toBe("Timestamp for this request is outside of the recvWindow.");
    const early = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `timestamp=${now() + 60_000}`,
    });
    expect(early.body.msg).toBe("Timestamp for this request was 1000ms ahead of the server's time.");
  });
});

describe("recvWindow", () => {
  test.each(["3000", "30000", "6000.346", "30000.0", "00500.5"])("may be %s", async (recvWindow) => {
    expect(await read(`timestamp=${now()}&recvWindow=${recvWindow}`)).toEqual(AUTHENTICATED);
  });

  test.each([
    "30001",
    "30000.001",
    "30000.0000000000001",
    "0",
    "0.0",
    "-1",
    "abc",
    "",
    "1e3",
    "NaN",
    "Infinity",
    "5000ms",
    "%205000",
  ])('is refused -1131 as "%s"', async (recvWindow) => {
    expect(await read(`timestamp=${now()}&recvWindow=${recvWindow}`)).toEqual({ status: 400, code: -1131 });
  });
});

describe("without the secret of a key", () => {
  const TARGETS = [
    ["POST", ORDER],
    ["GET", "/api/v3/account"],
    ["POST", "/fapi/v1/order"],
    ["DELETE", "/fapi/v1/algoOrder"],
    ["GET", "/sapi/v1/capital/config/getall"],
  ] as const;
  const WRONG = `signature=${"0".repeat(64)}`;
  const REQUESTS: readonly [what: string, query: () => string, body?: string][] = [
    ["nothing", () => ""],
    ["a wrong signature", () => `timestamp=${now()}&${WRONG}`],
    ["a wrong signature of an order", () => `${QUERY}&side=BUY&timestamp=${now()}&${WRONG}`],
    ["a signature that is none", () => `timestamp=${now()}&signature=x`],
    ["no signature", () => `timestamp=${now()}`],
    ["no timestamp", () => WRONG],
    ["a timestamp of long ago", () => `timestamp=1&${WRONG}`],
    ["a receive window that is none", () => `timestamp=${now()}&recvWindow=0&${WRONG}`],
    ["a parameter twice", () => "symbol=1&symbol=2"],
    ["a broken escape", () => "symbol=%"],
    ["two parts of which one is not the route's", () => `timestamp=${now()}`, "note=1"],
    ["JSON", () => "", "{}"],
    ["a body that is too large", () => "", "x".repeat(20_000)],
  ];

  test.each(REQUESTS)(
    "%s is answered alike for a key that trades, a revoked one and an unknown one",
    async (_what, query, body) => {
      const [trading, revoked] = [gateway.takeStrategy(), gateway.takeStrategy()];
      const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.0002" };
      expect((await signed(gateway.url, trading, "POST", ORDER, order)).status).toBe(200);
      const revoke = "UPDATE api_keys SET revoked_at = ? WHERE api_key = ?";
      changeKeyRows(gateway.dataDir, revoke, now(), revoked.apiKey);
      for (const [method, path] of TARGETS) {
        const answerTo = async (apiKey: string) => {
          const { status, text, headers } = await exchange(gateway.url, {
            method,
            path,
            query: query(),
            ...(body === undefined ? {} : { body }),
            headers: { "x-mbx-apikey": apiKey },
          });
          const { date, ...others } = headers;
          return { status, text, headers: others };
        };
        const keys = [`lyre_bot_${"0".repeat(64)}`, trading.apiKey, revoked.apiKey];
        // The weight that they show is a minute's: all are asked within one.
        let [asked, minute] = [[] as Awaited<ReturnType<typeof answerTo>>[], -1];
        while (minute !== Math.floor(now() / 60_000)) {
          minute = Math.floor(now() / 60_000);
          asked = [];
          for (const key of keys) asked.push(await answerTo(key));
        }
        const [unknown, ...known] = asked;
        if (unknown === undefined) throw new Error("an unknown key is answered");
        expect(unknown.status).toBeGreaterThanOrEqual(400);
        const names = Object.keys(unknown.headers);
        expect(names.filter((name) => name.startsWith("x-mbx-order-count"))).toEqual([]);
        expect(known).toEqual([unknown, unknown]);
      }
    },
  );
});

describe("of all that is wrong with a request, the first of these is the answer:", () => {
  const STALE = 1;

  async function spend(strategy: Credentials): Promise<void> {
    const answers = [];
    // A minute that ends during the loop gives a new budget: twice the budget is always enough.
    for (let sent = 0; sent < 122; sent += 1) {
      const { status } = await signed(gateway.url, strategy, "GET", "/api/v3/allOrders", {
        symbol: "NOSUCH",
      });
      answers.push(status);
      if (status === 429) return;
    }
    throw new Error(`the budget was never spent: ${answers}`);
  }

  test("1. the path is unknown (404), with or without a key", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: "/api/v3/nothing",
      query: "timestamp=abc&timestamp=abc",
      headers: { "x-mbx-apikey": "nobody" },
    });
    expect(seen(answer)).toEqual({ status: 404, code: -5000 });
  });

  test("2. the key is missing (401), whatever was sent", async () => {
    for (const body of ["{}", "timestamp=abc&recvWindow=0", ""]) {
      const answer = await exchange(gateway.url, { method: "POST", path: ORDER, body });
      expect(seen(answer)).toEqual({ status: 401, code: -2015 });
    }
  });

  test("3. the timestamp is missing (-1102)", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: "recvWindow=0&signature=bad",
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(answer.body).toMatchObject({ code: -1102, msg: expect.stringContaining("'timestamp'") });
  });

  test("4. recvWindow is invalid (-1131)", async () => {
    for (const signature of ["", "&signature=bad"]) {
      const answer = await exchange(gateway.url, {
        method: "GET",
        path: READ,
        query: `recvWindow=0&timestamp=${STALE}${signature}`,
        headers: { "x-mbx-apikey": reader.apiKey },
      });
      expect(seen(answer)).toEqual({ status: 400, code: -1131 });
    }
  });

  test("5. the signature is missing (-1102), the key unknown, or the signature wrong (401)", async () => {
    const missing = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `timestamp=${STALE}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(missing.body).toMatchObject({ code: -1102, msg: expect.stringContaining("'signature'") });
    const wrong = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `timestamp=${STALE}&signature=${"0".repeat(64)}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(wrong)).toEqual({ status: 401, code: -2015 });
    const stranger = { apiKey: "nobody", apiSecret: reader.apiSecret };
    const unknown = await signed(gateway.url, stranger, "GET", READ, { timestamp: STALE });
    expect(unknown).toMatchObject({ status: 401, body: { code: -2015 } });
  });

  test("6. the time window has passed (-1021), 7. the budget is spent (429), 8. the key is of the other type (-2010)", async () => {
    const futures = gateway.takeFuturesStrategy();
    expect(await signed(gateway.url, futures, "POST", ORDER, { timestamp: now() })).toMatchObject({
      status: 400,
      body: { code: -2010 },
    });
    await spend(futures);
    expect(await signed(gateway.url, futures, "POST", ORDER, { timestamp: STALE })).toMatchObject({
      status: 400,
      body: { code: -1021 },
    });
    // Sent until refused, since a new minute may have begun.
    await spend(futures);
  });

  test("9. a parameter is wrong (-1102, -1117, -1121), 10. a filter fails (-1013), 11. funds are missing (-2010)", async () => {
    const strategy = gateway.takeStrategy();
    const place = async (parameters: string) =>
      seen(
        await exchangeSigned(gateway.url, strategy, "POST", ORDER, {
          query: `${parameters}&timestamp=${now()}`,
        }),
      );
    const order = "symbol=BTCUSDT&side=BUY&type=MARKET";
    expect(await place("symbol=BTCUSDT&side=NONE&type=MARKET&quantity=0.000001")).toMatchObject({
      code: -1117,
    });
    expect(await place("symbol=NOSUCH&side=BUY&type=MARKET&quantity=100000000")).toMatchObject({
      code: -1121,
    });
    expect(await place(order)).toMatchObject({ code: -1102 });
    expect(await place(`${order}&quantity=1.000001`)).toMatchObject({ code: -1013 });
    expect(await place(`${order}&quantity=1`)).toMatchObject({ code: -2010 });
  });
});

/** Long enough to be admitted on a busy machine; the store waits for a lock for five seconds at most, ms. */
const WINDOW_MS = 1_500;
const LONG_WINDOW_MS = 30_000;

test("an order whose window passes in the queue is refused -1021 and not executed", async () => {
  const strategy = gateway.takeStrategy();
  const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.0002" };
  // The symbol's market is prepared from here on, so the queue is the only delay.
  expect((await signed(gateway.url, strategy, "POST", ORDER, order)).status).toBe(200);

  // The used weight is reset at each minute.
  await eventually("a minute with time left", () => now() % 60_000 < 50_000);
  // A read costs four units, an order one: what is left after division by four tells whether an order was
  // counted.
  const unitsOverFours = async () => {
    const { headers } = await signed(gateway.url, strategy, "GET", READ, { symbol: "BTCUSDT", orderId: 1 });
    return Number(headers.get("x-mbx-used-weight-1m")) % 4;
  };
  const before = await unitsOverFours();
  const held = holdCommits(gateway.dataDir);
  const first = signed(gateway.url, strategy, "POST", ORDER, order);
  // The first is on its way to disk when the others are sent: they wait behind it.
  const isCounted = async () => (await unitsOverFours()) !== before;
  await eventually("the first order was counted", isCounted, { askAgainMs: 50 });
  const sentAt = now();
  const hasty = signed(gateway.url, strategy, "POST", ORDER, {
    ...order,
    recvWindow: WINDOW_MS,
    timestamp: sentAt,
  });
  const hastyCancel = signed(gateway.url, strategy, "DELETE", "/api/v3/openOrders", {
    symbol: "BTCUSDT",
    recvWindow: WINDOW_MS,
    timestamp: sentAt,
  });
  const patient = signed(gateway.url, strategy, "POST", ORDER, {
    ...order,
    recvWindow: LONG_WINDOW_MS,
    timestamp: sentAt,
  });
  await eventually("the window has passed", () => now() - sentAt > WINDOW_MS);
  held.release();

  expect(await first).toMatchObject({ status: 200, body: { orderId: 2, status: "FILLED" } });
  for (const answer of [await hasty, await hastyCancel]) {
    expect(answer).toMatchObject({ status: 400, body: { code: -1021 } });
    // It had been admitted: it was charged.
    expect(answer.headers.get("x-mbx-used-weight-1m")).not.toBeNull();
  }
  expect(await patient).toMatchObject({ status: 200, body: { orderId: 3, status: "FILLED" } });
});
