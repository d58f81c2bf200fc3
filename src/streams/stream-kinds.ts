// The two streams as rows: what differs between candles and depth for whoever serves them, and how their messages are read.
// Source: specification 6.1, 6.2 and 7.3.
import type { z } from "zod";
import type { StreamErrorCode } from "./errors.ts";
import { FAST_STREAM_WEIGHT } from "./limits.ts";
import { CANDLE_REQUEST, DEPTH_SUBSCRIPTION, DEPTH_UNSUBSCRIPTION } from "./schemas.ts";
import type { CandleTopic, DepthTopic, MarketData, OrderBook } from "./topics.ts";

export type StreamKind<Topic, Payload> = {
  readonly namespace: string;
  /** The event that carries the data. */
  readonly event: string;
  /** Unique in the namespace. */
  nameOf(topic: Topic): string;
  /** What a subscription weighs on its connection. */
  weightOf(topic: Topic): number;
  /** Whether a key may have but few of these. */
  isFast(topic: Topic): boolean;
  /** Whether a message must reach a client that is slow, whatever comes after it. */
  isKept(payload: Payload): boolean;
  /** What a `subscribe` asks for; the pair is in upper case and may not exist. */
  readSubscription(payload: unknown): Topic | StreamErrorCode;
  /** The fields of what an `unsubscribe` is to remove. */
  readUnsubscription(payload: unknown): Partial<Topic> | StreamErrorCode;
};

export const CANDLES: StreamKind<CandleTopic, MarketData> = {
  namespace: "/bot/v1/market",
  event: "marketData",
  nameOf: ({ pair, timeframe }) => `${pair} ${timeframe}`,
  weightOf: () => 1,
  isFast: () => false,
  isKept: ({ candle }) => candle.isFinal,
  readSubscription: (payload) => read(CANDLE_REQUEST, payload),
  readUnsubscription: (payload) => read(CANDLE_REQUEST, payload),
};

export const DEPTH: StreamKind<DepthTopic, OrderBook> = {
  namespace: "/bot/v1/orderbook",
  event: "orderBook",
  nameOf: ({ pair, levels, speed }) => `${pair} ${levels} ${speed}`,
  weightOf: (topic) => (isEvery100Ms(topic) ? FAST_STREAM_WEIGHT : 1),
  isFast: isEvery100Ms,
  isKept: () => false,
  readSubscription: (payload) => read(DEPTH_SUBSCRIPTION, payload),
  readUnsubscription: (payload) => read(DEPTH_UNSUBSCRIPTION, payload),
};

function isEvery100Ms({ speed }: DepthTopic): boolean {
  return speed === "100ms";
}

/** What a payload says by its schema, or the code of what is wrong with it: of the first of these that is. */
function read<Read extends { readonly pair: string }>(
  schema: z.ZodType<Read>,
  payload: unknown,
): Read | StreamErrorCode {
  const { data, error } = schema.safeParse(payload);
  if (data !== undefined) return { ...data, pair: data.pair.toUpperCase() };
  const isAtFault = (field: string) => error?.issues.some(({ path }) => path[0] === field) ?? false;
  const isMissing = (field: string) => (payload as Record<string, unknown>)[field] === undefined;
  if (error?.issues.some(({ code }) => code === "unrecognized_keys")) return "SUB_UNEXPECTED_FIELD";
  if (isAtFault("pair")) return "SUB_INVALID_PAYLOAD";
  if (isAtFault("timeframe")) {
    return isMissing("timeframe") ? "SUB_INVALID_PAYLOAD" : "SUB_UNSUPPORTED_TIMEFRAME";
  }
  if (isAtFault("levels")) return "SUB_UNSUPPORTED_LEVELS";
  if (isAtFault("speed")) return "SUB_UNSUPPORTED_SPEED";
  return "SUB_INVALID_PAYLOAD";
}
