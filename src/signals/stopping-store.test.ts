// A failed write of signals stops the process; a database that is only out of reach does not.
import { describe, expect, test } from "vitest";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { stoppingAtFailures } from "./stopping-store.ts";

const GONE = new StoreFailure("the disk is gone");

/** A store whose every answer is this error, and the failures that were reported. */
function storeThatFails(error: Error) {
  const fails = () => Promise.reject(error);
  const told: StoreFailure[] = [];
  const store = stoppingAtFailures(
    {
      findSignal: fails,
      listSignals: fails,
      receiveSignals: fails,
      claimSignals: fails,
      postponeSignal: fails,
    },
    (failure) => told.push(failure),
  );
  const writes = [
    () => store.receiveSignals([], { claimedUntil: 0 }),
    () => store.claimSignals({ now: 0, until: 0, limit: 1 }),
    () => store.postponeSignal("a", { reason: { refusal: "BUSY" }, dueAt: 0 }),
  ];
  return { told, writes };
}

describe("a write of signals", () => {
  test("that fails is reported, and passed on", async () => {
    const { told, writes } = storeThatFails(GONE);
    for (const write of writes) await expect(write()).rejects.toBe(GONE);
    expect(told).toEqual(writes.map(() => GONE));
  });

  test.each([new StoreUnavailable("out of reach"), new Error("a bug")])(
    "that is not executed for another reason is only passed on: %s",
    async (error) => {
      const { told, writes } = storeThatFails(error);
      for (const write of writes) await expect(write()).rejects.toBe(error);
      expect(told).toEqual([]);
    },
  );
});
