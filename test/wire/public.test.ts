// Public market data on the wire: what reaches upstream and what is refused before it does. Upstream is the
// test's own, so that it can be asked what it was asked. Source: reference exchange, section 5.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../src/http/pipeline.ts";
import { ReadyJson } from "../../src/http/route.ts";
import { PUBLIC_ROUTES } from "../../src/http/routes/public.ts";
import { cacheMsMax } from "../../src/market/client/rest/pass-through.ts";
import { openUpstream, symbolRow, type Upstream } from "../../src/market/client/testing/upstream.ts";
import { freshAddress } from "../support/addresses.ts";
import { contractRow } from "../support/own-contracts.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { send } from "../support/signed-client.ts";

let gateway: GatewayProcess;
let upstream: Upstream;

const UPSTREAM_PATHS = [
  "depth",
  "trades",
  "historicalTrades",
  "aggTrades",
  "klines",
  "avgPrice",
  "ticker/24hr",
  "ticker/price",
  "ticker/bookTicker",
];
/** XRPUSDT is halted, and the only one that may be traded on margin. */
const rows = [
  symbolRow("BTCUSDT", { permissions: [], permissionSets: [["SPOT"]] }),
  symbolRow("ETHUSDT"),
  symbolRow("XRPUSDT", { status: "HALT", permissionSets: [["SPOT", "MARGIN"], ["TRD_GRP_004"]] }),
];

/** What upstream was asked on behalf of callers: the feed asks for its time by itself. */
const askedUpstream = () => upstream.requests.filter((each) => !each.endsWith("/time"));

beforeAll(async () => {
  upstream = await openUpstream();
  upstream.reply("/api/v3/exchangeInfo", () => ({
    body: { timezone: "UTC", serverTime: 1, rateLimits: [], symbols: rows },
  }));
  upstream.reply("/fapi/v1/exchangeInfo", () => ({
    body: { futuresType: "U_MARGINED", serverTime: 1, symbols: [contractRow("BTCUSDT")] },
  }));
  for (const path of UPSTREAM_PATHS) {
    upstream.reply(`/api/v3/${path}`, (search) => ({ body: { asked: search.toString() } }));
  }
  gateway = await startGateway({ env: envOf(upstream) });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

beforeEach(() => {
  upstream.requests.length = 0;
});

/** Behind a proxy, so that every request can come from an address that has asked nothing yet. */
function envOf({ hosts }: Upstream) {
  return {
    UPSTREAM_SPOT_REST_URL: hosts.spotRestUrl,
    UPSTREAM_SPOT_WS_URL: hosts.spotWsUrl,
    UPSTREAM_FUTURES_REST_URL: hosts.futuresRestUrl,
    UPSTREAM_FUTURES_WS_URL: hosts.futuresWsUrl,
    TRUSTED_PROXY_HOPS: "1",
  };
}

const get = (path: string, { url }: GatewayProcess = gateway) =>
  send(url, "GET", `/api/v3/${path}`, { headers: { "x-forwarded-for": freshAddress() } });
/** Values as a client would write them into a query. */
const list = (...symbols: string[]) => `symbols=${encodeURIComponent(JSON.stringify(symbols))}`;

test.each([
  ["depth?limit=5&x=1&symbol=BTCUSDT", "symbol=BTCUSDT&limit=5"],
  ["depth?symbol=BTCUSDT&limit=0009999&symbolStatus=TRADING", "symbol=BTCUSDT&limit=5000"],
  ["trades?limit=2000&symbol=BTCUSDT&fromId=5", "symbol=BTCUSDT&limit=1000"],
  ["historicalTrades?limit=3&fromId=28457&symbol=BTCUSDT", "symbol=BTCUSDT&fromId=28457&limit=3"],
  [
    "aggTrades?limit=1&endTime=9&startTime=1&fromId=4&symbol=ETHUSDT",
    "symbol=ETHUSDT&fromId=4&startTime=1&endTime=9&limit=1",
  ],
  ["uiKlines?interval=1d&symbol=ETHUSDT&limit=2", "symbol=ETHUSDT&interval=1d&limit=2"],
  ["avgPrice?symbol=ETHUSDT&mins=10", "symbol=ETHUSDT"],
  ["klines?symbol=BTCUSDT&interval=1d&timeZone=-12", "symbol=BTCUSDT&interval=1d&timeZone=-12"],
  ["klines?symbol=BTCUSDT&interval=1d&timeZone=14:00", "symbol=BTCUSDT&interval=1d&timeZone=14%3A00"],
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
  const startedAt = performance.now();
  const asked = Array.from({ length: 20 }, (_none, index) =>
    get(`klines?symbol=ETHUSDT&interval=1d&limit=${7_000 + index}&nonce=${index}`),
  );
  for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  // One question, and one more for each time that the cached answer has become too old.
  const periods = Math.ceil((performance.now() - startedAt) / cacheMsMax);
  expect(askedUpstream().length).toBeLessThanOrEqual(1 + periods);
  expect(new Set(askedUpstream())).toEqual(new Set(["/api/v3/klines?symbol=ETHUSDT&interval=1d&limit=1000"]));
});

test.each([
  ["depth", -1102],
  ["depth?symbol=", -1102],
  ["depth?symbol=NOSUCH", -1121],
  ["depth?symbol=btcusdt", -1121],
  ["depth?symbol=BTCUSDT&limit=-1", -1100],
  ["depth?symbol=BTCUSDT&limit=1.5", -1100],
  ["depth?symbol=BTCUSDT&limit=0", -1130],
  ["depth?symbol=BTCUSDT&symbolStatus=HALT", -1220],
  ["depth?symbol=XRPUSDT&symbolStatus=TRADING", -1220],
  ["depth?symbol=BTCUSDT&symbolStatus=CLOSED", -1122],
  ["trades", -1102],
  ["trades?symbol=NOSUCH", -1121],
  ["trades?symbol=BTCUSDT&limit=x", -1100],
  ["historicalTrades?fromId=1", -1102],
  ["historicalTrades?symbol=BTCUSDT&fromId=-1", -1100],
  ["historicalTrades?symbol=BTCUSDT&limit=0", -1130],
  ["aggTrades?fromId=1", -1102],
  ["aggTrades?symbol=BTCUSDT&fromId=1e3", -1100],
  ["aggTrades?symbol=BTCUSDT&startTime=now", -1100],
  ["aggTrades?symbol=BTCUSDT&endTime=9.5", -1100],
  ["aggTrades?symbol=BTCUSDT&limit=0", -1130],
  ["klines?interval=1m", -1102],
  ["klines?symbol=BTCUSDT", -1102],
  ["klines?symbol=BTCUSDT&interval=1min", -1120],
  ["klines?symbol=BTCUSDT&interval=1H", -1120],
  ["klines?symbol=BTCUSDT&interval=1m&startTime=now", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&endTime=1e3", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&timeZone=CET", -1100],
  ["klines?symbol=BTCUSDT&interval=1m&timeZone=14:01", -1130],
  ["klines?symbol=BTCUSDT&interval=1m&timeZone=-12:01", -1130],
  ["klines?symbol=BTCUSDT&interval=1m&timeZone=3:60", -1130],
  ["klines?symbol=BTCUSDT&interval=1m&limit=all", -1100],
  ["uiKlines?symbol=BTCUSDT", -1102],
  ["uiKlines?symbol=BTCUSDT&interval=2m", -1120],
  ["avgPrice", -1102],
  ["avgPrice?symbol=NOSUCH", -1121],
  ["ticker/24hr?symbol=BTCUSDT&type=HUGE", -1139],
  ["ticker/24hr?symbol=BTCUSDT&type=mini", -1139],
  ["ticker/24hr?symbols=%5B%22BTCUSDT%22", -1135],
  ["ticker/24hr?symbols=BTCUSDT", -1135],
  ["ticker/24hr?symbols=%5B1%5D", -1135],
  ["ticker/24hr?symbol=XRPUSDT&symbolStatus=TRADING", -1220],
  ["ticker/24hr?symbolStatus=trading", -1122],
  ["ticker/price?symbol=nosuch", -1121],
  ["ticker/price?symbols=%5B%5D", -1135],
  ["ticker/price?symbol=BTCUSDT&symbolStatus=BREAK", -1220],
  [`ticker/price?${list("BTCUSDT", "BTCUSDT")}`, -1151],
  [`ticker/price?${list("BTCUSDT", "NOSUCH")}`, -1121],
  [`ticker/bookTicker?symbol=BTCUSDT&${list("ETHUSDT")}`, -1128],
  ["ticker/bookTicker?symbol=BTCUSDT&symbolStatus=HALT", -1220],
  [`exchangeInfo?symbol=BTCUSDT&${list("ETHUSDT")}`, -1128],
  ["exchangeInfo?symbol=BTCUSDT&permissions=SPOT", -1128],
  [`exchangeInfo?${list("BTCUSDT")}&symbolStatus=TRADING`, -1128],
  ["exchangeInfo?symbol=NOSUCH", -1121],
  [`exchangeInfo?${list("ETHUSDT", "NOSUCH")}`, -1121],
  [`exchangeInfo?${list("ETHUSDT", "ETHUSDT")}`, -1151],
  ["exchangeInfo?symbols=ETHUSDT", -1135],
  ["exchangeInfo?permissions=%5B%22SPOT%22", -1135],
  ["exchangeInfo?permissions=spot", -1130],
  ["exchangeInfo?symbolStatus=DELISTED", -1122],
  ["exchangeInfo?showPermissionSets=1", -1130],
])("GET %s is refused with %i, and upstream hears nothing of it", async (path, code) => {
  const { status, body, headers } = await get(path);
  expect({ status, code: body.code }).toEqual({ status: 400, code });
  expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  expect(askedUpstream()).toEqual([]);
});

test("klines and uiKlines with the same parameters are one question, and one answer", async () => {
  const question = "symbol=BTCUSDT&interval=3d";
  const [one, other] = await Promise.all([get(`klines?${question}`), get(`uiKlines?${question}`)]);
  expect(other.body).toEqual(one.body);
  expect(new Set(askedUpstream())).toEqual(new Set([`/api/v3/klines?${question}`]));
});

test("a status leaves the symbols of another out of a list", async () => {
  const tickers = rows.map(({ symbol }) => ({ symbol, bidPrice: "1.00000000" }));
  upstream.reply("/api/v3/ticker/bookTicker", () => ({ body: tickers }));
  const halted = await get("ticker/bookTicker?symbolStatus=HALT");
  expect({ status: halted.status, body: halted.body }).toEqual({ status: 200, body: [tickers[2]] });
  const named = await get(`ticker/bookTicker?${list("XRPUSDT", "BTCUSDT", "ETHUSDT")}&symbolStatus=TRADING`);
  expect(named.body).toEqual(tickers.slice(0, 2));
  expect((await get("ticker/bookTicker?symbolStatus=BREAK")).body).toEqual([]);
});

describe("upstream that is in trouble", () => {
  let questions = 0;
  /** A question that has no answer in the cache. */
  const newQuestion = () => {
    questions += 1;
    return `aggTrades?symbol=BTCUSDT&fromId=${questions}`;
  };

  const SILENT =
    "The market data of this symbol is silent, late or not confirmed by trades, so the request was not executed. Please try again in a few seconds.";

  async function expectSilence(path: string, at: GatewayProcess = gateway) {
    const { status, headers, body } = await get(path, at);
    expect({ status, body }).toEqual({ status: 503, body: { code: -1008, msg: SILENT } });
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  }

  test.each([
    [500, { code: -1000, msg: "An unknown error occurred while processing the request." }],
    [502, "<html>Bad Gateway</html>"],
    [503, { code: -1008, msg: "Server is currently overloaded with other requests." }],
    [504, { code: -1007, msg: "Timeout waiting for response from backend server." }],
    [401, { code: -2015, msg: "Invalid API-key, IP, or permissions for action." }],
    [404, "<html>Not Found</html>"],
    [451, { code: 0, msg: "Service unavailable from a restricted location." }],
    [400, { code: -1003, msg: "Too many requests queued." }],
    [400, { code: -2015, msg: "Invalid API-key, IP, or permissions for action." }],
    [400, "<html>Bad Request</html>"],
    [410, { code: -1121, msg: "Invalid symbol." }],
    [204, ""],
    [200, ""],
    [200, "[1, 2"],
    [200, "<html>Sign in to this network</html>"],
  ])("a %i with %j is the market's silence to our client", async (status, body) => {
    upstream.reply("/api/v3/aggTrades", () => ({ status, body }));
    await expectSilence(newQuestion());
  });

  test.each([403, 418, 429])("its %i is neither our client's nor passed on to it", async (status) => {
    const other = await startGateway({ env: envOf(upstream) });
    try {
      const headers = { "retry-after": "60", "x-mbx-used-weight-1m": "6000" };
      upstream.reply("/api/v3/aggTrades", () => ({ status, headers, body: { code: -1003, msg: "banned" } }));
      await expectSilence(newQuestion(), other);
      await expectSilence("trades?symbol=BTCUSDT", other);
      const answer = await get(newQuestion(), other);
      expect(answer.headers.get("x-mbx-used-weight-1m")).toBe("4");
      expect((await get("exchangeInfo", other)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  test.each([
    [-1121, -1121, "Invalid symbol."],
    [-1128, -1128, "Combination of optional parameters invalid."],
    [-1127, -1130, "Invalid data sent for a parameter."],
  ])("its refusal %i of a parameter is %i in our words", async (code, ours, msg) => {
    upstream.reply("/api/v3/aggTrades", () => ({ status: 400, body: { code, msg: "words of its own" } }));
    const { status, body } = await get(newQuestion());
    expect({ status, body }).toEqual({ status: 400, body: { code: ours, msg } });
  });
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

  test("holds the requested rows, in that order", async () => {
    expect((await get("exchangeInfo?symbol=ETHUSDT")).body.symbols).toEqual([rows[1]]);
    expect((await get("exchangeInfo?symbol=XRPUSDT&symbols=")).body.symbols).toEqual([rows[2]]);
    const { body } = await get(`exchangeInfo?${list("ETHUSDT", "BTCUSDT")}`);
    expect(body.symbols).toEqual([rows[1], rows[0]]);
  });

  test("holds the rows of a status, of permissions, or of both", async () => {
    const rowsOf = async (search: string) => (await get(`exchangeInfo?${search}`)).body.symbols;
    expect(await rowsOf("symbolStatus=TRADING")).toEqual([rows[0], rows[1]]);
    expect(await rowsOf("permissions=MARGIN")).toEqual([rows[2]]);
    const either = encodeURIComponent(JSON.stringify(["LEVERAGED", "SPOT"]));
    expect(await rowsOf(`permissions=${either}`)).toEqual([rows[0], rows[2]]);
    expect(await rowsOf("permissions=SPOT&symbolStatus=HALT")).toEqual([rows[2]]);
    expect(await rowsOf("permissions=LEVERAGED")).toEqual([]);
  });

  test("shows the permission sets by default", async () => {
    const rowsOf = async (search: string) => (await get(`exchangeInfo?${search}`)).body.symbols;
    const bare = rows.map((row) => ({ ...row, permissionSets: [] }));
    expect(await rowsOf("showPermissionSets=false")).toEqual(bare);
    expect(await rowsOf("showPermissionSets=false&symbol=XRPUSDT")).toEqual([bare[2]]);
    expect(await rowsOf("showPermissionSets=False")).toEqual(bare);
    expect(await rowsOf("showPermissionSets=true")).toEqual(rows);
  });

  test("is created again when its version rises, and only then", async () => {
    const body = { head: {}, symbols: new Map([["BTCUSDT", { status: "TRADING" }]]), version: 1 };
    const route = PUBLIC_ROUTES.find(({ paths }) => paths.includes("/fapi/v1/exchangeInfo"));
    const market = { exchangeInfo: () => body, rules: () => ({ maxNumAlgoOrders: 10 }) };
    const gatewayOf = { markets: { FUTURES: market }, wallNow: () => 5 } as unknown as Gateway;
    const nobody = { apiKey: "", strategyId: "", userId: "", admittedAt: 0, lapsed: () => null };
    const symbolsNow = async () => {
      const answer = await route?.answer(undefined, gatewayOf, nobody);
      return answer instanceof ReadyJson ? JSON.parse(answer.text).symbols : answer;
    };
    expect(await symbolsNow()).toMatchObject([{ status: "TRADING" }]);
    body.symbols.set("BTCUSDT", { status: "HALT" });
    expect(await symbolsNow()).toMatchObject([{ status: "TRADING" }]);
    body.version += 1;
    expect(await symbolsNow()).toMatchObject([{ status: "HALT" }]);
  });

  test("keeps the types apart, and the futures' ignores a symbol", async () => {
    const { body } = await send(gateway.url, "GET", "/fapi/v1/exchangeInfo?symbol=ETHUSDT");
    expect(body).toMatchObject({
      futuresType: "U_MARGINED",
      symbols: [{ symbol: "BTCUSDT", contractType: "PERPETUAL" }],
    });
  });
});
