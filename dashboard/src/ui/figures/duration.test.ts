import { expect, test } from "vitest";
import { durationInWords, latencyInWords } from "./duration.ts";

test("a duration gets coarser with its length", () => {
  expect(durationInWords(-3)).toBe("0 s");
  expect(durationInWords(59.9)).toBe("59 s");
  expect(durationInWords(185)).toBe("3 min 5 s");
  expect(durationInWords(7_980)).toBe("2 h 13 min");
  expect(durationInWords(352_800)).toBe("4 d 2 h");
});

test("a latency has a decimal where it says something", () => {
  expect(latencyInWords(0.44)).toBe("0.4 ms");
  expect(latencyInWords(3)).toBe("3 ms");
  expect(latencyInWords(85.4)).toBe("85 ms");
  expect(latencyInWords(1_204)).toBe("1.20 s");
  expect(latencyInWords(124_000)).toBe("2 min 4 s");
});
