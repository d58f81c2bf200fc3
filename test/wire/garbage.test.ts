// Bytes that are no request, and requests that nobody honest sends: never an answer of 5xx, never one outside
// the catalogue, and a server that goes on. Requests drawn at random over all routes are in
// `test/campaigns/fuzz/`.
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { exchange, exchangeSigned, hmacHex, talk } from "../support/raw.ts";
import { holdCommits } from "../support/servers/database.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";

const gateway = seededGateway(40);

// Whatever a test has sent: the server is there, and it was never forced to say that something is wrong with
// itself.
afterEach(async () => {
  expect(gateway.process.exitCode).toBeNull();
  expect((await send(gateway.url, "GET", "/api/v3/ping")).status).toBe(200);
  expect(gateway.output()).not.toMatch(/"level":(50|60)/);
});

/** The catalogue: every code that may come back, and the status it comes with. */
const CATALOGUE = new Map<number, readonly number[]>([
  [-1003, [429, 418]],
  [-1013, [400]],
  [-1015, [429]],
  [-1021, [400]],
  [-1100, [400]],
  [-1101, [400, 413]],
  [-1102, [400]],
  [-1106, [400]],
  [-1111, [400]],
  [-1115, [400]],
  [-1116, [400]],
  [-1117, [400]],
  [-1121, [400]],
  [-1128, [400]],
  [-1130, [400]],
  [-1131, [400]],
  [-2010, [400]],
  [-2011, [400]],
  [-2013, [400]],
  [-2015, [401]],
  [-2039, [400]],
  [-5000, [404]],
]);

function expectInCatalogue(status: number, body: unknown): void {
  expect(body).toEqual({ code: expect.any(Number), msg: expect.any(String) });
  const { code } = body as { code: number };
  expect(CATALOGUE.get(code) ?? `no status for ${code}`).toContain(status);
}

/** The answers that came over a socket: status and body of each. */
function answersIn(received: string): { status: number; body: string }[] {
  return received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== "")
    .map((part) => ({
      status: Number(/^HTTP\/1\.1 (\d{3})/.exec(part)?.[1]),
      body: part.slice(part.indexOf("\r\n\r\n") + 4),
    }));
}

const HEAD = "Host: x\r\nConnection: close\r\n";

describe("bytes on a socket:", () => {
  const REFUSED: readonly (readonly [string, string | Uint8Array])[] = [
    ["no request at all", "hello\r\n\r\n"],
    ["a TLS greeting", Uint8Array.from([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 0, 0, 0, 0])],
    ["NUL bytes", "\0\0\0\0\r\n\r\n"],
    ["a method that there is not", `FROB /api/v3/time HTTP/1.1\r\n${HEAD}\r\n`],
    ["a method in lower case", `get /api/v3/time HTTP/1.1\r\n${HEAD}\r\n`],
    ["a version that there is not", `GET /api/v3/time HTTP/9.9\r\n${HEAD}\r\n`],
    ["no path", `GET HTTP/1.1\r\n${HEAD}\r\n`],
    ["a path with a space", `GET /api/v3/ti me HTTP/1.1\r\n${HEAD}\r\n`],
    ["a path with a NUL byte", `GET /api/v3/time\0 HTTP/1.1\r\n${HEAD}\r\n`],
    ["a header with a NUL byte", `GET /api/v3/time HTTP/1.1\r\n${HEAD}X-MBX-APIKEY: a\0b\r\n\r\n`],
    ["a header without a colon", `GET /api/v3/time HTTP/1.1\r\n${HEAD}nonsense\r\n\r\n`],
    ["a header name with a space", `GET /api/v3/time HTTP/1.1\r\n${HEAD}a b: c\r\n\r\n`],
    ["headers of 20 KiB", `GET /api/v3/time HTTP/1.1\r\n${HEAD}a: ${"x".repeat(20_000)}\r\n\r\n`],
    ["a path of 20 KiB", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${HEAD}\r\n`],
    ["a length that is no number", `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: ten\r\n\r\n`],
    ["a negative length", `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: -1\r\n\r\n`],
    ["two lengths", `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    [
      "a length and chunks",
      `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "a chunk of no size",
      `POST /api/v3/order HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`,
    ],
    [
      "an encoding that there is not",
      `POST /api/v3/order HTTP/1.1\r\n${HEAD}Transfer-Encoding: frob\r\n\r\n`,
    ],
    ["no path but a query", `GET ?a=1 HTTP/1.1\r\n${HEAD}\r\n`],
  ];

  test.each(REFUSED)("%s is refused with a code of the catalogue", async (_what, bytes) => {
    const [first, ...others] = answersIn(await talk(gateway.url, bytes));
    expect(others).toEqual([]);
    if (first === undefined) throw new Error("the server hung up without an answer");
    expectInCatalogue(first.status, JSON.parse(first.body));
  });

  test.each<[string, string, number]>([
    [
      "a length of a terabyte",
      `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: 1000000000000\r\n\r\n`,
      413,
    ],
    ["an absolute address of another host", `GET http://x.invalid/none HTTP/1.1\r\n${HEAD}\r\n`, 404],
    ["an asterisk", `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`, 404],
    [
      "an upgrade",
      `GET /api/v3/nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
      404,
    ],
    ["a trace", `TRACE /api/v3/time HTTP/1.1\r\n${HEAD}\r\n`, 404],
    ["a WebDAV method", `PROPFIND /api/v3/time HTTP/1.1\r\n${HEAD}\r\n`, 404],
  ])("%s is answered from the catalogue", async (_what, bytes, status) => {
    const [first] = answersIn(await talk(gateway.url, bytes, { hangUp: true }));
    if (first === undefined) throw new Error("the server hung up without an answer");
    expect(first.status).toBe(status);
    expectInCatalogue(first.status, JSON.parse(first.body));
  });

  test.each([
    ["without a host", "GET /api/v3/nothing HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["that expects what nobody knows", `GET /api/v3/nothing HTTP/1.1\r\n${HEAD}Expect: miracles\r\n\r\n`],
  ])("a request %s is answered in the catalogue's words, not in the runtime's", async (_what, bytes) => {
    const [first] = answersIn(await talk(gateway.url, bytes));
    if (first === undefined) throw new Error("the server hung up without an answer");
    expect(first.body).toMatch(/^\{"code":-\d+,"msg":".+"\}$/);
    expectInCatalogue(first.status, JSON.parse(first.body));
  });

  test("an old client (HTTP/1.0) is answered like any other", async () => {
    const [answer] = answersIn(await talk(gateway.url, "GET /api/v3/time HTTP/1.0\r\n\r\n"));
    expect(answer?.status).toBe(200);
  });

  test("pipelined requests are all answered, in order", async () => {
    const request = (path: string, last = false) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${last ? "Connection: close\r\n" : ""}\r\n`;
    const received = await talk(
      gateway.url,
      request("/api/v3/ping") + request("/api/v3/nothing") + request("/api/v3/ping", true),
    );
    expect(answersIn(received).map(({ status }) => status)).toEqual([200, 404, 200]);
  });

  test("garbage behind an order in progress closes the connection, and is not answered in its place", async () => {
    const strategy = gateway.takeStrategy();
    const { host } = new URL(gateway.url);
    const order =
      "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC&quantity=0.001&price=50000&newClientOrderId=mess";
    const message = `${order}&timestamp=${Date.now()}`;
    const target = `/api/v3/order?${message}&signature=${hmacHex(strategy.apiSecret, message)}`;
    const hold = holdCommits(gateway.dataDir);
    const received = await talk(
      gateway.url,
      `POST ${target} HTTP/1.1\r\nhost: ${host}\r\nx-mbx-apikey: ${strategy.apiKey}\r\n\r\nmess\0mess\r\n\r\n`,
    ).finally(() => hold.release());
    expect(received).toBe("");
    // A closed connection means unknown, and the client may query: the order was executed.
    const query = { symbol: "BTCUSDT", origClientOrderId: "mess" };
    await eventually(
      "the order is there",
      async () => (await signed(gateway.url, strategy, "GET", "/api/v3/order", query)).status === 200,
    );
  });

  test("clients that leave in the middle of a request are no trouble", async () => {
    const whole = `POST /api/v3/order HTTP/1.1\r\n${HEAD}Content-Length: 30\r\n\r\nsymbol=BTCUSDT`;
    for (let length = 1; length <= whole.length; length += 7) {
      for (const { status } of answersIn(await talk(gateway.url, whole.slice(0, length), { hangUp: true }))) {
        expect(status).toBeLessThan(500);
      }
    }
  });

  test("two hundred random mutations of a request are survived", async () => {
    const original = Buffer.from(
      `POST /api/v3/order?symbol=BTCUSDT HTTP/1.1\r\n${HEAD}X-MBX-APIKEY: x\r\nContent-Length: 9\r\n\r\nside=SELL`,
    );
    const change = fc.tuple(
      fc.nat(original.length - 1),
      fc.nat(255),
      fc.constantFrom("set", "drop", "insert"),
    );
    const mutations = fc.sample(fc.array(change, { minLength: 1, maxLength: 6, size: "max" }), {
      numRuns: 200,
      seed: 4_711,
    });
    const statuses = new Set<number>();
    for (let next = 0; next < mutations.length; next += 20) {
      const batch = mutations.slice(next, next + 20).map(async (changes) => {
        const bytes = [...original];
        for (const [at, value, kind] of changes) {
          bytes.splice(at, kind === "insert" ? 0 : 1, ...(kind === "drop" ? [] : [value]));
        }
        for (const { status } of answersIn(
          await talk(gateway.url, Uint8Array.from(bytes), { hangUp: true }),
        )) {
          statuses.add(status);
        }
      });
      await Promise.all(batch);
    }
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect(statuses).toContain(400);
  });
});

describe("a hostile request:", () => {
  test.each([
    "/%",
    "/%zz",
    "/api/v3/%",
    "/api/v3/time%00",
    "/api/v3/%2e%2e/time",
    "/../etc/passwd",
    "//",
    "/api/v3/time;a",
  ])("GET %s is no route", async (path) => {
    const { status, body } = await exchange(gateway.url, { method: "GET", path });
    expect(status).toBeLessThan(500);
    expectInCatalogue(status, body);
  });

  test("a query of many parameters is read", async () => {
    const many = Array.from({ length: 1_500 }, (_none, index) => `p${index}=1`).join("&");
    const { status } = await exchange(gateway.url, { method: "GET", path: "/api/v3/time", query: many });
    expect(status).toBe(200);
  });

  test("names that a careless program would trip over are names like any other", async () => {
    const strategy = gateway.takeStrategy();
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "a[b]", "a[]", "", "%00"];
    const query = `symbol=BTCUSDT&orderId=1&${names.map((name) => `${name}=1`).join("&")}&timestamp=${Date.now()}`;
    const { status, body } = await exchangeSigned(gateway.url, strategy, "GET", "/api/v3/order", { query });
    expect({ status, code: body.code }).toEqual({ status: 400, code: -2013 });
  });

  test("a body with a GET is read as its parameters, on a public route too", async () => {
    const { status, body } = await exchange(gateway.url, {
      method: "GET",
      path: "/api/v3/ticker/price",
      body: "symbol=BTCUSDT",
    });
    expect({ status, symbol: body.symbol }).toEqual({ status: 200, symbol: "BTCUSDT" });
  });

  test.each([
    ["ticker/24hr", "symbol=NOSUCH"],
    ["ticker/24hr", "symbols=%5B%22BTCUSDT%22%2C"],
    ["ticker/price", "symbol=BTCUSDT&symbols=%5B%22BTCUSDT%22%5D"],
    ["depth", ""],
    ["depth", "symbol=BTCUSDT&limit=-1"],
    ["depth", "symbol=BTCUSDT&limit=NaN"],
    ["klines", "symbol=BTCUSDT&interval=9y"],
    ["klines", "symbol=BTCUSDT&interval=1m&startTime=-1"],
    ["exchangeInfo", "symbol=nosuch"],
    ["exchangeInfo", "symbols=x"],
    ["exchangeInfo", "symbols=%5B%5D"],
    ["exchangeInfo", "symbols=%5B1%5D"],
    ["exchangeInfo", "symbols=%5B%22BTCUSDT%22%2C%22BTCUSDT%22%5D"],
  ])("GET %s?%s is refused by its parameters", async (route, query) => {
    const { status, body } = await exchange(gateway.url, { method: "GET", path: `/api/v3/${route}`, query });
    expect(status).toBe(400);
    expect(body).toEqual({ code: expect.any(Number), msg: expect.any(String) });
  });
});
