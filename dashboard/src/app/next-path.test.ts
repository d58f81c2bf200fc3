import { expect, test } from "vitest";
import { safeNextPath } from "./next-path.ts";

test.each([
  ["/strategies/7/orders?status=OPEN#last", "/strategies/7/orders?status=OPEN#last"],
  ["/", "/"],
  [undefined, "/"],
  ["", "/"],
  ["strategies", "/"],
  ["https://elsewhere.example/", "/"],
  ["//elsewhere.example/", "/"],
  ["/\\elsewhere.example/", "/"],
  ["/\t/elsewhere.example/", "/"],
  ["/.//elsewhere.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["/sign-in?next=/sign-in", "/"],
])("after signing in, %j leads to %s", (next, expected) => {
  expect(safeNextPath(next)).toBe(expected);
});
