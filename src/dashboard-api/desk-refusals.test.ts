// Every rejection of the order desk has a message and an action for the person.
import { expect, test } from "vitest";
import type { Refusal } from "../domain/refusal.ts";
import { REFUSALS } from "../http/refusals.ts";
import { carriedOut } from "./desk-refusals.ts";
import { DashboardError } from "./errors.ts";

/** The rejections that have no details besides their names. */
const REFUSED = Object.entries(REFUSALS)
  .filter(([, row]) => typeof row !== "function")
  .map(([refusal]) => ({ refusal }) as Refusal);

function thrownFor(refusal: Refusal): DashboardError {
  try {
    carriedOut(refusal);
  } catch (error) {
    if (error instanceof DashboardError) return error;
    throw error;
  }
  throw new Error(`a refusal was taken for a success: ${refusal.refusal}`);
}

test.each(REFUSED)("$refusal has a message and an action", (refusal) => {
  const { message, action } = thrownFor(refusal).json.error;
  expect(message).toMatch(/\S/);
  expect(action).toMatch(/\.$/);
});

test("refusals of canceling and closing are reported in the dashboard's own messages", () => {
  const codeOf = (refusal: "ORDER_NOT_OPEN" | "STRATEGY_CLOSED" | "STRATEGY_NOT_LIVE" | "BUSY") =>
    thrownFor({ refusal }).code;
  expect(codeOf("ORDER_NOT_OPEN")).toBe("STATE_CHANGED");
  expect(codeOf("STRATEGY_CLOSED")).toBe("STATE_CHANGED");
  expect(codeOf("STRATEGY_NOT_LIVE")).toBe("STATE_CHANGED");
  expect(codeOf("BUSY")).toBe("BUSY");
});
