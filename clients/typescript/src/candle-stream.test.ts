// Candles with a scripted server: what is reported over reconnects, silences and outages. Source:
// specification 6.3.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CandleStream } from "./candle-stream.ts";
import type { Candle } from "./messages.ts";
import { settled } from "./testing/manual-environment.ts";
import { Handed, type ScriptedConnection } from "./testing/scripted-server.ts";
import { AHEAD_MS, openStreamFixture, type StreamFixture } from "./testing/stream-fixture.ts";

const TOPIC = { pair: "BTCUSDT", timeframe: "1m" };
const MINUTE_MS = 60_000;
let fixture: StreamFixture;
let stream: CandleStream;
let connection: ScriptedConnection;
let ticks: Handed<string>;
let finals: number[];
let stale: object[];
/** Where candle 0 begins: the minute in which the test does, by the server's time. */
let origin: number;
/** The fallback's candles: up to this one, which forms. */
let listedUntil: number | null;

function candle(index: number, isFinal = false, close = isFinal ? `${index}.9` : `${index}.1`): Candle {
  const startTime = origin + index * MINUTE_MS;
  const prices = { open: `${index}`, high: "1000", low: `${index}`, close, volume: "1" };
  return { ...prices, startTime, closeTime: startTime + MINUTE_MS - 1, isFinal };
}

function say(...parts: Parameters<typeof candle>): void {
  connection.say("marketData", { event: "kline", ...TOPIC, candle: candle(...parts) });
}

function list(target: URL): object | number {
  if (listedUntil === null) return 503;
  const from = Number(target.searchParams.get("startTime") ?? origin + (listedUntil - 1) * MINUTE_MS);
  const first = (from - origin) / MINUTE_MS;
  return Array.from({ length: Math.max(0, listedUntil - first + 1) }, (_, index) => {
    const { startTime, open, high, low, close, volume, closeTime } = candle(
      first + index,
      first + index < (listedUntil ?? 0),
    );
    return [startTime, open, high, low, close, volume, closeTime, "0", 0, "0", "0", "0"];
  });
}

async function reconnect(): Promise<void> {
  connection = await fixture.server.nextConnection();
  await connection.confirm();
}

beforeEach(async () => {
  fixture = await openStreamFixture(list);
  origin = Math.floor((fixture.now() + AHEAD_MS) / MINUTE_MS) * MINUTE_MS;
  listedUntil = null;
  ticks = new Handed();
  finals = [];
  stale = [];
  stream = fixture.client.candles({
    ...fixture.handlers,
    onCandle: ({ close }) => ticks.put(close),
    onFinal: ({ startTime, isFinal }) => {
      if (!isFinal) throw new Error("a final is final");
      finals.push((startTime - origin) / MINUTE_MS);
    },
    onStale: (topic) => stale.push(topic),
  });
  stream.subscribe({ pair: "btcusdt", timeframe: "1m" });
  await reconnect();
});
afterEach(() => fixture.close());

test("every tick replaces the candle with its start time, and a final is reported once", async () => {
  say(0);
  say(0, false, "0.2");
  expect([await ticks.next(), await ticks.next()]).toEqual(["0.1", "0.2"]);
  expect(stream.candle(TOPIC)).toEqual(candle(0, false, "0.2"));
  say(0, true);
  say(0, true);
  say(0, false, "0.3");
  say(1);
  expect([await ticks.next(), await ticks.next()]).toEqual(["0.9", "1.1"]);
  expect(finals).toEqual([0]);
});

test("finals that were missed while it was away are backfilled, once each and in order", async () => {
  say(0);
  await ticks.next();
  connection.cut();
  await fixture.reached("DISCONNECTED");
  await fixture.pass(1_000);
  await reconnect();
  listedUntil = 3;
  say(3);
  expect(await ticks.next()).toBe("3.1");
  expect(finals).toEqual([]);
  await fixture.pass(500);
  expect(finals).toEqual([0, 1, 2]);
  expect(fixture.targets).toEqual([
    `/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=${origin}&limit=1000`,
  ]);
  say(3, true);
  await ticks.next();
  expect(finals).toEqual([0, 1, 2, 3]);
});

test("a quiet market is no outage", async () => {
  say(0);
  await ticks.next();
  await fixture.pass(30_000);
  expect(stale).toEqual([]);
  expect(fixture.targets).toEqual([]);
  expect(fixture.states).toEqual(["CONNECTED"]);
});

test("a final that is five seconds late is fetched", async () => {
  say(0);
  await ticks.next();
  listedUntil = 1;
  await fixture.pass(origin + MINUTE_MS - (fixture.now() + AHEAD_MS) + 5_000);
  expect(finals).toEqual([]);
  await fixture.pass(500);
  expect(stale).toEqual([TOPIC]);
  expect(finals).toEqual([0]);
  expect(await ticks.next()).toBe("1.1");
  say(1, true);
  expect(await ticks.next()).toBe("1.9");
  expect(finals).toEqual([0, 1]);
});

test("five seconds without a connection, and candles come by REST until there is one", async () => {
  say(0);
  await ticks.next();
  connection.cut();
  await fixture.reached("DISCONNECTED");
  listedUntil = 2;
  await fixture.server.close();
  await fixture.pass(5_000);
  expect(stale).toEqual([]);
  await fixture.pass(500);
  expect(stream.isStale(TOPIC)).toBe(true);
  expect(finals).toEqual([0, 1]);
  expect(stream.candle(TOPIC)).toEqual(candle(2));
  await fixture.pass(5_000);
  expect(fixture.targets.length).toBe(2);
});

test("while the server's source is down, candles come by REST, and its next tick ends that", async () => {
  say(0);
  await ticks.next();
  connection.say("error", { status: false, code: "UPSTREAM_UNAVAILABLE", message: "away" });
  await fixture.errors.next();
  listedUntil = 1;
  await fixture.pass(5_500);
  expect([finals, await ticks.next()]).toEqual([[0], "1.1"]);
  say(1, false, "1.2");
  expect(await ticks.next()).toBe("1.2");
  await fixture.pass(500);
  expect(stream.isStale(TOPIC)).toBe(false);
});

test("a topic without any candle is requested by REST, and its finals begin with the candle that forms", async () => {
  listedUntil = 1;
  await fixture.pass(5_500);
  expect(fixture.targets).toEqual(["/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=2"]);
  expect(stream.candle(TOPIC)).toEqual(candle(1));
  expect(finals).toEqual([]);
});

test("finals that cannot be had are left out after a while, and that is said", async () => {
  say(0);
  say(2, true);
  await ticks.next();
  await ticks.next();
  expect(finals).toEqual([]);
  await fixture.pass(60_000);
  expect(await fixture.errors.next()).toMatchObject({ code: "FALLBACK_UNAVAILABLE" });
  expect(await fixture.errors.next()).toMatchObject({ code: "CANDLES_SKIPPED", topic: TOPIC });
  expect(finals).toEqual([2]);
});

test("nothing is reported after closing", async () => {
  say(0);
  await ticks.next();
  listedUntil = 3;
  say(3);
  await ticks.next();
  fixture.time.advance(500);
  stream.close();
  await settled();
  expect(finals).toEqual([]);
});
