import { expect, test } from "vitest";
import { CandleCloses, type ClosesMarkets } from "./closes.ts";
import { Prices } from "./prices.ts";

const MINUTE_MS = 60_000;
const CANDLES = { interval: "1m", lengthMs: MINUTE_MS };
const SPAN = { from: 0, to: MINUTE_MS, candles: CANDLES, stepMs: MINUTE_MS, times: [0, MINUTE_MS] };

test("last prices in the place of mark prices that could not be had are not kept", async () => {
  const asked: string[] = [];
  let isBusy = true;
  const query = async (path: string) => {
    asked.push(path);
    const isMark = path === "/fapi/v1/markPriceKlines";
    if (isMark && isBusy) return { unavailable: true, reason: "the budget is used up" };
    const price = isMark ? "100" : "200";
    const candle = [0, price, price, price, price, "1", MINUTE_MS - 1];
    return { unavailable: false, status: 200, text: JSON.stringify([candle]) };
  };
  const closes = new CandleCloses({ SPOT: { query }, FUTURES: { query } } as unknown as ClosesMarkets);
  const priced = async () => {
    const found = await closes.of("FUTURES", ["BTCUSDT"], SPAN, () => false);
    return found.closes.get("BTCUSDT")?.map(({ price }) => price);
  };
  expect(await priced()).toEqual([20_000_000_000n]);
  isBusy = false;
  expect(await priced()).toEqual([10_000_000_000n]);
  expect(asked).toEqual(["/fapi/v1/markPriceKlines", "/fapi/v1/klines", "/fapi/v1/markPriceKlines"]);
});

test("of kept closes that end before the span, because no later ones could be had, the symbol is late", async () => {
  let isBusy = false;
  const query = async () => {
    if (isBusy) return { unavailable: true, reason: "the budget is used up" };
    const candle = [0, "100", "100", "100", "100", "1", MINUTE_MS - 1];
    return { unavailable: false, status: 200, text: JSON.stringify([candle]) };
  };
  const closes = new CandleCloses({ SPOT: { query }, FUTURES: { query } } as unknown as ClosesMarkets);
  const until = { ...SPAN, to: 2 * MINUTE_MS };
  const first = await closes.of("SPOT", ["BTCUSDT"], until, () => false);
  expect([...first.late]).toEqual([]);
  isBusy = true;
  const hourLater = { ...SPAN, to: 62 * MINUTE_MS };
  const second = await closes.of("SPOT", ["BTCUSDT"], hourLater, () => false);
  expect(second.closes).toEqual(first.closes);
  expect([...second.late]).toEqual(["BTCUSDT"]);
  const prices = new Prices({
    ...{ closes: second.closes, late: second.late },
    ...{ trades: [], present: new Map(), presentAt: hourLater.to },
  });
  expect(prices.at("BTCUSDT", MINUTE_MS)).toBe(10_000_000_000n);
  expect(prices.unpriced()).toEqual([]);
  expect(prices.at("BTCUSDT", hourLater.to)).toBe(10_000_000_000n);
  expect(prices.unpriced()).toEqual(["BTCUSDT"]);
});
