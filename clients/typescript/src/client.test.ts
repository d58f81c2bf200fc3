// Requests of the client: what is signed, what is tried again and until when, and what is thrown.
import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { LyrebirdClient } from "./client.ts";
import {
  LyrebirdClosedError,
  LyrebirdHttpError,
  LyrebirdPendingError,
  LyrebirdUnreachableError,
} from "./errors.ts";
import type { BotOrder } from "./signal.ts";
import { type Answer, manualEnvironment, type Sent, settled } from "./testing/manual-environment.ts";

const KEY = { apiKey: "lyre_bot_1", apiSecret: "f00d" };
const ORDER = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "50" } as const;
const RECORDED = { signalId: "s1", idempotencyKey: "k-1" };
const RECEIVED = { ...RECORDED, status: "RECEIVED", result: null, processedAt: null, receivedAt: "…" };
const EXECUTED = { ...RECEIVED, status: "EXECUTED", result: { status: true, message: "Executed", data: {} } };
const REJECTED = { ...RECEIVED, status: "REJECTED", result: { status: false, message: "no", code: -2010 } };

function clientAnswered(
  respond: (request: Sent, index: number) => Answer | Promise<Answer>,
  retryMsMax = 60_000,
) {
  let count = 0;
  const environment = manualEnvironment((request) => {
    count += 1;
    return respond(request, count - 1);
  });
  const client = new LyrebirdClient({
    baseUrl: "http://localhost:8080",
    ...KEY,
    ...environment,
    retryMsMax,
  });
  return { client, environment };
}

const SUBMISSION = { idempotencyKey: "k-1" };

test("a submission is signed over timestamp, method, path and body as they are sent", async () => {
  const { client, environment } = clientAnswered(() => ({
    status: 202,
    body: { ...EXECUTED, replayed: false },
  }));
  const signal = await client.submit(ORDER, SUBMISSION);
  const [sent] = environment.sent;
  const { "x-bot-timestamp": timestamp, "x-bot-signature": signature } = sent?.headers ?? {};
  const message = `${environment.now()}POST/bot/v1/spot/orders${sent?.body}`;
  expect(sent?.url).toBe("http://localhost:8080/bot/v1/spot/orders");
  expect(JSON.parse(sent?.body ?? "")).toEqual(ORDER);
  expect(sent?.headers).toMatchObject({ "x-bot-api-key": KEY.apiKey, "idempotency-key": "k-1" });
  expect(timestamp).toBe(String(environment.now()));
  expect(signature).toBe(createHmac("sha256", "f00d").update(message).digest("hex"));
  expect(signal).toMatchObject({ ...RECORDED, status: "EXECUTED", replayed: false });
});

test("equal orders of one millisecond are signed at different times, since a signature is good for one key", async () => {
  const { client, environment } = clientAnswered(() => ({ status: 202, body: EXECUTED }));
  await Promise.all(["k-1", "k-2", "k-3"].map((idempotencyKey) => client.submit(ORDER, { idempotencyKey })));
  const signatures = environment.sent.map(({ headers }) => headers["x-bot-signature"]);
  expect(new Set(signatures).size).toBe(3);
});

test("no type of an order has both of its amounts, of which the server takes one", async () => {
  // @ts-expect-error It says both.
  const both: BotOrder = { ...ORDER, quantity: "0.001" };
  // @ts-expect-error Likewise, with its type.
  const bothOfMarket: BotOrder = { ...ORDER, orderType: "MARKET", quantity: "0.001" };
  const either: readonly BotOrder[] = [ORDER, { symbol: "BTCUSDT", tradeType: "SELL", quantity: "0.001" }];
  const { client, environment } = clientAnswered(() => ({ status: 202, body: EXECUTED }));
  for (const order of [both, bothOfMarket, ...either]) await client.submit(order, SUBMISSION);
  expect(environment.sent).toHaveLength(4);
});

test("a rejected signal is a value, not an error", async () => {
  const { client } = clientAnswered(() => ({ status: 202, body: { ...REJECTED, replayed: true } }));
  expect(await client.submit(ORDER, SUBMISSION)).toMatchObject({
    status: "REJECTED",
    result: { code: -2010 },
  });
});

test.each([
  ["the connection breaks", () => Promise.reject(new TypeError("fetch failed"))],
  ["the answer is cut off", () => ({ status: 202, body: '{"signalId":"s1","sta' })],
  ["the server is overloaded", () => ({ status: 503, body: { status: false, message: "busy" } })],
  ["the budget is used up", () => ({ status: 429, body: { status: false, message: "slow down" } })],
  ["a proxy has no answer", () => ({ status: 502, body: "<html>" })],
] as const)("when %s, the same body is submitted again under the same key", async (_, fail) => {
  const { client, environment } = clientAnswered((__, index): Answer | Promise<Answer> =>
    index < 2 ? fail() : { status: 202, body: { ...EXECUTED, replayed: true } },
  );
  const submitted = client.submit(ORDER, SUBMISSION);
  await environment.pass(500);
  expect(environment.sent.length).toBe(2);
  await environment.pass(999);
  expect(environment.sent.length).toBe(2);
  await environment.pass(1);
  expect(await submitted).toMatchObject({ status: "EXECUTED", replayed: true });
  expect(new Set(environment.sent.map(({ body }) => body)).size).toBe(1);
  expect(environment.sent.map(({ headers }) => headers["idempotency-key"])).toEqual(["k-1", "k-1", "k-1"]);
  // Each is signed at its own time.
  expect(new Set(environment.sent.map(({ headers }) => headers["x-bot-timestamp"])).size).toBe(3);
});

test("Retry-After is waited for", async () => {
  const { client, environment } = clientAnswered((_, index) =>
    index === 0
      ? { status: 429, headers: { "retry-after": "7" }, body: { message: "slow down" } }
      : { body: EXECUTED },
  );
  const signal = client.signal("s1");
  await environment.pass(6_999);
  expect(environment.sent.length).toBe(1);
  await environment.pass(1);
  expect(await signal).toMatchObject({ status: "EXECUTED" });
});

test("the outcome of a submission that never gets an answer is unknown, and so it is said after the time for it", async () => {
  const { client, environment } = clientAnswered(() => Promise.reject(new Error("no route")), 20_000);
  const failed = client.submit(ORDER, SUBMISSION).catch((error: unknown) => error);
  for (let second = 0; second < 25; second += 1) await environment.pass(1_000);
  const error = await failed;
  expect(error).toBeInstanceOf(LyrebirdUnreachableError);
  expect((error as Error).message).toContain("no route");
  // After 0, 0.5, 1.5, 3.5, 7.5 and 15.5 seconds.
  expect(environment.sent.length).toBe(6);
  expect(environment.time.pending()).toBe(0);
});

test("a wait beyond the time for retries is not begun", async () => {
  const { client } = clientAnswered(() => ({
    status: 429,
    headers: { "retry-after": "61" },
    body: { message: "slow down" },
  }));
  await expect(client.signals()).rejects.toMatchObject({ status: 429, retryAfterMs: 61_000 });
});

test("a request without an answer is given up after ten seconds and tried again", async () => {
  const { client, environment } = clientAnswered((_, index) =>
    index === 0 ? new Promise<Answer>(() => {}) : { body: { message: "ok", data: { apiKeyId: "7" } } },
  );
  const tested = client.test();
  await environment.pass(9_999);
  await environment.pass(1);
  await environment.pass(500);
  expect(await tested).toEqual({ message: "ok", apiKeyId: "7" });
});

test.each([400, 401, 404, 418, 422])("a refusal of status %i is thrown at once", async (status) => {
  const { client, environment } = clientAnswered(() => ({ status, body: { status: false, message: "no" } }));
  const error = await client.submit(ORDER, SUBMISSION).catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(LyrebirdHttpError);
  expect(error).toMatchObject({ status, message: "no", messageSha256: null });
  expect(environment.sent.length).toBe(1);
});

test("an invalid signature's error has what the server hashed and what was signed", async () => {
  const messageSha256 = "ab".repeat(32);
  const { client, environment } = clientAnswered(() => ({
    status: 401,
    body: { status: false, message: "Invalid signature", messageSha256 },
  }));
  const signed = `${environment.now()}POST/bot/v1/spot/test{}`;
  await expect(client.test()).rejects.toMatchObject({
    messageSha256,
    signedSha256: createHash("sha256").update(signed).digest("hex"),
  });
});

test("a refused timestamp is tried once more, by the server's clock", async () => {
  const serverTime = 1_600_000_000_000;
  const { client, environment } = clientAnswered(({ url, headers }) => {
    if (url.endsWith("/api/v3/time")) return { body: { serverTime } };
    return headers["x-bot-timestamp"] === String(serverTime)
      ? { body: { data: [] } }
      : { status: 401, body: { message: "Request timestamp outside the allowed window" } };
  });
  expect(await client.signals()).toEqual([]);
  expect(environment.sent.length).toBe(3);
});

test("a timestamp that stays refused is thrown", async () => {
  const { client, environment } = clientAnswered(({ url }) =>
    url.endsWith("/api/v3/time")
      ? { status: 500, body: "" }
      : { status: 401, body: { message: "Request timestamp outside the allowed window" } },
  );
  await expect(client.signals()).rejects.toMatchObject({ status: 401 });
  expect(environment.sent.length).toBe(3);
});

test("a pending signal is waited for until it is settled", async () => {
  const { client, environment } = clientAnswered((_, index) => ({
    body: index < 2 ? RECEIVED : index < 4 ? { ...REJECTED, status: "FAILED" } : EXECUTED,
  }));
  const settling = client.waitFor("s1");
  for (let second = 0; second < 8; second += 1) await environment.pass(1_000);
  expect(await settling).toMatchObject({ status: "EXECUTED" });
  expect(environment.sent.length).toBe(5);
  expect(environment.time.pending()).toBe(0);
});

test("a signal that stays pending is thrown as it stood last", async () => {
  const { client, environment } = clientAnswered(() => ({ body: RECEIVED }));
  const failed = client.waitFor("s1", { waitMsMax: 10_000 }).catch((error: unknown) => error);
  for (let second = 0; second < 15; second += 1) await environment.pass(1_000);
  const error = await failed;
  expect(error).toBeInstanceOf(LyrebirdPendingError);
  expect((error as LyrebirdPendingError).signal).toMatchObject({ signalId: "s1", status: "RECEIVED" });
});

test("many signals are waited for at once without more reads than the server takes of a key", async () => {
  const start = manualEnvironment(() => ({ body: "" })).now();
  const readsAt: number[] = [];
  const { client, environment } = clientAnswered(({ url }) => {
    const now = environment.now();
    readsAt.push(now);
    const signalId = url.split("/").at(-1);
    return { body: { ...(now < start + 30_000 ? RECEIVED : EXECUTED), signalId } };
  });
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const settling = Promise.all(ids.map((id) => client.waitFor(id)));
  for (let passed = 0; passed < 60_000; passed += 250) await environment.pass(250);
  expect((await settling).map(({ signalId }) => signalId)).toEqual(ids);
  const most = Math.max(
    ...readsAt.map((from) => readsAt.filter((at) => at >= from && at < from + 10_000).length),
  );
  expect(most).toBeLessThanOrEqual(50);
  expect(environment.time.pending()).toBe(0);
});

test("requests in flight are aborted when the client is closed, whether they wait or are sent", async () => {
  const { client, environment } = clientAnswered((_, index) =>
    index === 0 ? { status: 503, body: {} } : new Promise<Answer>(() => {}),
  );
  const waits = client.signals().catch((error: unknown) => error);
  await settled();
  const asks = client.test().catch((error: unknown) => error);
  await settled();
  client.close();
  expect(await waits).toBeInstanceOf(LyrebirdClosedError);
  expect(await asks).toBeInstanceOf(LyrebirdClosedError);
  await expect(client.pairs()).rejects.toBeInstanceOf(LyrebirdClosedError);
  expect(environment.time.pending()).toBe(0);
});

test.each(["", " padded", "padded ", "über", "a\nb", "x".repeat(129)])(
  "the idempotency key %j is refused before anything is sent",
  async (idempotencyKey) => {
    const { client, environment } = clientAnswered(() => ({ body: EXECUTED }));
    await expect(client.submit(ORDER, { idempotencyKey })).rejects.toBeInstanceOf(TypeError);
    expect(environment.sent).toEqual([]);
  },
);

test.each(["localhost:8080", "ftp://localhost", "http://localhost/base", "http://localhost?a=1"])(
  "%s is no base URL",
  (baseUrl) => {
    expect(() => new LyrebirdClient({ baseUrl, ...KEY })).toThrow(TypeError);
  },
);

test("an empty key or secret is named, with the variables that the README reads them from", () => {
  const make = (credentials: object) => () =>
    new LyrebirdClient({ baseUrl: "http://localhost:8080", ...KEY, ...credentials });
  expect(make({ apiKey: "" })).toThrow(/^apiKey is empty: .*LYREBIRD_KEY/);
  expect(make({ apiSecret: "" })).toThrow(/^apiSecret is empty: .*LYREBIRD_SECRET/);
  expect(make({ apiKey: "a key" })).toThrow("apiKey must be an API key of Lyrebird");
});

test("the secret shows in no error and in no text of the client", async () => {
  const { client } = clientAnswered(() => ({ status: 401, body: { message: "Invalid signature" } }));
  const error = await client.test().catch((refused: unknown) => refused);
  expect(JSON.stringify([client, error, String((error as Error).stack)])).not.toContain(KEY.apiSecret);
});
