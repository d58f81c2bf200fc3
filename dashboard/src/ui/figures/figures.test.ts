import { describe, expect, test } from "vitest";
import { clockTime, formatTime } from "./figures.tsx";

const AT = Date.UTC(2026, 2, 9, 4, 5, 6);

describe("a time as it is shown", () => {
  test("says the year where it is another one than now", () => {
    expect(formatTime(AT, "dateTime", Date.UTC(2027, 0, 1))).toBe("09 Mar 2026, 04:05:06 UTC");
  });

  test("leaves the present year out, which is that of UTC", () => {
    expect(formatTime(AT, "dateTime", Date.UTC(2026, 11, 31, 23, 59))).toBe("09 Mar, 04:05:06 UTC");
  });

  test("a date always has its year, a time has none", () => {
    expect(formatTime(AT, "date", AT)).toBe("09 Mar 2026 UTC");
    expect(formatTime(AT, "time", AT)).toBe("04:05:06 UTC");
  });

  test("has no zone where that is shown once for several", () => {
    expect(clockTime(AT, "time", AT)).toBe("04:05:06");
  });
});
