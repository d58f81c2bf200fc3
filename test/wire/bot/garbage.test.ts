// Malformed and hostile bot requests, and a server that cannot execute them: every answer is one that the
// routes promise, never in another format, and 5xx only if the market or the store is down. Source:
// specification 4.4 and 7.2; design, sections 6 and 7.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { StubMarket } from "../../../src/desk/testing/fixture.ts";
import { StoreFailure, StoreUnavailable } from "../../../src/store/store.ts";
import type { BotClient } from "../../support/bot-client.ts";
import { misfits } from "../../support/bot-shapes.ts";
import { exchange, talk } from "../../support/raw.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";

const ORDERS = "/bot/v1/spot/orders";
const POSTS = [ORDERS, "/bot/v1/spot/test", "/bot/v1/spot/orders/cancel", "/bot/v1/spot/strategy/close"];
const GETS = ["/bot/v1/spot/pairs", ORDERS, "/bot/v1/spot/signals/7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11"];
const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.01" };
const FINE = new Set([200, 202, 400, 404, 413, 422]);

/** A market that also lists, which the pairs ask for. */
function listingMarket(): StubMarket & { exchangeInfo: () => never } {
  const body = { head: {}, symbols: new Map(), version: 0 };
  return Object.assign(new StubMarket(), { exchangeInfo: () => body as never });
}

async function openGateway(
  market = listingMarket(),
): Promise<{ gateway: InProcessGateway; bot: BotClient; strategyId: string }> {
  const gateway = await openInProcess({ SPOT: market });
  const strategy = await gateway.seed("SPOT");
  return { gateway, bot: gateway.botOf(strategy), strategyId: strategy.strategyId };
}

describe("requests drawn at random, each signed as it must be", () => {
  let gateway: InProcessGateway;
  let bot: BotClient;
  let strategyId: string;
  beforeAll(async () => {
    ({ gateway, bot, strategyId } = await openGateway());
  });
  afterAll(() => gateway.close());

  const odd = fc.constantFrom(
    "",
    "0",
    "1e5",
    "-1",
    "NaN",
    "0.1",
    "9".repeat(21),
    "\u0000",
    "😀",
    "' OR 1=1 --",
    "BTCUSDT",
  );
  const value = fc.oneof(
    odd,
    fc.double(),
    fc.bigInt().map(Number),
    fc.boolean(),
    fc.constant(null),
    fc.jsonValue(),
  );
  const field = fc.constantFrom(
    "symbol",
    "tradeType",
    "orderType",
    "quantity",
    "quoteOrderQty",
    "price",
    "stopPrice",
    "collectiveId",
    "__proto__",
    "constructor",
    "",
  );
  const order = fc
    .record(
      {
        symbol: fc.constantFrom("BTCUSDT", "ETHUSDT"),
        tradeType: fc.constantFrom("BUY", "SELL"),
        orderType: fc.constantFrom("MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"),
        quantity: fc.constantFrom("0.01", 0.01, 0, "1000000", "0.00000001"),
        quoteOrderQty: fc.constantFrom("5", 0),
        price: fc.constantFrom("1", "99", "100000", 0),
        stopPrice: fc.constantFrom("1", 101, "0"),
      },
      { requiredKeys: ["symbol", "tradeType", "quantity"] },
    )
    .chain((whole) => fc.tuple(field, value).map(([name, of]) => [whole, { ...whole, [name]: of }]))
    .chain((both) => fc.constantFrom(...both));
  const body = fc.oneof(
    { weight: 4, arbitrary: order.map((each) => JSON.stringify(each)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(BUY, { ...BUY, quantity: 0.02 }).map((each) => JSON.stringify(each)),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
    { weight: 1, arbitrary: fc.constantFrom("{}", "", "[]", "null", `{"a":${"[".repeat(9_000)}`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(order, fc.nat(), fc.string({ unit: "grapheme-ascii", maxLength: 3 }))
        .map(([each, at, put]) => {
          const text = JSON.stringify(each);
          const cut = at % text.length;
          return text.slice(0, cut) + put + text.slice(cut + 1);
        }),
    },
  );
  const key = fc.oneof(
    { weight: 4, arbitrary: fc.nat({ max: 200 }).map((number) => `key ${number}`) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: fc.constantFrom("a", " ", "~", "é", ",", '"'), maxLength: 140 }),
    },
  );
  const request = fc.record({
    path: fc.oneof(
      { weight: 5, arbitrary: fc.constant(ORDERS) },
      fc.constantFrom(...POSTS.slice(0, 3), ...GETS),
    ),
    method: fc.constantFrom("POST", "POST", "POST", "GET"),
    query: fc.constantFrom("", "", "", "?", "?a=%zz&b"),
    body,
    key,
  });

  test("are answered as the routes promise, and an order is placed for each executed signal and no other", async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(request, async ({ path, method, query, body: sent, key: idempotencyKey }) => {
        const target = path + query;
        const answer = await (method === "GET"
          ? bot.get(target)
          : bot.post(target, sent, { idempotencyKey }));
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect(FINE).toContain(answer.status);
        expect(misfits(method, path, answer)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    for (const status of [200, 202, 400, 404, 422])
      expect(statuses.get(status), String(status)).toBeGreaterThan(0);
    const { data } = (await bot.signals()).body;
    const executed = data.filter(({ status }: { status: string }) => status === "EXECUTED");
    const account = (await gateway.store.loadAccount(strategyId))?.account;
    expect(executed.length).toBeGreaterThan(0);
    expect((account?.nextOrderId ?? 0) - 1).toBe(executed.length);
  });
});

describe("a server that cannot do what it is asked", () => {
  test.each([
    [
      "a store out of reach: 503, to be asked again",
      new StoreUnavailable("out of reach"),
      503,
      "Server is currently overloaded with other requests. Please try again in a few minutes.",
      "1",
    ],
    [
      "a store that has failed: 503, the outcome is unknown",
      new StoreFailure("the disk is gone"),
      503,
      "Timeout waiting for response from backend server. Send status unknown; execution status unknown.",
      "1",
    ],
    [
      "a bug: 500",
      new Error("a bug"),
      500,
      "An unknown error occurred while processing the request.",
      undefined,
    ],
  ])("%s", async (_what, error, status, message, retryAfter) => {
    const market = listingMarket();
    // A signal whose market has to be prepared is recorded first.
    market.prepare = () => Promise.resolve();
    const { gateway, bot } = await openGateway(market);
    onTestFinished(() => gateway.close());
    const { receiveSignals } = gateway.store;
    gateway.store.receiveSignals = () => Promise.reject(error);
    const answer = await bot.submit(BUY, "a");
    expect({ status: answer.status, body: answer.body }).toEqual({
      status,
      body: { status: false, message },
    });
    expect(answer.headers["retry-after"]).toBe(retryAfter);
    gateway.store.receiveSignals = receiveSignals;
    expect((await bot.submit(BUY, "a")).body).toMatchObject({ status: "EXECUTED", replayed: false });
  });

  test("a database that takes no commit now: 503, to be asked again, and nothing is recorded", async () => {
    const { gateway, bot } = await openGateway();
    onTestFinished(() => gateway.close());
    const { commit } = gateway.store;
    gateway.store.commit = async (group) => group.map(() => "BUSY");
    expect(await bot.submit(BUY, "a")).toMatchObject({
      status: 503,
      body: { status: false, message: expect.stringMatching(/overloaded/) },
      headers: { "retry-after": "1" },
    });
    expect((await bot.signals()).body.data).toEqual([]);
    gateway.store.commit = commit;
    expect((await bot.submit(BUY, "a")).body).toMatchObject({ status: "EXECUTED", replayed: false });
  });

  test("while commits wait too long, writes are refused 503 at once, and reads work", async () => {
    const { gateway, bot } = await openGateway();
    onTestFinished(() => gateway.close());
    gateway.desk.isBehind = () => true;
    expect((await bot.signals()).status).toBe(200);
    const refused = await exchange(gateway.url, { method: "POST", path: ORDERS, body: "{" });
    expect(refused).toMatchObject({
      status: 503,
      body: { status: false, message: expect.stringMatching(/overloaded/) },
      headers: { "retry-after": "1" },
    });
  });
});

test("bytes that no client sends are answered or cut, and the server keeps running", async () => {
  const { gateway, bot } = await openGateway();
  onTestFinished(() => gateway.close());
  const head = (line: string) => `${line}\r\nHost: x\r\nConnection: close\r\n`;
  for (const [bytes, status] of [
    [`${head("GET /bot/\u0001 HTTP/1.1")}\r\n`, 400],
    [`${head(`POST ${ORDERS} HTTP/1.1`)}Content-Length: x\r\n\r\n`, 400],
    [`${head(`POST ${ORDERS} HTTP/1.1`)}X-Bot-Api-Key: ${"k".repeat(17_000)}\r\n\r\n`, 400],
    [`${head(`POST ${ORDERS} HTTP/1.1`)}Content-Length: 20000\r\n\r\n`, 413],
    [`${head("GET /bot/v1/spot/../../api/v3/time HTTP/1.1")}\r\n`, 404],
    [`${head("GET //bot/v1/spot/pairs HTTP/1.1")}\r\n`, 404],
    [`${head("GET /bot/v1/spot/pairs%00 HTTP/1.1")}\r\n`, 404],
  ] as const) {
    expect(await talk(gateway.url, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
  expect((await bot.pairs()).status).toBe(200);
});
