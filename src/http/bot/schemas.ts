// The bodies and answers of the bot family. Bodies are checked with these; all of them are what the
// documentation is made from, and a test holds the answers of a running server to them. Source: specification
// 2.5, 2.7, 2.8, 4.4 and 7.2.
import { z } from "zod";
import { SIDES, SPOT_ORDER_TYPES } from "../../domain/order.ts";
import { PAIR_FILTERS, TIMEFRAMES } from "../../market/pairs.ts";
import { SIGNALS_LISTED_MAX } from "../../signals/signals.ts";

const decimal = z
  .string()
  .regex(/^[0-9]+\.[0-9]{8}$/)
  .meta({ description: "A decimal.", examples: ["0.00100000"] });
const time = z.int().meta({ description: "Unix ms.", examples: [1_767_225_600_000] });
const instant = z.iso.datetime({ precision: 3 }).meta({ examples: ["2026-01-01T00:00:00.000Z"] });
const message = z.string().meta({ description: "For people; it may change." });
/** A UUID with a version that `z.uuid()` would not accept. */
const collectiveId = z
  .string("must be a UUID")
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, "must be a UUID")
  .meta({ format: "uuid", examples: ["0b5c9a44-3f0d-8a2e-8c41-000000000001"] });
/** White space around it would not survive a header. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[!-~]([ -~]{0,126}[!-~])?$/)
  .meta({ examples: ["rebalance-2026-01-01-7"] });
const signalId = z.uuid().meta({ examples: ["7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11"] });

/** The body of every error. */
export const errorSchema = z
  .strictObject({ status: z.literal(false), message })
  .meta({ id: "Failure", description: "What went wrong." });

/** The answer to an unauthenticated request. */
export const signatureErrorSchema = z
  .strictObject({
    status: z.literal(false),
    message,
    messageSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .meta({
        description:
          "With `Invalid signature`: SHA-256 of the message that was built from the received bytes. If it is that of your own message, what is wrong is the secret, how it was used (decoded from hex) or how the signature is written (not in lowercase hex); if not, other bytes arrived than were signed.",
      }),
    serverTime: time.optional().meta({
      description: "With `Request timestamp outside the allowed window`: the server's time, Unix ms.",
    }),
  })
  .meta({ id: "AuthenticationFailure", description: "The request is not authenticated." });

export const orderSchema = z
  .strictObject({
    symbol: z.string(),
    orderId: z.int(),
    orderListId: z.literal(-1),
    clientOrderId: z.string().meta({ description: "Of a signal's order: the signal's id." }),
    transactTime: time,
    price: decimal,
    origQty: decimal,
    executedQty: decimal,
    origQuoteOrderQty: decimal,
    cummulativeQuoteQty: decimal,
    status: z.enum(["NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "REJECTED", "EXPIRED"]),
    timeInForce: z.enum(["GTC", "IOC", "FOK"]),
    type: z.enum([...SPOT_ORDER_TYPES, "LIMIT_MAKER"]),
    side: z.enum(SIDES),
    stopPrice: decimal,
    icebergQty: decimal,
    time,
    updateTime: time,
    isWorking: z.boolean(),
    workingTime: z.int().meta({ description: "Unix ms; -1 for a stop that waits for its trigger." }),
    selfTradePreventionMode: z
      .enum(["NONE", "EXPIRE_MAKER"])
      .meta({ description: "EXPIRE_MAKER under the fill profile `strict`." }),
    collectiveId,
    expiryReason: z.string().optional().meta({ description: "Of an order that expired under `strict`." }),
  })
  .meta({ id: "Order", description: "An order, as `GET /api/v3/order` answers it." });

const executedResult = z
  .strictObject({ status: z.literal(true), message, data: orderSchema })
  .meta({ description: "EXECUTED: the order as its execution left it." });
const refusedResult = z
  .strictObject({
    status: z.literal(false),
    message,
    code: z.int().meta({ description: "As the exchange-style family numbers it.", examples: [-2010] }),
  })
  .meta({ description: "REJECTED: why it can never be executed. FAILED: why it could not be yet." });

const state = {
  signalId,
  idempotencyKey: idempotencyKeySchema.meta({ description: "What it was submitted under." }),
  status: z.enum(["RECEIVED", "EXECUTED", "REJECTED", "FAILED"]).meta({
    description: "EXECUTED and REJECTED are terminal; a RECEIVED or FAILED signal is tried again by itself.",
  }),
  result: z
    .union([executedResult, refusedResult, z.null()])
    .meta({ description: "What became of it; null while it is RECEIVED." }),
};
const times = {
  receivedAt: instant,
  processedAt: instant.nullable().meta({ description: "When it became terminal; null until then." }),
};

/** Source: specification 2.8. */
export const signalSchema = z
  .strictObject({
    ...state,
    collectiveId: collectiveId.nullable().meta({
      description: "Of the placed order, to cancel it by; null unless the signal is EXECUTED.",
    }),
    order: z.looseObject({}).meta({ description: "The body as it was submitted." }),
    ...times,
  })
  .meta({ id: "Signal", description: "A submitted order and what became of it." });

export const submittedSchema = signalSchema
  .extend({
    replayed: z.boolean().meta({
      description: "Whether the key was used before and its signal was terminal: nothing was executed now.",
    }),
  })
  .meta({ id: "SubmittedSignal", description: "The signal as it stands when the request is answered." });

export const signalStateSchema = z
  .strictObject({ ...state, ...times })
  .meta({ id: "SignalState", description: "What became of a signal." });

export const signalListSchema = envelope(
  z.array(signalSchema).max(SIGNALS_LISTED_MAX).meta({ description: "Newest first." }),
);

const filter = z
  .string()
  .nullable()
  .meta({ examples: ["0.00001000"] });
const pairSchema = z
  .strictObject({
    symbol: z.string().meta({ examples: ["BTCUSDT"] }),
    baseAsset: z.string().meta({ examples: ["BTC"] }),
    quoteAsset: z.string().meta({ examples: ["USDT"] }),
    status: z.literal("TRADING"),
    isSpotTradingAllowed: z.literal(true),
    orderTypes: z.array(z.string()).meta({ description: "What upstream accepts for the pair." }),
    supportedBotOrderTypes: z
      .array(z.enum(SPOT_ORDER_TYPES))
      .meta({ description: "What may be submitted here: go by this." }),
    filters: z
      .strictObject(Object.fromEntries(PAIR_FILTERS.map((name) => [name, filter])))
      .meta({ description: "Decimal strings, null where upstream publishes none." }),
  })
  .meta({ id: "TradingPair", description: "A pair that can be traded." });
export const pairsSchema = envelope(
  z.strictObject({ timeframes: z.array(z.enum(TIMEFRAMES)), pairs: z.array(pairSchema) }),
);

export const testSchema = envelope(
  z.strictObject({
    apiKeyId: z.string().meta({ examples: ["9f86d081884c7d65"] }),
    userId: z.string().meta({ description: "The person who owns the key.", examples: ["60303ae22b998861"] }),
    serverTime: time,
  }),
);

/** The body of a cancellation. */
export const cancelSchema = z
  .strictObject({
    collectiveId: collectiveId.meta({
      description: "Of the order, from the list of signals or the result of the placement.",
    }),
  })
  .meta({ id: "Cancellation", description: "Which order to cancel." });
export const canceledSchema = envelope(orderSchema);

/** The body of a closing, which may be left out. */
export const closeSchema = z.strictObject({}).meta({ description: "Nothing has to be said." });
export const closedSchema = envelope(
  z.strictObject({ strategyId: z.string(), status: z.enum(["CLOSED", "CLOSING"]) }),
);

function envelope<Data extends z.ZodType>(data: Data) {
  return z.strictObject({ status: z.literal(true), message, data });
}
