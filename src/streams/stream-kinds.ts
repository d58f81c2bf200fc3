// The two streams as rows: the differences between candles and depth, and the parsers of their messages.
// Source: specification 6.1, 6.2 and 7.3.
import type { z } from "zod";
import { inCapitals } from "../domain/symbol.ts";
import { repeated, type StreamError, streamError } from "./errors.ts";
import { FAST_STREAM_WEIGHT } from "./limits.ts";
import { CANDLE_REQUEST, DEPTH_SUBSCRIPTION, DEPTH_UNSUBSCRIPTION } from "./schemas.ts";
import type { CandleTopic, DepthTopic, MarketData, OrderBook } from "./topics.ts";

export type StreamKind<Topic, Payload> = {
  readonly namespace: string;
  /** The event that carries the data. */
  readonly event: string;
  /** Unique in the namespace. */
  nameOf(topic: Topic): string;
  /** The weight of a subscription on its connection. */
  weightOf(topic: Topic): number;
  /** Whether a key may have but few of these. */
  isFast(topic: Topic): boolean;
  /** Whether a message must reach a client that is slow, whatever comes after it. */
  isKept(payload: Payload): boolean;
  /** The topic of a `subscribe`; the pair is in upper case and may not exist. */
  readSubscription(payload: unknown): Topic | StreamError;
  /** The fields of what an `unsubscribe` is to remove. */
  readUnsubscription(payload: unknown): Partial<Topic> | StreamError;
};

const CANDLE_SAMPLE: CandleTopic = { pair: "BTCUSDT", timeframe: "1m" };
const DEPTH_SAMPLE: DepthTopic = { pair: "BTCUSDT", levels: 20, speed: "1000ms" };

export const CANDLES: StreamKind<CandleTopic, MarketData> = {
  namespace: "/bot/v1/market",
  event: "marketData",
  nameOf: ({ pair, timeframe }) => `${pair} ${timeframe}`,
  weightOf: () => 1,
  isFast: () => false,
  isKept: ({ candle }) => candle.isFinal,
  readSubscription: (payload) => read(CANDLE_REQUEST, payload, CANDLE_SAMPLE),
  readUnsubscription: (payload) => read(CANDLE_REQUEST, payload, CANDLE_SAMPLE),
};

export const DEPTH: StreamKind<DepthTopic, OrderBook> = {
  namespace: "/bot/v1/orderbook",
  event: "orderBook",
  nameOf: ({ pair, levels, speed }) => `${pair} ${levels} ${speed}`,
  weightOf: (topic) => (isEvery100Ms(topic) ? FAST_STREAM_WEIGHT : 1),
  isFast: isEvery100Ms,
  isKept: () => false,
  readSubscription: (payload) => read(DEPTH_SUBSCRIPTION, payload, DEPTH_SAMPLE),
  readUnsubscription: (payload) => read(DEPTH_UNSUBSCRIPTION, payload, DEPTH_SAMPLE),
};

function isEvery100Ms({ speed }: DepthTopic): boolean {
  return speed === "100ms";
}

/** A payload parsed by its schema, or its first error. */
function read<Read extends { readonly pair: string }>(
  schema: z.ZodType<Read>,
  payload: unknown,
  sample: object,
): Read | StreamError {
  if (!isPlainObject(payload)) {
    return invalid(`The message must be an object such as ${JSON.stringify(sample)}.`);
  }
  const parsed = schema.safeParse(payload);
  if (parsed.success) return { ...parsed.data, pair: inCapitals(parsed.data.pair) };
  const { issues } = parsed.error;
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown !== undefined) {
    const message = `${repeated(unknown.keys[0])} is not a field of this message.`;
    return streamError("SUB_UNEXPECTED_FIELD", { message });
  }
  const isAtFault = (field: string) => issues.some(({ path }) => path[0] === field);
  if (isAtFault("pair")) return invalid("pair is missing or no text.");
  if (isAtFault("timeframe")) {
    const isMissing = payload.timeframe === undefined;
    return isMissing ? invalid("timeframe is missing.") : streamError("SUB_UNSUPPORTED_TIMEFRAME");
  }
  if (isAtFault("levels")) return streamError("SUB_UNSUPPORTED_LEVELS");
  if (isAtFault("speed")) return streamError("SUB_UNSUPPORTED_SPEED");
  return streamError("SUB_INVALID_PAYLOAD");
}

function invalid(message: string): StreamError {
  return streamError("SUB_INVALID_PAYLOAD", { message });
}

/** Whether it is what an object of JSON becomes; lists and bytes are none. */
function isPlainObject(payload: unknown): payload is Readonly<Record<string, unknown>> {
  return (
    typeof payload === "object" && payload !== null && Object.getPrototypeOf(payload) === Object.prototype
  );
}
