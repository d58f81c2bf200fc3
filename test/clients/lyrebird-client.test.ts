// The project's own client against the real program: a signal's whole life, and what holds when connections
// break.
import { expect, test } from "vitest";
import {
  type BotOrder,
  LyrebirdClient,
  LyrebirdHttpError,
  LyrebirdUnreachableError,
} from "../../clients/typescript/src/index.ts";
import { FaultProxy, type Rule } from "../support/servers/fault-proxy.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { restingPriceOf } from "../support/spot-trader.ts";

stayOnLoopback();
const gateway = seededGateway(10, { futuresStrategyCount: 1 });
/** The request is carried out, and its answer is lost. */
const NO_ANSWER: Rule = { cut: "AFTER" };
const BUY: BotOrder = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "50" };

function clientOf({ apiKey, apiSecret }: Credentials, baseUrl = gateway.url, retryMsMax = 60_000) {
  // Without its spread at the upper side, so that retries come soon.
  return new LyrebirdClient({ baseUrl, apiKey, apiSecret, retryMsMax, random: () => 0 });
}

test("a key is tested, and what it may trade is listed", async () => {
  const client = clientOf(gateway.takeStrategy());
  const { apiKeyId, userId, serverTime } = await client.test();
  expect([typeof apiKeyId, typeof userId]).toEqual(["string", "string"]);
  expect(Number.isSafeInteger(serverTime)).toBe(true);
  const { timeframes, pairs } = await client.pairs();
  expect(timeframes).toContain("1m");
  const pair = pairs.find(({ symbol }) => symbol === "BTCUSDT");
  expect(pair).toMatchObject({ baseAsset: "BTC", quoteAsset: "USDT", isSpotTradingAllowed: true });
  expect(pair?.supportedBotOrderTypes).toContain("MARKET");
  expect(pair?.filters.stepSize).toMatch(/^\d+\.\d+$/);
});

test("a signal is executed, replayed, looked up, listed and waited for, all with one outcome", async () => {
  const client = clientOf(gateway.takeStrategy());
  const submitted = await client.submit(BUY, { idempotencyKey: "buy-1" });
  const shown = { idempotencyKey: "buy-1", status: "EXECUTED", replayed: false, order: BUY };
  expect(submitted).toMatchObject(shown);
  if (submitted.status !== "EXECUTED") throw new Error("not executed");
  const { data } = submitted.result;
  expect(data).toMatchObject({ symbol: "BTCUSDT", side: "BUY", status: "FILLED" });
  expect(data.collectiveId).toBe(submitted.collectiveId);

  const again = await client.submit(BUY, { idempotencyKey: "buy-1" });
  expect(again).toEqual({ ...submitted, replayed: true });
  const { signalId, idempotencyKey, status, result, receivedAt, processedAt } = submitted;
  const state = { signalId, idempotencyKey, status, result, receivedAt, processedAt };
  expect(await client.signal(signalId)).toEqual(state);
  expect(await client.waitFor(signalId)).toEqual(state);
  const { replayed: _, ...listed } = submitted;
  expect(await client.signals()).toEqual([listed]);
});

test("an open order is canceled, and canceling it again says so", async () => {
  const client = clientOf(gateway.takeStrategy());
  const order = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "LIMIT", quantity: "0.001" } as const;
  const price = await restingPriceOf(gateway.url, "BTCUSDT");
  const signal = await client.submit({ ...order, price }, { idempotencyKey: "rest-1" });
  if (signal.status !== "EXECUTED" || signal.collectiveId === null) throw new Error("not executed");
  expect(signal.result.data.status).toBe("NEW");
  const cancelled = await client.cancel(signal.collectiveId);
  expect(cancelled.order).toMatchObject({ orderId: signal.result.data.orderId, status: "CANCELED" });
  const again = await client.cancel(signal.collectiveId);
  expect(again.order).toEqual(cancelled.order);
  expect(again.message).not.toBe(cancelled.message);
});

test("what can never be executed is a REJECTED signal; what is no signal at all is an error", async () => {
  const client = clientOf(gateway.takeStrategy());
  const unaffordable = await client.submit({ ...BUY, quoteOrderQty: "5000" }, { idempotencyKey: "much" });
  expect(unaffordable).toMatchObject({ status: "REJECTED", result: { status: false }, collectiveId: null });
  expect(unaffordable.result).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
  const unknown = await client.submit({ ...BUY, symbol: "NOPE" }, { idempotencyKey: "nope" });
  expect(unknown.status).toBe("REJECTED");

  const misspelt = { ...BUY, stopPriec: "1" } as BotOrder;
  await expect(client.submit(misspelt, { idempotencyKey: "typo" })).rejects.toMatchObject({ status: 400 });
  const other = client.submit({ ...BUY, quoteOrderQty: "51" }, { idempotencyKey: "much" });
  await expect(other).rejects.toMatchObject({ status: 422 });
  const foreign = client.signal("7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11");
  await expect(foreign).rejects.toMatchObject({ name: "LyrebirdHttpError", status: 404 });
  expect((await client.signals()).length).toBe(2);
});

test("a futures key has no signals, but may be tested", async () => {
  const client = clientOf(gateway.takeFuturesStrategy());
  await client.test();
  await expect(client.signals()).rejects.toMatchObject({ status: 400 });
});

test("with a wrong secret the server hashes what was signed", async () => {
  const client = clientOf({ ...gateway.takeStrategy(), apiSecret: "0".repeat(64) });
  const error = await client.test().catch((refused: unknown) => refused);
  if (!(error instanceof LyrebirdHttpError)) throw new Error(`not refused: ${error}`);
  expect([error.status, error.message]).toEqual([401, "Invalid signature"]);
  expect(error.messageSha256).toBe(error.signedSha256);
});

test("a client whose clock is wrong by hours is right by the server's", async () => {
  const { apiKey, apiSecret } = gateway.takeStrategy();
  const now = () => Date.now() - 7_200_000;
  const client = new LyrebirdClient({ baseUrl: gateway.url, apiKey, apiSecret, now });
  expect((await client.submit(BUY, { idempotencyKey: "late" })).status).toBe("EXECUTED");
});

test("when the connection breaks after the request was forwarded, the outcome is replayed and nothing done twice", async () => {
  const key = gateway.takeStrategy();
  let left = 2;
  await using proxy = await FaultProxy.open(gateway.url, { rule: () => (left-- > 0 ? NO_ANSWER : {}) });
  const client = clientOf(key, proxy.url);
  const signal = await client.submit(BUY, { idempotencyKey: "cut" });
  expect(signal).toMatchObject({ status: "EXECUTED", replayed: true });
  expect(left).toBeLessThan(0);
  expect((await client.signals()).map(({ signalId }) => signalId)).toEqual([signal.signalId]);
  client.close();
});

test("when no answer ever comes, that is reported, and the same submission later returns the outcome", async () => {
  const key = gateway.takeStrategy();
  let isBroken = true;
  await using proxy = await FaultProxy.open(gateway.url, { rule: () => (isBroken ? NO_ANSWER : {}) });
  const client = clientOf(key, proxy.url, 400);
  const lost = client.submit(BUY, { idempotencyKey: "lost" });
  await expect(lost).rejects.toBeInstanceOf(LyrebirdUnreachableError);
  isBroken = false;
  const found = await client.submit(BUY, { idempotencyKey: "lost" });
  expect(found).toMatchObject({ status: "EXECUTED", replayed: true });
  expect((await client.signals()).length).toBe(1);
  client.close();
});

test("a strategy is closed permanently: closing it again says so, and it takes no more signals", async () => {
  const client = clientOf(gateway.takeStrategy());
  await client.submit(BUY, { idempotencyKey: "before" });
  const closed = await client.closeStrategy();
  expect(closed.status).toBe("CLOSED");
  expect(await client.closeStrategy()).toMatchObject({
    status: "CLOSED",
    message: "Strategy already closed",
  });
  const late = client.submit(BUY, { idempotencyKey: "after" });
  await expect(late).rejects.toMatchObject({ status: 400, message: "Strategy not live" });
  expect((await client.submit(BUY, { idempotencyKey: "before" })).replayed).toBe(true);
});
