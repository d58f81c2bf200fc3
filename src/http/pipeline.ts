// The pipeline: every step that a request takes, in order, in one function. Nothing else knows the order.
//
//   ban → route → authenticate → charge → admit → parse → carry out → present
//
// Authentication has an order of its own: key header → parameters readable → timestamp → recvWindow → key → signature → window. An
// unknown key is refused where a wrong signature is, and what is not signed is answered with the address's usage alone: without the
// secret, a key that there is and one that there is not are answered alike (decision 54). What is learned
// on the way is noted in the request's sighting, for the log of requests; nothing is decided by that.
// Source: design, section 6 (checks of a signed exchange request).
import type { IncomingHttpHeaders } from "node:http";
import type { Desk } from "../desk/desk.ts";
import type { FillProfile, StrategyType } from "../domain/account.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import { secretOf, userIdOf } from "../identity/api-keys.ts";
import type { MasterKey } from "../identity/master-key.ts";
import { signedMessage, verifies } from "../identity/signatures.ts";
import { METRICS_PATH } from "../inspection/metrics.ts";
import {
  BOT_KEY_HEADER,
  type FailedCheck,
  headerOf,
  type RequestObserver,
  type Sighting,
} from "../inspection/sighting.ts";
import { PAGES } from "../inspection/traffic.ts";
import type { Budgets, Charged, Usage } from "../limits/budgets.ts";
import { addressHolder, keyHolder, personHolder } from "../limits/holder.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { TradingPairs } from "../market/pairs.ts";
import type { Signals } from "../signals/signals.ts";
import type { Store, Strategy } from "../store/store.ts";
import { observed } from "./observed.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { type Descriptions, mandatory, optional } from "./parse/descriptions.ts";
import { wireError } from "./refusals.ts";

/** What the pipeline and the routes work with. */
export type Gateway = {
  readonly store: Store;
  readonly desk: Desk;
  readonly signals: Signals;
  /** The pairs that bots are shown. */
  readonly pairs: TradingPairs;
  /** The market that strategies of a type trade on. */
  readonly markets: { readonly [T in StrategyType]: MarketFeed };
  readonly master: MasterKey;
  readonly budgets: Budgets;
  readonly profiles: { readonly [T in StrategyType]: FillProfile };
  /** Wall time, Unix ms: authentication and limits go by it. */
  readonly wallNow: () => number;
  /** A fresh client order id for an order that came without one. */
  readonly newClientOrderId: () => string;
  /** Is told what became of every request. */
  readonly observer: RequestObserver;
};

export type Request = {
  readonly method: string;
  readonly path: string;
  /** The query as received, without its question mark. */
  readonly query: string;
  /** Both as one: what a bot has signed. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as received: a header that is there twice is in it twice. */
  readonly rawHeaders: readonly string[];
  /** The body as received, or why it was not taken in. */
  readonly body: string | Refusal;
  readonly apiKey: string | null;
  /** The client's address. */
  readonly address: string;
};

export type Reply = {
  readonly status: number;
  /** Of a header that is there several times, its values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text, unless `contentType` says what else. */
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** What the body of a refusal says, for the log of requests; the bot family has no codes. */
  readonly refusal?: { readonly code: number | null; readonly message: string };
  /** Whether it shows what an earlier request placed, for the log of requests; it does not unless said. */
  readonly isReplay?: boolean;
};

/** JSON text that is ready to be sent, where building the value would be a waste. */
export class ReadyJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The answer to a placement whose client id was used before: the present state of the first order. Nothing was placed. */
export class Replay {
  readonly body: object;
  constructor(body: object) {
    this.body = body;
  }
}

export type Answer = Refusal | ReadyJson | Replay | object;

/** Says that the answer to a placement is a replay. */
export const REPLAY_HEADERS = { "x-lyrebird-replay": "true" } as const;

type RouteBase = {
  readonly method: "GET" | "POST" | "DELETE";
  /** The first is the route's name, the others are aliases. */
  readonly paths: readonly [string, ...string[]];
  /** What the route does, in a few words, for the API reference. */
  readonly summary: string;
  /** The parameters that it knows, those that it ignores among them; those of every signed request are not. */
  readonly parameters: Descriptions;
  readonly weight: (parameters: Parameters) => number;
};

/** The weight of a route that always costs the same. */
export function fixed(weight: number): () => number {
  return () => weight;
}

export type PublicRoute = RouteBase & {
  readonly access: "public";
  readonly answer: (parameters: Parameters, gateway: Gateway) => Promise<Answer> | Answer;
};

export type SignedRoute = RouteBase & {
  readonly access: "signed";
  /** The names of the parameters that it knows, those that it ignores and those of every signed request among them. */
  readonly known: ReadonlySet<string>;
  /** The type that the key's strategy must have; null if any will do, or none. */
  readonly family: StrategyType | null;
  /** Counts against the order budgets. */
  readonly placesOrder: boolean;
  /** Needs a LIVE strategy. */
  readonly writes: boolean;
  readonly answer: (call: SignedCall<string>) => Promise<Answer> | Answer;
};

export type Route = PublicRoute | SignedRoute;

/** What every signed request says. Source: specification 5.1. */
export const SIGNING_PARAMETERS = {
  timestamp: mandatory(
    "time",
    "When the request was made: not more than `recvWindow` ago, less than a second ahead.",
    { example: "1767225600000" },
  ),
  recvWindow: optional("decimal", "For how many ms the request is valid: more than 0, at most 30000.", {
    default: "5000",
  }),
  signature: mandatory(
    "text",
    "64 lowercase hex digits: HMAC-SHA256 of query and body as sent, without the signature, keyed with the secret.",
    { example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
  ),
} satisfies Descriptions;

/**
 * A row of a signed route. It describes the parameters that it knows, in `parameters`: those that it reads, without which it does
 * not compile, and those that clients send and that it ignores.
 */
export function signedRoute<const Name extends string>(
  row: Omit<SignedRoute, "known" | "parameters" | "weight" | "answer"> & {
    readonly parameters: Descriptions<Name>;
    readonly weight: (parameters: Parameters<NoInfer<Name>>) => number;
    readonly answer: (call: SignedCall<NoInfer<Name>>) => Promise<Answer> | Answer;
  },
): SignedRoute {
  return { ...row, known: new Set(Object.keys({ ...SIGNING_PARAMETERS, ...row.parameters })) };
}

/** What a signed route is asked; its reader may read the parameters `Name`. */
export type SignedCall<Name extends string = never> = {
  readonly parameters: Parameters<Name>;
  readonly strategyId: string;
  /** The person who owns the key. */
  readonly userId: string;
  readonly gateway: Gateway;
  /** When it was charged: wall time, Unix ms. */
  readonly admittedAt: number;
  /** Whether the request's time window has passed by now: asked again when a command's turn comes. */
  readonly lapsed: () => Refusal | null;
};

/** The rows, by method and path. */
export type RouteTable = ReadonlyMap<string, Route>;

/** What is answered to GET and HEAD on a path that is no route's, or null: pages for people. */
export type Pages = (request: Pick<Request, "path" | "headers">) => Reply | null;

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

/** HEAD is answered by the route of GET, without the body. */
export function methodOfRoute(method: string): string {
  return method === "HEAD" ? "GET" : method;
}

/** What a request weighs whose parameters cannot be read: as if it had none. */
const NO_PARAMETERS: Parameters = new Map();

type Answers = { readonly routes: RouteTable; readonly pages: Pages };

/** Answers a request of the exchange-style families, and has it observed. Rejects only if the store has failed. */
export function handle(request: Request, answers: Answers, gateway: Gateway): Promise<Reply> {
  return observed(request, gateway.observer, (sighting) => answered(request, answers, gateway, sighting));
}

async function answered(
  request: Request,
  { routes, pages }: Answers,
  gateway: Gateway,
  sighting: Sighting,
): Promise<Reply> {
  const { budgets, wallNow, observer } = gateway;
  const { body } = request;
  const method = methodOfRoute(request.method);
  const route = routes.get(`${method} ${request.path}`);
  sighting.path = route?.paths.find((path) => path === request.path) ?? null;
  if (route?.access !== "public") sighting.apiKey = request.apiKey;
  if (method === "GET" && request.path === METRICS_PATH) {
    sighting.path = METRICS_PATH;
    return await observer.metrics(request);
  }

  const address = addressHolder(request.address);
  // Whose budgets the route is counted by.
  const holder = route?.access === "signed" && request.apiKey !== null ? keyHolder(request.apiKey) : address;
  // An unsigned request learns the weight of its address only, not how much the key trades.
  const refuse = (refusal: Refusal, retryAfterSeconds?: number): Reply =>
    refused(refusal, { usage: budgets.usage(address, wallNow()), placesOrder: false, retryAfterSeconds });

  const ban = budgets.ban(holder, wallNow());
  if (ban !== null) return refuse(ban.refusal, ban.retryAfterSeconds);

  if (route === undefined) {
    const page = method === "GET" ? pages(request) : null;
    if (page !== null) sighting.path = PAGES;
    return page ?? refuse({ refusal: "PATH_UNKNOWN", method: request.method, path: request.path });
  }
  if (isRefusal(body)) return refuse(body);

  if (route.access === "public") {
    const parameters = readParameters(request.query, body, null);
    const weight = route.weight(isRefusal(parameters) ? NO_PARAMETERS : parameters);
    sighting.weight = weight;
    const charged = budgets.charge(address, wallNow(), { weight, placesOrder: false });
    if (charged.refusal !== null) return await refusedByBudget(charged, charged.usage, false);
    if (isRefusal(parameters)) return refused(parameters, { usage: charged.usage, placesOrder: false });
    return present(await route.answer(parameters, gateway), charged.usage, false);
  }

  const authenticated = await authenticate({ ...request, body }, route, gateway, sighting);
  if ("failed" in authenticated) {
    sighting.failed = authenticated.failed;
    const flood = budgets.chargeFailure(address, wallNow());
    if (flood === null) return refuse(authenticated.because);
    return await refusedByBudget(flood, budgets.usage(address, wallNow()), false);
  }
  const { placesOrder } = route;
  const { parameters, userId, strategy, lapsed } = authenticated;

  const weight = route.weight(parameters);
  sighting.weight = weight;
  const admittedAt = wallNow();
  const person = personHolder(userId);
  const charged = budgets.charge(holder, admittedAt, { weight, placesOrder, person });
  if (charged.refusal !== null) return await refusedByBudget(charged, charged.usage, placesOrder);

  const unfit = admit(route, strategy);
  if (unfit !== null) return refused(unfit, { usage: charged.usage, placesOrder });

  const strategyId = strategy?.strategyId ?? "";
  const answer = await route.answer({ parameters, strategyId, userId, gateway, admittedAt, lapsed });
  if (isRefusal(answer) && answer.refusal === "ORDERS_EXHAUSTED") {
    // The desk holds all gateways together to the same budget; its 429s count like those given here.
    return await refusedByBudget(budgets.refuse(holder, wallNow(), answer), charged.usage, placesOrder);
  }
  return present(answer, charged.usage, placesOrder);
}

type Authenticated = {
  readonly parameters: Parameters;
  readonly userId: string;
  readonly strategy: Strategy | null;
  readonly lapsed: () => Refusal | null;
};

/** How old a request may be unless it says otherwise, and at most, ms. Source: specification 5.1. */
const RECV_WINDOW_DEFAULT_MS = 5_000;
const RECV_WINDOW_MAX_MS = 30_000;
/** How far a client's clock may run ahead, ms. */
const AHEAD_MAX_MS = 1_000;

/** The check that failed, null for a key that there is not, and the refusal that says no more of it than it must. */
type NotLetIn = { readonly failed: FailedCheck | null; readonly because: Refusal };

async function authenticate(
  request: Request & { readonly body: string },
  { known }: SignedRoute,
  gateway: Gateway,
  sighting: Sighting,
): Promise<Authenticated | NotLetIn> {
  const now = gateway.wallNow();
  if (request.apiKey === null) {
    const otherKey = headerOf(request, BOT_KEY_HEADER);
    sighting.apiKey = otherKey === "" ? null : otherKey;
    return { failed: "HEADER", because: { refusal: "KEY_REFUSED" } };
  }
  const bound = await gateway.store.findKey(request.apiKey);
  sighting.key = bound;
  const notLetIn = (failed: FailedCheck, because: Refusal): NotLetIn => ({
    failed: bound === null ? null : failed,
    because,
  });
  const parameters = readParameters(request.query, request.body, known);
  if (isRefusal(parameters)) return notLetIn("PARAMETERS", parameters);
  const timestampText = parameters.get("timestamp") ?? "";
  if (!/^[0-9]{1,16}$/.test(timestampText)) {
    return notLetIn("TIMESTAMP", { refusal: "PARAMETER_MISSING", parameter: "timestamp" });
  }
  const timestamp = Number(timestampText);
  const recvWindowText = parameters.get("recvWindow") ?? String(RECV_WINDOW_DEFAULT_MS);
  const recvWindow = /^[0-9]{1,16}(\.[0-9]{1,16})?$/.test(recvWindowText) ? Number(recvWindowText) : 0;
  if (recvWindow <= 0 || recvWindow > RECV_WINDOW_MAX_MS) {
    return notLetIn("RECV_WINDOW", { refusal: "RECV_WINDOW_INVALID" });
  }

  const { message, signature } = signedMessage(request.query, request.body);
  if (signature === null || signature === "") {
    return notLetIn("SIGNATURE_MISSING", { refusal: "PARAMETER_MISSING", parameter: "signature" });
  }
  if (bound === null || bound.key.revokedAt !== null) return notLetIn("HEADER", { refusal: "KEY_REFUSED" });
  if (!verifies(secretOf(gateway.master, bound.key), message, signature)) {
    return notLetIn("SIGNATURE", { refusal: "KEY_REFUSED" });
  }

  if (timestamp >= now + AHEAD_MAX_MS) return notLetIn("WINDOW", { refusal: "TIMESTAMP_AHEAD" });
  const lapsed = (): Refusal | null =>
    gateway.wallNow() - timestamp > recvWindow ? { refusal: "TIMESTAMP_TOO_OLD" } : null;
  const tooOld = lapsed();
  if (tooOld !== null) return notLetIn("WINDOW", tooOld);
  return { parameters, userId: userIdOf(bound.key), strategy: bound.strategy, lapsed };
}

function admit(route: SignedRoute, strategy: Strategy | null): Refusal | null {
  if (route.family === null) return null;
  if (strategy === null) return { refusal: "KEY_NOT_BOUND" };
  if (strategy.type !== route.family) return { refusal: "KEY_OF_OTHER_FAMILY" };
  if (route.writes && strategy.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  return null;
}

function present(answer: Answer, usage: Usage, placesOrder: boolean): Reply {
  if (isRefusal(answer)) return refused(answer, { usage, placesOrder });
  const headers = usageHeaders(usage, placesOrder);
  if (answer instanceof Replay) {
    const body = JSON.stringify(answer.body);
    return { status: 200, headers: { ...headers, ...REPLAY_HEADERS }, body, isReplay: true };
  }
  if (answer instanceof ReadyJson) return { status: 200, headers, body: answer.text };
  return { status: 200, headers, body: JSON.stringify(answer) };
}

/** What an overloaded or marketless service asks clients to wait, s. */
const UNAVAILABLE_RETRY_AFTER_SECONDS = 1;

/** What the headers of a refusal say: how budgets stand, those of orders too if it is a placement, and when to come back. */
type RefusalHeaders = {
  readonly usage: Usage;
  readonly placesOrder: boolean;
  readonly retryAfterSeconds?: number | undefined;
};

/** The answer that refuses: the catalogue's status, code and text. Without `says`, that of a request of no route. */
export function refused(refusal: Refusal, says: RefusalHeaders | null = null): Reply {
  const { status, code, msg } = wireError(refusal);
  const wait = says?.retryAfterSeconds ?? (status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined);
  return {
    status,
    headers: {
      ...(says === null ? {} : usageHeaders(says.usage, says.placesOrder)),
      ...(wait === undefined ? {} : { "retry-after": String(wait) }),
    },
    body: JSON.stringify({ code, msg }),
    refusal: { code, message: msg },
  };
}

/** A ban that this refusal began is durable before anybody hears of the refusal. */
async function refusedByBudget(
  { refusal, retryAfterSeconds, banStored }: Charged,
  usage: Usage,
  placesOrder: boolean,
): Promise<Reply> {
  if (refusal === null) throw new Error("only a refusal is refused");
  await banStored;
  return refused(refusal, { usage, placesOrder, retryAfterSeconds });
}

function usageHeaders(usage: Usage, placesOrder: boolean): Record<string, string> {
  return { ...weightHeader(usage), ...(placesOrder ? orderCountHeaders(usage) : {}) };
}

export function weightHeader({ weight }: Usage): Record<string, string> {
  return { "x-mbx-used-weight-1m": String(weight) };
}

export function orderCountHeaders({ orders10s, orders1m }: Usage): Record<string, string> {
  return { "x-mbx-order-count-10s": String(orders10s), "x-mbx-order-count-1m": String(orders1m) };
}
