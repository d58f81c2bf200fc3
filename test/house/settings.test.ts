// docs/operations.md against the program: every setting is in its table once, with the default, the values
// and the bounds that hold.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig, readServeConfig, SETTING_NAMES } from "../../src/config/config.ts";
import { bundledBrackets } from "../../src/market/brackets/bundled.ts";
import { tableRows } from "../support/tables.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../..", name), "utf8");
const operations = read("docs/operations.md");
const rows = tableRows(operations, ["Setting", "Default", "Values"]).flatMap(({ cells }) => {
  const { Setting = "", Default = "", Values = "", Meaning = "" } = cells;
  const [, flag = null] = /(--\w+)/.exec(Setting) ?? [];
  const names = Setting.match(/\b[A-Z][A-Z_]+\b/g) ?? [];
  return names.map((name) => ({ name, flag, standard: Default, values: Values, meaning: Meaning }));
});
/** A number, or a word that can be set as it is written. */
const literals = rows.flatMap(({ name, flag, standard }) =>
  /^[\w.,/]+$/.test(standard) && !["none", "bundled"].includes(standard)
    ? [{ name, flag, value: standard.replaceAll(",", "") }]
    : [],
);
const ranges = rows.flatMap(({ name, values }) => {
  const [, least, most] = /^([\d,]+) to ([\d,]+)$/.exec(values) ?? [];
  const numberOf = (text: string) => Number(text.replaceAll(",", ""));
  return least === undefined || most === undefined
    ? []
    : [{ name, least: numberOf(least), most: numberOf(most) }];
});
const choices = rows.flatMap(({ name, values }) =>
  /^`[\w-]+`(, `[\w-]+`)+$/.test(values) ? [{ name, words: values.replaceAll("`", "") }] : [],
);

test("the table of settings has every setting once, and says what each means", () => {
  expect(rows.map(({ name }) => name).sort()).toEqual([...SETTING_NAMES].sort());
  expect(rows.filter(({ meaning }) => meaning === "")).toEqual([]);
});

test("a default is what a setting is without being set, and an option is one of npm start", () => {
  expect(literals.length).toBeGreaterThan(10);
  const config = readConfig({}, {});
  for (const { name, flag, value } of literals) {
    expect(readConfig({}, { [name]: value }), name).toEqual(config);
    if (flag !== null) expect(readServeConfig([flag, value], {}), flag).toEqual(config);
  }
});

test("bounds are the program's", () => {
  expect(ranges.length).toBeGreaterThan(8);
  for (const { name, least, most } of ranges) {
    const set = (value: number) => () => readConfig({}, { [name]: String(value) });
    expect(set(least), name).not.toThrow();
    expect(set(most), name).not.toThrow();
    expect(set(most + 1), name).toThrow(`is above ${most}`);
    if (least > 0) expect(set(least - 1), name).toThrow(`is below ${least}`);
  }
  const venues = (count: number) =>
    Array.from({ length: count }, (_none, index) => `https://v${index}.example`);
  expect(() => readConfig({}, { COPY_VENUES: venues(20).join(",") })).not.toThrow();
  expect(() => readConfig({}, { COPY_VENUES: venues(21).join(",") })).toThrow("more than 20");
  expect(() => readConfig({}, { METRICS_TOKEN: "x".repeat(16) })).not.toThrow();
  expect(() => readConfig({}, { METRICS_TOKEN: "x".repeat(15) })).toThrow("is too short");
});

test("a setting with names for values takes these and no others", () => {
  expect(choices.map(({ name }) => name)).toEqual(["ROLE", "MARKET", "SMTP_TLS", "LOG_LEVEL"]);
  for (const { name, words } of choices) {
    expect(() => readConfig({}, { [name]: "?" }), name).toThrow(`is none of ${words}:`);
  }
});

test("the documents name the contracts whose leverage brackets are bundled, or how many these are", () => {
  const [named = ""] = /\w+USDT(, \w+USDT)+/.exec(operations) ?? [];
  expect(named.split(", ")).toEqual([...bundledBrackets.keys()]);
  const count = bundledBrackets.size;
  expect(operations).toContain(`those of ${count} contracts`);
  expect(read("docs/fidelity.md")).toContain(`all but ${count}`);
  expect(read("README.md")).toContain(`${count} contracts can be traded`);
  expect(read("CHANGELOG.md")).toContain(`brackets of ${count} contracts`);
});
