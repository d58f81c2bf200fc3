// A trader's way through the rows: a key, a strategy bound to it, requests as a stock client signs them, the
// key's end, another key, and the strategy's own end.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEYS_MAX } from "../../../src/dashboard-api/routes/keys.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { botClient } from "../../support/bot-client.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { newKey, newStrategy, restOrder, tradeOn, waitLeg } from "../../support/dashboard/world.ts";

let fixture: DashboardFixture;
let trader: Browser;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  trader = await fixture.somebody({});
}, 60_000);
afterAll(() => fixture.close());

describe("a key", () => {
  test("is created with a fresh code, and its secret is in that answer alone", async () => {
    const code = trader.code();
    const made = await trader.call("POST", "/keys", { body: { label: " My bot ", code } });
    expect(made.status).toBe(201);
    const { key, apiSecret } = made.body;
    expect(key).toMatchObject({ label: "My bot", revokedAt: null, strategy: null, lastUse: null });
    expect(apiSecret).toMatch(/^[0-9a-f]{64}$/);

    const again = await trader.call("POST", "/keys", { body: { label: "Another", code } });
    expect(again).toMatchObject({ status: 403, body: { error: { code: "CODE_REFUSED" } } });

    const { keyId } = key;
    const strategy = { name: "S", type: "SPOT", keyId };
    const { strategyId } = await trader.send("POST", "/strategies", strategy);
    const answers = await Promise.all(
      ["/keys", "/strategies", `/strategies/${strategyId}`, "/activity", `/keys/${keyId}/requests`].map(
        (path) => trader.call("GET", path),
      ),
    );
    for (const { text } of answers) expect(text).not.toContain(apiSecret);
    expect(fixture.logged()).not.toContain(apiSecret);
  });

  test("manages one strategy alone, however many ask at once", async () => {
    const { keyId } = await newKey(trader);
    const asked = ["one", "two", "three", "four"].map((name) =>
      trader.call("POST", "/strategies", { body: { name, type: "SPOT", keyId } }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 400, 400, 400]);
    const { rows } = await trader.get("/strategies");
    expect(rows.filter((row: { key: { keyId: string } | null }) => row.key?.keyId === keyId)).toHaveLength(1);
  });

  test("can be had as long as one has few", async () => {
    const other = await fixture.somebody({});
    for (let count = 0; count < KEYS_MAX; count += 1) await newKey(other);
    const code = other.code();
    const refused = await other.call("POST", "/keys", { body: { label: "one more", code } });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "BODY_UNFIT" } } });
    const { rows } = await other.get("/keys");
    await other.send("POST", `/keys/${rows[0].keyId}/revoke`, { code });
    await newKey(other);
  });

  test("is not had without a second factor", async () => {
    const other = await fixture.somebody({ hasSecondFactor: false });
    const refused = await other.call("POST", "/keys", { body: { label: "x", code: "123456" } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "SECOND_FACTOR_NEEDED" } } });
  });
});

describe("a strategy", () => {
  test("is traded on by its key until that is revoked, at the next request, and then by another", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    const request = () => tradeOn(fixture, strategy)("GET", "/api/v3/account");
    expect(await request()).toMatchObject({ status: 200, body: { strategyId: strategy.strategyId } });
    const { lastUse } = (await trader.get(`/strategies/${strategy.strategyId}`)).key;
    expect(lastUse).toMatchObject({ address: "127.0.0.1", route: "GET /api/v3/account" });

    const bound = await trader.call("PUT", `/strategies/${strategy.strategyId}/key`, {
      body: { keyId: (await newKey(trader)).keyId, code: trader.code() },
    });
    expect(bound).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });

    const wrong = await trader.call("POST", `/keys/${strategy.keyId}/revoke`, { body: { code: "000000" } });
    expect(wrong.status).toBe(403);
    expect((await request()).status).toBe(200);
    const ended = await trader.send("POST", `/keys/${strategy.keyId}/revoke`, { code: trader.code() });
    expect(ended.revokedAt).toEqual(expect.any(Number));
    expect(await request()).toMatchObject({ status: 401, body: { code: -2015 } });

    const { strategyId } = strategy;
    expect((await trader.get(`/strategies/${strategyId}`)).key).toBeNull();
    const fresh = await newKey(trader);
    await trader.send("PUT", `/strategies/${strategyId}/key`, { keyId: fresh.keyId, code: trader.code() });
    const another = tradeOn(fixture, { ...strategy, ...fresh });
    expect(await another("GET", "/api/v3/account")).toMatchObject({ status: 200, body: { strategyId } });
    const actions = (await trader.get("/activity")).rows.map(({ what }: { what: string }) => what);
    expect(actions.slice(0, 3)).toEqual(["KEY_BOUND", "KEY_CREATED", "KEY_REVOKED"]);
  });

  test("is read by another key after it was closed and its own was revoked", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    const { strategyId } = strategy;
    await trader.send("POST", `/strategies/${strategyId}/close`, { confirmation: "A SPOT strategy" });
    const bind = async (keyId: string) =>
      await trader.call("PUT", `/strategies/${strategyId}/key`, { body: { keyId, code: trader.code() } });
    const fresh = await newKey(trader);
    const { body } = await bind(fresh.keyId);
    expect(body.error).toMatchObject({ code: "STATE_CHANGED", action: "Revoke that one first." });
    await trader.send("POST", `/keys/${strategy.keyId}/revoke`, { code: trader.code() });
    expect(await bind(fresh.keyId)).toMatchObject({ status: 200, body: { key: { keyId: fresh.keyId } } });
    const another = tradeOn(fixture, { ...strategy, ...fresh });
    expect(await another("GET", "/api/v3/account")).toMatchObject({ status: 200, body: { strategyId } });
    expect(await another("DELETE", "/api/v3/openOrders", { symbol: "BTCUSDT" })).toMatchObject({
      ...{ status: 400, body: { code: -2010 } },
    });
  });

  test("has its owner: the same for all keys of one person, another for another person", async () => {
    const another = await fixture.somebody({});
    const whose = async (owner: Browser, type: StrategyType) => {
      const strategy = await newStrategy(owner, type);
      const { data } = (await botClient(fixture.url, strategy, () => fixture.wallNow()).test()).body;
      expect(data).toMatchObject({ apiKeyId: strategy.keyId, userId: owner.personId });
      return type === "SPOT" ? (await tradeOn(fixture, strategy)("GET", "/api/v3/account")).body.uid : null;
    };
    const first = await whose(trader, "SPOT");
    expect(Number.isSafeInteger(first) && first > 0).toBe(true);
    expect(await whose(trader, "SPOT")).toBe(first);
    expect(await whose(trader, "FUTURES")).toBeNull();
    expect(await whose(another, "SPOT")).not.toBe(first);
  });

  test("has signals of its own: the key of another strategy of the same person does not find them", async () => {
    const [own, another] = [await newStrategy(trader, "SPOT"), await newStrategy(trader, "SPOT")].map(
      (strategy) => botClient(fixture.url, strategy, () => fixture.wallNow()),
    );
    if (own === undefined || another === undefined) throw new Error("two strategies were made");
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "20" };
    const { signalId, collectiveId } = (await own.submit(order, "first")).body;
    expect((await own.signal(signalId)).status).toBe(200);
    expect((await another.signal(signalId)).status).toBe(404);
    expect((await another.cancel(collectiveId)).status).toBe(404);
    expect((await another.signals()).body.data).toEqual([]);
  });

  test("shows what its bot did: orders a page at a time, trades, balances", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    const trade = tradeOn(fixture, strategy);
    const own = `/strategies/${strategy.strategyId}`;
    const sides = [...Array(106).keys()].map((index) => (index % 2 === 0 ? "BUY" : "SELL"));
    for (const [index, side] of sides.entries()) {
      const quantity = index === 0 ? "0.001" : "0.0002";
      const terms = { symbol: "BTCUSDT", type: "MARKET", side, quantity };
      expect(await trade("POST", "/api/v3/order", terms)).toMatchObject({ status: 200 });
    }

    const first = await trader.get(`${own}/orders?state=all`);
    expect(first.rows).toHaveLength(100);
    const second = await trader.get(`${own}/orders?state=all&before=${first.next}`);
    expect(second.next).toBeNull();
    const ids = [...first.rows, ...second.rows].map(({ orderId }: { orderId: number }) => orderId);
    expect(ids).toEqual([...sides.keys()].map((index) => 106 - index));
    // What is open is no part of the history, and takes no place in its pages.
    const open = await restOrder(fixture, strategy);
    const done = await trader.get(`${own}/orders?state=done`);
    expect(done.rows.map(({ orderId }: { orderId: number }) => orderId)).toEqual(ids.slice(0, 100));
    const { rows: resting } = await trader.get(`${own}/orders`);
    expect(resting.map(({ orderId }: { orderId: number }) => orderId)).toEqual([open]);
    await trader.send("DELETE", `${own}/orders/${open}`);
    const { rows: ended } = await trader.get(`${own}/orders?state=done`);
    expect(ended[0]).toMatchObject({ orderId: open, status: "CANCELED" });
    const { history: lines } = await trader.get(`${own}/orders/${open}`);
    expect(lines.map(({ says }: { says: string }) => says)).toEqual([
      expect.stringMatching(/^A limit order to buy 0\.0002 BTC at [0-9.]+ USDT or better was placed\.$/),
      "It was canceled.",
    ]);
    const trades = await trader.get(`${own}/trades?symbol=BTCUSDT&before=7`);
    expect(trades.rows.map(({ tradeId }: { tradeId: number }) => tradeId)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(trades.rows[0]).toMatchObject({ side: "SELL", quantity: "0.0002", feeAsset: "USDT" });
    expect((await trader.get(`${own}/orders`)).rows).toEqual([]);

    const { order, history } = await trader.get(`${own}/orders/1`);
    expect(order).toMatchObject({ orderId: 1, status: "FILLED", side: "BUY", isOpen: false, price: null });
    expect(history.map(({ says }: { says: string }) => says)).toEqual([
      "A market order to buy 0.001 BTC was placed.",
      expect.stringMatching(/^It bought 0\.001 BTC at [0-9.]+ USDT, as taker, for a fee of 0\.000001 BTC\.$/),
    ]);
    const { rows } = await trader.get(`${own}/balances`);
    expect(rows.find(({ asset }: { asset: string }) => asset === "USDT")).toMatchObject({ locked: "0" });
  });

  test("shows its received signals: as they were written, how often, and their outcomes", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    const bot = botClient(fixture.url, strategy, () => fixture.wallNow());
    const order =
      '{"symbol":"BTCUSDT","tradeType":"BUY","orderType":"MARKET","quoteOrderQty":20.00000000000}';
    const { signalId } = (await bot.submit(order, "first")).body;
    await bot.submit(order, "first");
    await bot.submit(order.replace("20.00000000000", "20"), "first");
    const tooMuch = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "5000" };
    await bot.submit(tooMuch, "second");

    const own = `/strategies/${strategy.strategyId}`;
    const { rows, next } = await trader.get(`${own}/signals`);
    expect(next).toBeNull();
    expect(rows).toMatchObject([
      {
        idempotencyKey: "second",
        status: "REJECTED",
        reason: expect.stringContaining("balance"),
        orderId: null,
      },
      { idempotencyKey: "first", status: "EXECUTED", reason: null, replays: 2, latencyMs: 0 },
    ]);
    const one = await trader.get(`${own}/signals/${signalId}`);
    expect(one.order).toMatchObject({ symbol: "BTCUSDT", quoteOrderQty: "20.00000000000" });
    const detail = await trader.get(`${own}/orders/${one.orderId}`);
    expect(detail).toMatchObject({ signalId, order: { collectiveId: one.collectiveId, status: "FILLED" } });
    expect((await trader.get(`${own}/signals?before=${rows[0].signalId}`)).rows).toMatchObject([
      { signalId },
    ]);
  });

  test("has a futures position with what protects it", async () => {
    const strategy = await newStrategy(trader, "FUTURES");
    const terms = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.002" };
    await tradeOn(fixture, strategy)("POST", "/fapi/v1/order", terms);
    const legId = await waitLeg(fixture, strategy);
    const own = `/strategies/${strategy.strategyId}`;
    const [position] = (await trader.get(`${own}/positions`)).rows;
    expect(position).toMatchObject({ symbol: "BTCUSDT", quantity: "0.002", leverage: 20 });
    expect(position.legs).toMatchObject([{ legId, kind: "STOP_LOSS", isOpen: true }]);
    const { markPrice, liquidationPrice, liquidationDistance } = position;
    expect(Number(liquidationDistance)).toBeCloseTo(1 - Number(liquidationPrice) / Number(markPrice), 6);
    // At the liquidation price the margin balance is the maintenance margin: a margin ratio of 100 %.
    const change = 0.002 * (Number(liquidationPrice) - Number(markPrice));
    const { margin, rate } = position.maintenance;
    const required = Number(margin) + Number(rate) * change;
    expect(required / (Number(position.isolatedMargin) + change)).toBeCloseTo(1, 3);

    const short = await newStrategy(trader, "FUTURES");
    // Beyond the first bracket, whose rate is 0.005.
    const large = { ...terms, symbol: "BNBUSDT", side: "SELL", quantity: "30", leverage: 50 };
    expect(await tradeOn(fixture, short)("POST", "/fapi/v1/order", large)).toMatchObject({ status: 200 });
    const [sold] = (await trader.get(`/strategies/${short.strategyId}/positions`)).rows;
    expect(sold).toMatchObject({ quantity: "-30", maintenance: { rate: "0.006" } });

    await trader.send("DELETE", `${own}/legs/${legId}`);
    const again = await trader.call("DELETE", `${own}/legs/${legId}`);
    expect(again).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    expect((await trader.get(`${own}/legs?state=all`)).rows).toMatchObject([{ legId, status: "CANCELED" }]);
    const types = (await trader.get(`${own}/incomes`)).rows.map(({ type }: { type: string }) => type);
    expect(types).toEqual(["COMMISSION", "TRANSFER"]);
  });

  test("sees the stop loss of an open order, and its outcome", async () => {
    const strategy = await newStrategy(trader, "FUTURES");
    const trade = tradeOn(fixture, strategy);
    const buy = { symbol: "BTCUSDT", side: "BUY", quantity: "0.002" };
    await trade("POST", "/fapi/v1/order", { ...buy, type: "MARKET" });
    const [{ entryPrice }] = (await trade("GET", "/fapi/v3/positionRisk")).body;
    const [price, stopLossPrice] = [0.95, 0.9].map((part) => (Number(entryPrice) * part).toFixed(1));
    const limit = { ...buy, type: "LIMIT", timeInForce: "GTC", price: price ?? "" };
    const { body } = await trade("POST", "/fapi/v1/order", { ...limit, stopLossPrice: stopLossPrice ?? "" });
    const { orderId } = body;
    const own = `/strategies/${strategy.strategyId}`;
    const stop = { legId: orderId + 1, kind: "STOP_LOSS" };
    expect((await trader.get(`${own}/orders`)).rows).toMatchObject([{ orderId, legs: [stop] }]);
    const pending = { ...stop, status: "PENDING", isOpen: true, entryId: orderId, endReason: null };
    expect((await trader.get(`${own}/legs`)).rows).toMatchObject([pending]);
    // It protects nothing yet.
    expect((await trader.get(`${own}/positions`)).rows).toMatchObject([{ legs: [] }]);

    await trader.send("DELETE", `${own}/orders/${orderId}`);
    expect(await trader.get(`${own}/orders/${orderId}`)).toMatchObject({
      order: { status: "CANCELED" },
      legs: [{ ...stop, status: "CANCELED", isOpen: false, endReason: "ENTRY_CANCELED" }],
    });
  });

  test("is closed as it was previewed, once the right words were typed, and stays to be read", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    const trade = tradeOn(fixture, strategy);
    const own = `/strategies/${strategy.strategyId}`;
    await trade("POST", "/api/v3/order", {
      symbol: "BTCUSDT",
      side: "BUY",
      type: "MARKET",
      quantity: "0.001",
    });
    const orderId = await restOrder(fixture, strategy);
    const preview = await trader.get(`${own}/close-preview`);
    expect(preview).toMatchObject({
      confirmation: "A SPOT strategy",
      cancelled: [{ orderId }],
      sold: [{ symbol: "BTCUSDT", side: "SELL" }],
      dust: [{ asset: "BTC" }],
      waitingFor: [],
    });
    const before = (await trader.get(own)).openOrders;
    expect(before).toBe(1);

    for (const confirmation of ["", "a spot strategy", "A SPOT strategy "]) {
      const refused = await trader.call("POST", `${own}/close`, { body: { confirmation } });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { fields: { confirmation: expect.any(String) } } },
      });
    }
    expect(await trader.get(own)).toMatchObject({ status: "LIVE", openOrders: 1 });
    const closed = await trader.send("POST", `${own}/close`, { confirmation: preview.confirmation });
    expect(closed).toMatchObject({ status: "CLOSED", openOrders: 0 });
    const renamed = await trader.call("PUT", `${own}/name`, { body: { name: "Another name" } });
    expect(renamed).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    const sale = (await trader.get(`${own}/trades`)).rows[0];
    expect(sale).toMatchObject({ side: "SELL", quantity: preview.sold[0].quantity });
    const again = await trader.call("POST", `${own}/close`, { body: { confirmation: preview.confirmation } });
    expect(again).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    expect((await trader.get(`${own}/orders/${orderId}`)).order).toMatchObject({ status: "CANCELED" });
    const { key } = await trader.get(own);
    expect(key.keyId).toBe(strategy.keyId);
  });

  test("leaves its key free when it is closed: one new strategy takes it, of either type", async () => {
    const closed = await newStrategy(trader, "SPOT");
    const { keyId } = closed;
    const ask = tradeOn(fixture, closed);
    const bot = botClient(fixture.url, closed, () => fixture.wallNow());
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "20" };
    const { signalId } = (await bot.submit(order, "first")).body;
    const create = (name: string, type: string) =>
      trader.call("POST", "/strategies", { body: { name, type, keyId } });
    const boundTo = async () => {
      const { rows } = await trader.get("/keys");
      return rows.find((key: { keyId: string }) => key.keyId === keyId).strategy;
    };
    expect(await create("too early", "SPOT")).toMatchObject({
      status: 400,
      body: { error: { fields: { keyId: "is revoked, or bound to an open strategy already" } } },
    });
    await bot.close();
    // Until the key is bound to another strategy it reads the closed one, and closing is still replayed.
    expect((await ask("GET", "/api/v3/account")).body).toMatchObject({ strategyId: closed.strategyId });
    expect((await bot.close()).status).toBe(200);
    expect(await boundTo()).toMatchObject({ strategyId: closed.strategyId, status: "CLOSED" });

    const answers = await Promise.all(["one", "two", "three"].map((name) => create(name, "FUTURES")));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    const futures = answers.find(({ status }) => status === 201)?.body;
    expect(await boundTo()).toMatchObject({
      strategyId: futures.strategyId,
      type: "FUTURES",
      status: "LIVE",
    });
    expect((await ask("GET", "/fapi/v3/account")).body).toMatchObject({
      totalWalletBalance: "1000.00000000",
    });
    expect(await ask("GET", "/api/v3/account")).toMatchObject({ status: 400, body: { code: -2010 } });
    expect((await trader.get(`/strategies/${closed.strategyId}`)).key).toBeNull();

    await trader.send("POST", `/strategies/${futures.strategyId}/close`, { confirmation: futures.name });
    const { strategyId } = (await create("another", "SPOT")).body;
    // What was done on the strategy before is not this one's: neither its signals nor their keys.
    expect((await bot.signals()).body.data).toEqual([]);
    expect((await bot.signal(signalId)).status).toBe(404);
    expect((await bot.submit(order, "first")).body).toMatchObject({ status: "EXECUTED", replayed: false });
    expect((await ask("GET", "/api/v3/account")).body).toMatchObject({ strategyId });
    const { rows } = await trader.get("/activity");
    expect(rows.find(({ what }: { what: string }) => what === "KEY_BOUND")).toMatchObject({
      about: { id: keyId },
      details: { strategyId },
    });
  });
});
