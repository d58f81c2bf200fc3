import { describe, expect, test } from "vitest";
import { formatTime } from "./time.tsx";

/** By the clock of whoever runs this. */
const AT = new Date(2026, 2, 9, 4, 5, 6).getTime();

describe("a time as it is shown", () => {
  test("says the year where it is another one than now", () => {
    expect(formatTime(AT, "dateTime", new Date(2027, 0, 1).getTime())).toBe("09 Mar 2026, 04:05:06");
  });

  test("leaves the present year out", () => {
    expect(formatTime(AT, "dateTime", new Date(2026, 11, 31, 23, 59).getTime())).toBe("09 Mar, 04:05:06");
  });

  test("a date always has its year, a time has none", () => {
    expect(formatTime(AT, "date", AT)).toBe("09 Mar 2026");
    expect(formatTime(AT, "time", AT)).toBe("04:05:06");
  });
});
