// The messages of the namespace as they are sent, and the texts of rejections.
import { encode, type Message } from "../../streams/fan-out.ts";
import { DashboardError, type ErrorCode } from "../errors.ts";
import type { ServerMessages, Topic } from "../schemas/live.ts";
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
  const { error } = new DashboardError(code, message === undefined ? {} : { message }).json;
  return { code: error.code, message: error.message };
}

/** That a bound is reached. */
export function reached(bound: Bound): ServerMessages["refused"] {
  return refusalOf("TOO_MANY_REQUESTS", REACHED[bound]);
}
