// A copy while everything is being closed.
import { expect, test } from "vitest";
import { Pauses } from "../concurrency/delays.ts";
import { copyOf } from "../store/contract/copying/records.ts";
import { CopyExecutor, type ExecutorParts } from "./copy-executor.ts";
import { ActionLog } from "./leads/leads.ts";

test("a copy that may not run stops when all waits are ended, also if nothing has ended the copy", async () => {
  const pauses = new Pauses(() => () => {});
  const actions = new ActionLog({ listActions: async () => [] }, "one", 0);
  const parts = {
    pauses,
    actions,
    mayRun: () => false,
    wallNow: () => 0,
    takenAt: 0,
    leadAccount: () => null,
    store: { findAccount: async () => null },
    log: { error() {}, warn() {} },
  } as unknown as ExecutorParts;
  const copy = { ...copyOf("ann", "one"), fromVersion: 0, doneSeq: 0, revision: 0 };
  const executor = new CopyExecutor(parts, copy, []);
  executor.wake();
  executor.pollSoon();
  pauses.end();
  await executor.settled();
  expect(executor.copy.status).toBe("FOLLOWING");
});
