// The routes of the bot family. Source: specification 4.4; design, section 6 (signals).

import { jsonOf, NOT_JSON } from "../../signals/json-body.ts";
import { submissionSchema } from "../../signals/submission.ts";
import { presentOrder } from "../present/spot.ts";
import { type BotRoute, botRoute, failure, strategyOf, success } from "./route.ts";
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
import {
  find,
  list,
  parseSubmission,
  presentFound,
  presentList,
  presentRecorded,
  submit,
} from "./signals.ts";
import { cancel, close, parseBody } from "./strategy.ts";

const read = { method: "GET", charge: "READ", writes: false, body: null } as const;
const write = { method: "POST", charge: "WEIGHT", strategyType: "SPOT", writes: true } as const;
const malformed = {
  schema: errorSchema,
  description: "The body is not what it must be, or the strategy is not LIVE.",
};

export const BOT_ROUTES: readonly BotRoute[] = [
  botRoute({
    ...read,
    path: "/bot/v1/spot/pairs",
    strategyType: null,
    operationId: "listPairs",
    summary: "The pairs and timeframes that are supported",
    description: "The same for every key. A new pair may take 30 minutes to appear.",
    answers: { 200: { schema: pairsSchema, description: "The pairs that are trading." } },
    answer: (_input, { pairs }) => pairs.text(),
    present: (text) => ({ status: 200, body: `{"status":true,"message":"Trading pairs","data":${text}}` }),
  }),
  botRoute({
    method: "POST",
    path: "/bot/v1/spot/test",
    charge: "READ",
    strategyType: null,
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
    parse: ({ body }) =>
      body !== "" && jsonOf(body) === NOT_JSON ? failure(400, "The body is not JSON") : undefined,
    answer: (_input, { wallNow }) => wallNow(),
    present: (serverTime, { keyId, userId }) =>
      success("Signature is valid", { apiKeyId: keyId, userId, serverTime }),
  }),
  botRoute({
    method: "POST",
    path: "/bot/v1/spot/orders",
    charge: "SUBMISSION",
    strategyType: "SPOT",
    // A known idempotency key is answered also when the strategy is no longer LIVE: `Signals` checks in that
    // order.
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
    parse: parseSubmission,
    answer: submit,
    present: presentRecorded,
  }),
  botRoute({
    ...read,
    path: "/bot/v1/spot/orders",
    strategyType: "SPOT",
    operationId: "listSignals",
    summary: "The newest signals of the strategy",
    description: "Up to 500, newest first. Orders that were placed otherwise are not among them.",
    answers: { 200: { schema: signalListSchema, description: "The signals." } },
    answer: list,
    present: presentList,
  }),
  botRoute({
    ...read,
    path: "/bot/v1/spot/signals/:signalId",
    strategyType: "SPOT",
    operationId: "findSignal",
    summary: "What became of a signal",
    answers: {
      200: { schema: signalStateSchema, description: "The signal as it stands." },
      404: { schema: errorSchema, description: "The strategy has no such signal." },
    },
    parse: ({ path }) => path.slice(path.lastIndexOf("/") + 1),
    answer: find,
    present: presentFound,
  }),
  botRoute({
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
    parse: ({ body }) => parseBody(cancelSchema, body),
    answer: cancel,
    present: ({ order, message }, call) => success(message, presentOrder(strategyOf(call).strategyId, order)),
  }),
  botRoute({
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
    parse: ({ body }) => parseBody(closeSchema, body === "" ? "{}" : body),
    answer: close,
    present: ({ status, message }, call) =>
      success(message, { strategyId: strategyOf(call).strategyId, status }),
  }),
];

/** The row of a method and a path, or null. */
export function routeOf(method: string, path: string): BotRoute | null {
  const exact = EXACT.get(`${method} ${path}`);
  if (exact !== undefined) return exact;
  return PATTERNS.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route ?? null;
}

const EXACT = new Map(BOT_ROUTES.map((route) => [`${route.method} ${route.path}`, route]));
/** The rows with `:name` parts. */
const PATTERNS = BOT_ROUTES.filter(({ path }) => path.includes(":")).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`),
}));
