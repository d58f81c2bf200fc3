// What browsers send, checked, and how what they are sent is written.
import { z } from "zod";
import { TIMEFRAMES } from "../../market/pairs.ts";
import { encode, type Message } from "../../streams/fan-out.ts";
import { DashboardError, type ErrorCode } from "../errors.ts";
import type { ServerMessages, Topic } from "../shapes.ts";

export const NAMESPACE = "/dashboard";

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
