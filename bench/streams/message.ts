// The depth snapshot that is broadcast: 20 levels a side, in decimals as the exchange writes them, the same
// for every broadcaster but for the id, which has as many digits throughout.
import type { DepthTopic, OrderBook } from "../../src/streams/topics.ts";

export const TOPIC: DepthTopic = { pair: "BTCUSDT", levels: 20, speed: "1000ms" };

/** As the exchange sends it. */
export type Snapshot = Pick<OrderBook, "lastUpdateId" | "bids" | "asks">;

const FIRST_ID = 48_000_000_000;
const BID = 67_123.45;
const TICK = 0.01;
const DECIMALS = 8;

/** Number of different messages in rotation, made beforehand. */
const SNAPSHOTS = 64;

const books = Array.from({ length: SNAPSHOTS }, (_, number) => {
  const side = (direction: 1 | -1) =>
    Array.from({ length: TOPIC.levels }, (_, level): [string, string] => [
      (BID + direction * (level + 1) * TICK).toFixed(DECIMALS),
      (1 + ((number * 7_919 + level * 104_729) % 9_000) / 1_000).toFixed(DECIMALS),
    ]);
  return { bids: side(-1), asks: side(1) };
});

/** The snapshot of this number, from 0 up: the ids rise. */
export function snapshotOf(number: number): Snapshot {
  const { bids = [], asks = [] } = books[number % SNAPSHOTS] ?? {};
  return { lastUpdateId: FIRST_ID + number, bids, asks };
}

/** The message that subscribers are sent. Source: specification 6.4. */
export function messageOf(snapshot: Snapshot): OrderBook {
  return { event: "depth", ...TOPIC, ...snapshot };
}

/** The stream of trades that is broadcast raw, at the exchange's own sockets. */
export const TRADED = { symbol: "BTCUSDT", path: "/ws/btcusdt@trade" } as const;
const FIRST_TRADE_ID = 4_800_000_000;
const FIRST_TRADE_AT = 1_795_000_000_000;

/** As the exchange sends it: the trade of this number, of the same length for each. */
export function tradeOf(number: number): object {
  return {
    e: "trade",
    E: FIRST_TRADE_AT + number,
    s: TRADED.symbol,
    t: FIRST_TRADE_ID + number,
    p: `${60_000 + (number % 10_000)}.45000000`,
    q: "0.01250000",
    T: FIRST_TRADE_AT + number,
    m: number % 2 === 0,
    M: true,
  };
}
