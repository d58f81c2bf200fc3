// The reports on venues that a copier writes into the store, under manual time.
import { beforeEach, expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { type CopierReport, REPORT_AGE_MS_MAX, REPORT_MS } from "../domain/venue-report.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { openReporting } from "./copier.ts";

type Noted = readonly [report: CopierReport, forgetBefore: number];

let time: ReturnType<typeof createManualTime>;
let noted: Noted[];
let failures: StoreFailure[];
let errors: unknown[];
beforeEach(() => {
  time = createManualTime();
  noted = [];
  failures = [];
  errors = [];
});

function open(note: () => Promise<void> = async () => {}) {
  return openReporting({
    store: {
      noteVenueReport(report, { forgetBefore }) {
        noted.push([report, forgetBefore]);
        return note();
      },
    },
    copier: "copier",
    reports: () => [],
    wallNow: time.now,
    every: time.every,
    onFailure: (failure) => failures.push(failure),
    log: { error: (...given: unknown[]) => void errors.push(given) } as never,
  });
}

/** Runs everything that is ready and waits for no timer. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("it reports at once, and then again and again, until it is closed", async () => {
  const first = time.now();
  const reporting = open();
  expect(noted).toEqual([[{ copier: "copier", at: first, venues: [] }, first - REPORT_AGE_MS_MAX]]);
  await settled();
  time.advance(REPORT_MS - 1);
  expect(noted).toHaveLength(1);
  time.advance(1);
  expect(noted[1]?.[0].at).toBe(first + REPORT_MS);
  await reporting.close();
  time.advance(10 * REPORT_MS);
  expect(noted).toHaveLength(2);
});

test("a report that takes long is waited for, at the end too", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reporting = open(() => promise);
  time.advance(3 * REPORT_MS);
  expect(noted).toHaveLength(1);
  let isClosed = false;
  const closing = reporting.close().then(() => {
    isClosed = true;
  });
  await settled();
  expect(isClosed).toBe(false);
  resolve();
  await closing;
});

test("a failed store is reported, one out of reach is tried again, and an error is logged", async () => {
  const thrown = [new StoreUnavailable("away"), new StoreFailure("broken"), new Error("a bug")];
  const reporting = open(async () => {
    throw thrown[noted.length - 1];
  });
  for (const [failed, logged] of [
    [0, 0],
    [1, 0],
    [1, 1],
  ]) {
    await settled();
    expect([failures.length, errors.length]).toEqual([failed, logged]);
    time.advance(REPORT_MS);
  }
  await reporting.close();
});
