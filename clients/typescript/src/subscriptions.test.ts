// The messages and their times that give the server the program's subscriptions. Source: specification 6.1
// and 8.3.
import { expect, test } from "vitest";
import { createManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import { Subscriptions } from "./subscriptions.ts";

function createFixture() {
  const time = createManualTime();
  const sent: string[] = [];
  let unanswered = 0;
  const subscriptions = new Subscriptions<string>({
    timers: time,
    keyOf: (topic) => topic,
    send: (name, topic) => sent.push(`${name} ${topic}`),
    onSubscribed: () => {},
    onUnanswered: () => {
      unanswered += 1;
    },
  });
  const refuse = (code: string, retryAfterMs: number | null = null) =>
    subscriptions.failed({ code, retryAfterMs });
  return { time, sent, subscriptions, refuse, unanswered: () => unanswered };
}

test("nothing is sent before there is a connection, and one message at a time on it", () => {
  const { sent, subscriptions } = createFixture();
  subscriptions.add("a");
  subscriptions.add("b");
  expect(sent).toEqual([]);
  subscriptions.connected();
  expect(sent).toEqual(["subscribe a"]);
  subscriptions.subscribed("a");
  expect(sent).toEqual(["subscribe a", "subscribe b"]);
  expect([subscriptions.isConfirmed("a"), subscriptions.isConfirmed("b")]).toEqual([true, false]);
});

test("everything is subscribed again on every connection, except what was unsubscribed", () => {
  const { sent, subscriptions } = createFixture();
  subscriptions.connected();
  for (const topic of ["a", "b"]) {
    subscriptions.add(topic);
    subscriptions.subscribed(topic);
  }
  subscriptions.disconnected();
  expect(subscriptions.isConfirmed("a")).toBe(false);
  subscriptions.remove("a");
  sent.length = 0;
  subscriptions.connected();
  subscriptions.subscribed("b");
  expect(sent).toEqual(["subscribe b"]);
});

test("a topic that is dropped while it is being subscribed is unsubscribed as soon as it is", () => {
  const { sent, subscriptions } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  subscriptions.remove("a");
  subscriptions.subscribed("a");
  expect(sent).toEqual(["subscribe a", "unsubscribe a"]);
});

test("a topic that is wanted again before it is unsubscribed stays as it is", () => {
  const { sent, subscriptions } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  subscriptions.subscribed("a");
  subscriptions.add("b");
  subscriptions.remove("a");
  subscriptions.add("a");
  subscriptions.subscribed("b");
  expect(sent).toEqual(["subscribe a", "subscribe b"]);
  expect(subscriptions.isConfirmed("a")).toBe(true);
});

test("a refused topic is forgotten, and named", () => {
  const { sent, subscriptions, refuse } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  subscriptions.add("b");
  expect(refuse("UPSTREAM_UNAVAILABLE")).toBe(null);
  expect(refuse("SUB_UNSUPPORTED_SYMBOL")).toBe("a");
  expect(subscriptions.topics).toEqual(["b"]);
  expect(sent).toEqual(["subscribe a", "subscribe b"]);
});

test("a new topic that there is no room for is forgotten", () => {
  const { subscriptions, refuse } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  expect(refuse("SUB_LIMIT_EXCEEDED")).toBe("a");
  expect(subscriptions.topics).toEqual([]);
});

test("a topic that the server has taken before is requested again when there is no room for it", () => {
  const { sent, subscriptions, refuse, time } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  subscriptions.subscribed("a");
  subscriptions.disconnected();
  subscriptions.connected();
  refuse("SUB_LIMIT_EXCEEDED");
  expect(subscriptions.topics).toEqual(["a"]);
  time.advance(29_999);
  expect(sent.length).toBe(2);
  time.advance(1);
  expect(sent).toEqual(["subscribe a", "subscribe a", "subscribe a"]);
});

test("after RATE_LIMITED nothing is sent until the server's retry time", () => {
  const { sent, subscriptions, refuse, time } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  refuse("RATE_LIMITED", 4_000);
  subscriptions.add("b");
  time.advance(3_999);
  expect(sent).toEqual(["subscribe a"]);
  time.advance(1);
  subscriptions.subscribed("a");
  expect(sent).toEqual(["subscribe a", "subscribe a", "subscribe b"]);
});

test("an unsubscription that was too fast is sent again", () => {
  const { sent, subscriptions, refuse, time } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  subscriptions.subscribed("a");
  subscriptions.remove("a");
  refuse("RATE_LIMITED", 1_000);
  time.advance(1_000);
  subscriptions.unsubscribed("a");
  expect(sent).toEqual(["subscribe a", "unsubscribe a", "unsubscribe a"]);
});

test("no more than 30 messages a minute are sent on a connection, and a new one starts over", () => {
  const { sent, subscriptions, time } = createFixture();
  subscriptions.connected();
  for (let index = 0; index < 15; index += 1) {
    subscriptions.add(`${index}`);
    subscriptions.subscribed(`${index}`);
    subscriptions.remove(`${index}`);
    subscriptions.unsubscribed(`${index}`);
    time.advance(100);
  }
  expect(sent.length).toBe(30);
  subscriptions.add("last");
  time.advance(59_499);
  expect(sent.length).toBe(30);
  time.advance(1);
  expect(sent.at(-1)).toBe("subscribe last");
  subscriptions.disconnected();
  subscriptions.connected();
  expect(sent.length).toBe(32);
});

test("a message without an answer for ten seconds gives the connection up", () => {
  const { subscriptions, time, unanswered } = createFixture();
  subscriptions.connected();
  subscriptions.add("a");
  time.advance(9_999);
  expect(unanswered()).toBe(0);
  time.advance(1);
  expect(unanswered()).toBe(1);
  subscriptions.disconnected();
  expect(time.pending()).toBe(0);
});
