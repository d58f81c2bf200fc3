// A change of status by an executor beside a change by its owner at the same time: the owner's change wins.
import { expect, test } from "vitest";
import type { Copy } from "../../domain/copying.ts";
import { takesEffect } from "./copy-state.ts";

type Standing = Pick<Copy, "status" | "reason">;

const FOLLOWS: Standing = { status: "FOLLOWING", reason: null };
const PAUSED: Standing = { status: "PAUSED", reason: "COPIER" };
const CLOSED_BY_OWNER: Standing = { status: "CLOSING", reason: "COPIER" };
const STOP_LOSS: Standing = { status: "CLOSING", reason: "STOP_LOSS" };
const REJECTED: Standing = { status: "PAUSED", reason: "CREDENTIALS" };
const STOPPED: Standing = { status: "STOPPED", reason: "COPIER" };

test.each<[string, { from: Standing; to: Standing; now: Standing; isTaken: boolean }]>([
  ["as it was", { from: FOLLOWS, to: REJECTED, now: FOLLOWS, isTaken: true }],
  ["paused by its owner", { from: FOLLOWS, to: REJECTED, now: PAUSED, isTaken: false }],
  ["closed by its owner", { from: FOLLOWS, to: REJECTED, now: CLOSED_BY_OWNER, isTaken: false }],
  [
    "closed by its owner after the stop loss",
    { from: STOP_LOSS, to: { status: "PAUSED", reason: "STOP_LOSS" }, now: CLOSED_BY_OWNER, isTaken: false },
  ],
  ["paused before the stop loss", { from: FOLLOWS, to: STOP_LOSS, now: PAUSED, isTaken: true }],
  ["closed before the stop loss", { from: FOLLOWS, to: STOP_LOSS, now: CLOSED_BY_OWNER, isTaken: false }],
  ["stopped", { from: STOPPED, to: STOP_LOSS, now: STOPPED, isTaken: false }],
])("a copy that is %s", (_, { from, to, now, isTaken }) => {
  expect(takesEffect({ ...to, from, at: 1 }, now)).toBe(isTaken);
  expect(takesEffect(null, now)).toBe(false);
});
