// A market that lags or has wrong prices, as a bot sees it: real sockets and a real database, and an exchange
// whose streams arrive a constant time after they were sent, or show an impossible price. REST is current
// throughout.
import { afterEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { until } from "../../src/market/client/testing/upstream.ts";
import { feedsOf } from "../../src/observability/health.ts";
import { type LateMarket, openLateMarket, SYMBOL } from "../support/servers/late-market.ts";

const STALE = { status: 503, body: { code: -1008, msg: expect.stringContaining("late") } };

const opened: LateMarket[] = [];

afterEach(async () => {
  for (const market of opened.splice(0)) await market[Symbol.asyncDispose]();
});

async function openMarket(type: StrategyType, delayMs: number): Promise<LateMarket> {
  const market = await openLateMarket(type, delayMs);
  opened.push(market);
  return market;
}

describe.each(["SPOT", "FUTURES"] as const)("%s", (type) => {
  const health = (feed: MarketFeed) =>
    feedsOf({ SPOT: feed, FUTURES: feed }).find(({ family }) => family === type);

  test("orders at the market's price are filled at a delay of one second", async () => {
    const { feed, pass, order } = await openMarket(type, 1_000);
    await pass(12);
    for (let sent = 0; sent < 4; sent += 1) {
      expect((await order(sent % 2 === 0 ? "BUY" : "SELL")).status).toBe(200);
      await pass(1);
    }
    expect(health(feed)).toMatchObject({ isLate: false, staleSymbols: [] });
  });

  test.each([10_000, 30_000])("each of them is refused at a delay of %i ms", async (delayMs) => {
    const { feed, pass, order } = await openMarket(type, delayMs);
    await pass(12);
    for (let sent = 0; sent < 12; sent += 1) {
      expect(await order(sent % 2 === 0 ? "BUY" : "SELL")).toMatchObject(STALE);
      await pass(1);
    }
    const reading = health(feed);
    expect(reading).toMatchObject({ isConnected: true, isLate: true, staleSymbols: [SYMBOL] });
    expect(reading?.dataAgeMs).toBeGreaterThanOrEqual(delayMs);
    expect(reading?.dataAgeMs).toBeLessThan(delayMs + 2_000);
  });

  test("an impossible price fills nothing, and the next real one does", async () => {
    const { feed, streams, pass, order } = await openMarket(type, 0);
    await pass(3);
    expect((await order("BUY")).status).toBe(200);
    const heard: unknown[] = [];
    feed.watch(SYMBOL, { quote: (quote) => heard.push(quote), trade() {}, markPrice() {}, gap() {} });
    const doubted = feed.status().quotes.accepted;
    const lie = {
      u: Number.MAX_SAFE_INTEGER - 1,
      s: SYMBOL,
      b: "0.00000001",
      B: "9",
      a: "0.00000002",
      A: "9",
    };
    const told = type === "SPOT" ? lie : { ...lie, e: "bookTicker", E: feed.now(), T: feed.now() };
    streams.sendRaw("btcusdt@bookTicker", told, type);
    await until(() => feed.status().quotes.accepted > doubted);
    for (const side of ["SELL", "BUY"] as const) expect(await order(side)).toMatchObject(STALE);
    expect(heard).toEqual([]);
    await pass(1);
    expect((await order("SELL")).status).toBe(200);
  });
});
