// What a bot reads: the pairs, its signals, and whether it signs as it must.
// Source: specification 2.7, 2.8, 4.4 and 7.2; design, section 6.
import { describe, expect, test } from "vitest";
import { botClient } from "../../support/bot-client.ts";
import { misfits } from "../../support/bot-shapes.ts";
import { seededGateway } from "../../support/servers/seeded-gateway.ts";
import { send } from "../../support/signed-client.ts";
import { MARKET_BUY, spotTrader } from "../../support/spot-trader.ts";

const gateway = seededGateway(16, { futuresStrategyCount: 1 });
const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.001" };
const takeBot = () => botClient(gateway.url, gateway.takeStrategy());
const NOT_FOUND = { status: 404, body: { status: false, message: "Signal not found" } };

describe("GET /bot/v1/spot/pairs", () => {
  test("answers the pairs that are trading on spot, with all that is promised of each, and the timeframes", async () => {
    const answer = await takeBot().pairs();
    expect(answer.status).toBe(200);
    expect(misfits("GET", "/bot/v1/spot/pairs", answer)).toEqual([]);
    const { data } = answer.body;
    const listed = (await send(gateway.url, "GET", "/api/v3/exchangeInfo")).body.symbols;
    const trading = listed.filter(
      (row: Record<string, unknown>) => row.status === "TRADING" && row.isSpotTradingAllowed === true,
    );
    expect(data.pairs.map(({ symbol }: { symbol: string }) => symbol)).toEqual(
      trading.map(({ symbol }: { symbol: string }) => symbol),
    );
    expect(data.pairs.length).toBeGreaterThanOrEqual(20);
    expect(data.timeframes).toHaveLength(16);
  });

  test("has for each pair what may be submitted, which is also what is accepted", async () => {
    const { data } = (await takeBot().pairs()).body;
    const [btc] = data.pairs;
    expect(btc.supportedBotOrderTypes).toEqual(["MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"]);
    expect(btc.supportedBotOrderTypes.every((type: string) => btc.orderTypes.includes(type))).toBe(true);
  });

  test("is the same for every key", async () => {
    const futures = botClient(gateway.url, gateway.takeFuturesStrategy());
    expect((await futures.pairs()).text).toBe((await takeBot().pairs()).text);
  });
});

describe("POST /bot/v1/spot/test", () => {
  test("confirms the signature, with its owner and the time", async () => {
    const before = Date.now();
    const { strategyId, ...key } = gateway.takeStrategy();
    const answer = await botClient(gateway.url, key).test();
    expect(misfits("POST", "/bot/v1/spot/test", answer)).toEqual([]);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: true,
        message: "Signature is valid",
        // A strategy without an owner is its own user.
        data: { apiKeyId: expect.stringMatching(/^[0-9a-f]{16}$/), userId: strategyId },
      },
    });
    expect(answer.body.data.serverTime).toBeGreaterThanOrEqual(before);
    expect(answer.body.data.serverTime).toBeLessThanOrEqual(Date.now());
  });

  test.each(["", "{}", "[]", "null", '"text"', "0.1e-5", JSON.stringify(BUY)])(
    "takes any JSON: %s",
    async (body) => {
      expect((await anyBot().test(body)).status).toBe(200);
    },
  );
  let shared: ReturnType<typeof takeBot> | undefined;
  const anyBot = () => {
    shared ??= takeBot();
    return shared;
  };

  test("refuses what is no JSON", async () => {
    const { status, body } = await anyBot().test("{");
    expect({ status, body }).toEqual({
      status: 400,
      body: { status: false, message: "The body is not JSON" },
    });
  });

  test("records and executes nothing, whatever the body contains", async () => {
    const strategy = gateway.takeStrategy();
    const bot = botClient(gateway.url, strategy);
    const path = "/bot/v1/spot/test";
    expect((await bot.post(path, BUY, { idempotencyKey: "a" })).status).toBe(200);
    expect((await bot.signals()).body.data).toEqual([]);
    const { allOrders } = spotTrader(gateway.url, strategy);
    expect((await allOrders({ symbol: "BTCUSDT" })).body).toEqual([]);
  });
});

describe("GET /bot/v1/spot/signals/<signalId>", () => {
  test("answers the outcome of the signal, and no more than is promised", async () => {
    const bot = takeBot();
    const { signalId, status, result, receivedAt, processedAt } = (await bot.submit(BUY, "a")).body;
    const state = { signalId, idempotencyKey: "a", status, result, receivedAt, processedAt };
    const answer = await bot.signal(signalId);
    expect(misfits("GET", `/bot/v1/spot/signals/${signalId}`, answer)).toEqual([]);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual(state);
  });

  test("answers 404 when there is no such signal", async () => {
    const bot = takeBot();
    for (const id of ["7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11", "1", "%00", "..%2f", "a".repeat(5_000), "é"]) {
      const { status, body } = await bot.signal(encodeURI(id));
      expect({ status, body }).toEqual(NOT_FOUND);
    }
  });

  test("answers 404 when it is another account's", async () => {
    const { signalId } = (await takeBot().submit(BUY, "a")).body;
    const { status, body } = await takeBot().signal(signalId);
    expect({ status, body }).toEqual(NOT_FOUND);
  });
});

describe("GET /bot/v1/spot/orders", () => {
  test("answers the signals of the strategy, newest first, in every state", async () => {
    const bot = takeBot();
    const submitted = [];
    for (const [key, order] of [
      ["a", BUY],
      ["b", { ...BUY, symbol: "NOPE" }],
      ["c", { ...BUY, quantity: "0.0002" }],
    ] as const) {
      const { replayed: _isNoPartOfIt, ...signal } = (await bot.submit(order, key)).body;
      submitted.unshift(signal);
    }
    const answer = await bot.signals();
    expect(misfits("GET", "/bot/v1/spot/orders", answer)).toEqual([]);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual(submitted);
    const keys = answer.body.data.map(({ idempotencyKey }: { idempotencyKey: string }) => idempotencyKey);
    expect(keys).toEqual(["c", "b", "a"]);
    expect(answer.body.data.map(({ status }: { status: string }) => status)).toEqual([
      "EXECUTED",
      "REJECTED",
      "EXECUTED",
    ]);
  });

  test("holds signals only, and not those of another account", async () => {
    await takeBot().submit(BUY, "a");
    const strategy = gateway.takeStrategy();
    expect((await spotTrader(gateway.url, strategy).place(MARKET_BUY)).status).toBe(200);
    const answer = await botClient(gateway.url, strategy).signals();
    expect(answer.body).toEqual({ status: true, message: "Signals", data: [] });
  });
});

test("reads work on a closed strategy", async () => {
  const bot = takeBot();
  const { signalId } = (await bot.submit(BUY, "a")).body;
  expect((await bot.close()).body.data.status).toBe("CLOSED");
  for (const read of [bot.pairs(), bot.test(), bot.signals(), bot.signal(signalId)]) {
    expect((await read).status).toBe(200);
  }
});

test.each([
  ["GET", "/bot"],
  ["GET", "/bot/"],
  ["GET", "/bot/v1/spot/orders/"],
  ["GET", "/bot/v1/spot/signals/"],
  ["GET", "/bot/v1/spot/signals/a/b"],
  ["GET", "/bot/v1/spot/test"],
  ["DELETE", "/bot/v1/spot/orders"],
  ["PUT", "/bot/v1/spot/orders/cancel"],
  ["POST", "/bot/v1/futures/orders"],
  ["GET", "/bot/v1/spot/PAIRS"],
])("a path that there is not answers 404 in the family's shape: %s %s", async (method, path) => {
  const { status, body } = await send(gateway.url, method, path);
  expect({ status, body }).toEqual({
    status: 404,
    body: { status: false, message: `There is no ${method} ${path}` },
  });
});
