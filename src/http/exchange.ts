// The protocol of the exchange-style routes: how a request is signed, what it costs, and the form of answers
// and refusals. Authentication checks in this order: key header → parameters readable → timestamp →
// recvWindow → key → signature → window. Invariant: an unknown key fails at the same check, with the same
// refusal, as a wrong signature, so that nobody without the secret learns which keys exist (decision 54).
// Source: design, section 6 (checks of a signed exchange request).
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { BoundKey } from "../domain/strategy.ts";
import { secretOf, userIdOf } from "../keys/api-keys.ts";
import { signedMessage, verifies } from "../keys/signatures.ts";
import { METRICS_PATH } from "../observability/metrics.ts";
import {
  BOT_KEY_HEADER,
  type FailedCheck,
  headerOf,
  type RequestContext,
} from "../observability/request-context.ts";
import type { Usage } from "../rate-limits/budgets.ts";
import { personHolder } from "../rate-limits/holder.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import {
  type Asked,
  admitStrategy,
  type Gateway,
  type Messages,
  methodOfRoute,
  observed,
  type Pages,
  type Protocol,
  type Reply,
  type Request,
  respond,
  type Unauthenticated,
} from "./pipeline.ts";
import { wireError } from "./refusals.ts";
import { type Answer, type ExchangeCaller, ReadyJson, Replay, type Route } from "./route.ts";

export const EXCHANGE: Protocol<Route, ExchangeCaller, Answer> = {
  heedsBans: true,
  // A key alone proves nothing: what is asked with it counts against the address, as on the exchange.
  keyOf: ({ apiKey }, { access }) => (access === "signed" ? apiKey : null),
  authenticate,
  cost: ({ weight, placesOrder }, { asked, userId }) => ({
    weight: weight(isRefusal(asked) ? NO_PARAMETERS : asked),
    placesOrder,
    person: personHolder(userId),
  }),
  admit: admitStrategy,
  usageHeaders: {
    ofAddress: weightHeader,
    ofRoute: ({ placesOrder }, { usage }) =>
      placesOrder ? { ...weightHeader(usage), ...orderCountHeaders(usage) } : weightHeader(usage),
  },
  envelope(answer, headers, limit) {
    if (isRefusal(answer)) return refused(answer, headers, limit?.retryAfterSeconds);
    if (answer instanceof Replay) {
      const body = JSON.stringify(answer.body);
      return { status: 200, headers: { ...headers, ...REPLAY_HEADERS }, body, isReplay: true };
    }
    if (answer instanceof ReadyJson) return { status: 200, headers, body: answer.text };
    return { status: 200, headers, body: JSON.stringify(answer) };
  },
};

/** The rows, by method and path. */
type RouteTable = ReadonlyMap<string, Route>;

export function routeTable(routes: readonly Route[]): RouteTable {
  const table = new Map<string, Route>();
  for (const route of routes) {
    for (const path of route.paths) {
      const name = `${route.method} ${path}`;
      if (table.has(name)) throw new Error(`a path belongs to one route: ${name}`);
      table.set(name, route);
    }
  }
  return table;
}

/**
 * Answers a request of the exchange-style routes, and notifies the observer. Rejects only if the store has
 * failed.
 */
export function handle(
  request: Request,
  { routes, pages }: { readonly routes: RouteTable; readonly pages: Pages },
  gateway: Gateway,
): Promise<Reply> {
  return observed(request, gateway.observer, (context) => {
    const method = methodOfRoute(request.method);
    const route = routes.get(`${method} ${request.path}`) ?? null;
    context.path = route?.paths.find((path) => path === request.path) ?? null;
    if (route?.access !== "public") context.apiKey = request.apiKey;
    if (method === "GET" && request.path === METRICS_PATH) {
      context.path = METRICS_PATH;
      return gateway.observer.metrics(request);
    }
    return respond(request, { route, protocol: EXCHANGE, pages }, gateway, context);
  });
}

export const OUTCOME_UNKNOWN =
  "Timeout waiting for response from backend server. Send status unknown; execution status unknown.";
export const FAULT = "An unknown error occurred while processing the request.";

export const EXCHANGE_MESSAGES: Messages = {
  refused: (refusal) => refused(refusal),
  outcomeUnknown: {
    status: 503,
    headers: { "retry-after": "1" },
    body: JSON.stringify({ code: -1007, msg: OUTCOME_UNKNOWN }),
  },
  fault: { status: 500, headers: {}, body: JSON.stringify({ code: -1000, msg: FAULT }) },
};

/** The weight of a request whose parameters cannot be read is that of one without parameters. */
const NO_PARAMETERS: Parameters = new Map();
/** How old a request may be by default, and at most, ms. Source: specification 5.1. */
const RECV_WINDOW_DEFAULT_MS = 5_000;
const RECV_WINDOW_MAX_MS = 30_000;
/** How far a client's clock may run ahead, ms. */
const AHEAD_MAX_MS = 1_000;

/** Passes the promise of the checks on: each async function more costs every request. */
function authenticate(
  { request, body, route }: Asked<Route>,
  gateway: Pick<Gateway, "store" | "master" | "wallNow">,
  context: RequestContext,
): Promise<ExchangeCaller | Unauthenticated<Answer>> {
  const { access, known } = route;
  const { apiKey, query } = request;
  if (access === "public") return Promise.resolve({ ...NOBODY, asked: readParameters(query, body, known) });
  if (apiKey === null) {
    const otherKey = headerOf(request, BOT_KEY_HEADER);
    context.apiKey = otherKey === "" ? null : otherKey;
    return Promise.resolve({ failed: "HEADER", because: { refusal: "KEY_REFUSED" } });
  }
  const read = () => readParameters(query, body, known);
  if (access === "key")
    return authenticateKey({ apiKey, readParameters: read, proof: "KEY" }, gateway, context);
  const { message, signature } = signedMessage(query, body);
  const proof = { signature, message };
  return authenticateKey({ apiKey, readParameters: read, proof }, gateway, context);
}

/** What a request says of its sender, however it was brought. */
export type Credentials = {
  readonly apiKey: string;
  /** Reads the parameters, once the key was looked up. */
  readonly readParameters: () => Parameters | Refusal;
  /**
   * The signature as sent, null if there is none, with the text that was signed: bytes, one a character;
   * `others` makes the texts that may have been signed instead. SESSION: the sender has signed on before.
   * KEY: the key is enough, and no time is asked for.
   */
  readonly proof:
    | {
        readonly signature: string | null;
        readonly message: string;
        readonly others?: () => readonly string[];
      }
    | "SESSION"
    | "KEY";
};

/**
 * The checks of a signed request, in the order of this file's header. Listen keys need the header alone, as
 * on the exchange: each wrong key counts as a failed authentication of the address.
 */
export async function authenticateKey(
  { apiKey, readParameters, proof }: Credentials,
  gateway: Pick<Gateway, "store" | "master" | "wallNow">,
  context: RequestContext,
): Promise<ExchangeCaller | Unauthenticated<Answer>> {
  const now = gateway.wallNow();
  const bound = await gateway.store.findKey(apiKey);
  context.key = bound;
  const unauthenticated = (failed: FailedCheck, because: Refusal): Unauthenticated<Answer> => ({
    failed: bound === null ? null : failed,
    because,
  });
  const parameters = readParameters();
  if (isRefusal(parameters)) return unauthenticated("PARAMETERS", parameters);
  if (proof === "KEY") {
    if (bound === null || bound.key.revokedAt !== null) {
      return unauthenticated("HEADER", { refusal: "KEY_REFUSED" });
    }
    return { ...callerOf(bound), asked: parameters, lapsed: () => null };
  }
  const timestampText = parameters.get("timestamp") ?? "";
  if (!/^-?[0-9]+$/.test(timestampText)) {
    return unauthenticated("TIMESTAMP", { refusal: "PARAMETER_MISSING", parameter: "timestamp" });
  }
  const timestamp = Number(timestampText);
  const recvWindowText = parameters.get("recvWindow") ?? String(RECV_WINDOW_DEFAULT_MS);
  const recvWindow = recvWindowOf(recvWindowText);
  if (recvWindow === null) {
    return unauthenticated("RECV_WINDOW", { refusal: "RECV_WINDOW_INVALID" });
  }

  const isSigned = proof !== "SESSION";
  if (isSigned && (proof.signature ?? "") === "") {
    return unauthenticated("SIGNATURE_MISSING", { refusal: "PARAMETER_MISSING", parameter: "signature" });
  }
  if (bound === null || bound.key.revokedAt !== null) {
    return unauthenticated("HEADER", { refusal: "KEY_REFUSED" });
  }
  if (isSigned) {
    const secret = secretOf(gateway.master, bound.key);
    const isSigner = (message: string) => verifies(secret, message, proof.signature ?? "");
    if (!isSigner(proof.message) && proof.others?.().some(isSigner) !== true) {
      return unauthenticated("SIGNATURE", { refusal: "KEY_REFUSED" });
    }
  }

  if (timestamp >= now + AHEAD_MAX_MS) return unauthenticated("WINDOW", { refusal: "TIMESTAMP_AHEAD" });
  const lapsed = (): Refusal | null =>
    gateway.wallNow() - timestamp > recvWindow ? { refusal: "TIMESTAMP_TOO_OLD" } : null;
  const tooOld = lapsed();
  if (tooOld !== null) return unauthenticated("WINDOW", tooOld);
  return { ...callerOf(bound), asked: parameters, lapsed };
}

/** How old the request may be, ms; null for what is no decimal, or out of bounds. */
function recvWindowOf(text: string): number | null {
  const [, whole = "", fraction = ""] = /^([0-9]{1,16})(?:\.([0-9]{1,16}))?$/.exec(text) ?? [];
  // A text just above the maximum may be rounded to it as a number.
  const atLeast = Number(whole) + (/[1-9]/.test(fraction) ? 1 : 0);
  return atLeast > 0 && atLeast <= RECV_WINDOW_MAX_MS ? Number(text) : null;
}

function callerOf({ key, strategy }: BoundKey): Omit<ExchangeCaller, "asked" | "lapsed"> {
  return { apiKey: key.apiKey, strategy, strategyId: strategy?.strategyId ?? "", userId: userIdOf(key) };
}

/** The sender of a public request. */
export const NOBODY = {
  apiKey: "",
  strategy: null,
  strategyId: "",
  userId: "",
  lapsed: () => null,
} as const;

/** Marks the answer to a placement as a replay. */
export const REPLAY_HEADERS = { "x-lyrebird-replay": "true" } as const;

/** How long clients of an overloaded service, or of one without a market, should wait, s. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 1;

/** When a client that was refused may come back. */
export function retryHeader(
  status: number,
  seconds = status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined,
): Record<string, string> {
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** The answer that refuses: status, code and text of the catalogue. */
export function refused(
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
  retryAfterSeconds?: number,
): Reply {
  const { status, code, msg } = wireError(refusal);
  return {
    status,
    headers: { ...headers, ...retryHeader(status, retryAfterSeconds) },
    body: JSON.stringify({ code, msg }),
    refusal: { code, message: msg },
  };
}

/** With and without its span, as spot sends it: some clients read only the header without. */
export function weightHeader({ weight }: Usage): Record<string, string> {
  const used = String(weight);
  return { "x-mbx-used-weight": used, "x-mbx-used-weight-1m": used };
}

export function orderCountHeaders({ orders10s, orders1m }: Usage): Record<string, string> {
  return { "x-mbx-order-count-10s": String(orders10s), "x-mbx-order-count-1m": String(orders1m) };
}
