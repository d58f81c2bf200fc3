// The protocol of the bot family: routes under /bot, signed in three headers. Its budgets and bans are those
// of the exchange-style routes: a key that is banned there is banned here. Errors are `{ status: false,
// message }`, from whichever step they come.
// Source: specification 5.2, 7.2 and 8.2; design, section 6.
import type { Refusal, RefusalName } from "../../domain/refusal.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { BOT_KEY_HEADER, headerOf } from "../../observability/request-context.ts";
import { personHolder } from "../../rate-limits/holder.ts";
import {
  FAULT,
  OUTCOME_UNKNOWN,
  orderCountHeaders,
  REPLAY_HEADERS,
  retryHeader,
  weightHeader,
} from "../exchange.ts";
import {
  admitStrategy,
  type Gateway,
  type Limit,
  type Messages,
  methodOfRoute,
  observed,
  type Protocol,
  type Reply,
  type Request,
  respond,
} from "../pipeline.ts";
import { wireError } from "../refusals.ts";
import { authenticate } from "./authenticate.ts";
import { type BotAnswer, type BotCaller, type BotRoute, type Failure, failure } from "./route.ts";
import { routeOf } from "./routes.ts";

/** Whether a path belongs to the bot family, with or without a route. */
export function isBotPath(path: string): boolean {
  return path.startsWith("/bot/") || path === "/bot";
}

/** Answers a request of the bot family, and notifies the observer. Rejects only if the store has failed. */
export function handleBot(request: Request, gateway: Gateway): Promise<Reply> {
  return observed(request, gateway.observer, (context) => {
    const route = routeOf(methodOfRoute(request.method), request.path);
    const key = headerOf(request, BOT_KEY_HEADER);
    context.scheme = "BOT";
    context.path = route?.path ?? null;
    context.apiKey = key === "" ? request.apiKey : key;
    return respond(request, { route, protocol: BOT, pages: () => null }, gateway, context);
  });
}

/** The cost of each kind of route. */
const COSTS = {
  READ: { weight: 0, placesOrder: false, isRead: true },
  SUBMISSION: { weight: 0, placesOrder: true },
  WEIGHT: { weight: 1, placesOrder: false },
} as const satisfies { readonly [Charge in BotRoute["charge"]]: object };

const BOT: Protocol<BotRoute, BotCaller, BotAnswer> = {
  heedsBans: true,
  keyOf(request) {
    const key = headerOf(request, BOT_KEY_HEADER);
    return key === "" ? null : key;
  },
  authenticate,
  cost: ({ charge }, { userId }) => ({ ...COSTS[charge], person: personHolder(userId) }),
  admit: admitStrategy,
  usageHeaders: {
    ofAddress: () => ({}),
    ofRoute({ charge }, { usage, reads }): Record<string, string> {
      switch (charge) {
        case "READ":
          return { "x-bot-used-reads-10s": String(reads) };
        case "SUBMISSION":
          return orderCountHeaders(usage);
        case "WEIGHT":
          return weightHeader(usage);
      }
    },
  },
  envelope(answer, headers, limit) {
    if (isFailure(answer)) return refused(answer, headers, limit);
    const { status, body, isReplay = false } = answer;
    return {
      status,
      headers: isReplay ? { ...headers, ...REPLAY_HEADERS } : headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
      isReplay,
    };
  },
};

export const BOT_MESSAGES: Messages = {
  refused: (refusal) => refused(refusal),
  outcomeUnknown: refused(failure(503, OUTCOME_UNKNOWN)),
  fault: refused(failure(500, FAULT)),
};

function isFailure(answer: BotAnswer): answer is Failure | Refusal {
  return isRefusal(answer);
}

function refused(
  refusal: Failure | Refusal,
  headers: Readonly<Record<string, string>> = {},
  limit?: Limit,
): Reply {
  const { refusal: _name, status, message, ...more } = failureOf(refusal, limit);
  return {
    status,
    headers: { ...headers, ...retryHeader(status, limit?.retryAfterSeconds) },
    body: JSON.stringify({ status: false, message, ...more }),
    refusal: { code: null, message },
  };
}

/** Messages of its own, where those of the exchange-style routes do not fit. */
const OWN_MESSAGES: { readonly [Name in RefusalName]?: string } = {
  BODY_TOO_LARGE: "The body is too large",
  REQUEST_MALFORMED: "The body is not UTF-8 text",
  KEY_OF_OTHER_FAMILY: "This API key manages a futures strategy; this route needs the key of a spot strategy",
};

function failureOf(refusal: Failure | Refusal, limit: Limit | undefined): Failure {
  if (refusal.refusal === "FAILURE") return refusal;
  if (refusal.refusal === "PATH_UNKNOWN" && refusal.path !== "") {
    return failure(404, `There is no ${refusal.method} ${refusal.path}`);
  }
  const { status, msg } = wireError(refusal);
  if (refusal.refusal === "BANNED" && limit !== undefined) {
    const until = new Date(refusal.until).toISOString();
    return failure(status, `This ${limit.owner} is banned until ${until}`);
  }
  return failure(status, OWN_MESSAGES[refusal.refusal] ?? msg);
}
