// The errors that any bot route may answer, or any of a kind: a row says only what is its own.
// Source: specification 5.2 and 7.2; design, section 6.
import type { z } from "zod";
import type { BotRoute } from "../http/bot/route.ts";
import { errorSchema, signatureErrorSchema } from "../http/bot/schemas.ts";
import type { JsonSchema } from "./schema-book.ts";

export type CommonError = {
  readonly status: number;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly hasRetryAfter: boolean;
  /** Which routes may answer it. */
  readonly concerns: (route: BotRoute) => boolean;
};

export const RETRY_AFTER: { readonly description: string; readonly schema: JsonSchema } = {
  description: "After how many seconds to come back.",
  schema: { type: "integer", minimum: 1 },
};

const failure = (message: string) => ({ status: false, message });
const everywhere = () => true;

export const COMMON_ERRORS: readonly CommonError[] = [
  {
    status: 400,
    description: "The key manages no spot strategy.",
    schema: errorSchema,
    example: failure("This API key manages a futures strategy; this route needs the key of a spot strategy"),
    hasRetryAfter: false,
    concerns: ({ strategyType }) => strategyType === "SPOT",
  },
  {
    status: 401,
    description: "The request is not authenticated; the message says what failed.",
    schema: signatureErrorSchema,
    example: {
      ...failure("Invalid signature"),
      messageSha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    },
    hasRetryAfter: false,
    concerns: everywhere,
  },
  {
    status: 413,
    description: "The body is larger than 16 KiB.",
    schema: errorSchema,
    example: failure("The body is too large"),
    hasRetryAfter: false,
    concerns: ({ method }) => method === "POST",
  },
  {
    status: 418,
    description: "The key or the address is banned: for two minutes after ten 429s within one.",
    schema: errorSchema,
    example: failure("This key is banned until 2026-01-01T00:02:00.000Z"),
    hasRetryAfter: true,
    concerns: everywhere,
  },
  {
    status: 429,
    description: "A budget is used up.",
    schema: errorSchema,
    example: failure("Too many reads; current limit is 60 requests per 10 SECOND."),
    hasRetryAfter: true,
    concerns: everywhere,
  },
  {
    status: 500,
    description: "A fault of the service. Sending the same again is safe, a signal under the same key.",
    schema: errorSchema,
    example: failure("An unknown error occurred while processing the request."),
    hasRetryAfter: false,
    concerns: everywhere,
  },
  {
    status: 503,
    description:
      "The database or the market is out of reach, or more waits than may wait. Sending the same again is safe.",
    schema: errorSchema,
    example: failure(
      "Server is currently overloaded with other requests. Please try again in a few minutes.",
    ),
    hasRetryAfter: true,
    concerns: everywhere,
  },
];
