// What each family says when it is not a route that answers: the server refuses, or something has failed.
import type { Refusal } from "../domain/refusal.ts";
import { failure, refusedBot } from "./bot/present.ts";
import type { Reply } from "./pipeline.ts";
import { refused } from "./pipeline.ts";

export type Words = {
  readonly refused: (refusal: Refusal) => Reply;
  /** The store failed under a request: it may have been carried out or not. */
  readonly outcomeUnknown: Reply;
  /** A bug of ours. Whether it came before or after the effect of the request, it cannot say. */
  readonly fault: Reply;
};

const OUTCOME_UNKNOWN =
  "Timeout waiting for response from backend server. Send status unknown; execution status unknown.";
const FAULT = "An unknown error occurred while processing the request.";

export const EXCHANGE_WORDS: Words = {
  refused: (refusal) => refused(refusal),
  outcomeUnknown: {
    status: 503,
    headers: { "retry-after": "1" },
    body: JSON.stringify({ code: -1007, msg: OUTCOME_UNKNOWN }),
  },
  fault: { status: 500, headers: {}, body: JSON.stringify({ code: -1000, msg: FAULT }) },
};

export const BOT_WORDS: Words = {
  refused: (refusal) => refusedBot(refusal),
  outcomeUnknown: failure(503, OUTCOME_UNKNOWN),
  fault: failure(500, FAULT),
};
