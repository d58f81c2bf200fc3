// Every message of the streams, as the server checks it and as the documentation describes it.
// Source: specification 5.3 and 6.
import { z } from "zod";
import { TIMEFRAMES } from "../market/pairs.ts";
import { STREAM_ERROR_CODES, type StreamError } from "./errors.ts";
import {
  type CandleTopic,
  type DepthTopic,
  LEVELS,
  type MarketData,
  type OrderBook,
  SPEEDS,
} from "./topics.ts";

const pair = z.string().min(1).describe("A pair of `GET /bot/v1/spot/pairs`, in upper or lower case.");
const timeframe = z.enum(TIMEFRAMES).describe("One of `data.timeframes` of `GET /bot/v1/spot/pairs`.");
const levels = z.literal(LEVELS).describe("How many prices of each side.");
const speed = z.enum(SPEEDS).describe("How often a snapshot is sent; `100ms` weighs 5 subscriptions.");
const answeredPair = z.string().describe("The pair in upper case.");
const price = z.string().describe("A decimal, exactly as the source of the market data sent it.");

/** The `auth` object of a handshake. */
export const HANDSHAKE_AUTH = z.object({
  apiKey: z.string().min(1).describe("The public key; as a header `x-bot-api-key`."),
  timestamp: z
    .string()
    .min(1)
    .describe("Unix ms, within 30 seconds of server time; as a header `x-bot-timestamp`."),
  signature: z
    .string()
    .min(1)
    .describe(
      "HMAC-SHA256 of timestamp + `GET` + namespace, keyed with the secret as text: 64 lowercase hex characters; as a header `x-bot-signature`.",
    ),
});

/** `subscribe` and `unsubscribe` of the candle stream. */
export const CANDLE_REQUEST = z.object({ pair, timeframe });
/** `subscribe` of the depth stream. */
export const DEPTH_SUBSCRIPTION = z.strictObject({
  pair,
  levels: levels.default(20),
  speed: speed.default("1000ms"),
});
/** `unsubscribe` of the depth stream: every stream of the pair that has the fields given. */
export const DEPTH_UNSUBSCRIPTION = z.strictObject({
  pair,
  levels: levels.exactOptional(),
  speed: speed.exactOptional(),
});

/** `subscribed` and `unsubscribed` of the candle stream. */
export const CANDLE_TOPIC = z.object({ pair: answeredPair, timeframe }) satisfies z.ZodType<CandleTopic>;
/** `subscribed` and `unsubscribed` of the depth stream. */
export const DEPTH_TOPIC = z.object({
  pair: answeredPair,
  levels,
  speed,
}) satisfies z.ZodType<DepthTopic>;

/** `marketData`. */
export const MARKET_DATA = z.object({
  event: z.literal("kline"),
  pair: answeredPair,
  timeframe,
  candle: z.object({
    open: price,
    high: price,
    low: price,
    close: price,
    volume: price,
    startTime: z.int().describe("Unix ms; the candle's key: a later message replaces an earlier one."),
    closeTime: z.int().describe("Unix ms."),
    isFinal: z.boolean().describe("Whether the candle will not change any more. Said once a candle."),
  }),
}) satisfies z.ZodType<MarketData>;

const level = z.tuple([price, z.string().describe("The quantity, a decimal.")]).readonly();

/** `orderBook`. */
export const ORDER_BOOK = z.object({
  event: z.literal("depth"),
  pair: answeredPair,
  levels,
  speed,
  lastUpdateId: z.int().describe("Never goes back on a stream. A snapshot that repeats it is no news."),
  bids: z.array(level).readonly().describe("Descending."),
  asks: z.array(level).readonly().describe("Ascending."),
}) satisfies z.ZodType<OrderBook>;

/** `error`. */
export const STREAM_ERROR = z.object({
  status: z.literal(false),
  code: z.enum(STREAM_ERROR_CODES).describe("What clients branch on."),
  message: z.string().describe("For people."),
  retryAfterMs: z.int().exactOptional().describe("After how many ms it may be tried again, where known."),
}) satisfies z.ZodType<StreamError>;
