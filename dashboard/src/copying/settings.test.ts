import { describe, expect, test } from "vitest";
import type { CopySettingsJson } from "../../../src/dashboard-api/schemas.ts";
import {
  errorsOf,
  formOf,
  newSettings,
  presetFor,
  presetOf,
  type SettingsForm,
  settingsInWords,
  settingsOf,
} from "./settings.ts";

const NEW = newSettings("FUTURES");
const EXACT_FORM: SettingsForm = { ...NEW, ...presetFor("FUTURES", "EXACT") };
const EXACT: CopySettingsJson = {
  share: "1",
  maxPerOrder: null,
  stopLoss: null,
  takeProfit: null,
  size: { by: "RATIO" },
  budget: null,
  leverageMax: null,
  positionMax: null,
  exposureMax: null,
  ordersPerMinuteMax: null,
  lossPerDayMax: null,
  symbols: null,
  slippageMax: null,
  copyExisting: false,
  closeAfterSeconds: null,
};

describe("what is typed becomes shares of one, exactly", () => {
  test.each<[Partial<SettingsForm>, Partial<CopySettingsJson>]>([
    [{}, {}],
    [
      { share: " 12.5", maxPerOrder: "200.50", stopLoss: "20", budget: "500.0" },
      { share: "0.125", maxPerOrder: "200.5", stopLoss: "0.2", budget: "500" },
    ],
    [
      { share: "0.1", maxPerOrder: "1", stopLoss: "100", takeProfit: "250" },
      { share: "0.001", maxPerOrder: "1", stopLoss: "1", takeProfit: "2.5" },
    ],
    [
      { sizeBy: "FIXED_RATIO", sizeFigure: "0.50", leverageMax: "5", positionMax: "2.5" },
      { size: { by: "FIXED_RATIO", ratio: "0.5" }, leverageMax: 5, positionMax: "2.5" },
    ],
    [
      { sizeBy: "FIXED_AMOUNT", sizeFigure: "25", symbols: "btcusdt, ETHUSDT BTCUSDT" },
      { size: { by: "FIXED_AMOUNT", amount: "25" }, symbols: ["BTCUSDT", "ETHUSDT"] },
    ],
    [
      { slippageMajor: "0.5", slippageOther: "1.5", copyExisting: true, closeAfterSeconds: "60" },
      { slippageMax: { major: "0.005", other: "0.015" }, copyExisting: true, closeAfterSeconds: 60 },
    ],
  ])("%o", (typed, settings) => {
    const read = settingsOf({ ...EXACT_FORM, ...typed });
    const whole = { ...EXACT, ...settings };
    expect(read).toEqual({ settings: whole });
    expect(settingsOf(formOf(whole))).toEqual({ settings: whole });
  });
});

describe("what the server would not take is said at its field", () => {
  test.each<[Partial<SettingsForm>, readonly string[]]>([
    [{ share: "" }, ["share"]],
    [{ share: "0" }, ["share"]],
    [{ share: "100.1" }, ["share"]],
    [{ share: "1e2" }, ["share"]],
    [{ maxPerOrder: "0" }, ["maxPerOrder"]],
    [{ maxPerOrder: "-5", stopLoss: "101" }, ["maxPerOrder", "stopLoss"]],
    [{ leverageMax: "2.5" }, ["leverageMax"]],
    [{ leverageMax: "126" }, ["leverageMax"]],
    [{ positionMax: "0", exposureMax: "126" }, ["positionMax", "exposureMax"]],
    [{ slippageMajor: "" }, ["slippageMajor"]],
    [{ slippageOther: "" }, ["slippageOther"]],
    [{ sizeBy: "FIXED_RATIO" }, ["sizeFigure"]],
    [{ sizeBy: "FIXED_AMOUNT", sizeFigure: "0" }, ["sizeFigure"]],
    [{ symbols: "BTC/USDT" }, ["symbols"]],
    [{ closeAfterSeconds: "0", ordersPerMinuteMax: "x" }, ["ordersPerMinuteMax", "closeAfterSeconds"]],
  ])("%o", (typed, fields) => {
    const answer = settingsOf({ ...NEW, ...typed });
    expect("errors" in answer && Object.keys(answer.errors)).toEqual(fields);
  });

  test("the server's own faults are put at the form's fields", () => {
    expect(
      errorsOf({ share: "a", "slippageMax.major": "b", "settings.size.ratio": "c", "symbols.0": "d" }),
    ).toEqual({ share: "a", slippageMajor: "b", sizeFigure: "c", symbols: "d" });
  });
});

describe("presets", () => {
  test("a new copy begins protected", () => {
    expect(presetOf("FUTURES", NEW)).toBe("PROTECTED");
    expect(settingsOf(NEW)).toEqual({
      settings: {
        ...EXACT,
        ...{ stopLoss: "0.2", leverageMax: 5, positionMax: "2", exposureMax: "5" },
        ...{ ordersPerMinuteMax: 30, lossPerDayMax: "0.1", slippageMax: { major: "0.005", other: "0.015" } },
      },
    });
  });

  test("on spot a protected copy has no bounds for leverage and positions", () => {
    const read = settingsOf(newSettings("SPOT"));
    expect(presetOf("SPOT", newSettings("SPOT"))).toBe("PROTECTED");
    expect(read).toMatchObject({ settings: { stopLoss: "0.2", leverageMax: null, positionMax: null } });
  });

  test("exactly as the strategy sets no limit, and the share belongs to no preset", () => {
    expect(presetOf("FUTURES", { ...EXACT_FORM, share: "40", copyExisting: true })).toBe("EXACT");
    expect(settingsOf(EXACT_FORM)).toEqual({ settings: EXACT });
    expect(presetOf("FUTURES", { ...NEW, stopLoss: "21" })).toBeNull();
  });
});

describe("settings in words", () => {
  test.each<[Partial<CopySettingsJson>, string]>([
    [{ share: "0.5", maxPerOrder: "200" }, "50 % of the balance, at most 200 USDT an order, no stop loss"],
    [
      { leverageMax: 5, positionMax: "2", exposureMax: "5", lossPerDayMax: "0.1", stopLoss: "0.2" },
      "100 % of the balance, no limit per order, stop loss at −20 %, leverage up to 5, a position up to 2 times the equity, all positions up to 5 times the equity, a loss per day up to 10 %",
    ],
    [
      { size: { by: "FIXED_AMOUNT", amount: "25" }, budget: "300", symbols: ["BTCUSDT"] },
      "100 % of the balance, a budget of 300 USDT, 25 USDT an opening order, no limit per order, no stop loss, only BTCUSDT",
    ],
  ])("%o", (settings, words) => {
    expect(settingsInWords({ ...EXACT, ...settings })).toBe(words);
  });
});
