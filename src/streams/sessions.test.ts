// How many connections and streams one server takes: more than a test could open, so without sockets.
import type { Socket } from "socket.io";
import { expect, test } from "vitest";
import {
  CONNECTION_RETRY_MS,
  CONNECTION_WEIGHT_MAX,
  CONNECTIONS_MAX,
  NAMESPACE_STREAMS_MAX,
  SlidingWindow,
} from "./limits.ts";
import { Session, Sessions } from "./sessions.ts";
import { CANDLES } from "./stream-kinds.ts";
import { Subscriptions } from "./subscriptions.ts";

const socket = { conn: { write() {} }, nsp: { name: CANDLES.namespace } } as unknown as Socket;

test("a server takes 10,000 connections; the next is RATE_LIMITED until one has ended", () => {
  const sessions = new Sessions();
  const opened = Array.from({ length: CONNECTIONS_MAX }, (_, index) => sessions.open(`key ${index}`, socket));
  expect(opened.every((session) => session instanceof Session)).toBe(true);
  expect(sessions.open("another", socket)).toMatchObject({
    ...{ status: false, code: "RATE_LIMITED", retryAfterMs: CONNECTION_RETRY_MS },
  });
  sessions.close(opened[0] as Session);
  sessions.close(opened[0] as Session);
  expect(sessions.open("another", socket)).toBeInstanceOf(Session);
  expect(sessions.open("yet another", socket)).toMatchObject({ code: "RATE_LIMITED" });
});

test("all clients have so many streams of a namespace together; one that somebody has costs nothing", () => {
  const followed = new Set<string>();
  const subscriptions = new Subscriptions(CANDLES, () => ({
    follow({ pair }) {
      followed.add(pair);
      return () => followed.delete(pair);
    },
    close() {},
  }));
  const sessions = new Sessions();
  const connect = () => sessions.open(`key ${followed.size}`, socket) as Session;
  const topic = (index: number) => ({ pair: `PAIR${index}USDT`, timeframe: "1m" });
  let session = connect();
  const first = session;
  for (let index = 0; index < NAMESPACE_STREAMS_MAX; index += 1) {
    if (index % CONNECTION_WEIGHT_MAX === 0 && index > 0) session = connect();
    expect(subscriptions.subscribe(session, topic(index))).toBeNull();
  }
  const another = connect();
  expect(subscriptions.subscribe(another, topic(NAMESPACE_STREAMS_MAX))).toMatchObject({
    code: "SUB_LIMIT_EXCEEDED",
    message: expect.stringContaining("PAIR2048USDT 1m"),
  });
  expect(followed.size).toBe(NAMESPACE_STREAMS_MAX);
  expect(subscriptions.subscribe(another, topic(0))).toBeNull();
  expect(subscriptions.unsubscribe(first, topic(1))).toBeNull();
  expect(subscriptions.subscribe(another, topic(NAMESPACE_STREAMS_MAX))).toBeNull();
});

test("a window slides, and a clock that was set back does not hold it shut", () => {
  const window = new SlidingWindow(2, 60_000);
  expect(window.admit(100_000)).toBeNull();
  expect(window.admit(130_000)).toBeNull();
  expect(window.admit(159_999)).toBe(1);
  expect(window.admit(160_000)).toBeNull();
  expect(window.admit(160_000)).toBe(30_000);
  expect(window.admit(1_000)).toBeNull();
});
