// A log entry on a terminal.
import { expect, test } from "vitest";
import { readableLine } from "./logging.ts";

const ENTRY = { level: 40, time: Date.UTC(2026, 0, 2, 3, 4, 5), pid: 7, hostname: "host" };
const lineOf = (fields: object) => readableLine(`${JSON.stringify({ ...ENTRY, ...fields })}\n`);

test("an entry is a line: when, how grave, what, and its fields", () => {
  expect(lineOf({ url: "ws://127.0.0.1:1/stream", streams: 0, reason: "it is gone", msg: "closed" })).toBe(
    '03:04:05 UTC  warn   closed  url=ws://127.0.0.1:1/stream  streams=0  reason="it is gone"\n',
  );
});

test("an error comes with its stack, on lines of its own", () => {
  const err = { type: "Error", message: "broken", stack: "Error: broken\n    at here" };
  expect(lineOf({ level: 60, err, msg: "the store failed" })).toBe(
    "03:04:05 UTC  fatal  the store failed\nError: broken\n    at here\n",
  );
});

test("nothing that a client has sent controls the terminal", () => {
  const line = lineOf({
    path: "/\u001b[2J\u009b31m",
    err: { message: "\u001b]0;title\u0007" },
    msg: "refused",
  });
  expect(line).toMatch(/^03:04:05 UTC {2}warn {3}refused {2}path=/);
  expect(line.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});
