import { describe, expect, test } from "vitest";
import { formOf, NEW_SETTINGS, settingsInWords, settingsOf } from "./settings.ts";

describe("what is typed becomes shares of one, exactly", () => {
  test.each([
    [NEW_SETTINGS, { share: "1", maxPerOrder: null, stopLoss: null }],
    [
      { share: " 12.5", maxPerOrder: "200.50", stopLoss: "20" },
      { share: "0.125", maxPerOrder: "200.5", stopLoss: "0.2" },
    ],
    [
      { share: "0.1", maxPerOrder: "1", stopLoss: "100" },
      { share: "0.001", maxPerOrder: "1", stopLoss: "1" },
    ],
  ])("%o", (form, settings) => {
    expect(settingsOf(form)).toEqual({ settings });
    expect(settingsOf(formOf(settings))).toEqual({ settings });
  });
});

describe("what the server would not take is said at its field", () => {
  test.each([
    [{ share: "" }, ["share"]],
    [{ share: "0" }, ["share"]],
    [{ share: "100.1" }, ["share"]],
    [{ share: "1e2" }, ["share"]],
    [{ maxPerOrder: "0" }, ["maxPerOrder"]],
    [{ maxPerOrder: "-5", stopLoss: "101" }, ["maxPerOrder", "stopLoss"]],
  ])("%o", (typed, fields) => {
    const answer = settingsOf({ ...NEW_SETTINGS, ...typed });
    expect("errors" in answer && Object.keys(answer.errors)).toEqual(fields);
  });
});

test("settings in words", () => {
  expect(settingsInWords({ share: "0.5", maxPerOrder: "200", stopLoss: null })).toBe(
    "50 % of the balance, at most 200 USDT an order, no stop loss",
  );
});
