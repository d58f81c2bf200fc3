// A market whose streams arrive a constant time after they were sent, while REST is of the present, before a
// gateway with real sockets and a real database. Its clock is the caller's.
import { createManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { createMarketFeed } from "../../../src/market/client/feed.ts";
import { until } from "../../../src/market/client/testing/upstream.ts";
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { openInProcess } from "./in-process.ts";

export const SYMBOL = "BTCUSDT";
const SEED = 3;

export type Side = "BUY" | "SELL";
export type LateMarket = Awaited<ReturnType<typeof openLateMarket>>;

export async function openLateMarket(type: StrategyType, delayMs: number) {
  const closing: (() => Promise<void>)[] = [];
  const time = createManualTime();
  const open = async (clock: { now(): number }) => {
    const exchange = await openSimulatedExchange({ seed: SEED, clock, manual: true });
    closing.push(exchange.close);
    return exchange;
  };
  const rest = await open(time);
  // The same market, delayed by a constant time: what it streams now was sent that long ago.
  const streams = await open({ now: () => time.now() - delayMs });
  const feed = createMarketFeed({
    type,
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
          if (marked.get(marker) === before) streams.sendRaw(marker, {}, type);
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
    /** What the streams come from; its time is behind by the delay. */
    streams,
    /** Seconds of the market, one after another, until the last of each has been received. */
    pass,
    /** An order at the market's price. */
    order: (side: Side) =>
      // What is bought pays its fee, so that a little less can be sold.
      call("POST", `${path}/order`, {
        symbol: SYMBOL,
        side,
        type: "MARKET",
        quantity: type === "FUTURES" ? "0.002" : side === "BUY" ? "0.001" : "0.0009",
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const close of closing.reverse()) await close();
    },
  };
}
