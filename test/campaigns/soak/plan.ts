// The subscriptions of each client: connections for each key, and streams for each connection within a key's
// limit.
import type { CandleTopic, DepthTopic } from "../../../src/streams/topics.ts";
import { MARKET, ORDER_BOOK } from "../../support/sockets/stream-client.ts";

/** Source: specification 8.3. */
export const SUBSCRIPTIONS_PER_CONNECTION = 20;
const STREAMS_PER_KEY = 30;
export const CONNECTIONS_PER_KEY = 5;

/** Those whose candles are all of one length, ms. Short ones, so that finals come. */
export const TIMEFRAMES: ReadonlyMap<string, number> = new Map([
  ["1s", 1_000],
  ["1m", 60_000],
  ["3m", 180_000],
  ["5m", 300_000],
]);
const LEVELS = [5, 10, 20] as const;

export type Plan =
  | { readonly namespace: typeof MARKET; readonly topics: readonly CandleTopic[] }
  | { readonly namespace: typeof ORDER_BOOK; readonly topics: readonly DepthTopic[] };

/** What all connections of one key may choose from: candles or books. */
export type Pool = Plan;

/**
 * The pool of the key of this number. Half of the keys have books, the others candles. `draw` answers in [0,
 * 1).
 */
export function drawPool(number: number, pairs: readonly string[], draw: () => number): Pool {
  if (number % 2 === 0) {
    const topics = pairs.flatMap((pair) =>
      LEVELS.map((levels) => ({ pair, levels, speed: "1000ms" }) as const),
    );
    return { namespace: ORDER_BOOK, topics: drawSome(topics, STREAMS_PER_KEY, draw) };
  }
  const topics = pairs.flatMap((pair) => [...TIMEFRAMES.keys()].map((timeframe) => ({ pair, timeframe })));
  return { namespace: MARKET, topics: drawSome(topics, STREAMS_PER_KEY, draw) };
}

/** What one connection subscribes to, out of its key's pool. */
export function drawPlan(pool: Pool, subscriptions: number, draw: () => number): Plan {
  return pool.namespace === MARKET
    ? { namespace: pool.namespace, topics: drawSome(pool.topics, subscriptions, draw) }
    : { namespace: pool.namespace, topics: drawSome(pool.topics, subscriptions, draw) };
}

/** So many different ones, in the order in which they are drawn. */
function drawSome<Each>(all: readonly Each[], count: number, draw: () => number): Each[] {
  const left = [...all];
  const drawn: Each[] = [];
  while (drawn.length < count && left.length > 0) {
    drawn.push(...left.splice(Math.floor(draw() * left.length), 1));
  }
  return drawn;
}
