// Every error has a message and an action. An error that asks to try again says when.
import { expect, test } from "vitest";
import { DashboardError, ERROR_CODES } from "./errors.ts";
import { granted } from "./refused.ts";

test.each(ERROR_CODES)("%s has a message and an action, in sentences", (code) => {
  const { message, action } = new DashboardError(code).json.error;
  expect(message).toMatch(/^\p{Lu}.*\.$/u);
  expect(action).toMatch(/^\p{Lu}.*\.$/u);
});

test("a service that is busy says how long to wait", () => {
  expect(new DashboardError("BUSY").json.error.retryAfterSeconds).toBe(1);
  expect(() => granted({ refused: "BUSY" })).toThrow(
    expect.objectContaining({
      status: 503,
      json: { error: expect.objectContaining({ retryAfterSeconds: 1 }) },
    }),
  );
});
