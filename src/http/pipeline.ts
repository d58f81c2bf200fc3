// The request pipeline. The order of its steps is written here and nowhere else:
//   ban → route → authenticate → charge → admit → parse → answer → present
// The exchange-style routes, the WebSocket API, the bot family and the dashboard share it; what differs
// between them is a `Protocol`. Rows say what is parsed, answered and presented. Invariant: what the steps
// record in the request context, for the request log, has no influence on the answer.
import type { IncomingHttpHeaders } from "node:http";
import type { Desk } from "../desk/desk.ts";
import type { StrategyType } from "../domain/account.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { TradingPairs } from "../market/pairs.ts";
import type { FailedCheck, RequestContext, RequestObserver } from "../observability/request-context.ts";
import { PAGES } from "../observability/traffic.ts";
import type { Budgets, Charged, Usage } from "../rate-limits/budgets.ts";
import { addressHolder, keyHolder } from "../rate-limits/holder.ts";
import type { Signals } from "../signals/signals.ts";
import type { Store } from "../store/store.ts";

/**
 * The services that rows may use. The type of each `answer` names its own: `Pick<Ports, "desk" | "store">`.
 */
export type Ports = {
  readonly store: Store;
  readonly desk: Desk;
  readonly signals: Signals;
  /** The pairs that bots are shown. */
  readonly pairs: TradingPairs;
  /** Whether the shadow of an order runs on this server: see `triggers/shadows/`. */
  readonly counterfactuals: { isRunning(strategyId: string, orderId: number): boolean };
  /** The market that strategies of a type trade on. */
  readonly markets: { readonly [T in StrategyType]: MarketFeed };
  /** Wall time, Unix ms: authentication and limits use it. */
  readonly wallNow: () => number;
  /** A fresh client order id for an order that was sent without one. */
  readonly newClientOrderId: () => string;
};

/** The ports, and what the pipeline alone uses. */
export type Gateway = Ports & {
  readonly master: MasterKey;
  readonly budgets: Budgets;
  /** Is notified of every request and its answer. */
  readonly observer: RequestObserver;
};

export type Request = {
  readonly method: string;
  readonly path: string;
  /** The query as received, without its question mark. */
  readonly query: string;
  /** Path and query: the part of a bot's signed message. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as received: a header that was sent twice is in it twice. */
  readonly rawHeaders: readonly string[];
  /** The body as received, or why it was not read. */
  readonly body: string | Refusal;
  readonly apiKey: string | null;
  /** The client's address. */
  readonly address: string;
};

export type Reply = {
  readonly status: number;
  /** A header that is sent several times has a list of values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text, unless `contentType` says otherwise. */
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** Code and message of a refusal, for the request log; the bot family has no codes. */
  readonly refusal?: { readonly code: number | null; readonly message: string };
  /** Whether it shows what an earlier request placed, for the request log; false by default. */
  readonly isReplay?: boolean;
};

/** Answers GET and HEAD on a path without a route: pages for people. Null if there is no page. */
export type Pages = (request: Pick<Request, "path" | "headers">) => Reply | null;

/** The answers of a family when no route answers: the server refuses, or something has failed. */
export type Messages = {
  readonly refused: (refusal: Refusal) => Reply;
  /** The store failed during a request: it may have been executed or not. */
  readonly outcomeUnknown: Reply;
  /** A bug. It is not known whether it came before or after the effect of the request. */
  readonly fault: Reply;
};

/** An API family: requests that are recognized by their paths and answered alike. */
export type ApiFamily = {
  takes(path: string): boolean;
  answer(request: Request): Promise<Reply>;
  readonly words: Messages;
  /** Answered under overload too, since an answer costs very little. */
  readonly isNeverRefused?: boolean;
};

/** What the exchange lists, as rows may read it while they parse: without waiting. */
export type Listings = { readonly [T in StrategyType]: Pick<MarketFeed, "exchangeInfo" | "rules"> };

/**
 * What the pipeline knows of a row. The functions that make rows check that the types of its steps fit
 * together; a table holds them as unknown. Each step may return a refusal, which ends the request.
 */
export type Row<A, Call, Answer> = {
  /** Turns what was asked into typed input. Pure. A row without it has no input. */
  parse?(asked: A, listings: Listings): unknown;
  /** Does the work, with the ports that its type names. */
  answer(input: unknown, ports: Ports, call: Call): unknown;
  /** Turns the result into the body. Pure. A row without it answers with its result. */
  present?(result: unknown, call: Call): Answer;
};

/** A row whose `answer` takes input must parse it. */
export type ParsesInput<Input> = [Input] extends [undefined] ? unknown : { readonly parse: unknown };

/** A request that was authenticated, or needs no authentication. */
export type Caller<A> = {
  /** What the row parses, or why it cannot be read. */
  readonly asked: A | Refusal;
};

/** What a row demands of the strategy of a key. */
export type StrategyNeeds = {
  /** The type that it must have; null if any will do, or none. */
  readonly strategyType: StrategyType | null;
  /** Needs a LIVE strategy. */
  readonly writes: boolean;
};

/** When the request was charged: wall time, Unix ms. */
type Admitted = { readonly admittedAt: number };

/** The check that failed, null for an unknown key, and a refusal that reveals no more than it must. */
export type Unauthenticated<Answer> = { readonly failed: FailedCheck | null; readonly because: Answer };

/** Whose budget refuses a request, and when the client may come back. */
export type Limit = { readonly owner: "key" | "address"; readonly retryAfterSeconds: number };

type Cost = Parameters<Budgets["charge"]>[2];

/** The counts after the charge, for the headers of an answer. */
export type Counts = {
  readonly usage: Usage;
  /** Reads of the bot family in the present ten seconds; 0 unless the request is one. */
  readonly reads: number;
};

/** A request for a route, with its body as received. */
export type Asked<R> = { readonly request: Request; readonly body: string; readonly route: R };

/** What differs between the families. */
export type Protocol<R, C, Answer> = {
  /** Whether a ban of the key or the address ends here as well. */
  readonly heedsBans: boolean;
  /** The key whose budgets a request counts against; null for those of its address. */
  keyOf(request: Request, route: R): string | null;
  authenticate(
    asked: Asked<R>,
    gateway: Pick<Gateway, "store" | "master" | "wallNow">,
    context: RequestContext,
  ): Promise<C | Unauthenticated<Answer>>;
  /** What the request is charged; null if authentication has charged it. */
  cost(route: R, caller: C): Cost | null;
  /** Why the caller may not use the row; null if it may. */
  admit(route: R, caller: C): Refusal | null;
  /** The headers with the state of the budgets; `ofAddress` before anything was charged, `ofRoute` after. */
  readonly usageHeaders: {
    ofAddress(usage: Usage): Readonly<Record<string, string>>;
    ofRoute(route: R, counts: Counts): Readonly<Record<string, string>>;
  };
  /** The envelope of a body or a refusal; `limit` if a budget or a ban refuses it. */
  envelope(answer: Answer | Refusal, headers: Readonly<Record<string, string>>, limit?: Limit): Reply;
};

/** HEAD is answered by the route of GET, without the body. */
export function methodOfRoute(method: string): string {
  return method === "HEAD" ? "GET" : method;
}

/** Answers a request by its steps, which record in its context what they learn. Rejects if they do. */
export async function observed(
  request: Request,
  observer: RequestObserver,
  steps: (context: RequestContext) => Promise<Reply>,
): Promise<Reply> {
  const context = observer.received();
  try {
    const reply = await steps(context);
    observer.answered(context, request, reply);
    return reply;
  } catch (error) {
    observer.failed(context, request, error);
    throw error;
  }
}

/** The steps of a request, in order. Rejects only if the store has failed. */
export async function respond<A, C extends Caller<A>, Answer, R extends Row<A, C & Admitted, Answer>>(
  request: Request,
  target: { readonly route: R | null; readonly protocol: Protocol<R, C, Answer>; readonly pages: Pages },
  gateway: Gateway,
  context: RequestContext,
): Promise<Reply> {
  const { budgets, wallNow } = gateway;
  const { route, protocol, pages } = target;
  const { body } = request;
  const address = addressHolder(request.address);
  const key = route === null ? null : protocol.keyOf(request, route);
  const holder = key === null ? address : keyHolder(key);
  const owner: Limit["owner"] = key === null ? "address" : "key";
  // A refusal before the charge shows the usage of the address only, not how much the key trades.
  const refuse = (refusal: Answer | Refusal, limit?: Limit): Reply =>
    protocol.envelope(refusal, protocol.usageHeaders.ofAddress(budgets.usage(address, wallNow())), limit);

  const ban = protocol.heedsBans ? budgets.ban(holder, wallNow()) : null;
  if (ban !== null) return refuse(ban.refusal, { owner, retryAfterSeconds: ban.retryAfterSeconds });

  if (route === null) {
    const page = methodOfRoute(request.method) === "GET" ? pages(request) : null;
    if (page !== null) context.path = PAGES;
    return page ?? refuse({ refusal: "PATH_UNKNOWN", method: request.method, path: request.path });
  }
  if (isRefusal(body)) return refuse(body);

  const caller = await protocol.authenticate({ request, body, route }, gateway, context);
  if ("failed" in caller) {
    context.failed = caller.failed;
    const flood = budgets.chargeFailure(address, wallNow());
    if (flood === null || flood.refusal === null) return refuse(caller.because);
    const tooMany = refuse(flood.refusal, { owner: "address", retryAfterSeconds: flood.retryAfterSeconds });
    await flood.banStored;
    return tooMany;
  }

  const admittedAt = wallNow();
  const cost = protocol.cost(route, caller);
  const charged = cost === null ? null : budgets.charge(holder, admittedAt, cost);
  const usage = charged?.usage ?? budgets.usage(holder, admittedAt);
  const reads = cost?.isRead === true ? budgets.reads(holder, admittedAt) : 0;
  context.weight = cost?.weight ?? 0;
  const reply = (answer: Answer | Refusal, limit?: Limit): Reply =>
    protocol.envelope(answer, protocol.usageHeaders.ofRoute(route, { usage, reads }), limit);
  // A ban that a refusal began is durable before the client can know of it.
  const overBudget = async (refusal: Refusal, { retryAfterSeconds, banStored }: Charged): Promise<Reply> => {
    await banStored;
    return reply(refusal, { owner, retryAfterSeconds });
  };
  if (charged !== null && charged.refusal !== null) return await overBudget(charged.refusal, charged);

  const unfit = protocol.admit(route, caller);
  if (unfit !== null) return reply(unfit);

  const { asked } = caller;
  const call = { ...caller, admittedAt };
  const input = isRefusal(asked) ? asked : route.parse?.(asked, gateway.markets);
  const result = isRefusal(input) ? input : await route.answer(input, gateway, call);
  if (isRefusal(result) && result.refusal === "ORDERS_EXHAUSTED") {
    // The desk holds all gateways together to the same budget; its 429s count like those given here.
    return await overBudget(result, budgets.refuse(holder, wallNow(), result));
  }
  return reply(
    (isRefusal(result) || route.present === undefined ? result : route.present(result, call)) as Answer,
  );
}

/** Admits the key of a request by its strategy, which is null while the key manages none. */
export function admitStrategy(
  { strategyType, writes }: StrategyNeeds,
  { strategy }: { readonly strategy: Strategy | null },
): Refusal | null {
  if (strategyType === null) return null;
  if (strategy === null) return { refusal: "KEY_NOT_BOUND" };
  if (strategy.type !== strategyType) return { refusal: "KEY_OF_OTHER_FAMILY" };
  if (writes && strategy.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  return null;
}
