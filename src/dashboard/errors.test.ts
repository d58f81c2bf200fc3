// Whoever is told to try again in a moment is told when, wherever the refusal comes from.
import { expect, test } from "vitest";
import { DashboardError } from "./errors.ts";
import { granted } from "./refused.ts";

test("a service that is busy says how long to wait", () => {
  expect(new DashboardError("BUSY").shape.error.retryAfterSeconds).toBe(1);
  expect(() => granted({ refused: "BUSY" })).toThrow(
    expect.objectContaining({
      status: 503,
      shape: { error: expect.objectContaining({ retryAfterSeconds: 1 }) },
    }),
  );
});
