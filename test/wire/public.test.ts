// Public market data on the wire: what reaches upstream and what is refused before it does. Upstream is the test's own,
// so that it can be asked what it was asked.
// Source: reference exchange, section 5.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Gateway, ReadyJson } from "../../src/http/pipeline.ts";
import { PUBLIC_ROUTES } from "../../src/http/routes/public.ts";
import { openUpstream, symbolRow, type Upstream } from "../../src/market/client/testing/upstream.ts";
import { type GatewayProcess, startGateway } from "../support/gateway.ts";
import { send } from "../support/signed-client.ts";

let gateway: GatewayProcess;
let upstream: Upstream;

const UPSTREAM_PATHS = ["depth", "klines", "ticker/24hr", "ticker/price", "ticker/bookTicker"];
const rows = ["BTCUSDT", "ETHUSDT"].map((symbol) => symbolRow(symbol));

beforeAll(async () => {
  upstream = await openUpstream();
  upstream.reply("/api/v3/exchangeInfo", () => ({
    body: { timezone: "UTC", serverTime: 1, rateLimits: [], symbols: rows },
  }));
  upstream.reply("/fapi/v1/exchangeInfo", () => ({
    body: { futuresType: "U_MARGINED", serverTime: 1, symbols: rows.slice(0, 1) },
  }));
  for (const path of UPSTREAM_PATHS) {
    upstream.reply(`/api/v3/${path}`, (search) => ({ body: { asked: search.toString() } }));
  }
  const { spotRestUrl, spotWsUrl, futuresRestUrl, futuresWsUrl } = upstream.hosts;
  gateway = await startGateway({
    env: {
      UPSTREAM_SPOT_REST_URL: spotRestUrl,
      UPSTREAM_SPOT_WS_URL: spotWsUrl,
      UPSTREAM_FUTURES_REST_URL: futuresRestUrl,
      UPSTREAM_FUTURES_WS_URL: futuresWsUrl,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

beforeEach(() => {
  upstream.requests.length = 0;
});

const get = (path: string) => send(gateway.url, "GET", `/api/v3/${path}`);
/** Values as a client would write them into a query. */
const list = (...symbols: string[]) => `symbols=${encodeURIComponent(JSON.stringify(symbols))}`;

test.each([
  ["depth?limit=5&x=1&symbol=BTCUSDT", "symbol=BTCUSDT&limit=5"],
  ["depth?symbol=BTCUSDT&limit=0009999&symbolStatus=HALT", "symbol=BTCUSDT&limit=5000"],
  [
    "klines?limit=1001&timeZone=%2B05:30&endTime=9&startTime=1&interval=1M&symbol=ETHUSDT&fromId=7",
    "symbol=ETHUSDT&interval=1M&startTime=1&endTime=9&timeZone=%2B05%3A30&limit=1000",
  ],
  [`ticker/24hr?type=MINI&${list("ETHUSDT", "BTCUSDT")}`, `${list("ETHUSDT", "BTCUSDT")}&type=MINI`],
  ["ticker/24hr?symbol=&type=", ""],
  ["ticker/price?type=FULL", ""],
  ["ticker/bookTicker?limit=1&symbol=BTCUSDT", "symbol=BTCUSDT"],
])("GET %s asks upstream for %s", async (path, search) => {
  const { status, body } = await get(path);
  expect({ status, body }).toEqual({ status: 200, body: { asked: search } });
});

test("a parameter that is made up does not get a question past the cache", async () => {
  const asked = Array.from({ length: 20 }, (_none, index) =>
    get(`klines?symbol=ETHUSDT&interval=1d&limit=${7_000 + index}&nonce=${index}`),
  );
  for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  // One question, unless the machine takes more than half a second over the twenty.
  expect(upstream.requests.length).toBeLessThan(5);
  expect(new Set(upstream.requests)).toEqual(
    new Set(["/api/v3/klines?symbol=ETHUSDT&interval=1d&limit=1000"]),
  );
});

test.each([
  ["depth", -1102],
  ["depth?symbol=", -1102],
  ["depth?symbol=NOSUCH", -1121],
  ["depth?symbol=BTCUSDT&limit=-1", -1100],
  ["depth?symbol=BTCUSDT&limit=1.5", -1100],
  ["depth?symbol=BTCUSDT&limit=0", -1130],
  ["klines?interval=1m", -1102],
  ["klines?symbol=BTCUSDT", -1102],
  ["klines?symbol=BTCUSDT&interval=1min", -1120],
  ["klines?symbol=BTCUSDT&interval=1H", -1120],
  ["klines?symbol=BTCUSDT&interval=1m&startTime=now", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&endTime=1e3", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&timeZone=CET", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&limit=all", -1100],
  ["ticker/24hr?symbol=BTCUSDT&type=HUGE", -1139],
  ["ticker/24hr?symbols=%5B%22BTCUSDT%22", -1135],
  ["ticker/price?symbol=nosuch", -1121],
  ["ticker/price?symbols=%5B%5D", -1135],
  [`ticker/price?${list("BTCUSDT", "BTCUSDT")}`, -1151],
  [`ticker/price?${list("BTCUSDT", "NOSUCH")}`, -1121],
  [`ticker/bookTicker?symbol=BTCUSDT&${list("ETHUSDT")}`, -1128],
  [`exchangeInfo?symbol=BTCUSDT&${list("ETHUSDT")}`, -1128],
  [`exchangeInfo?${list("ETHUSDT", "NOSUCH")}`, -1121],
])("GET %s is refused with %i, and upstream hears nothing of it", async (path, code) => {
  const { status, body } = await get(path);
  expect({ status, code: body.code }).toEqual({ status: 400, code });
  expect(upstream.requests).toEqual([]);
});

test("all tickers cost what all tickers cost, however a client says that it names none", async () => {
  const used = async (path: string) => Number((await get(path)).headers.get("x-mbx-used-weight-1m"));
  // The window may end between two answers; then the second has counted from nothing.
  const before = await used("ping");
  const after = await used("ticker/24hr?symbol=");
  if (after > before) expect(after - before).toBe(80);
});

describe("exchangeInfo", () => {
  test("holds the rows as upstream lists them, under our own time and budgets", async () => {
    const { status, body } = await get("exchangeInfo");
    expect(status).toBe(200);
    expect(body).toMatchObject({ timezone: "UTC", rateLimits: [{ limit: 1_200 }, {}, {}], symbols: rows });
    expect(Math.abs(body.serverTime - Date.now())).toBeLessThan(60_000);
    const again = await get("exchangeInfo");
    expect(again.body).toEqual({ ...body, serverTime: again.body.serverTime });
    expect(again.body.serverTime).toBeGreaterThanOrEqual(body.serverTime);
  });

  test("holds the rows that are asked for, in that order", async () => {
    expect((await get("exchangeInfo?symbol=ETHUSDT")).body.symbols).toEqual([rows[1]]);
    const { body } = await get(`exchangeInfo?${list("ETHUSDT", "BTCUSDT")}`);
    expect(body.symbols).toEqual([rows[1], rows[0]]);
  });

  test("is made anew when its version rises, and only then", async () => {
    const body = { head: {}, symbols: new Map([["BTCUSDT", { status: "TRADING" }]]), version: 1 };
    const route = PUBLIC_ROUTES.find(({ paths }) => paths.includes("/fapi/v1/exchangeInfo"));
    const gatewayOf = { market: { exchangeInfo: () => body }, wallNow: () => 5 } as unknown as Gateway;
    const symbolsNow = async () => {
      const answer = await route?.answer(new Map(), gatewayOf);
      return answer instanceof ReadyJson ? JSON.parse(answer.text).symbols : answer;
    };
    expect(await symbolsNow()).toEqual([{ status: "TRADING" }]);
    body.symbols.set("BTCUSDT", { status: "HALT" });
    expect(await symbolsNow()).toEqual([{ status: "TRADING" }]);
    body.version += 1;
    expect(await symbolsNow()).toEqual([{ status: "HALT" }]);
  });

  test("keeps the families apart, and the futures' ignores a symbol", async () => {
    const { body } = await send(gateway.url, "GET", "/fapi/v1/exchangeInfo?symbol=ETHUSDT");
    expect(body).toMatchObject({ futuresType: "U_MARGINED", symbols: [rows[0]] });
  });
});
