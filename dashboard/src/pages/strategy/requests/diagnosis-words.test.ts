import { expect, test } from "vitest";
import { clockInWords, toneOfMeter } from "./diagnosis-words.ts";

test("a clock is ahead, behind or right", () => {
  expect(clockInWords(-3_204)).toBe("Your clock is 3.2 s behind.");
  expect(clockInWords(61_000)).toBe("Your clock is 1 min 1 s ahead.");
  expect(clockInWords(-3_600_000)).toBe("Your clock is 1 h 0 min behind.");
  expect(clockInWords(120)).toBe("Your clock is right, to within 0.5 s.");
});

test("a meter warns before it refuses", () => {
  expect(toneOfMeter(79, 100)).toBe("accent");
  expect(toneOfMeter(80, 100)).toBe("warn");
  expect(toneOfMeter(100, 100)).toBe("loss");
});
