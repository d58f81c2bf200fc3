import { expect, test } from "vitest";
import { CandleCloses, type ClosesMarkets } from "./closes.ts";

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
    return found.get("BTCUSDT")?.map(({ price }) => price);
  };
  expect(await priced()).toEqual([20_000_000_000n]);
  isBusy = false;
  expect(await priced()).toEqual([10_000_000_000n]);
  expect(asked).toEqual(["/fapi/v1/markPriceKlines", "/fapi/v1/klines", "/fapi/v1/markPriceKlines"]);
});
