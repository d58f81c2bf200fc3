// How many connections one server takes: more than a test could open, so without sockets.
import type { Socket } from "socket.io";
import { expect, test } from "vitest";
import { CONNECTIONS_MAX, SlidingWindow } from "./limits.ts";
import { Session, Sessions } from "./sessions.ts";

const socket = { conn: {} } as Socket;

test("a server takes 10,000 connections; the next is RATE_LIMITED until one has ended", () => {
  const sessions = new Sessions();
  const opened = Array.from({ length: CONNECTIONS_MAX }, (_, index) => sessions.open(`key ${index}`, socket));
  expect(opened.every((session) => session instanceof Session)).toBe(true);
  expect(sessions.open("another", socket)).toMatchObject({ status: false, code: "RATE_LIMITED" });
  sessions.close(opened[0] as Session);
  sessions.close(opened[0] as Session);
  expect(sessions.open("another", socket)).toBeInstanceOf(Session);
  expect(sessions.open("yet another", socket)).toMatchObject({ code: "RATE_LIMITED" });
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
