// The messages of both streams as rows: who sends them, what is in them, and an example of each.
import type { z } from "zod";
import {
  CANDLE_REQUEST,
  CANDLE_TOPIC,
  DEPTH_SUBSCRIPTION,
  DEPTH_TOPIC,
  DEPTH_UNSUBSCRIPTION,
  HANDSHAKE_AUTH,
  MARKET_DATA,
  ORDER_BOOK,
  STREAM_ERROR,
} from "../streams/schemas.ts";
import { BOOK_RULES, CANDLE_RULES } from "./stream-words.ts";

/** The channels of the document, which are namespaces. */
export const CHANNELS = {
  market: {
    address: "/bot/v1/market",
    title: "Candles",
    description: "Candles of a pair and a time frame, as they form.",
  },
  orderbook: {
    address: "/bot/v1/orderbook",
    title: "Order books",
    description: "The top of a pair's book, whole, on schedule.",
  },
} as const;

export type Message = {
  readonly channel: keyof typeof CHANNELS;
  /** The name of the Socket.IO event. */
  readonly event: string;
  readonly sender: "client" | "server";
  readonly summary: string;
  readonly description?: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
};

/** What the document calls the schemas that it shares. */
export const STREAM_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Handshake: HANDSHAKE_AUTH,
  CandleRequest: CANDLE_REQUEST,
  CandleTopic: CANDLE_TOPIC,
  MarketData: MARKET_DATA,
  DepthSubscription: DEPTH_SUBSCRIPTION,
  DepthUnsubscription: DEPTH_UNSUBSCRIPTION,
  DepthTopic: DEPTH_TOPIC,
  OrderBook: ORDER_BOOK,
  StreamError: STREAM_ERROR,
};

const CANDLE_STREAM = { pair: "BTCUSDT", timeframe: "1m" };
const DEPTH_STREAM = { pair: "BTCUSDT", levels: 5, speed: "1000ms" };

const ERROR: Omit<Message, "channel" | "example"> = {
  event: "error",
  sender: "server",
  summary: "Every failure once the namespace is joined. Decide by `code`, never by `message`.",
  schema: STREAM_ERROR,
};

export const MESSAGES: readonly Message[] = [
  {
    channel: "market",
    event: "subscribe",
    sender: "client",
    summary: "Asks for the candles of a pair. Answered by `subscribed`; asking twice counts once.",
    schema: CANDLE_REQUEST,
    example: CANDLE_STREAM,
  },
  {
    channel: "market",
    event: "unsubscribe",
    sender: "client",
    summary: "Ends them. Answered by `unsubscribed`.",
    schema: CANDLE_REQUEST,
    example: CANDLE_STREAM,
  },
  {
    channel: "market",
    event: "subscribed",
    sender: "server",
    summary: "The subscription is active; candles follow.",
    schema: CANDLE_TOPIC,
    example: CANDLE_STREAM,
  },
  {
    channel: "market",
    event: "unsubscribed",
    sender: "server",
    summary: "The subscription is removed.",
    schema: CANDLE_TOPIC,
    example: CANDLE_STREAM,
  },
  {
    channel: "market",
    event: "marketData",
    sender: "server",
    summary: "A candle as it stands.",
    description: CANDLE_RULES,
    schema: MARKET_DATA,
    example: {
      event: "kline",
      ...CANDLE_STREAM,
      candle: {
        open: "64000.00000000",
        high: "64012.50000000",
        low: "63998.01000000",
        close: "64010.00000000",
        volume: "12.34567000",
        startTime: 1_760_000_040_000,
        closeTime: 1_760_000_099_999,
        isFinal: true,
      },
    },
  },
  {
    ...ERROR,
    channel: "market",
    example: {
      status: false,
      code: "SUB_UNSUPPORTED_TIMEFRAME",
      message: "The timeframe is not in the list of supported timeframes.",
    },
  },
  {
    channel: "orderbook",
    event: "subscribe",
    sender: "client",
    summary: "Asks for the book of a pair. Answered by `subscribed`; asking twice counts once.",
    schema: DEPTH_SUBSCRIPTION,
    example: DEPTH_STREAM,
  },
  {
    channel: "orderbook",
    event: "unsubscribe",
    sender: "client",
    summary: "Ends every stream of the pair that has the fields given. One `unsubscribed` for each.",
    schema: DEPTH_UNSUBSCRIPTION,
    example: { pair: "BTCUSDT" },
  },
  {
    channel: "orderbook",
    event: "subscribed",
    sender: "server",
    summary: "The subscription is active; books follow.",
    schema: DEPTH_TOPIC,
    example: DEPTH_STREAM,
  },
  {
    channel: "orderbook",
    event: "unsubscribed",
    sender: "server",
    summary: "The subscription is removed.",
    schema: DEPTH_TOPIC,
    example: DEPTH_STREAM,
  },
  {
    channel: "orderbook",
    event: "orderBook",
    sender: "server",
    summary: "The whole top of the book.",
    description: BOOK_RULES,
    schema: ORDER_BOOK,
    example: {
      event: "depth",
      ...DEPTH_STREAM,
      lastUpdateId: 81_234_567,
      bids: [
        ["64009.99000000", "0.51200000"],
        ["64009.50000000", "1.20000000"],
      ],
      asks: [
        ["64010.00000000", "0.30500000"],
        ["64010.40000000", "2.00000000"],
      ],
    },
  },
  {
    ...ERROR,
    channel: "orderbook",
    example: {
      status: false,
      code: "RATE_LIMITED",
      message: "There are too many messages or connections.",
      retryAfterMs: 12_000,
    },
  },
];
