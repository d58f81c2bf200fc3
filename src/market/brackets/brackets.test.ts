import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { bundledBrackets } from "./bundled.ts";
import { BracketFault, readBrackets } from "./read.ts";

type Row = Readonly<Record<string, unknown>>;

const rows: readonly Row[] = [
  {
    bracket: 1,
    initialLeverage: 75,
    notionalCap: 10_000,
    notionalFloor: 0,
    maintMarginRatio: 0.0065,
    cum: 0.0,
  },
  {
    bracket: 2,
    initialLeverage: 50,
    notionalCap: 90_000,
    notionalFloor: 10_000,
    maintMarginRatio: 0.01,
    cum: 35.0,
  },
  {
    bracket: 3,
    initialLeverage: 1,
    notionalCap: 1e6,
    notionalFloor: 90_000,
    maintMarginRatio: 0.015,
    cum: 485.0,
  },
];
const file = (brackets: readonly unknown[] = rows) => JSON.stringify([{ symbol: "TRXUSDT", brackets }]);
/** The file with one row of it changed. */
const changed = (index: number, change: Row) =>
  file(rows.map((row, place) => (place === index ? { ...row, ...change } : row)));

test("numbers of a file are read to the digit", () => {
  const table = readBrackets(file());
  expect([...table.keys()]).toEqual(["TRXUSDT"]);
  expect(table.get("TRXUSDT")?.[1]).toEqual({
    bracket: 2,
    initialLeverage: 50,
    notionalFloor: decimal("10000"),
    notionalCap: decimal("90000"),
    maintenanceRate: decimal("0.01"),
    cum: decimal("35"),
  });
});

test("one symbol alone, a coefficient, digits as text and a cap that means none are accepted", () => {
  const last = { ...rows[2], notionalCap: "9223372036854775807", cum: "485.0" };
  const one = { symbol: "TRXUSDT", notionalCoef: 1.5, brackets: [rows[0], rows[1], last] };
  expect(readBrackets(JSON.stringify(one)).get("TRXUSDT")?.[2]?.notionalCap).toBe(
    decimal("9223372036854775807"),
  );
  const asNumber = file().replace("1000000", "9223372036854775807");
  expect(readBrackets(asNumber).get("TRXUSDT")?.[2]?.notionalCap).toBeGreaterThan(
    decimal("9223372036854775000"),
  );
});

test("a cum that is rounded to the cent is taken as it was published, one that is further off is a fault", () => {
  expect(readBrackets(changed(1, { cum: 35.01 })).get("TRXUSDT")?.[1]?.cum).toBe(decimal("35.01"));
  expect(() => readBrackets(changed(1, { cum: 35.011 }))).toThrow(
    "TRXUSDT, row 2: cum is not 35, which follows from the rows before it; give it as GET /fapi/v1/leverageBracket answers",
  );
});

test.each<[string, string, RegExp]>([
  ["no JSON", "TRXUSDT", /no JSON.*leverageBracket/],
  ["an empty list", "[]", /lists no symbol/],
  ["a file of another shape", '{"TRX/USDT:USDT":[]}', /entry 1 names no symbol.*leverageBracket/],
  [
    "a symbol twice",
    JSON.stringify([...Array(2)].map(() => ({ symbol: "A", brackets: rows }))),
    /A is listed twice/,
  ],
  ["no brackets", file([]), /TRXUSDT has no list of brackets/],
  ["a row that is none", file([null]), /TRXUSDT, row 1: it is no object/],
  ["a number that is missing", changed(1, { cum: undefined }), /row 2: cum is no decimal/],
  ["a negative rate", changed(0, { maintMarginRatio: -0.1 }), /row 1: maintMarginRatio is no decimal/],
  [
    "a rate with nine digits",
    changed(0, { maintMarginRatio: 0.123456789 }),
    /maintMarginRatio is no decimal/,
  ],
  ["a rate of nothing", changed(0, { maintMarginRatio: 0 }), /row 1: maintMarginRatio is not above/],
  ["a rate of all", changed(2, { maintMarginRatio: 1, cum: 89_135 }), /row 3: maintMarginRatio.*below 1/],
  [
    "a rate that falls",
    changed(2, { maintMarginRatio: 0.01, cum: 35 }),
    /row 3: maintMarginRatio is not above/,
  ],
  ["a leverage that rises", changed(1, { initialLeverage: 75 }), /row 2: initialLeverage is not below/],
  ["half a leverage", changed(1, { initialLeverage: 2.5 }), /row 2: initialLeverage is no whole number/],
  ["a leverage of nothing", changed(2, { initialLeverage: 0 }), /row 3: initialLeverage is no whole number/],
  ["a hole", changed(1, { notionalFloor: 10_001 }), /row 2: notionalFloor is not 10000/],
  ["a floor above zero", changed(0, { notionalFloor: 1 }), /row 1: notionalFloor is not 0/],
  ["an empty tier", changed(0, { notionalCap: 0 }), /row 1: notionalCap is not above notionalFloor/],
  ["rows out of order", file([rows[1], rows[0]]), /row 1: bracket is not 1/],
])("%s is refused, with the place", (_what, text, message) => {
  expect(() => readBrackets(text)).toThrow(BracketFault);
  expect(() => readBrackets(text)).toThrow(message);
});

/** The bundled table in the shape of a file. */
function bundledFile(): string {
  return JSON.stringify(
    [...bundledBrackets].map(([symbol, brackets]) => ({
      symbol,
      brackets: brackets.map((each) => ({
        bracket: each.bracket,
        initialLeverage: each.initialLeverage,
        notionalCap: Number(each.notionalCap) / 1e8,
        notionalFloor: Number(each.notionalFloor) / 1e8,
        maintMarginRatio: Number(each.maintenanceRate) / 1e8,
        cum: Number(each.cum) / 1e8,
      })),
    })),
  );
}

test("the bundled table passes as a file, and each of its last brackets knows no leverage", () => {
  expect(bundledBrackets.size).toBeGreaterThanOrEqual(12);
  expect(readBrackets(bundledFile())).toEqual(bundledBrackets);
  for (const brackets of bundledBrackets.values()) expect(brackets.at(-1)?.initialLeverage).toBe(1);
});

const recorded = resolve(
  process.env.SHARED_DIR ?? resolve(import.meta.dirname, "../../../../shared"),
  "data/brackets",
);
const files = existsSync(recorded) ? readdirSync(recorded).filter((name) => name.endsWith(".json.gz")) : [];

/** A recorded file in the exchange's own shape. */
function recordedFile(name: string): string {
  const body = JSON.parse(gunzipSync(readFileSync(resolve(recorded, name))).toString()) as Record<
    string,
    readonly { readonly info: Row }[]
  >;
  const symbols = Object.entries(body).map(([market, tiers]) => ({
    // Contracts with a date are there as well: BTC/USDT:USDT-260925.
    symbol: market.replace(/\/([^:]+):[^-]+/, "$1"),
    brackets: tiers.map(({ info }) => ({
      ...info,
      // Some recordings have these two as text.
      bracket: Number(info.bracket),
      initialLeverage: Number(info.initialLeverage),
    })),
  }));
  return JSON.stringify(symbols);
}

test.skipIf(files.length === 0)("the recorded brackets (SHARED_DIR) are read, with every cum exact", () => {
  expect(files).toHaveLength(3);
  for (const name of files) {
    const table = readBrackets(recordedFile(name));
    expect(table.size).toBeGreaterThan(300);
    for (const brackets of table.values()) {
      let sum = 0n;
      let rate = 0n;
      for (const { notionalFloor, maintenanceRate, cum } of brackets) {
        sum += notionalFloor * (maintenanceRate - rate);
        rate = maintenanceRate;
        expect(cum * 100_000_000n).toBe(sum);
      }
    }
  }
});

test.skipIf(files.length === 0)("the bundled brackets are those of the newest recording (SHARED_DIR)", () => {
  const table = readBrackets(recordedFile(files.toSorted().at(-1) ?? ""));
  for (const [symbol, brackets] of bundledBrackets)
    expect([symbol, brackets]).toEqual([symbol, table.get(symbol)]);
});
