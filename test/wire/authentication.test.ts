// Who may ask: the checks of a signed request, their order, and every way in which parameters may travel.
// Source: specification 5.1; design, section 6.
import { beforeAll, describe, expect, test } from "vitest";
import { changeKeyRows, holdCommits } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import type { Credentials } from "../support/gateway.ts";
import { exchange, exchangeSigned, hmacHex, type Parts, type RawAnswer } from "../support/raw.ts";
import { seededGateway } from "../support/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";

const gateway = seededGateway(21, { futuresStrategyCount: 1 });
/** For requests that cost little: the budget of one key is enough for them all. */
let reader: Credentials;

beforeAll(() => {
  reader = gateway.takeStrategy();
});

const READ = "/api/v3/order";
const ORDER = "/api/v3/order";
/** A read of an order that does not exist: whoever gets -2013 was authenticated. */
const QUERY = "symbol=BTCUSDT&orderId=999";
const AUTHENTICATED = { status: 400, code: -2013 };

function seen({ status, body }: RawAnswer): { status: number; code: number | undefined } {
  return { status, code: body.code };
}

/** A signed read with these parameters after the ones that say what is read. */
async function read(parameters: string, parts: Parts = {}) {
  return seen(
    await exchangeSigned(gateway.url, reader, "GET", READ, { query: `${QUERY}&${parameters}`, ...parts }),
  );
}

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

  test("is not looked at on a public route", async () => {
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
    "timestamp=-1",
    "timestamp=1e12",
    "timestamp=0x1f",
    "timestamp=%2B1",
    "timestamp=99999999999999999",
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
    expect(await read(`timestamp=${now() - 3_500}`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() - 5_001}`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now() - 28_000}&recvWindow=30000`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() - 30_001}&recvWindow=30000`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${now() - 101}&recvWindow=100`)).toEqual({ status: 400, code: -1021 });
  });

  test("may be ahead by less than a second", async () => {
    expect(await read(`timestamp=${now() + 999}`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() + 999}&recvWindow=1`)).toEqual(AUTHENTICATED);
    expect(await read(`timestamp=${now() + 60_000}&recvWindow=30000`)).toEqual({ status: 400, code: -1021 });
  });

  test("that is in microseconds or seconds is outside of any window", async () => {
    expect(await read(`timestamp=${now()}000`)).toEqual({ status: 400, code: -1021 });
    expect(await read(`timestamp=${Math.floor(now() / 1_000)}`)).toEqual({ status: 400, code: -1021 });
    expect(await read("timestamp=0")).toEqual({ status: 400, code: -1021 });
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
  test.each(["1000", "30000", "6000.346", "30000.0", "00500.5"])("may be %s", async (recvWindow) => {
    expect(await read(`timestamp=${now()}&recvWindow=${recvWindow}`)).toEqual(AUTHENTICATED);
  });

  test.each([
    "30001",
    "30000.001",
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

describe("the signature", () => {
  test.each(["GET", "DELETE"] as const)("of a %s may come in the query or in a body", async (method) => {
    const parameters = `${QUERY}&timestamp=${now()}`;
    const inQuery = await exchangeSigned(gateway.url, reader, method, READ, { query: parameters });
    expect(seen(inQuery)).toEqual(AUTHENTICATED);
    const inBody = await exchangeSigned(gateway.url, reader, method, READ, {
      body: parameters,
      carriage: "body",
    });
    expect(seen(inBody)).toEqual(AUTHENTICATED);
  });

  test("of a POST may come in the query or in the body, over both parts with nothing between", async () => {
    const strategy = gateway.takeStrategy();
    const order = "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.0002";
    const place = (parts: Parts) => exchangeSigned(gateway.url, strategy, "POST", ORDER, parts);
    const answers = [
      await place({ body: `${order}&timestamp=${now()}`, carriage: "body" }),
      await place({ query: `${order}&timestamp=${now()}` }),
      await place({ query: order, body: `timestamp=${now()}`, carriage: "body" }),
      await place({ query: `timestamp=${now()}`, body: order, carriage: "query" }),
      await place({ query: `timestamp=${now()}`, body: order, carriage: "body" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(({ body }) => body.orderId)).toEqual([1, 2, 3, 4, 5]);
  });

  test("may be the first parameter, or stand in the middle", async () => {
    const before = `${QUERY}&timestamp=${now()}`;
    const first = hmacHex(reader.apiSecret, before);
    const asFirst = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `signature=${first}&${before}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(asFirst)).toEqual(AUTHENTICATED);
    const inTheMiddle = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${QUERY}&signature=${first}&${before.slice(QUERY.length + 1)}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(inTheMiddle)).toEqual(AUTHENTICATED);
  });

  test("is over the escapes as they were sent, in either case and for any character", async () => {
    const note = "note=%C3%A9%c3%a9%20+%2B%26%3D'()*!~";
    expect(await read(`${note}&timestamp=${now()}`)).toEqual(AUTHENTICATED);
    expect(await read(`symb%6Fl2=%42&timestamp=${now()}`)).toEqual(AUTHENTICATED);
  });

  test("over decoded text is refused", async () => {
    const stamp = `timestamp=${now()}`;
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `symbol=BTC%55SDT&orderId=999&${stamp}&signature=${hmacHex(reader.apiSecret, `${QUERY}&${stamp}`)}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test("over sorted parameters is refused when they were sent in another order", async () => {
    const stamp = `timestamp=${now()}`;
    const sorted = hmacHex(reader.apiSecret, `orderId=999&symbol=BTCUSDT&${stamp}`);
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${QUERY}&${stamp}&signature=${sorted}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test.each([
    ["uppercase", (hex: string) => hex.toUpperCase()],
    ["cut short", (hex: string) => hex.slice(1)],
    ["too long", (hex: string) => `${hex}00`],
    ["not hex", () => "x".repeat(64)],
    ["of another message", (hex: string) => hmacHex("another secret", hex)],
  ])("is refused 401 when it is %s", async (_how, spoil) => {
    const query = `${QUERY}&timestamp=${now()}`;
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${query}&signature=${spoil(hmacHex(reader.apiSecret, query))}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test.each(["", "&signature=", "&signature"])(
    'that is missing ("%s") is refused -1102',
    async (parameter) => {
      const answer = await exchange(gateway.url, {
        method: "GET",
        path: READ,
        query: `${QUERY}&timestamp=${now()}${parameter}`,
        headers: { "x-mbx-apikey": reader.apiKey },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: -1102,
          msg: "Mandatory parameter 'signature' was not sent, was empty/null, or malformed.",
        },
      });
    },
  );

  test("of another strategy's secret is refused", async () => {
    const other = gateway.takeStrategy();
    const answer = await exchangeSigned(
      gateway.url,
      { apiKey: reader.apiKey, apiSecret: other.apiSecret },
      "GET",
      READ,
      { query: `${QUERY}&timestamp=${now()}` },
    );
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });
});

describe("a body", () => {
  const CONTENT_TYPES = [
    ["none", {}],
    ["the form's", { "content-type": "application/x-www-form-urlencoded" }],
    ["JSON's", { "content-type": "application/json" }],
    ["JSON's with a charset", { "content-type": "application/json;charset=utf-8" }],
    ["empty", { "content-type": "" }],
    ["garbage", { "content-type": ';;/\\ not a type; charset="' }],
    ["multipart", { "content-type": "multipart/form-data; boundary=x" }],
  ] as const;

  test.each(CONTENT_TYPES)("is form text when its content type is %s", async (_name, headers) => {
    const body = `${QUERY}&timestamp=${now()}`;
    const answer = await exchangeSigned(gateway.url, reader, "DELETE", READ, {
      body,
      carriage: "body",
      headers,
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test.each(CONTENT_TYPES)("may be empty when its content type is %s", async (_name, headers) => {
    for (const method of ["GET", "DELETE"]) {
      const query = `${QUERY}&timestamp=${now()}`;
      const answer = await exchangeSigned(gateway.url, reader, method, READ, {
        query,
        headers: { ...headers, "content-length": "0" },
      });
      expect(seen(answer)).toEqual(AUTHENTICATED);
    }
    const placed = await exchangeSigned(gateway.url, reader, "POST", ORDER, {
      query: `symbol=NOSUCH&side=BUY&type=MARKET&quantity=1&timestamp=${now()}`,
      headers: { ...headers, "content-length": "0" },
    });
    expect(seen(placed)).toEqual({ status: 400, code: -1121 });
  });

  test.each([
    ['{"symbol":"BTCUSDT","side":"BUY"}', "an object"],
    ["[1]", "a list"],
    ["  \n{}", "an object after white space"],
  ])("that is JSON (%j, %s) is refused -1102", async (body) => {
    for (const method of ["POST", "DELETE", "GET"]) {
      const answer = await exchangeSigned(gateway.url, reader, method, ORDER, {
        query: `${QUERY}&timestamp=${now()}`,
        body,
        headers: { "content-type": "application/json" },
      });
      expect(seen(answer)).toEqual({ status: 400, code: -1102 });
    }
  });

  test("may hold 16 KiB and not a byte more", async () => {
    const query = `${QUERY}&timestamp=${now()}`;
    const fits = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query,
      body: `pad=${"x".repeat(16_380)}`,
    });
    expect(seen(fits)).toEqual(AUTHENTICATED);
    const exceeds = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query,
      body: `pad=${"x".repeat(16_381)}`,
    });
    expect(seen(exceeds)).toEqual({ status: 413, code: -1101 });
  });

  test("that is chunked is read like any other", async () => {
    const body = `${QUERY}&timestamp=${now()}`;
    const answer = await exchangeSigned(gateway.url, reader, "DELETE", READ, {
      body,
      carriage: "body",
      headers: { "transfer-encoding": "chunked" },
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test("that is chunked and too large is refused 413", async () => {
    const answer = await exchangeSigned(gateway.url, reader, "POST", ORDER, {
      body: `pad=${"x".repeat(40_000)}`,
      headers: { "transfer-encoding": "chunked" },
    });
    expect(seen(answer)).toEqual({ status: 413, code: -1101 });
  });
});

describe("a parameter", () => {
  test("that occurs twice in one part is refused -1101", async () => {
    const stamp = `timestamp=${now()}`;
    const REFUSED = { status: 400, code: -1101 };
    expect(await read(`${stamp}&${stamp}`)).toEqual(REFUSED);
    expect(await read(`symbol=BTCUSDT&${stamp}`)).toEqual(REFUSED);
    expect(await read(`s%79mbol=BTCUSDT&${stamp}`)).toEqual(REFUSED);
    expect(await read(`note=1&note=2&${stamp}`)).toEqual(REFUSED);
    expect(await read(`${stamp}`, { body: "note=1&note=2" })).toEqual(REFUSED);
  });

  test("in query and body has the query's value", async () => {
    const strategy = gateway.takeStrategy();
    const answer = await exchangeSigned(gateway.url, strategy, "POST", ORDER, {
      query: `symbol=ETHUSDT&quantity=0.01&timestamp=${now()}`,
      body: "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.0002",
    });
    expect(answer).toMatchObject({ status: 200, body: { symbol: "ETHUSDT", origQty: "0.01000000" } });
  });

  test("may be escaped, its name too", async () => {
    const answer = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `s%79mbol=%42TCUSDT&orderId=%39%39%39&timest%61mp=${now()}`,
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test("that nobody knows is ignored", async () => {
    expect(await read(`unknown=1&=&&x&timestamp=${now()}`)).toEqual(AUTHENTICATED);
  });

  test.each(["note=%", "note=%zz", "note=%C3", "%FF=1", "note=%E0%80"])(
    "with an escape that is none (%s) is refused -1100",
    async (parameter) => {
      expect(await read(`timestamp=${now()}&${parameter}`)).toEqual({ status: 400, code: -1100 });
    },
  );
});

describe("of all that is wrong with a request, the first of these is the answer:", () => {
  const STALE = 1;

  async function spend(strategy: Credentials): Promise<void> {
    const answers = [];
    // A minute that ends meanwhile gives a new budget: twice the budget is enough in any case.
    for (let sent = 0; sent < 122; sent += 1) {
      const { status } = await signed(gateway.url, strategy, "GET", "/api/v3/allOrders", {
        symbol: "NOSUCH",
      });
      answers.push(status);
      if (status === 429) return;
    }
    throw new Error(`the budget was never spent: ${answers}`);
  }

  test("1. the path is unknown (404), whoever asks", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: "/api/v3/nothing",
      query: "timestamp=abc&timestamp=abc",
      headers: { "x-mbx-apikey": "nobody" },
    });
    expect(seen(answer)).toEqual({ status: 404, code: -5000 });
  });

  test("2. the key is unknown (401), whatever it sent", async () => {
    for (const body of ["{}", "timestamp=abc&recvWindow=0", ""]) {
      const answer = await exchange(gateway.url, {
        method: "POST",
        path: ORDER,
        body,
        headers: { "x-mbx-apikey": "nobody" },
      });
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

  test("5. the signature is missing (-1102) or wrong (401)", async () => {
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
  });

  test("6. the time window has passed (-1021), 7. the budget is spent (429), 8. the key is of the other family (-2010)", async () => {
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

test("an order whose window passes while it waits for its turn is refused -1021 and not carried out", async () => {
  const strategy = gateway.takeStrategy();
  const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.0002" };
  // The market of the symbol is at hand from here on, so that only the turn is waited for.
  expect((await signed(gateway.url, strategy, "POST", ORDER, order)).status).toBe(200);

  // A read costs four units, an order one: what is left after division by four tells whether an order was counted.
  const unitsOverFours = async () => {
    const { headers } = await signed(gateway.url, strategy, "GET", READ, { symbol: "BTCUSDT", orderId: 1 });
    return Number(headers.get("x-mbx-used-weight-1m")) % 4;
  };
  const before = await unitsOverFours();
  const held = holdCommits(gateway.dataDir);
  const first = signed(gateway.url, strategy, "POST", ORDER, order);
  // The first is on its way to disk when the others are sent: they wait behind it.
  await eventually("the first order was counted", async () => (await unitsOverFours()) !== before);
  const sentAt = now();
  const hasty = signed(gateway.url, strategy, "POST", ORDER, {
    ...order,
    recvWindow: 400,
    timestamp: sentAt,
  });
  const hastyCancel = signed(gateway.url, strategy, "DELETE", "/api/v3/openOrders", {
    symbol: "BTCUSDT",
    recvWindow: 400,
    timestamp: sentAt,
  });
  const patient = signed(gateway.url, strategy, "POST", ORDER, { ...order, timestamp: sentAt });
  await eventually("the window has passed", () => now() - sentAt > 400);
  held.release();

  expect(await first).toMatchObject({ status: 200, body: { orderId: 2, status: "FILLED" } });
  for (const answer of [await hasty, await hastyCancel]) {
    expect(answer).toMatchObject({ status: 400, body: { code: -1021 } });
    // It had been admitted: it was charged.
    expect(answer.headers.get("x-mbx-used-weight-1m")).not.toBeNull();
  }
  expect(await patient).toMatchObject({ status: 200, body: { orderId: 3, status: "FILLED" } });
});
