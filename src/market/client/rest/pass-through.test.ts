import { expect, test } from "vitest";
import { createFixture } from "../testing/feed.ts";
import { until } from "../testing/upstream.ts";
import { questionsWaitingMax } from "./callers-rest.ts";
import { cacheMsMax, passThroughDeadlineMs } from "./pass-through.ts";
import { requestsInFlightMax } from "./rest.ts";
import { budgetWindowMs, callersWeightMax } from "./upstream-weight.ts";

const path = "/api/v3/depth";
const aggregatePath = "/api/v3/aggTrades";

test("status and body are handed on as they came", async () => {
  const { feed, upstream } = await createFixture([]);
  upstream.reply(path, () => ({ status: 400, body: '{"code":-1121, "msg":"Invalid symbol."}' }));
  expect(await feed.query(path, "symbol=XYZ")).toEqual({
    unavailable: false,
    status: 400,
    text: '{"code":-1121, "msg":"Invalid symbol."}',
  });
  upstream.reply("/fapi/v1/depth", (search) => ({ body: search.get("symbol") }));
  const search = new URLSearchParams({ symbol: "BTCUSDT" });
  expect(await feed.query("/fapi/v1/depth", search)).toMatchObject({ status: 200, text: "BTCUSDT" });
});

test("the same request is sent once while it is in flight and for half a second after", async () => {
  const { feed, upstream, time } = await createFixture([]);
  let answers = 0;
  upstream.reply(path, () => ({ body: { answer: ++answers } }));
  const [first, second] = await Promise.all([feed.query(path, "symbol=A"), feed.query(path, "symbol=A")]);
  expect(first).toBe(second);
  time.advance(cacheMsMax - 1);
  expect(await feed.query(path, "symbol=A")).toBe(first);
  expect(await feed.query(path, "symbol=B")).toMatchObject({ text: '{"answer":2}' });
  time.advance(1);
  expect(await feed.query(path, "symbol=A")).toMatchObject({ text: '{"answer":3}' });
});

test.each([500, 502, 503, 403])(
  "a %i of upstream is a value with its reason, and is not cached",
  async (status) => {
    const { feed, upstream, time } = await createFixture([]);
    upstream.reply(path, () => ({ status, body: "<html>" }));
    expect(await feed.query(path, "")).toEqual({ unavailable: true, reason: `upstream answered ${status}` });
    upstream.reply(path, () => ({ body: {} }));
    time.advance(30_000);
    expect(await feed.query(path, "")).toMatchObject({ status: 200 });
  },
);

test("an answer that does not come in time is no answer", async () => {
  const { feed, upstream, time } = await createFixture([]);
  upstream.reply(path, () => new Promise(() => {}));
  const answer = feed.query(path, "");
  await until(() => upstream.requests.length === 1);
  time.advance(passThroughDeadlineMs);
  expect(await answer).toEqual({ unavailable: true, reason: "no answer within 3000 ms" });
});

test("an upstream that is not there is a value", async () => {
  const { feed, upstream } = await createFixture([]);
  await upstream.close();
  expect(await feed.query(path, "")).toMatchObject({
    unavailable: true,
    reason: expect.stringContaining("ECONNREFUSED"),
  });
});

test.each([418, 429])("after a %i nothing is asked until upstream allows it", async (status) => {
  const { feed, upstream, time } = await createFixture([]);
  upstream.reply(path, () => ({ status, body: {}, headers: { "retry-after": "7" } }));
  await feed.query(path, "");
  expect(feed.status().pausedUntil).toBe(time.now() + 7_000);
  upstream.reply(path, () => ({ body: {} }));
  time.advance(6_999);
  expect(await feed.query(path, "")).toMatchObject({ unavailable: true });
  expect(upstream.requests).toHaveLength(1);
  time.advance(1);
  expect(await feed.query(path, "")).toMatchObject({ status: 200 });
});

test("a caller's request that the firewall refuses pauses the callers, and the feed goes on", async () => {
  const { feed, upstream, tickers } = await createFixture(["BTCUSDT"]);
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  upstream.reply(path, () => ({ status: 403, body: "<html>" }));
  await feed.query(path, "symbol=%3Cscript%3E");
  expect(await feed.query(path, "symbol=BTCUSDT")).toMatchObject({
    reason: expect.stringContaining("left alone"),
  });
  expect(feed.status().pausedUntil).toBe(0);
  await feed.prepare("BTCUSDT");
  expect(feed.quote("BTCUSDT")).not.toBeNull();
});

test("a ban of the address is respected by feed and callers alike", async () => {
  const { feed, upstream } = await createFixture(["BTCUSDT"]);
  await feed.start();
  upstream.reply("/api/v3/ticker/bookTicker", () => ({ status: 429, body: {} }));
  void feed.prepare("BTCUSDT");
  await until(() => feed.status().pausedUntil > 0);
  expect(await feed.query(path, "")).toMatchObject({ reason: expect.stringContaining("left alone") });
});

test("many requests of callers in flight leave the feed its own", async () => {
  const { feed, upstream, tickers } = await createFixture(["BTCUSDT"]);
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  upstream.reply(aggregatePath, () => new Promise(() => {}));
  for (let index = 0; index < 2 * requestsInFlightMax; index += 1)
    void feed.query(aggregatePath, `fromId=${index}`);
  await feed.prepare("BTCUSDT");
  expect(feed.quote("BTCUSDT")).not.toBeNull();
});

test("requests beyond the limit wait, and are sent in order", async () => {
  const { feed, upstream } = await createFixture([]);
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  upstream.reply(aggregatePath, async (search) => {
    asked.push(search.get("fromId") ?? "");
    await new Promise<void>((resolve) => answers.push(resolve));
    return { body: [] };
  });
  const questions = Array.from({ length: requestsInFlightMax + 3 }, (_, index) =>
    feed.query(aggregatePath, `fromId=${index}`),
  );
  await until(() => asked.length === requestsInFlightMax);
  for (const behind of [0, 1, 2]) {
    answers[behind]?.();
    await until(() => asked.length > requestsInFlightMax + behind);
    expect(asked.slice(requestsInFlightMax + behind)).toEqual([`${requestsInFlightMax + behind}`]);
  }
  for (const answer of answers) answer();
  for (const answer of await Promise.all(questions)) expect(answer).toMatchObject({ status: 200 });
});

test("a request that waits too long, or behind too many, is not answered", async () => {
  const { feed, upstream, time } = await createFixture([], { isMetered: false });
  upstream.reply(aggregatePath, () => new Promise(() => {}));
  const questions = Array.from({ length: requestsInFlightMax + questionsWaitingMax + 1 }, (_, index) =>
    feed.query(aggregatePath, `fromId=${index}`),
  );
  expect(await questions.at(-1)).toMatchObject({ reason: "too many questions wait" });
  await until(() => upstream.requests.length === requestsInFlightMax);
  time.advance(passThroughDeadlineMs);
  expect(await questions.at(-2)).toMatchObject({ reason: "no turn within 3000 ms" });
  await Promise.all(questions);
  upstream.reply(aggregatePath, () => ({ body: [] }));
  expect(await feed.query(aggregatePath, "fromId=again")).toMatchObject({ status: 200 });
});

test("the callers' use of the upstream budget is bounded, and the feed goes on", async () => {
  const { feed, upstream, tickers, time } = await createFixture(["BTCUSDT"]);
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  upstream.reply(path, () => ({ body: {} }));
  const deepestWeight = 250;
  const within = callersWeightMax.SPOT / deepestWeight;
  const deepest = (index: number) => feed.query(path, `symbol=S${index}&limit=5000`);
  for (let index = 0; index < within; index += 1) expect(await deepest(index)).toMatchObject({ status: 200 });
  expect(await deepest(within)).toMatchObject({ reason: expect.stringContaining("share of the upstream") });
  expect(upstream.requests.filter((line) => line.startsWith(path))).toHaveLength(within);
  await feed.prepare("BTCUSDT");
  expect(feed.quote("BTCUSDT")).not.toBeNull();
  time.advance(budgetWindowMs - 1);
  expect(await deepest(within)).toMatchObject({ unavailable: true });
  time.advance(1);
  expect(await deepest(within)).toMatchObject({ status: 200 });
});

test("a feed that closes breaks callers' questions off at once", async () => {
  const { feed, upstream } = await createFixture([]);
  upstream.reply(path, () => new Promise(() => {}));
  const answer = feed.query(path, "");
  await until(() => upstream.requests.length === 1);
  await feed.close();
  expect(await answer).toEqual({ unavailable: true, reason: "the market feed is closed" });
});
