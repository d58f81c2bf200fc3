// Submitting signals on the wire: what is recorded, executed and answered, and what is refused without a
// trace. Source: specification 2.8, 3.1, 4.4 and 7.2; design, section 6 (signals).
import { createHmac, randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../../src/config/data-directory.ts";
import { StubMarket } from "../../../src/desk/testing/fixture.ts";
import { type BotOrder, botClient, botHeaders } from "../../support/bot-client.ts";
import { misfits } from "../../support/bot-shapes.ts";
import { eventually } from "../../support/eventually.ts";
import { farAbove } from "../../support/exact.ts";
import { type RawAnswer, talk } from "../../support/raw.ts";
import { openInProcess } from "../../support/servers/in-process.ts";
import { seededGateway } from "../../support/servers/seeded-gateway.ts";
import { lastPriceOf, MARKET_BUY, restingPriceOf, spotTrader } from "../../support/spot-trader.ts";

const gateway = seededGateway(66);
const ORDERS = "/bot/v1/spot/orders";
const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.001" };

/** A bot of a strategy that no test has touched, which holds every submission to what is promised. */
function takeBot() {
  const strategy = gateway.takeStrategy();
  const bot = botClient(gateway.url, strategy);
  return {
    ...bot,
    strategy,
    trader: spotTrader(gateway.url, strategy),
    submit: async (order: BotOrder | string, key: string) => {
      const answer = await bot.submit(order, key);
      expect(misfits("POST", ORDERS, answer)).toEqual([]);
      return answer;
    },
  };
}

const seen = ({ status, body }: RawAnswer) => ({ status, body });
const refused = (status: number, message: string) => ({ status, body: { status: false, message } });

describe("an accepted submission", () => {
  test("answers 202 with the signal, its result and the order as it was submitted", async () => {
    const { submit, trader } = takeBot();
    const { status, body } = await submit(BUY, "a");
    const [order] = (await trader.allOrders({ symbol: "BTCUSDT" })).body;
    expect({ status, body }).toEqual({
      status: 202,
      body: {
        signalId: order.clientOrderId,
        idempotencyKey: "a",
        status: "EXECUTED",
        result: { status: true, message: "Order placed", data: { ...order, transactTime: order.updateTime } },
        collectiveId: order.collectiveId,
        order: BUY,
        receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        processedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        replayed: false,
      },
    });
    expect(order.status).toBe("FILLED");
  });

  test("echoes the JSON of the order as it was written", async () => {
    const { submit, signals } = takeBot();
    const written = '{ "tradeType":"BUY",\n "symbol": "BTC\\u0055SDT", "quantity": 0.00100 }';
    expect((await submit(written, "a")).text).toContain(`"order":${written},"receivedAt"`);
    expect((await signals()).text).toContain(`"order":${written},"receivedAt"`);
  });

  test.each<[string, (last: string, resting: string) => BotOrder, object]>([
    ["MARKET is the type unless said", () => BUY, { type: "MARKET", status: "FILLED" }],
    [
      "MARKET BUY may say what to spend",
      () => ({ symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "20" }),
      { origQuoteOrderQty: "20.00000000", status: "FILLED" },
    ],
    ["LIMIT", (_last, price) => ({ ...BUY, orderType: "LIMIT", price }), { type: "LIMIT", status: "NEW" }],
    [
      "STOP_LOSS",
      (last) => ({ ...BUY, orderType: "STOP_LOSS", stopPrice: farAbove(last) }),
      { type: "STOP_LOSS", status: "NEW", isWorking: false },
    ],
    [
      "STOP_LOSS_LIMIT",
      (last, price) => ({ ...BUY, orderType: "STOP_LOSS_LIMIT", stopPrice: farAbove(last), price }),
      { type: "STOP_LOSS_LIMIT", status: "NEW", isWorking: false },
    ],
    ["amounts may be JSON numbers", () => ({ ...BUY, quantity: 0.001 }), { origQty: "0.00100000" }],
  ])("%s", async (_what, orderOf, expected) => {
    const { submit } = takeBot();
    const order = orderOf(await lastPriceOf(gateway.url), await restingPriceOf(gateway.url));
    expect((await submit(order, "a")).body).toMatchObject({ status: "EXECUTED", result: { data: expected } });
  });

  test("is an ordinary order underneath: the exchange-style routes list it and cancel it", async () => {
    const { submit, trader } = takeBot();
    const price = await restingPriceOf(gateway.url);
    const { signalId } = (await submit({ ...BUY, orderType: "LIMIT", price }, "a")).body;
    const resting = { clientOrderId: signalId, status: "NEW" };
    expect((await trader.openOrders()).body).toMatchObject([resting]);
    const canceled = await trader.cancel({ symbol: "BTCUSDT", origClientOrderId: signalId });
    expect(canceled.body).toMatchObject({ ...resting, status: "CANCELED" });
  });

  test("has used its order's client id: an ordinary order of that id is answered with the signal's", async () => {
    const { submit, trader } = takeBot();
    const { signalId } = (await submit(BUY, "a")).body;
    const again = await trader.place({ ...MARKET_BUY, newClientOrderId: signalId });
    expect(again).toMatchObject({ status: 200, body: { orderId: 1, clientOrderId: signalId } });
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toHaveLength(1);
  });

  test("takes a symbol in any case, and shows the order as it was sent", async () => {
    const { body } = await takeBot().submit({ ...BUY, symbol: "btcUsdt" }, "a");
    expect(body).toMatchObject({ status: "EXECUTED", order: { symbol: "btcUsdt" } });
    expect(body.result.data.symbol).toBe("BTCUSDT");
  });

  test.each<[string, BotOrder, number, string]>([
    ["an unknown symbol", { ...BUY, symbol: "NOPE" }, -1121, "Invalid symbol."],
    ["a filter", { ...BUY, quantity: "0.0000001" }, -1013, "Filter failure: LOT_SIZE"],
    ["zero", { ...BUY, quantity: 0 }, -1013, "Filter failure: LOT_SIZE"],
    ["funds", { ...BUY, quantity: "1" }, -2010, "Account has insufficient balance for requested action."],
    [
      "a stop on the wrong side",
      { ...BUY, orderType: "STOP_LOSS", stopPrice: "1" },
      -2010,
      "Stop price would trigger immediately.",
    ],
  ])("that can never be executed is REJECTED with the reason: %s", async (_what, order, code, message) => {
    const { submit, trader } = takeBot();
    expect(seen(await submit(order, "a"))).toMatchObject({
      status: 202,
      body: {
        status: "REJECTED",
        result: { status: false, code, message },
        collectiveId: null,
        processedAt: expect.any(String),
        replayed: false,
      },
    });
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toEqual([]);
  });

  test("is still there after a kill -9 that follows its 202, and is executed once", async () => {
    const { submit, strategy } = takeBot();
    const answer = await submit(BUY, "a");
    await gateway.restart("kill");
    const again = await botClient(gateway.url, strategy).submit(BUY, "a");
    expect(again.text).toBe(answer.text.replace('"replayed":false', '"replayed":true'));
    expect((await spotTrader(gateway.url, strategy).allOrders({ symbol: "BTCUSDT" })).body).toHaveLength(1);
  });
});

test("a signal that a dead process left behind is executed by the running server", async () => {
  const { signal, strategy, trader } = takeBot();
  const { store } = await openDataDirectory(gateway.dataDir, null);
  onTestFinished(() => store.close());
  const [signalId, receivedAt] = [randomUUID(), Date.now()];
  const { strategyId } = strategy;
  const left = { signalId, strategyId, idempotencyKey: "a", body: JSON.stringify(BUY), receivedAt };
  await store.receiveSignals([left], { claimedUntil: receivedAt });
  const isExecuted = async () => (await signal(signalId)).body.status === "EXECUTED";
  await eventually("the signal is executed", isExecuted, { askAgainMs: 250 });
  expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toMatchObject([{ clientOrderId: signalId }]);
});

describe("the same key again", () => {
  test.each<[string, BotOrder]>([
    ["EXECUTED", BUY],
    ["REJECTED", { ...BUY, symbol: "NOPE" }],
  ])("answers a terminal signal byte by byte, replayed: %s", async (status, order) => {
    const { submit, trader } = takeBot();
    const first = await submit(order, "a");
    expect(first.body.status).toBe(status);
    const again = await submit(order, "a");
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text.replace('"replayed":false', '"replayed":true'));
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toHaveLength(status === "EXECUTED" ? 1 : 0);
  });

  test("answers what was executed, also when the order has been cancelled since", async () => {
    const { submit, cancel } = takeBot();
    const order = { ...BUY, orderType: "LIMIT", price: await restingPriceOf(gateway.url) };
    const first = await submit(order, "a");
    expect((await cancel(first.body.collectiveId)).body.data.status).toBe("CANCELED");
    expect((await submit(order, "a")).text).toBe(first.text.replace('"replayed":false', '"replayed":true'));
  });

  test("answers the same order however it is written, and shows it as it was written first", async () => {
    const { submit } = takeBot();
    const first = await submit({ ...BUY, quantity: "0.0010" }, "a");
    const again = await submit('{"quantity":0.001,"symbol":"BTCUSDT","tradeType":"BUY"}', "a");
    expect(again.text).toBe(first.text.replace('"replayed":false', '"replayed":true'));
  });

  test.each<[string, BotOrder | string]>([
    ["another quantity", { ...BUY, quantity: "0.002" }],
    ["another side", { ...BUY, tradeType: "SELL" }],
    ["another pair", { ...BUY, symbol: "ETHUSDT" }],
    ["another type", { ...BUY, orderType: "LIMIT", price: "1" }],
    ["a body that is none", "{"],
  ])("with %s is refused 422, and nothing is executed", async (_what, other) => {
    const { submit, signals, trader } = takeBot();
    const first = await submit(BUY, "a");
    expect(seen(await submit(other, "a"))).toEqual(
      refused(422, "idempotency-key was used for another order; take a fresh key"),
    );
    const { replayed: _isNoPartOfIt, ...signal } = first.body;
    expect((await signals()).body.data).toEqual([signal]);
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toHaveLength(1);
  });

  test("sent twenty times at once executes once and answers one signal", async () => {
    const { submit, trader } = takeBot();
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(BUY, "a")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.signalId)).size).toBe(1);
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toHaveLength(1);
  });

  test("of another strategy is another key", async () => {
    const one = await takeBot().submit(BUY, "a");
    const other = await takeBot().submit({ ...BUY, quantity: "0.002" }, "a");
    expect(other.status).toBe(202);
    expect(other.body.signalId).not.toBe(one.body.signalId);
  });
});

describe("while the market is silent", () => {
  test("a signal is FAILED with the reason, and the same key drives it again", async () => {
    const market = new StubMarket();
    const inProcess = await openInProcess({ SPOT: market });
    onTestFinished(() => inProcess.close());
    const bot = inProcess.botOf(await inProcess.seed("SPOT"));
    const order = { ...BUY, quantity: "0.1" };
    market.silence("BTCUSDT");
    const failed = await bot.submit(order, "a");
    expect(misfits("POST", ORDERS, failed)).toEqual([]);
    expect(failed).toMatchObject({
      status: 202,
      body: {
        status: "FAILED",
        result: { status: false, code: -1008 },
        collectiveId: null,
        processedAt: null,
        replayed: false,
      },
    });
    market.show("BTCUSDT", "99", "100");
    const executed = await bot.submit(order, "a");
    expect(executed.body).toMatchObject({
      status: "EXECUTED",
      replayed: false,
      signalId: failed.body.signalId,
    });
    expect((await bot.submit(order, "a")).body).toEqual({ ...executed.body, replayed: true });
  });

  test("no ordinary order is placed under the id of a signal that may still be executed", async () => {
    const market = new StubMarket();
    const inProcess = await openInProcess({ SPOT: market });
    onTestFinished(() => inProcess.close());
    const strategy = await inProcess.seed("SPOT");
    const [bot, call] = [inProcess.botOf(strategy), inProcess.callsOf(strategy)];
    market.silence("BTCUSDT");
    const { signalId } = (await bot.submit({ ...BUY, quantity: "0.1" }, "a")).body;
    market.show("BTCUSDT", "99", "100");
    const terms = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.1" };
    const place = () => call("POST", "/api/v3/order", { ...terms, newClientOrderId: signalId });
    expect(await place()).toMatchObject({ status: 400, body: { code: -1130 } });
    expect((await bot.submit({ ...BUY, quantity: "0.1" }, "a")).body).toMatchObject({ status: "EXECUTED" });
    expect(await place()).toMatchObject({ status: 200, body: { orderId: 1, clientOrderId: signalId } });
    expect((await call("GET", "/api/v3/allOrders", { symbol: "BTCUSDT" })).body).toHaveLength(1);
  });
});

describe("idempotency-key", () => {
  const UNFIT = "idempotency-key must be 1 to 128 printable ASCII characters";

  test.each<[string, Record<string, string>, string]>([
    ["is missing", {}, "The header idempotency-key is missing"],
    ["is empty", { "idempotency-key": "" }, UNFIT],
    ["is only white space", { "idempotency-key": "   " }, UNFIT],
    ["is longer than 128 characters", { "idempotency-key": "k".repeat(129) }, UNFIT],
    ["is not ASCII", { "idempotency-key": "clé" }, UNFIT],
    ["has a tab in it", { "idempotency-key": "a\tb" }, UNFIT],
  ])("is refused 400 before anything else when it %s", async (_what, headers, message) => {
    const { post, signals } = takeBot();
    expect(seen(await post(ORDERS, "{", { headers }))).toEqual(refused(400, message));
    expect(seen(await post(ORDERS, BUY, { headers }))).toEqual(refused(400, message));
    expect((await signals()).body.data).toEqual([]);
  });

  test.each(["k", "k".repeat(128), "'; DROP TABLE signals; --", "a, b", '~!@#$%^&*()_+{}|"<>?'])(
    "may be any 1 to 128 printable characters: %s",
    async (key) => {
      const { submit } = takeBot();
      const first = await submit(BUY, key);
      expect(first).toMatchObject({ status: 202, body: { idempotencyKey: key } });
      expect((await submit(BUY, key)).body).toMatchObject({ signalId: first.body.signalId, replayed: true });
    },
  );

  test("is case-sensitive", async () => {
    const { submit } = takeBot();
    const [one, other] = [await submit(BUY, "a"), await submit(BUY, "A")];
    expect(other.body.signalId).not.toBe(one.body.signalId);
  });
});

describe("a malformed body is refused 400, names the field, and is not recorded", () => {
  const DECIMAL = 'must be a decimal without sign and exponent, such as "0.5"';
  const cases: readonly (readonly [BotOrder | string, string])[] = [
    ["", "The body is empty: it must be the JSON of an order"],
    ["{", "The body is not JSON"],
    ["symbol=BTCUSDT&tradeType=BUY&quantity=0.001", "The body is not JSON"],
    ["[]", "The body is not a JSON object"],
    ["null", "The body is not a JSON object"],
    ["[".repeat(16_000), "The body is not JSON"],
    [{}, "symbol is missing"],
    [{ symbol: "BTCUSDT", side: "BUY", quantity: "0.001" }, "side is not a field of this body"],
    [{ symbol: "BTCUSDT", tradeType: "BUY" }, "quantity or quoteOrderQty is needed for a MARKET BUY"],
    [{ symbol: "BTCUSDT", tradeType: "SELL" }, "quantity is needed for a MARKET SELL"],
    [{ ...BUY, symbol: ["BTCUSDT"] }, "symbol must be the name of a pair"],
    [{ ...BUY, tradeType: "LONG" }, "tradeType must be BUY or SELL"],
    [{ ...BUY, orderType: "OCO" }, "orderType must be one of MARKET, LIMIT, STOP_LOSS, STOP_LOSS_LIMIT"],
    [{ ...BUY, stopprice: "1" }, "stopprice is not a field of this body"],
    [{ ...BUY, "😀": "1" }, "😀 is not a field of this body"],
    [{ ...BUY, quantity: "0,001" }, `quantity ${DECIMAL}`],
    [{ ...BUY, quantity: -0.001 }, `quantity ${DECIMAL}`],
    [{ ...BUY, quantity: null }, `quantity ${DECIMAL}`],
    [{ ...BUY, quantity: { $gt: 0 } }, `quantity ${DECIMAL}`],
    [{ ...BUY, quantity: "0.000000001" }, "quantity has more than 8 decimals"],
    [{ ...BUY, price: "1" }, "price is not taken for MARKET"],
    [{ ...BUY, orderType: "LIMIT" }, "price is needed for LIMIT"],
    ['{"symbol":"BTCUSDT","tradeType":"BUY","quantity":"1","quantity":"0.001"}', "quantity is there twice"],
  ];

  test("each of them", async () => {
    const { submit, signals, trader } = takeBot();
    for (const [body, message] of cases) expect(seen(await submit(body, "a"))).toEqual(refused(400, message));
    expect((await signals()).body.data).toEqual([]);
    expect((await trader.allOrders({ symbol: "BTCUSDT" })).body).toEqual([]);
    // The key was not used up by any of them.
    expect((await submit(BUY, "a")).status).toBe(202);
  });

  test("bytes that are no UTF-8, signed as they are", async () => {
    const { strategy } = takeBot();
    const bytes = Buffer.concat([Buffer.from('{"symbol":"BTC'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await postBytes(strategy, bytes)).toEqual(refused(400, "The body is not UTF-8 text"));
  });

  test("a body of more than 16 KiB: 413", async () => {
    const { submit, signals } = takeBot();
    const fitting = JSON.stringify(BUY).padEnd(16 * 1_024, " ");
    expect(seen(await submit(`${fitting} `, "a"))).toEqual(refused(413, "The body is too large"));
    expect((await signals()).body.data).toEqual([]);
    const answer = await submit(fitting, "a");
    expect(answer).toMatchObject({ status: 202, body: { order: BUY } });
    // Lists would be long, if spaces were kept.
    expect(answer.text.length).toBeLessThan(4 * 1_024);
  });
});

describe("a strategy that is not LIVE", () => {
  test("refuses a new signal 400 Strategy not live, before its body is parsed, and records nothing", async () => {
    const { submit, signals, close } = takeBot();
    expect((await close()).status).toBe(200);
    expect(seen(await submit(BUY, "a"))).toEqual(refused(400, "Strategy not live"));
    expect(seen(await submit("{", "b"))).toEqual(refused(400, "Strategy not live"));
    expect((await signals()).body.data).toEqual([]);
  });

  test("still answers the keys that were used before, and 422 for another order", async () => {
    const { submit, close } = takeBot();
    const first = await submit(BUY, "a");
    await close();
    expect((await submit(BUY, "a")).text).toBe(first.text.replace('"replayed":false', '"replayed":true'));
    expect((await submit({ ...BUY, quantity: "0.002" }, "a")).status).toBe(422);
  });
});

/** A submission of bytes that no string of JavaScript is sent as. */
async function postBytes(strategy: { apiKey: string; apiSecret: string }, body: Buffer) {
  const timestamp = String(Date.now());
  const signed = createHmac("sha256", strategy.apiSecret).update(`${timestamp}POST${ORDERS}`).update(body);
  const response = await fetch(gateway.url + ORDERS, {
    method: "POST",
    body: new Uint8Array(body),
    headers: {
      "x-bot-api-key": strategy.apiKey,
      "x-bot-timestamp": timestamp,
      "x-bot-signature": signed.digest("hex"),
      "idempotency-key": "a",
    },
  });
  return { status: response.status, body: await response.json() };
}

describe("a signature, which does not cover the idempotency key", () => {
  const USED = refused(
    401,
    "Signature was used with another idempotency-key; sign each order with a timestamp of its own",
  );

  /** One signed request, sent under whichever key. */
  function captured() {
    const { strategy, signals } = takeBot();
    const timestamp = String(Date.now());
    const send = (idempotencyKey: string, at = timestamp) =>
      botClient(gateway.url, strategy).post(ORDERS, BUY, { idempotencyKey, timestamp: at });
    const orders = async () =>
      (await spotTrader(gateway.url, strategy).allOrders({ symbol: "BTCUSDT" })).body.length;
    return { send, orders, signals, timestamp, strategy };
  }

  test("is good for the key that it was accepted with, and for no other", async () => {
    const { send, orders, signals } = captured();
    const { status, body } = await send("k1");
    expect({ status, state: body.status }).toEqual({ status: 202, state: "EXECUTED" });
    for (const key of ["k2", "k3"]) expect(seen(await send(key))).toEqual(USED);
    expect(await send("k1")).toMatchObject({
      headers: { "x-lyrebird-replay": "true" },
      status: 202,
      body: { signalId: body.signalId, replayed: true },
    });
    expect(await orders()).toBe(1);
    expect((await signals()).body.data).toHaveLength(1);
  });

  test("of a retry is good for the key of that retry, and for no other", async () => {
    const { send, orders, timestamp } = captured();
    await send("k1");
    const retriedAt = String(Number(timestamp) + 1);
    expect(await send("k1", retriedAt)).toMatchObject({ status: 202, body: { replayed: true } });
    expect(seen(await send("k2", retriedAt))).toEqual(USED);
    expect(await orders()).toBe(1);
  });

  test("that comes with many keys at once makes one order", async () => {
    const { send, orders } = captured();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`k${index}`)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    expect(await orders()).toBe(1);
  });

  test("survives a kill -9", async () => {
    const { send, orders } = captured();
    await send("k1");
    await gateway.restart("kill");
    expect(seen(await send("k2"))).toEqual(USED);
    expect(await orders()).toBe(1);
  });

  test("signs one idempotency-key header: a second is refused, whatever both say", async () => {
    const { strategy, orders, timestamp } = captured();
    const { hostname, port } = new URL(gateway.url);
    const body = JSON.stringify(BUY);
    const headers = botHeaders(strategy, { timestamp, method: "POST", path: ORDERS, body });
    for (const [one, other] of [
      ["aa", "bb"],
      ["aa", "aa"],
      ["aa", ""],
    ]) {
      const lines = [
        `POST ${ORDERS} HTTP/1.1`,
        `host: ${hostname}:${port}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `idempotency-key: ${one}`,
        `Idempotency-Key: ${other}`,
        `content-length: ${body.length}`,
        "connection: close",
      ];
      const answer = await talk(gateway.url, `${lines.join("\r\n")}\r\n\r\n${body}`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('{"status":false,"message":"The header idempotency-key is there twice"}');
    }
    expect(await orders()).toBe(0);
  });
});
