// The pipeline: every step that a request takes, in order, in one function. Nothing else knows the order.
//
//   ban → route → authenticate → charge → admit → parse → carry out → present
//
// Authentication has an order of its own: key → parameters readable → timestamp → recvWindow → signature → window.
// Source: design, section 6 (checks of a signed exchange request).
import type { Desk } from "../desk/desk.ts";
import type { FillProfile, StrategyType } from "../domain/account.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import { type MasterKey, secretOf } from "../identity/api-keys.ts";
import { signedMessage, verifies } from "../identity/signatures.ts";
import type { Budgets, Charged, Usage } from "../limits/budgets.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Store, Strategy } from "../store/store.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { wireError } from "./refusals.ts";

/** What the pipeline and the routes work with. */
export type Gateway = {
  readonly store: Store;
  readonly desk: Desk;
  readonly market: MarketFeed;
  readonly master: MasterKey;
  readonly budgets: Budgets;
  readonly profile: FillProfile;
  /** Wall time, Unix ms: authentication and limits go by it. */
  readonly wallNow: () => number;
  /** A fresh client order id for an order that came without one. */
  readonly newClientOrderId: () => string;
};

export type Request = {
  readonly method: string;
  readonly path: string;
  /** The query as received, without its question mark. */
  readonly query: string;
  /** The body as received. */
  readonly body: string;
  readonly apiKey: string | null;
  /** The client's address. */
  readonly address: string;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
};

/** JSON text that is ready to be sent, where building the value would be a waste; with the status it came with. */
export class ReadyJson {
  readonly text: string;
  readonly status: number;
  constructor(text: string, status = 200) {
    this.text = text;
    this.status = status;
  }
}

export type Answer = Refusal | ReadyJson | object;

type RouteBase = {
  readonly method: "GET" | "POST" | "DELETE";
  /** The first is the route's name, the others are aliases. */
  readonly paths: readonly [string, ...string[]];
  readonly weight: (parameters: Parameters) => number;
};

/** The weight of a route that always costs the same. */
export function fixed(weight: number): RouteBase["weight"] {
  return () => weight;
}

export type PublicRoute = RouteBase & {
  readonly access: "public";
  readonly answer: (parameters: Parameters, gateway: Gateway) => Promise<Answer> | Answer;
};

export type SignedRoute = RouteBase & {
  readonly access: "signed";
  /** The type that the key's strategy must have; null if any will do, or none. */
  readonly family: StrategyType | null;
  /** Counts against the order budgets. */
  readonly placesOrder: boolean;
  /** Needs a LIVE strategy. */
  readonly writes: boolean;
  readonly answer: (call: SignedCall) => Promise<Answer> | Answer;
};

export type Route = PublicRoute | SignedRoute;

export type SignedCall = {
  readonly parameters: Parameters;
  readonly strategyId: string;
  readonly gateway: Gateway;
  /** Whether the request's time window has passed by now: asked again when a command's turn comes. */
  readonly lapsed: () => Refusal | null;
};

/** The rows, by method and path. */
export type RouteTable = ReadonlyMap<string, Route>;

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

/** Answers a request of the exchange-style families. Rejects only if the store has failed. */
export async function handle(request: Request, routes: RouteTable, gateway: Gateway): Promise<Reply> {
  const { budgets } = gateway;
  const now = gateway.wallNow();
  const route = routes.get(`${request.method} ${request.path}`);
  const ip = `ip:${request.address}`;
  const holder = route?.access === "signed" && request.apiKey !== null ? `key:${request.apiKey}` : ip;

  const ban = budgets.ban(holder, now);
  if (ban !== null) return refused(ban.refusal, null, ban.retryAfterSeconds);

  if (route === undefined) return pathUnknown(request);

  if (route.access === "public") {
    const parameters = readParameters(request.query, request.body);
    if (isRefusal(parameters)) return refused(parameters);
    const charged = budgets.charge(ip, now, { weight: route.weight(parameters), placesOrder: false });
    if (charged.refusal !== null) return refusedByBudget(charged);
    return present(await route.answer(parameters, gateway), charged.usage, false);
  }

  const authenticated = await authenticate(request, gateway, now);
  if (isRefusal(authenticated)) {
    const banOfAddress = budgets.ban(ip, now);
    if (banOfAddress !== null) return refused(banOfAddress.refusal, null, banOfAddress.retryAfterSeconds);
    const flood = budgets.chargeFailure(ip, now);
    return flood?.refusal == null ? refused(authenticated) : refusedByBudget(flood);
  }
  const { parameters, strategy, lapsed } = authenticated;

  const weight = route.weight(parameters);
  const charged = budgets.charge(holder, now, { weight, placesOrder: route.placesOrder });
  if (charged.refusal !== null) return refusedByBudget(charged);

  const unfit = admit(route, strategy);
  if (unfit !== null) return refused(unfit, charged.usage);

  const strategyId = strategy?.strategyId ?? "";
  const answer = await route.answer({ parameters, strategyId, gateway, lapsed });
  return present(answer, charged.usage, route.placesOrder);
}

type Authenticated = {
  readonly parameters: Parameters;
  readonly strategy: Strategy | null;
  readonly lapsed: () => Refusal | null;
};

/** How old a request may be unless it says otherwise, and at most, ms. Source: specification 5.1. */
const RECV_WINDOW_DEFAULT_MS = 5_000;
const RECV_WINDOW_MAX_MS = 30_000;
/** How far a client's clock may run ahead, ms. */
const AHEAD_MAX_MS = 1_000;

async function authenticate(
  request: Request,
  gateway: Gateway,
  now: number,
): Promise<Authenticated | Refusal> {
  const bound = request.apiKey === null ? null : await gateway.store.findKey(request.apiKey);
  if (bound === null || bound.key.revokedAt !== null) return { refusal: "KEY_REFUSED" };

  const parameters = readParameters(request.query, request.body);
  if (isRefusal(parameters)) return parameters;
  const timestampText = parameters.get("timestamp") ?? "";
  if (!/^[0-9]{1,16}$/.test(timestampText)) return { refusal: "PARAMETER_MISSING", parameter: "timestamp" };
  const timestamp = Number(timestampText);
  const recvWindowText = parameters.get("recvWindow") ?? String(RECV_WINDOW_DEFAULT_MS);
  const recvWindow = /^[0-9]{1,16}(\.[0-9]{1,16})?$/.test(recvWindowText) ? Number(recvWindowText) : 0;
  if (recvWindow <= 0 || recvWindow > RECV_WINDOW_MAX_MS) return { refusal: "RECV_WINDOW_INVALID" };

  const { message, signature } = signedMessage(request.query, request.body);
  if (signature === null || signature === "") return { refusal: "PARAMETER_MISSING", parameter: "signature" };
  if (!verifies(secretOf(gateway.master, bound.key), message, signature)) return { refusal: "KEY_REFUSED" };

  if (timestamp >= now + AHEAD_MAX_MS) return { refusal: "TIMESTAMP_AHEAD" };
  const lapsed = (): Refusal | null =>
    gateway.wallNow() - timestamp > recvWindow ? { refusal: "TIMESTAMP_TOO_OLD" } : null;
  return lapsed() ?? { parameters, strategy: bound.strategy, lapsed };
}

function admit(route: SignedRoute, strategy: Strategy | null): Refusal | null {
  if (route.family === null) return null;
  if (strategy === null) return { refusal: "KEY_NOT_BOUND" };
  if (strategy.type !== route.family) return { refusal: "KEY_OF_OTHER_FAMILY" };
  if (route.writes && strategy.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  return null;
}

function present(answer: Answer, usage: Usage, placesOrder: boolean): Reply {
  if (isRefusal(answer)) return refused(answer, usage, undefined, placesOrder);
  const headers = usageHeaders(usage, placesOrder);
  if (answer instanceof ReadyJson) return { status: answer.status, headers, body: answer.text };
  return { status: 200, headers, body: JSON.stringify(answer) };
}

/** What an overloaded or marketless service asks clients to wait, s. */
const UNAVAILABLE_RETRY_AFTER_SECONDS = 1;

/** The answer that refuses: the catalogue's status, code and text, and when to come back if that is known. */
export function refused(
  refusal: Refusal,
  usage: Usage | null = null,
  retryAfterSeconds?: number,
  placesOrder = false,
): Reply {
  const { status, code, msg } = wireError(refusal);
  const wait = retryAfterSeconds ?? (status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined);
  return {
    status,
    headers: {
      ...(usage === null ? {} : usageHeaders(usage, placesOrder)),
      ...(wait === undefined ? {} : { "retry-after": String(wait) }),
    },
    body: JSON.stringify({ code, msg }),
  };
}

/** Each family says in its own shape that there is no such path. Source: design, section 6. */
function pathUnknown({ method, path }: Request): Reply {
  const reply = refused({ refusal: "PATH_UNKNOWN", method, path });
  if (!/^\/bot(\/|$)/.test(path)) return reply;
  const message = `There is no ${method} ${path}`;
  return { ...reply, body: JSON.stringify({ status: false, message }) };
}

function refusedByBudget({ refusal, usage, retryAfterSeconds }: Charged): Reply {
  if (refusal === null) throw new Error("only a refusal is refused");
  return refused(refusal, usage, retryAfterSeconds, refusal.refusal === "ORDERS_EXHAUSTED");
}

function usageHeaders(usage: Usage, placesOrder: boolean): Record<string, string> {
  return {
    "x-mbx-used-weight-1m": String(usage.weight),
    ...(placesOrder
      ? { "x-mbx-order-count-10s": String(usage.orders10s), "x-mbx-order-count-1m": String(usage.orders1m) }
      : {}),
  };
}
