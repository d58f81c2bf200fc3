// What a bot of either type learns of the market before it trades, from its client's own calls.
import { expect } from "vitest";
import { units } from "../support/exact.ts";
import { type MarketClient, SYMBOL, type Told } from "./client.ts";

const MINUTE_MS = 60_000;
/** Both are of this machine: what lies between is how long the answer was under way. */
const ANSWERED_MS_MAX = 30_000;

/** The rules of the symbol, with filters among its own, and data that agree with themselves. */
export async function expectMarket(client: MarketClient, rules: Told): Promise<void> {
  await client.ping();
  const time = await client.serverTime?.();
  if (time !== undefined) expect(Math.abs(time - Date.now())).toBeLessThan(ANSWERED_MS_MAX);
  expect(await client.symbolRules()).toMatchObject({
    symbol: SYMBOL,
    status: "TRADING",
    baseAsset: "BTC",
    quoteAsset: "USDT",
    ...rules,
    filters: expect.arrayContaining(rules.filters.map((filter: Told) => expect.objectContaining(filter))),
  });
  const { bidPrice, askPrice } = await client.bookTicker();
  expect(units(bidPrice)).toBeLessThan(units(askPrice));
  expect(await client.dayTicker()).toMatchObject({
    symbol: SYMBOL,
    lastPrice: expect.stringMatching(/^\d+\.\d+$/),
  });
  const [first = 0, ...others] = await client.candleTimes(4);
  expect(others).toEqual([1, 2, 3].map((count) => first + count * MINUTE_MS));
  const { bids, asks } = await client.depth(5);
  expect([bids.length, asks.length]).toEqual([5, 5]);
  expect(Math.max(...bids)).toBeLessThan(Math.min(...asks));
}
