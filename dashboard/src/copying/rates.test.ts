import { expect, test } from "vitest";
import { ratesOf } from "./rates.ts";

test("parts are cut, so that almost all is not all", () => {
  expect(ratesOf({ placed: 9_999, skipped: 1, failed: 0 })).toEqual({
    placed: "99.9 %",
    skipped: "0.0 %",
    failed: "0.0 %",
  });
});

test("nothing has no parts", () => {
  expect(ratesOf({ placed: 0, skipped: 0, failed: 0 })).toEqual({ placed: "", skipped: "", failed: "" });
});
