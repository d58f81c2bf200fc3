import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { CopierThread, RESTART_MS_MAX, RESTART_MS_MIN } from "./thread-host.ts";

const MINUTE_MS = 60_000;

function open() {
  const time = createManualTime();
  const lines: Record<string, unknown>[] = [];
  const told: string[] = [];
  const log = pino(
    { level: "info", redact: ["apiSecret"] },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const thread = new CopierThread({
    database: { kind: "POSTGRES", url: "postgres://h/d" },
    masterKeyFile: "/master.key",
    allowedVenues: ["https://v.example"],
    news: {
      copiesChanged: (copyIds) => void told.push(...copyIds),
      paused: ({ copyId, personId }, reason) => void told.push(`paused ${copyId} ${personId} ${reason}`),
      failed: ({ message }) => void told.push(`failed ${message}`),
    },
    timers: time,
    wallNow: time.now,
    log,
    program: new URL("./testing/stand-in-thread.ts", import.meta.url),
  });
  onTestFinished(() => thread.close());
  const wake = (strategyId: string) => thread.committed({ strategyId, version: 7 });
  /** Resolves when the thread has started this many times. */
  const begun = (times: number) =>
    eventually(`the thread has begun ${times} times`, () => starts(told).length === times);
  const hears = (what: string) => eventually(`it has sent: ${what}`, () => told.includes(what));
  /** Resolves when the thread has ended, and is to be started again. */
  const ended = (times: number) =>
    eventually(
      `the thread has ended ${times} times`,
      () => pauses(lines).length === times && time.pending() === 1,
    );
  return { time, lines, told, thread, wake, begun, hears, ended };
}

const starts = (told: readonly string[]) => told.filter((each) => each.startsWith("{"));
const pauses = (lines: readonly Record<string, unknown>[]) => lines.flatMap(({ pauseMs }) => pauseMs ?? []);

test("the thread is woken for what it works at, and for nothing else", async () => {
  const { told, wake, begun, hears } = open();
  await begun(1);
  expect(JSON.parse(told[0] ?? "")).toEqual({
    kind: "POSTGRES",
    masterKeyFile: "/master.key",
    allowedVenues: ["https://v.example"],
    logLevel: "info",
  });
  wake("another");
  wake("one");
  await hears("one 7");
  expect(told.slice(1)).toEqual(["one 7"]);
});

test("what it says of pauses, of the store and in its log is handed on, secrets excepted", async () => {
  const { lines, wake, begun, hears } = open();
  await begun(1);
  for (const each of ["pauses", "fails", "logs"]) wake(each);
  await hears("logs 7");
  await hears("paused copy person STOP_LOSS");
  await hears("failed the disk is full");
  expect(lines).toMatchObject([{ level: 40, msg: "look", apiSecret: "[Redacted]", of: "copier" }]);
});

test.each(["throws", "ends"])(
  "one that %s is started again, after a pause that doubles up to a bound",
  async (how) => {
    const { time, lines, wake, begun, ended } = open();
    for (let times = 1; times <= 7; times += 1) {
      await begun(times);
      wake(how);
      await ended(times);
      if (times === 1) {
        time.advance(RESTART_MS_MIN - 1);
        expect(time.pending()).toBe(1);
      }
      time.advance(RESTART_MS_MAX);
    }
    expect(pauses(lines)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(lines.some(({ msg }) => msg === "the copier's thread has failed")).toBe(how === "throws");
    await begun(8);
    // Now it proves itself.
    time.advance(MINUTE_MS);
    wake(how);
    await ended(8);
    expect(pauses(lines).at(-1)).toBe(RESTART_MS_MIN);
  },
);

test("closing it ends it in order, also while it waits to be started again", async () => {
  const { time, lines, thread, wake, begun, ended } = open();
  await begun(1);
  wake("ends");
  await ended(1);
  await thread.close();
  expect(time.pending()).toBe(0);

  const other = open();
  await other.begun(1);
  await other.thread.close();
  expect([pauses(lines), pauses(other.lines)]).toEqual([[RESTART_MS_MIN], []]);
  expect(other.time.pending()).toBe(0);
});

test("one that does not end in order is ended", async () => {
  const { time, lines, thread, wake, begun, hears } = open();
  await begun(1);
  wake("is stubborn");
  await hears("is stubborn 7");
  const closed = thread.close();
  time.advance(6_000);
  await closed;
  expect(lines.map(({ msg }) => msg)).toEqual([
    "the copier's thread took too long to end; it goes on at the next start",
  ]);
});

test("one that is closed, and has no time to end, is not waited for", async () => {
  const { time, lines, thread, wake, begun, hears } = open();
  await begun(1);
  wake("lingers");
  await hears("lingers 7");
  await thread.close();
  expect([lines, time.pending()]).toEqual([[], 0]);
});
