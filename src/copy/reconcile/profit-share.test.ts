import { describe, expect, test } from "vitest";
import { EMPTY_BOOK } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly } from "../../money/decimal.ts";
import { settlementOf, weekOf } from "../sizing/book.ts";

const DAY_MS = 86_400_000;
/** A Monday, 00:00 UTC. */
const MONDAY = Date.UTC(2026, 10, 23);
const amount = (text: string) => decimal<Amount>(text);

/** The shares of a copy that began with 1,000 and was worth this on Mondays. */
function sharesOf(...worths: readonly string[]): readonly string[] {
  let book = { ...EMPTY_BOOK, startEquity: amount("1000") };
  return worths.flatMap((worth, index) => {
    const at = MONDAY + index * 7 * DAY_MS;
    const settlement = settlementOf(book, { equity: amount(worth), at, isFinal: false });
    if (settlement === null) return [];
    book = { ...book, profitMark: settlement.profitMark };
    const { settled } = settlement;
    return settled === null ? [] : [formatBriefly(settled.share)];
  });
}

describe("the profit share", () => {
  test("is of what is above the highest profit before: losses are made up for first", () => {
    expect(sharesOf("1000", "1100", "1050", "1090", "1130.5")).toEqual(["10", "0", "0", "3.05"]);
  });

  test("is nothing while the copy is worth less than it began with", () => {
    expect(sharesOf("1000", "900", "999.99", "1000")).toEqual(["0", "0", "0"]);
  });

  test("is rounded down", () => {
    expect(sharesOf("1000", "1000.00000019")).toEqual(["0.00000001"]);
  });

  test("is settled once a week, from Monday on", () => {
    const sunday = MONDAY - 1;
    expect([weekOf(MONDAY) - weekOf(sunday), weekOf(MONDAY + 7 * DAY_MS - 1) - weekOf(MONDAY)]).toEqual([
      1, 0,
    ]);
    const profitMark = { week: weekOf(MONDAY), mark: amount("0") };
    const book = { startEquity: amount("1000"), profitMark };
    const at = (time: number) => settlementOf(book, { equity: amount("1100"), at: time, isFinal: false });
    expect(at(MONDAY + 6 * DAY_MS)).toBeNull();
    expect(at(MONDAY + 7 * DAY_MS)?.settled?.share).toBe(amount("10"));
  });

  test("is settled when the copy ends, if there is one", () => {
    const book = { ...EMPTY_BOOK, startEquity: amount("1000") };
    const end = (equity: string) => settlementOf(book, { equity: amount(equity), at: MONDAY, isFinal: true });
    expect(end("1010")?.settled).toEqual({ profit: amount("10"), mark: amount("0"), share: amount("1") });
    expect(end("990")?.settled).toBeNull();
    expect(settlementOf(EMPTY_BOOK, { equity: amount("1"), at: MONDAY, isFinal: true })).toBeNull();
  });
});
