// The routes of the bot family. Source: specification 4.4; design, section 6 (signals).

import { jsonOf, NOT_JSON } from "../../signals/json-body.ts";
import { submissionSchema } from "../../signals/submission.ts";
import { success } from "./present.ts";
import type { BotAnswer, BotCall, BotRoute } from "./route.ts";
import {
  canceledSchema,
  cancelSchema,
  closedSchema,
  closeSchema,
  errorSchema,
  idempotencyKeySchema,
  pairsSchema,
  signalListSchema,
  signalStateSchema,
  submittedSchema,
  testSchema,
} from "./schemas.ts";
import { find, list, submit } from "./signals.ts";
import { cancel, close } from "./strategy.ts";

const read = { method: "GET", charge: "READ", writes: false, body: null } as const;
const write = { method: "POST", charge: "WEIGHT", key: "spot", writes: true } as const;
const malformed = {
  schema: errorSchema,
  description: "The body is not what it must be, or the strategy is not LIVE.",
};

export const BOT_ROUTES: readonly BotRoute[] = [
  {
    ...read,
    path: "/bot/v1/spot/pairs",
    key: "any",
    operationId: "listPairs",
    summary: "The pairs and timeframes that are supported",
    description: "The same for every key. A new pair may take 30 minutes to appear.",
    answers: { 200: { schema: pairsSchema, description: "The pairs that are trading." } },
    answer: pairs,
  },
  {
    method: "POST",
    path: "/bot/v1/spot/test",
    charge: "READ",
    key: "any",
    writes: false,
    operationId: "testKey",
    summary: "Whether a request is signed as it must be",
    description:
      "Nothing is recorded or executed. The body may be empty or any JSON; whatever is sent must be signed.",
    body: null,
    answers: {
      200: { schema: testSchema, description: "The signature is valid." },
      400: { schema: errorSchema, description: "The body is not JSON." },
    },
    answer: test,
  },
  {
    method: "POST",
    path: "/bot/v1/spot/orders",
    charge: "SUBMISSION",
    key: "spot",
    // A key that was used before answers also when the strategy is not LIVE any more: `Signals` asks in that order.
    writes: false,
    operationId: "submitSignal",
    summary: "Submit an order as a signal",
    description:
      "Recorded durably, executed once and only once. Sending it again under the same `idempotency-key` is always safe: a terminal signal is answered as it is stored, any other is tried again at once. It is also tried again by itself.",
    headers: {
      "idempotency-key": {
        schema: idempotencyKeySchema,
        description:
          "Names the signal within the strategy: 1 to 128 printable ASCII characters, without spaces at its ends, which headers lose.",
      },
    },
    body: submissionSchema,
    answers: {
      202: { schema: submittedSchema, description: "Recorded; the signal as it stands now." },
      400: {
        schema: errorSchema,
        description:
          "Nothing was recorded: the key is missing, the body is not what it must be, or the strategy is not LIVE.",
      },
      422: { schema: errorSchema, description: "The key was used for another order. Nothing was executed." },
    },
    answer: submit,
  },
  {
    ...read,
    path: "/bot/v1/spot/orders",
    key: "spot",
    operationId: "listSignals",
    summary: "The newest signals of the strategy",
    description: "Up to 500, newest first. Orders that were placed otherwise are not among them.",
    answers: { 200: { schema: signalListSchema, description: "The signals." } },
    answer: list,
  },
  {
    ...read,
    path: "/bot/v1/spot/signals/:signalId",
    key: "spot",
    operationId: "findSignal",
    summary: "What became of a signal",
    answers: {
      200: { schema: signalStateSchema, description: "The signal as it stands." },
      404: { schema: errorSchema, description: "The strategy has no such signal." },
    },
    answer: find,
  },
  {
    ...write,
    path: "/bot/v1/spot/orders/cancel",
    operationId: "cancelOrder",
    summary: "Cancel an order",
    description:
      "May be repeated as long as the strategy is LIVE. An order that is over answers what it is, and is no error.",
    body: cancelSchema,
    answers: {
      200: { schema: canceledSchema, description: "The order, cancelled now or over before." },
      400: malformed,
      404: { schema: errorSchema, description: "The strategy has no such order." },
    },
    answer: cancel,
  },
  {
    ...write,
    // Closing may be repeated until it is done, and after that.
    writes: false,
    path: "/bot/v1/spot/strategy/close",
    operationId: "closeStrategy",
    summary: "Close the strategy for good",
    description:
      "Cancels its resting orders and sells what it holds to the quote asset. What cannot be sold yet is sold as soon as its market is back. May be repeated.",
    body: closeSchema,
    answers: {
      200: { schema: closedSchema, description: "The strategy is closed, or closing." },
      400: { schema: errorSchema, description: "The body is neither empty nor {}." },
    },
    answer: close,
  },
];

// What every key may ask, whatever it manages.

export function pairs({ gateway }: BotCall): BotAnswer {
  return { status: 200, body: `{"status":true,"message":"Trading pairs","data":${gateway.pairs.text()}}` };
}

/** Nothing but the proof that the request is signed as it must be. */
export function test({ gateway, caller, body }: BotCall): BotAnswer {
  if (body !== "" && jsonOf(body) === NOT_JSON) return { status: 400, message: "The body is not JSON" };
  return success("Signature is valid", {
    apiKeyId: caller.keyId,
    userId: caller.userId,
    serverTime: gateway.wallNow(),
  });
}
