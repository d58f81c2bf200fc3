// What browsers send, checked, and how what they are sent is written.
import { z } from "zod";
import { TIMEFRAMES } from "../../market/pairs.ts";
import { encode, type Message } from "../../streams/fan-out.ts";
import { DashboardError, type ErrorCode } from "../errors.ts";
import type { ServerMessages, Topic } from "../shapes.ts";
import {
  COPY_WATCHES_MAX,
  SOCKETS_MAX,
  SOCKETS_PER_PERSON_MAX,
  TOPICS_MAX,
  TOPICS_OF_ALL_MAX,
  TOPICS_PER_PERSON_MAX,
  WATCHES_MAX,
} from "./limits.ts";

export const NAMESPACE = "/dashboard";

/** What is said when a bound is reached. */
const REACHED = {
  SOCKETS_MAX: `Live updates are limited to ${SOCKETS_MAX} windows per server, and that many are open. Try again later.`,
  SOCKETS_PER_PERSON_MAX: `Live updates are limited to ${SOCKETS_PER_PERSON_MAX} windows per person, and that many are open. Close one.`,
  WATCHES_MAX: `This window shows ${WATCHES_MAX} strategies, the maximum. Open another window.`,
  COPY_WATCHES_MAX: `This window shows ${COPY_WATCHES_MAX} copies, the maximum. Open another window.`,
  TOPICS_MAX: `This window follows ${TOPICS_MAX} prices, order books and charts, the maximum. Close some of them.`,
  TOPICS_PER_PERSON_MAX: `Your windows follow ${TOPICS_PER_PERSON_MAX} prices, order books and charts, the maximum per person. Close some of them.`,
  TOPICS_OF_ALL_MAX: `This server follows ${TOPICS_OF_ALL_MAX} prices, order books and charts, the maximum. Try again later.`,
} as const;

/** A bound of `limits.ts` that somebody may reach. */
export type Bound = keyof typeof REACHED;

const ID_LENGTH_MAX = 64;
const SYMBOL = /^[\p{Lu}\p{Lo}\p{N}_]{1,40}$/u;

const family = z.enum(["SPOT", "FUTURES"]);
const symbol = z.string().regex(SYMBOL);

/** Not every database can be asked for a NUL. */
const id = z
  .string()
  .min(1)
  .max(ID_LENGTH_MAX)
  .refine((text) => !text.includes("\0"));

export const WATCH = z.strictObject({ strategyId: id });
export const WATCH_COPY = z.strictObject({ copyId: id });
export const TOPIC = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("candles"), family, symbol, interval: z.enum(TIMEFRAMES) }),
  z.strictObject({ kind: z.literal("depth"), family, symbol }),
  z.strictObject({ kind: z.literal("prices"), family, symbol }),
]);

/** One name for one topic. */
export function nameOf(topic: Topic): string {
  const { kind, family: of, symbol: what } = topic;
  return topic.kind === "candles" ? `${kind} ${of} ${what} ${topic.interval}` : `${kind} ${of} ${what}`;
}

export function messageOf<Name extends keyof ServerMessages>(
  name: Name,
  payload: ServerMessages[Name],
): Message {
  return encode(NAMESPACE, name, payload);
}

/** Why something is refused, in the words of the dashboard. */
export function refusalOf(code: ErrorCode, message?: string): ServerMessages["refused"] {
  const { error } = new DashboardError(code, message === undefined ? {} : { message }).shape;
  return { code: error.code, message: error.message };
}

/** That a bound is reached. */
export function reached(bound: Bound): ServerMessages["refused"] {
  return refusalOf("TOO_MANY_REQUESTS", REACHED[bound]);
}
