// The limits of a copier that depend on time and equity: openings within a minute, the loss of a day, the
// take profit.
import { expect, test } from "vitest";
import { type Amount, decimal, formatBriefly, type Rate } from "../../money/decimal.ts";
import { isTakeProfitReached, takeProfitEquity } from "../sizing/book.ts";
import { lossOfDaySkip, tooManyOrdersSkip } from "./copier-limits.ts";

const usdt = (text: string) => decimal<Amount>(text);

test("so many openings within any minute, and the next once the first is a minute old", () => {
  const settings = { ordersPerMinuteMax: 3 };
  const openedAt = [1_000, 20_000, 59_000];
  const at = (now: number) => tooManyOrdersSkip(settings, { openedAt, now });
  expect(at(60_999)).toMatchObject({
    reason: "TOO_MANY_ORDERS",
    wanted: usdt("4"),
    had: usdt("3"),
    unit: null,
  });
  expect(at(61_000)).toBeNull();
  expect(tooManyOrdersSkip({ ordersPerMinuteMax: null }, { openedAt, now: 60_000 })).toBeNull();
});

test.each<[string, string | null, string, string | null]>([
  ["has lost less than 10 %", "1000", "900.01", null],
  ["has lost 10 %", "1000", "900", "100 of 100"],
  ["has lost more", "1000", "850", "150 of 100"],
  ["has gained", "1000", "1200", null],
  ["began the day with nothing", "0", "-5", null],
  ["whose equity at the start of the day is not known", null, "10", null],
])("of a copy that %s since midnight", (_, start, now, told) => {
  const dayStartEquity = start === null ? null : usdt(start);
  const skip = lossOfDaySkip({ lossPerDayMax: decimal<Rate>("0.1") }, { dayStartEquity, equity: usdt(now) });
  const figures = skip && `${formatBriefly(skip.wanted ?? 0n)} of ${formatBriefly(skip.had ?? 0n)}`;
  expect(figures).toBe(told);
  expect(lossOfDaySkip({ lossPerDayMax: null }, { dayStartEquity, equity: usdt(now) })).toBeNull();
});

test("a take profit of 25 % acts at 1250 of 1000, and counts from where the stop loss counts", () => {
  const settings = { takeProfit: decimal<Rate>("0.25") };
  const book = { startEquity: usdt("1000"), stopBase: null };
  expect(isTakeProfitReached(book, settings, usdt("1249.99999999"))).toBe(false);
  expect(isTakeProfitReached(book, settings, usdt("1250"))).toBe(true);
  expect(takeProfitEquity({ ...book, stopBase: usdt("800") }, settings)).toBe(usdt("1000"));
  expect(takeProfitEquity(book, { takeProfit: null })).toBeNull();
  expect(isTakeProfitReached({ startEquity: null, stopBase: null }, settings, usdt("1"))).toBe(false);
});
