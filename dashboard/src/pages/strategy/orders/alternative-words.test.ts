import { expect, test } from "vitest";
import { absenceInWords, differenceInWords, statusInWords, termsInWords } from "./alternative-words.ts";

test("terms have names that tell them apart", () => {
  const terms = [
    { profile: "standard", latencyMs: 0 },
    { profile: "strict", latencyMs: 0 },
    { profile: "strict", latencyMs: 250 },
    { profile: "own", latencyMs: 1_250 },
  ] as const;
  expect(terms.map(termsInWords)).toEqual([
    "Standard: whole, at the best price",
    "Strict, no latency",
    "Strict, 250 ms latency",
    "As it was, 1,250 ms latency",
  ]);
});

test("a difference is what the terms cost more, so a negative one is better", () => {
  expect(differenceInWords("-0.00550550", "USDT")).toBe("0.0055055 USDT better");
  expect(differenceInWords("1234.5", "USDT")).toBe("1,234.5 USDT worse");
  expect(differenceInWords("0", "USDT")).toBe("The same");
  expect(differenceInWords(null, "USDT")).toBe("Not comparable");
});

test("an alternative that was open when the order ended says so, and the order itself does not", () => {
  expect(statusInWords({ status: "NEW", profile: "strict" })).toBe("Still open then");
  expect(statusInWords({ status: "PARTIALLY_FILLED", profile: "standard" })).toBe(
    "Partly filled, and still open then",
  );
  expect(statusInWords({ status: "PARTIALLY_FILLED", profile: "own" })).toBe("Partly filled");
  expect(statusInWords({ status: "REJECTED", profile: "standard" })).toBe("Would be rejected");
});

test("without rows it says why", () => {
  expect(absenceInWords("COMPLETE")).toBe(null);
  expect(absenceInWords("RUNNING")).toContain("Still being computed");
  expect(absenceInWords("WINDOW_GONE")).toContain("restarted");
  expect(absenceInWords("NONE")).toContain("not compared");
});
