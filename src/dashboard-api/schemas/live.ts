// The messages of the namespace /dashboard of Socket.IO: a schema for each name, in either direction. The
// server checks what browsers send; its own messages are checked by the compiler and by tests.
import { z } from "zod";
import { TIMEFRAMES } from "../../market/pairs.ts";
import { list, number, text } from "./fields.ts";
import { bookSchema, candleSchema, priceSchema } from "./markets.ts";

const ID_LENGTH_MAX = 64;

const family = z.enum(["SPOT", "FUTURES"]);
const symbol = z.string().regex(/^[\p{Lu}\p{Lo}\p{N}_]{1,40}$/u);
const interval = z.string().refine((name) => TIMEFRAMES.some((each) => each === name));
/** Not every database can be asked for a NUL. */
const id = z
  .string()
  .min(1)
  .max(ID_LENGTH_MAX)
  .refine((value) => !value.includes("\0"));

const watch = z.strictObject({ strategyId: id });
const watchCopy = z.strictObject({ copyId: id });
const topic = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("candles"), family, symbol, interval }),
  z.strictObject({ kind: z.literal("depth"), family, symbol }),
  z.strictObject({ kind: z.literal("prices"), family, symbol }),
]);

/** By name, what the browser sends. */
export const CLIENT_MESSAGES = {
  watch,
  unwatch: watch,
  watchCopy,
  unwatchCopy: watchCopy,
  follow: topic,
  unfollow: topic,
};

/** What of a strategy has changed. */
const changedPart = z.enum([
  "account",
  "orders",
  "legs",
  "positions",
  "trades",
  "signals",
  "status",
  "requests",
]);

/** By name, what the server sends. */
export const SERVER_MESSAGES = {
  changed: z.object({ strategyId: text, what: list(changedPart) }),
  /** A copy of one's own has changed, or what became of its orders. */
  copyChanged: z.object({ copyId: text }),
  candle: z.object({ family, symbol: text, interval: text, candle: candleSchema }),
  book: bookSchema,
  price: priceSchema,
  /** Nothing was received of a topic since `since`; the next message of it ends that. */
  stale: z.object({ topic, since: number }),
  refused: z.object({ code: text, message: text }),
  /**
   * At once, and every second while the connection lasts: without one for a while, what a page shows is not
   * live.
   */
  heartbeat: z.object({}),
};

export type Topic = z.output<typeof topic>;
export type ChangedPart = z.output<typeof changedPart>;
export type ClientMessages = {
  readonly [Name in keyof typeof CLIENT_MESSAGES]: z.input<(typeof CLIENT_MESSAGES)[Name]>;
};
export type ServerMessages = {
  readonly [Name in keyof typeof SERVER_MESSAGES]: z.input<(typeof SERVER_MESSAGES)[Name]>;
};
