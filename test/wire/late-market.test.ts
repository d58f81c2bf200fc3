// A market that lags or lies, as a bot sees it: real sockets and a real database, and an exchange whose streams arrive a constant
// time after they were sent, or show a price that is none. REST is of the present all the while.
import { afterEach, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { feedsOf } from "../../src/inspection/health.ts";
import { createMarketFeed, type MarketFeed } from "../../src/market/client/feed.ts";
import { createManualTime } from "../../src/market/client/testing/manual-time.ts";
import { until } from "../../src/market/client/testing/upstream.ts";
import type { Exchange } from "../../src/market/exchange/open.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { type Call, openInProcess } from "../support/in-process.ts";

const SYMBOL = "BTCUSDT";
const SEED = 3;
const STALE = { status: 503, body: { code: -1008, msg: expect.stringContaining("late") } };

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Side = "BUY" | "SELL";
type World = {
  readonly feed: MarketFeed;
  /** What the streams come from; its time is behind by the delay. */
  readonly streams: Exchange;
  /** Seconds of the market, one after another, until the last of each has been received. */
  pass(seconds: number): Promise<void>;
  /** An order at the market's price. */
  order(side: Side): ReturnType<Call>;
};

async function openWorld(type: StrategyType, delayMs: number): Promise<World> {
  const time = createManualTime();
  const open = async (clock: { now(): number }) => {
    const exchange = await openSimulatedExchange({ seed: SEED, clock, manual: true });
    closing.push(exchange.close);
    return exchange;
  };
  const rest = await open(time);
  // The same market, told a constant time later: what it streams now was sent so long ago.
  const streams = await open({ now: () => time.now() - delayMs });
  const family = type === "SPOT" ? "spot" : "futures";
  const feed = createMarketFeed({
    family,
    spotRestUrl: rest.spotRestUrl,
    futuresRestUrl: rest.futuresRestUrl,
    spotWsUrl: streams.spotWsUrl,
    futuresWsUrl: streams.futuresWsUrl,
    clock: time,
    wallClock: time,
    timers: time,
    random: () => 0.5,
    log: { info() {}, warn() {}, error() {} },
  });
  closing.push(feed.close);
  const markers = ["marker@bookTicker", "marker@aggTrade"];
  const marked = new Map(markers.map((marker) => [marker, 0]));
  for (const marker of markers)
    feed.subscribe(marker, () => marked.set(marker, (marked.get(marker) ?? 0) + 1));
  await feed.start();
  const gateway = await openInProcess({ [type]: feed });
  closing.push(gateway.close);
  const call = gateway.callsOf(await gateway.seed(type));
  const path = type === "SPOT" ? "/api/v3" : "/fapi/v1";
  let questions = 0;
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      time.advance(1_000);
      // What is asked of REST in this second has its answer before the next.
      questions += 1;
      await feed.query(`${path}/ping`, `trip=${questions}`);
      streams.pump();
      for (const marker of markers) {
        const before = marked.get(marker);
        await until(() => {
          if (marked.get(marker) === before) streams.sendRaw(marker, {}, family);
          return marked.get(marker) !== before;
        });
      }
    }
  };
  // Keeps the symbol streaming, as an open order would.
  feed.watch(SYMBOL, { quote() {}, trade() {}, markPrice() {}, gap() {} });
  await feed.prepare(SYMBOL);
  return {
    feed,
    streams,
    pass,
    order: (side) =>
      // What is bought pays its fee, so that a little less can be sold.
      call("POST", `${path}/order`, {
        symbol: SYMBOL,
        side,
        type: "MARKET",
        quantity: side === "BUY" ? "0.002" : "0.001",
      }),
  };
}

describe.each(["SPOT", "FUTURES"] as const)("%s", (type) => {
  const health = (feed: MarketFeed) =>
    feedsOf({ SPOT: feed, FUTURES: feed }).find(({ family }) => family === type);

  test("orders at the market's price are filled at a delay of one second", async () => {
    const { feed, pass, order } = await openWorld(type, 1_000);
    await pass(12);
    for (let sent = 0; sent < 4; sent += 1) {
      expect((await order(sent % 2 === 0 ? "BUY" : "SELL")).status).toBe(200);
      await pass(1);
    }
    expect(health(feed)).toMatchObject({ isLate: false, staleSymbols: [] });
  });

  test.each([10_000, 30_000])("each of them is refused at a delay of %i ms", async (delayMs) => {
    const { feed, pass, order } = await openWorld(type, delayMs);
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

  test("a price that nobody trades at fills nothing, and the next true one does", async () => {
    const { feed, streams, pass, order } = await openWorld(type, 0);
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
    streams.sendRaw("btcusdt@bookTicker", told, type === "SPOT" ? "spot" : "futures");
    await until(() => feed.status().quotes.accepted > doubted);
    for (const side of ["SELL", "BUY"] as const) expect(await order(side)).toMatchObject(STALE);
    expect(heard).toEqual([]);
    await pass(1);
    expect((await order("SELL")).status).toBe(200);
  });
});
