import { expect, test } from "vitest";
import { createFixture, pass, settle } from "../testing/feed.ts";
import { type Upstream, until } from "../testing/upstream.ts";
import { deadAfterSilenceMs } from "./connection.ts";
import { refusedRetryMs } from "./socket.ts";
import { graceMs, graceStreamsMax } from "./subscriptions.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `s${index}@trade`);

function controlsOf(upstream: Upstream): string[] {
  return upstream.controls.map(({ method, params }) => `${method} ${params.length}`);
}

test("streams wanted in one event-loop task are requested in one message, and each once for all listeners", async () => {
  const { feed, upstream } = await createFixture(["BTCUSDT"]);
  await feed.start();
  await until(() => feed.status().connected);
  const heard: unknown[] = [];
  feed.subscribe("btcusdt@kline_1m", (data) => heard.push(["first", data]));
  feed.subscribe("btcusdt@kline_1m", (data) => heard.push(["second", data]));
  feed.subscribe("ethusdt@kline_1m", (data) => heard.push(["other", data]));
  await until(() => upstream.subscribed().length === 2);
  expect(controlsOf(upstream)).toEqual(["SUBSCRIBE 2"]);
  upstream.send("btcusdt@kline_1m", { k: 1 });
  await until(() => heard.length === 2);
  expect(heard).toEqual([
    ["first", { k: 1 }],
    ["second", { k: 1 }],
  ]);
});

test("many streams leave in messages of a hundred, three a second", async () => {
  const { feed, upstream, time } = await createFixture(["BTCUSDT"]);
  await feed.start();
  for (const stream of numbered(250)) feed.subscribe(stream, () => {});
  await until(() => upstream.subscribed().length === 100);
  time.advance(333);
  expect(upstream.controls).toHaveLength(1);
  time.advance(1);
  await until(() => upstream.subscribed().length === 200);
  time.advance(334);
  await until(() => upstream.subscribed().length === 250);
  expect(controlsOf(upstream)).toEqual(["SUBSCRIBE 100", "SUBSCRIBE 100", "SUBSCRIBE 50"]);
});

test("a stream stays in its grace period after its last listener, and a returning listener costs nothing", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream } = fixture;
  await feed.start();
  const leaveFirst = feed.subscribe("a@trade", () => {});
  const leaveSecond = feed.subscribe("a@trade", () => {});
  await until(() => upstream.subscribed().length === 1);
  leaveFirst();
  leaveFirst();
  await pass(fixture, 2 * graceMs);
  leaveSecond();
  await pass(fixture, graceMs - 1_000);
  const leaveAgain = feed.subscribe("a@trade", () => {});
  await pass(fixture, graceMs);
  expect(controlsOf(upstream)).toEqual(["SUBSCRIBE 1"]);
  leaveAgain();
  await pass(fixture, graceMs + 1_000);
  await until(() => upstream.controls.length === 2);
  expect(upstream.controls[1]).toMatchObject({ method: "UNSUBSCRIBE", params: ["a@trade"] });
});

test("the number of streams in their grace period is bounded, the longest idle one goes first", async () => {
  const { feed } = await createFixture(["BTCUSDT"]);
  const leave = numbered(graceStreamsMax + 1).map((stream) => feed.subscribe(stream, () => {}));
  for (const leaveOne of leave) leaveOne();
  expect(feed.status().streams).toBe(graceStreamsMax);
});

test("a full connection refuses, says so, and takes the stream when there is room", async () => {
  const { feed, upstream, time, logged } = await createFixture(["BTCUSDT"], { connectionsMax: 1 });
  const leave = numbered(1024).map((stream) => feed.subscribe(stream, () => {}));
  feed.subscribe("late@trade", () => {});
  expect(feed.status().streams).toBe(1024);
  expect(logged).toEqual(["the market connections are full: a stream is refused"]);
  await feed.start();
  for (let message = 1; message <= 11; message += 1) {
    await until(() => upstream.controls.length === message);
    time.advance(334);
  }
  leave[0]?.();
  time.advance(1_000);
  await until(() => !upstream.subscribed().includes("s0@trade"));
  time.advance(334);
  await until(() => upstream.subscribed().includes("late@trade"));
  expect(upstream.subscribed()).toHaveLength(1024);
});

test("after a drop everything is subscribed again, and the delays grow while nothing lasts", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream, time } = fixture;
  await feed.start();
  feed.subscribe("a@trade", () => {});
  feed.subscribe("b@trade", () => {});
  await until(() => upstream.subscribed().length === 2);

  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => upstream.subscribed().length === 2);
  expect(controlsOf(upstream)).toEqual(["SUBSCRIBE 2", "SUBSCRIBE 2"]);

  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(999);
  await settle(fixture);
  expect(upstream.connections()).toBe(2);
  time.advance(1);
  await until(() => feed.status().connects === 3);
});

test("a drop after a connection that lasted is tried again quickly", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream, time } = fixture;
  await feed.start();
  for (let drop = 1; drop <= 3; drop += 1) {
    await until(() => feed.status().connects === drop);
    await pass(fixture, 10_000);
    upstream.dropConnections();
    await until(() => !feed.status().connected);
    time.advance(100);
  }
  await until(() => feed.status().connected);
});

test("a refused connection is tried again", async () => {
  const { feed, upstream, time, logged } = await createFixture(["BTCUSDT"]);
  upstream.setAccepting(false);
  await feed.start();
  const failed = () => logged.filter((line) => line.includes("disconnected")).length;
  await until(() => failed() === 1);
  time.advance(100);
  await until(() => failed() === 2);
  upstream.setAccepting(true);
  time.advance(1_000);
  await until(() => feed.status().connected);
  expect(logged.at(-1)).toBe("market streams are connected again");
});

test("a first connection that succeeds at once is no entry of the log", async () => {
  const { feed, logged } = await createFixture(["BTCUSDT"]);
  await feed.start();
  await until(() => feed.status().connected);
  expect(logged).toEqual([]);
});

test("a connection on which nothing comes, not even a pong, is replaced", async () => {
  const { feed, upstream, time, logged } = await createFixture(["BTCUSDT"], { autoPong: false });
  await feed.start();
  feed.subscribe("a@trade", () => {});
  await until(() => upstream.subscribed().length === 1);
  time.advance(deadAfterSilenceMs);
  await until(() => !feed.status().connected);
  expect(logged).toContain("market streams are dead; the connection is replaced");
  time.advance(100);
  await until(() => feed.status().connects === 2 && upstream.subscribed().length === 1);
});

test("a connection without data that answers pings lives", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, time } = fixture;
  await feed.start();
  await until(() => feed.status().connected);
  for (let second = 0; second < 30; second += 1) {
    time.advance(1_000);
    await settle(fixture);
  }
  expect(feed.status()).toMatchObject({ connected: true, connects: 1, lastMessageAt: 0 });
});

test("garbage is counted and dropped", async () => {
  const { feed, upstream, logged } = await createFixture(["BTCUSDT"]);
  await feed.start();
  const heard: unknown[] = [];
  feed.subscribe("a@trade", (data) => heard.push(data));
  await until(() => upstream.subscribed().length === 1);
  for (const text of ["{", "null", "7", '{"unknown":1}', '{"stream":"b@trade","data":1}'])
    upstream.sendRaw(text);
  upstream.sendRaw('{"error":{"code":2,"msg":"Invalid request"},"id":9}');
  upstream.send("a@trade", 1);
  await until(() => heard.length === 1);
  expect(feed.status()).toMatchObject({ malformedMessages: 4, connected: true });
  expect(logged).toContain("upstream refused a subscription");
});

test("streams that upstream refuses are requested again after some seconds", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream } = fixture;
  await feed.start();
  upstream.setRefusing(true);
  feed.subscribe("a@trade", () => {});
  feed.subscribe("b@trade", () => {});
  await until(() => upstream.controls.length === 1);
  await settle(fixture);
  upstream.setRefusing(false);
  await pass(fixture, refusedRetryMs);
  await pass(fixture, 1_000);
  await until(() => upstream.controls.length === 3);
  expect(upstream.subscribed()).toEqual(["a@trade", "b@trade"]);
  await pass(fixture, 2 * refusedRetryMs);
  // In two messages: one of the streams may be what upstream refuses.
  expect(controlsOf(upstream)).toEqual(["SUBSCRIBE 2", "SUBSCRIBE 1", "SUBSCRIBE 1"]);
});

test("a listener that throws does not keep the message from the others", async () => {
  const { feed, upstream } = await createFixture(["BTCUSDT"]);
  await feed.start();
  const heard: unknown[] = [];
  feed.subscribe("a@trade", () => {
    throw new Error("a listener's own trouble");
  });
  feed.subscribe("a@trade", (data) => heard.push(data));
  await until(() => upstream.subscribed().length === 1);
  upstream.send("a@trade", 1);
  upstream.send("a@trade", 2);
  await until(() => heard.length === 2);
  expect(feed.status().listenerFaults).toBe(2);
});

test("a closed feed leaves no timer behind and does not come back", async () => {
  const { feed, upstream, time } = await createFixture(["BTCUSDT"]);
  await feed.start();
  const waiting = feed.prepare("BTCUSDT");
  await until(() => feed.status().connected);
  await feed.close();
  await waiting;
  await until(() => time.pending() === 0);
  expect(upstream.subscribed()).toEqual([]);
});
