import { expect, test } from "vitest";
import { bundledBrackets } from "../../brackets/bundled.ts";
import { cacheMsMax } from "../rest/pass-through.ts";
import { createFixture, settle } from "../testing/feed.ts";
import { until } from "../testing/upstream.ts";
import {
  clientConnectionsMax,
  confirmationWaitMsMax,
  olderBookRetriesMax,
  olderBookRetryMs,
} from "./client-streams.ts";
import { futuresProtocol } from "./futures-protocol.ts";
import { controlIntervalMs, streamsPerConnectionMax } from "./socket.ts";
import { connectionsMaxDefault, graceMs, streamsKeptFree } from "./subscriptions.ts";

const DEPTH = "/api/v3/depth";

async function startedFixture() {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"]);
  await fixture.feed.start();
  await until(() => fixture.feed.status().connected);
  let answers = 0;
  fixture.upstream.reply(DEPTH, () => ({ body: { answer: ++answers } }));
  return { ...fixture, answers: () => answers };
}

test("clients have connections of their own, opened with the first subscription", async () => {
  const fixture = await startedFixture();
  const { feed, upstream } = fixture;
  expect(upstream.connections()).toBe(1);
  const heard: unknown[] = [];
  const leave = feed.clientStreams.subscribe("btcusdt@trade", (data) => heard.push(data));
  await until(() => upstream.subscribedOn(2).includes("btcusdt@trade"));
  expect(upstream.subscribedOn(1)).toEqual([]);
  await until(() => feed.clientStreams.isStreaming("btcusdt@trade"));
  upstream.sendOn(2, "btcusdt@trade", { t: 1 });
  await until(() => heard.length === 1);
  leave();
  upstream.sendOn(2, "btcusdt@trade", { t: 2 });
  await settle(fixture);
  expect(heard).toEqual([{ t: 1 }]);
});

test("as many streams as clients may have do not delay or displace one of trading", async () => {
  const { feed, upstream, time } = await startedFixture();
  for (let index = 0; index < 2_048; index += 1) feed.clientStreams.subscribe(`s${index}@trade`, () => {});
  await until(() => upstream.connections() === 4);
  feed.subscribe("btcusdt@trade", () => {});
  // No time passes: it does not wait for the others' control messages.
  await until(() => upstream.subscribedOn(1).includes("btcusdt@trade"));
  const ofClients = () => [2, 3, 4].flatMap((connection) => upstream.subscribedOn(connection));
  await until(() => {
    time.advance(controlIntervalMs);
    return ofClients().length === 2_048;
  });
  expect(upstream.subscribedOn(1)).toEqual(["btcusdt@trade"]);
});

test("however often connections of trading and of clients are lost, no five minutes see more attempts than the exchange takes", async () => {
  // Every connection opens, and is dead.
  const fixture = await createFixture(["BTCUSDT"], { autoPong: false });
  const { feed, upstream, time } = fixture;
  await feed.start();
  const perConnection = streamsPerConnectionMax - streamsKeptFree;
  const subscribe = (to: Pick<typeof feed, "subscribe">, connections: number) => {
    for (let index = 0; index <= (connections - 1) * perConnection; index += 1)
      to.subscribe(`s${index}@trade`, () => {});
  };
  subscribe(feed, connectionsMaxDefault);
  subscribe(feed.clientStreams, clientConnectionsMax);
  const all = connectionsMaxDefault + clientConnectionsMax;
  await until(() => upstream.connections() === all);
  const attempts: number[] = [];
  for (let second = 0; second < 400; second += 1) {
    time.advance(1_000);
    await settle(fixture);
    attempts.push(upstream.connections() - all);
  }
  const inFiveMinutes = attempts.slice(300).map((count, second) => count - (attempts[second] ?? 0));
  expect(Math.max(...inFiveMinutes)).toBeGreaterThan(180);
  // A connection tries a change-over once a minute at most.
  expect(Math.max(...inFiveMinutes) + all * 6).toBeLessThan(300);
});

test("a question for a book waits until upstream has confirmed its changes, but not for ever", async () => {
  const fixture = await startedFixture();
  const { feed, upstream, time, answers } = fixture;
  const subscribe = (stream: string) => feed.clientStreams.subscribe(stream, () => {});
  subscribe("btcusdt@trade");
  await until(() => feed.clientStreams.isStreaming("btcusdt@trade"));
  upstream.setConfirming(false);
  subscribe("btcusdt@depth@100ms");
  const answer = feed.query(DEPTH, "symbol=BTCUSDT");
  expect(await feed.query(DEPTH, "symbol=ETHUSDT")).toMatchObject({ text: '{"answer":1}' });
  time.advance(controlIntervalMs);
  await until(() => upstream.subscribed().includes("btcusdt@depth@100ms"));
  await settle(fixture);
  expect(answers()).toBe(1);
  upstream.setConfirming(true);
  await until(() => feed.clientStreams.isStreaming("btcusdt@depth@100ms"));
  time.advance(100);
  expect(await answer).toMatchObject({ text: '{"answer":2}' });

  upstream.setConfirming(false);
  subscribe("btcusdt@depth");
  const late = feed.query(DEPTH, "symbol=BTCUSDT");
  time.advance(confirmationWaitMsMax + 100);
  expect(await late).toMatchObject({ text: '{"answer":3}' });
});

test("an answer is shared until another client begins to follow, changes are missed, or half a second has passed", async () => {
  const fixture = await startedFixture();
  const { feed, upstream, time } = fixture;
  const stream = "btcusdt@depth@100ms";
  const ask = async () =>
    JSON.parse(((await feed.query(DEPTH, "symbol=BTCUSDT")) as { text: string }).text).answer;
  expect(await ask()).toBe(1);
  const leave = feed.clientStreams.subscribe(stream, () => {});
  await until(() => feed.clientStreams.isStreaming(stream));
  expect([await ask(), await ask()]).toEqual([2, 2]);
  feed.clientStreams.joined("ethusdt@depth");
  feed.clientStreams.joined("btcusdt@depth20");
  expect(await ask()).toBe(2);
  feed.clientStreams.joined(stream);
  expect([await ask(), await ask()]).toEqual([3, 3]);

  upstream.drop(2);
  await until(() => !feed.clientStreams.isStreaming(stream));
  await until(() => {
    time.advance(20);
    return feed.clientStreams.isStreaming(stream);
  });
  expect([await ask(), await ask()]).toEqual([4, 4]);
  leave();
  time.advance(graceMs);
  await settle(fixture);
  expect(await ask()).toBe(5);
});

test("a book that is older than a client's first change is asked for again, but not for ever", async () => {
  const fixture = await startedFixture();
  const { feed, upstream, time } = fixture;
  const stream = "btcusdt@depth@100ms";
  const heard: unknown[] = [];
  feed.clientStreams.subscribe(stream, (data) => heard.push(data));
  await until(() => feed.clientStreams.isStreaming(stream));
  /** Sends a change from one id to the next but four. */
  const change = async (U: number) => {
    const before = heard.length;
    upstream.sendOn(2, stream, { e: "depthUpdate", s: "BTCUSDT", U, u: U + 5 });
    await until(() => heard.length > before);
  };
  const ids: number[] = [];
  let asked = 0;
  upstream.reply(DEPTH, () => ({ body: { lastUpdateId: ids[Math.min(asked++, ids.length - 1)] } }));
  /** The id of the book that is answered, when upstream answers these, and how often it was asked. */
  const ask = async (...upstreams: number[]) => {
    // No earlier answer is served again.
    time.advance(cacheMsMax);
    ids.splice(0, ids.length, ...upstreams);
    asked = 0;
    let answer: unknown;
    void feed.query(DEPTH, "symbol=BTCUSDT").then((given) => {
      answer = given;
    });
    while (answer === undefined) {
      await settle(fixture);
      time.advance(olderBookRetryMs);
    }
    return [JSON.parse((answer as { text: string }).text).lastUpdateId, asked];
  };
  expect(await ask(950)).toEqual([950, 1]);
  await change(1_000);
  await change(1_006);
  expect(await ask(950, 998, 999)).toEqual([999, 3]);
  expect(await ask(1_000)).toEqual([1_000, 1]);
  expect(await ask(950)).toEqual([950, 1 + olderBookRetriesMax]);
  // Another client begins here.
  feed.clientStreams.joined(stream);
  await change(1_012);
  expect(await ask(1_010, 1_011)).toEqual([1_011, 2]);
});

test.each([
  [
    "/public/stream",
    ["btcusdt@bookTicker", "!bookTicker", "btcusdt@depth", "btcusdt@depth@500ms", "btcusdt@depth20@100ms"],
  ],
  ["/public/stream", ["btcusdt@rpiDepth@500ms", "btcusdt@trade"]],
  [
    "/market/stream",
    ["btcusdt@aggTrade", "btcusdt@kline_1m", "btcusdt_perpetual@continuousKline_1m", "btcusdt@markPrice@1s"],
  ],
  [
    "/market/stream",
    ["!markPrice@arr", "btcusdt@miniTicker", "!miniTicker@arr", "btcusdt@ticker", "!ticker@arr"],
  ],
  [
    "/market/stream",
    ["btcusdt@forceOrder", "!forceOrder@arr", "!contractInfo", "btcusdt@compositeIndex", "tradingSession"],
  ],
  ["/market/stream", ["!assetIndex@arr", "adausd@assetIndex"]],
] as const)("the streams of futures on %s: %j", (path, names) => {
  const { streamPathOf } = futuresProtocol(bundledBrackets);
  expect(names.map(streamPathOf)).toEqual(names.map(() => path));
});
