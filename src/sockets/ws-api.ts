// The WebSocket API: requests and answers over one connection, sessions, and on spot the user data
// subscriptions. A request passes the same steps as over REST (`http/pipeline.ts`): ban, authenticate,
// charge, admit, parse, answer, present; only the envelope and the signed text differ. Answers may overtake
// each other. The answer to a subscription precedes its events.
// Source: reference sockets, sections 6, 8 and 11; where our keys differ (HMAC sessions), section 8.3 "GW".
import type { Logger } from "pino";
import type { Cancel } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import {
  authenticateKey,
  EXCHANGE,
  FAULT,
  NOBODY,
  OUTCOME_UNKNOWN,
  UNAVAILABLE_RETRY_AFTER_SECONDS,
} from "../http/exchange.ts";
import { Overload } from "../http/overload.ts";
import type { Parameters } from "../http/parameters.ts";
import { execute, type Gateway, type Outcome, observed, type Reply, type Request } from "../http/pipeline.ts";
import { type WireError, wireError } from "../http/refusals.ts";
import {
  type Answer,
  type ExchangeCaller,
  ReadyJson,
  Replay,
  type Route,
  type SignedCall,
} from "../http/route.ts";
import { RATE_LIMITS } from "../http/routes/exchange-info.ts";
import type { KeyChecks } from "../keys/key-checks.ts";
import type { Sighting } from "../observability/sighting.ts";
import type { Usage } from "../rate-limits/budgets.ts";
import { addressHolder, keyHolder } from "../rate-limits/holder.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { isKeyText } from "../streams/handshake.ts";
import { type ApiFrame, formOf, readFrame, signedTexts, type UnreadFrame } from "./api-frame.ts";
import { methodsOf } from "./api-methods.ts";
import type { Connection, ConnectionHandler } from "./connection.ts";
import {
  FUTURES_PING,
  REQUESTS_IN_FLIGHT_MAX,
  SPOT_PING,
  SUBSCRIPTIONS_PER_CONNECTION_MAX,
  USER_STREAMS_PER_KEY_MAX,
} from "./limits.ts";
import type { Endpoint, Upgrade } from "./server.ts";
import type { UserStreams } from "./user-streams.ts";

export type WsApiParts = {
  readonly gateway: Gateway;
  readonly routes: readonly Route[];
  readonly userStreams: Pick<UserStreams, "open">;
  readonly keyChecks: KeyChecks;
  readonly log: Pick<Logger, "warn" | "error">;
};

const PLACES = {
  SPOT: { path: "/ws-api/v3", ping: SPOT_PING, connectWeight: 2, version: /^v3\// },
  FUTURES: { path: "/ws-fapi/v1", ping: FUTURES_PING, connectWeight: 5, version: /^v1\// },
} as const;
/** The weight of the methods of sessions and subscriptions. */
const SESSION_WEIGHT = 2;

/** The endpoints of both families. */
export function createWsApi(parts: WsApiParts): readonly Endpoint[] {
  const overload = new Overload();
  return (["SPOT", "FUTURES"] as const).map((type) => {
    const { path, ping, connectWeight } = PLACES[type];
    const methods = methodsOf(type, parts.routes);
    const { budgets, wallNow } = parts.gateway;
    return {
      takes: (asked) => asked === path,
      ping,
      refusalOf({ address }) {
        const cost = { weight: connectWeight, placesOrder: false };
        const { refusal } = budgets.charge(addressHolder(address), wallNow(), cost);
        return refusal === null ? null : wireError(refusal);
      },
      open: (connection, upgrade) =>
        new ApiConnection(connection, upgrade, { ...parts, type, methods, overload }),
    };
  });
}

type ConnectionParts = WsApiParts & {
  readonly type: StrategyType;
  readonly methods: ReadonlyMap<string, Route>;
  readonly overload: Overload;
};

type Session = { readonly apiKey: string; readonly authorizedSince: number; readonly forget: Cancel };
type Subscription = {
  readonly strategyId: string;
  /** Whether the session's end is its end. */
  readonly isOfSession: boolean;
  cancel: Cancel;
};
/** What a method of the connection itself does for its caller; `afterwards` runs when the answer was sent. */
type Done = { readonly result: object; readonly afterwards?: () => void };
/** What became of a request, and what is used of the budgets. */
type Answered = Pick<Outcome<Answer>, "answer" | "usage" | "retryAfterSeconds">;
type OwnMethod = {
  readonly access: "public" | "signed";
  /** Signed also by a client that has logged on. */
  readonly isAlwaysSigned?: true;
  /** Takes no time from a client that has logged on. */
  readonly needsNoTime?: true;
  /** Its effect; `apiKey` is that of a signed request. */
  run(
    caller: Pick<SignedCall, "strategyId">,
    apiKey: string,
    parameters: Parameters,
  ): Promise<Done | Refusal> | Done | Refusal;
};

/** The row of a method, and the method if it is one of the connection itself. */
type Method = { readonly row: Route; readonly own: OwnMethod | undefined };

class ApiConnection implements ConnectionHandler {
  readonly countsMessages = false;
  readonly #connection: Connection;
  readonly #upgrade: Upgrade;
  readonly #parts: ConnectionParts;
  readonly #showsLimits: boolean;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #own: ReadonlyMap<string, OwnMethod>;
  #session: Session | null = null;
  #nextSubscription = 0;
  #inFlight = 0;

  constructor(connection: Connection, upgrade: Upgrade, parts: ConnectionParts) {
    this.#connection = connection;
    this.#upgrade = upgrade;
    this.#parts = parts;
    this.#showsLimits = new URLSearchParams(upgrade.query).get("returnRateLimits") !== "false";
    this.#own = new Map(
      Object.entries({ ...this.#sessionMethods(), ...(parts.type === "SPOT" && this.#userDataMethods()) }),
    );
  }

  async onMessage(text: string): Promise<void> {
    this.#inFlight += 1;
    if (this.#inFlight === REQUESTS_IN_FLIGHT_MAX) this.#connection.pause();
    try {
      await this.#answer(readFrame(text));
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === REQUESTS_IN_FLIGHT_MAX - 1) this.#connection.resume();
    }
  }

  onClosed(): void {
    for (const { cancel } of this.#subscriptions.values()) cancel();
    this.#subscriptions.clear();
    this.#session?.forget();
    this.#session = null;
  }

  shutdownNotice(at: number): string {
    return JSON.stringify({ event: { e: "serverShutdown", E: at } });
  }

  async #answer(frame: ApiFrame | UnreadFrame): Promise<void> {
    const { gateway, type, methods, overload, log } = this.#parts;
    const { path, version } = PLACES[type];
    const { address, request } = this.#upgrade;
    const method = "method" in frame ? frame.method.replace(version, "") : "";
    const route = methods.get(method) ?? null;
    const own = this.#own.get(method);
    const isKnown = route !== null || own !== undefined;
    const params = "params" in frame ? frame.params : NO_PARAMS;
    const seen: Request = {
      method: "WS",
      path: isKnown ? `${path} ${method}` : path,
      // Read of refused requests alone.
      get query() {
        return formOf(params);
      },
      target: path,
      headers: request.headers,
      rawHeaders: [],
      body: "",
      apiKey: params.get("apiKey") ?? this.#session?.apiKey ?? null,
      address,
    };
    let afterwards: (() => void) | undefined;
    const run = async (context: Sighting): Promise<Reply> => {
      context.path = isKnown ? seen.path : null;
      if ("refusal" in frame) return this.#refuseUnread(frame, frame.refusal, params);
      if (!isKnown) return this.#refuseUnread(frame, { refusal: "METHOD_UNSUPPORTED" }, params);
      const isRead = own !== undefined || route?.method === "GET";
      if (overload.refuses(request.socket) || (!isRead && gateway.desk.isBehind())) {
        return this.#reply(frame, { answer: { refusal: "BUSY" }, usage: this.#addressUsage() });
      }
      const row = route ?? this.#rowOf(own as OwnMethod, frame, (after) => (afterwards = after));
      if (row.access !== "public") context.apiKey = seen.apiKey;
      const answered = await this.#respond({ row, own }, frame, seen, context);
      return this.#reply(frame, answered, row.placesOrder);
    };
    try {
      const reply = await observed(seen, gateway.observer, run);
      this.#connection.send(String(reply.body));
      if (reply.status === 418) this.#connection.close(1_008, "banned");
      afterwards?.();
    } catch (error) {
      if (error instanceof StoreUnavailable)
        log.warn({ reason: error.message }, "the database is out of reach");
      else log.error({ err: error, method }, "a request of the WebSocket API could not be answered");
      this.#connection.send(
        String(this.#error(frame.id, params, { ...faultOf(error), usage: this.#addressUsage() }).body),
      );
    }
  }

  /** The steps of a request whose method is known. */
  async #respond(
    { row, own }: Method,
    frame: ApiFrame,
    { address, apiKey }: Request,
    context: Sighting,
  ): Promise<Answered> {
    const { gateway } = this.#parts;
    const { budgets, wallNow } = gateway;
    const atAddress = addressHolder(address);
    const holder = row.access !== "public" && apiKey !== null ? keyHolder(apiKey) : atAddress;
    const refuse = (answer: Answer | Refusal, retryAfterSeconds?: number): Answered => ({
      answer,
      usage: this.#addressUsage(),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
    const ban = budgets.ban(holder, wallNow());
    if (ban !== null) return refuse(ban.refusal, ban.retryAfterSeconds);
    if (row.access !== "public" && apiKey === null)
      return refuse({ refusal: "PARAMETER_MISSING", parameter: "apiKey" });

    const caller =
      row.access === "public" || isKeyText(apiKey ?? "")
        ? await this.#callerOf({ row, own }, frame, apiKey ?? "", context)
        : NO_KEY;
    if ("failed" in caller) {
      context.failed = caller.failed;
      const flood = budgets.chargeFailure(atAddress, wallNow());
      if (flood === null || flood.refusal === null) return refuse(caller.because);
      await flood.banStored;
      return refuse(flood.refusal, flood.retryAfterSeconds);
    }
    const terms = { holder, cost: EXCHANGE.cost(row, caller), admit: EXCHANGE.admit };
    return await execute<Parameters, ExchangeCaller, Answer, Route>(row, caller, terms, gateway, context);
  }

  async #callerOf({ row, own }: Method, frame: ApiFrame, apiKey: string, context: Sighting) {
    const { params } = frame;
    const asked = new Map(params);
    for (const name of ENVELOPE_PARAMETERS) asked.delete(name);
    if (row.access === "public") return { ...NOBODY, asked };
    // A session has signed once; a request with a signature of its own is checked by that.
    const isLoggedOn = this.#session?.apiKey === apiKey && !params.has("signature");
    const isOfSession = isLoggedOn && own?.isAlwaysSigned !== true;
    const signature = params.get("signature")?.toLowerCase() ?? null;
    const proof =
      row.access === "key" || (isOfSession && own?.needsNoTime === true)
        ? "KEY"
        : isOfSession
          ? "SESSION"
          : { signature, messages: signedTexts(frame) };
    return await authenticateKey(
      { apiKey, readParameters: () => asked, proof },
      this.#parts.gateway,
      context,
    );
  }

  /** A frame that names no method is charged to its address, so that it is not free. */
  #refuseUnread({ id }: Pick<ApiFrame, "id">, refusal: Refusal, params: ApiFrame["params"]): Reply {
    const { budgets, wallNow } = this.#parts.gateway;
    const cost = { weight: 1, placesOrder: false };
    const charged = budgets.charge(addressHolder(this.#upgrade.address), wallNow(), cost);
    const { usage, retryAfterSeconds } = charged;
    if (charged.refusal === null) return this.#error(id, params, { ...wireError(refusal), usage });
    return this.#error(id, params, { ...wireError(charged.refusal), usage, retryAfterSeconds });
  }

  #reply(frame: ApiFrame, { answer, usage, retryAfterSeconds }: Answered, placesOrder = false): Reply {
    const { id, params } = frame;
    if (isRefusal(answer)) {
      return this.#error(id, params, { ...wireError(answer), usage, placesOrder, retryAfterSeconds });
    }
    const isReplay = answer instanceof Replay;
    const result =
      answer instanceof ReadyJson ? answer.text : JSON.stringify(isReplay ? answer.body : answer);
    const limits = this.#limitsText(params, usage, placesOrder);
    const body = `{"id":${id},"status":200,"result":${result}${limits}${isReplay ? ',"replay":true' : ""}}`;
    return { status: 200, headers: {}, body, isReplay };
  }

  #error(
    id: string,
    params: ApiFrame["params"],
    error: WireError & {
      readonly usage: Usage;
      readonly placesOrder?: boolean;
      readonly retryAfterSeconds?: number | undefined;
    },
  ): Reply {
    const { status, code, msg, usage, placesOrder = false } = error;
    const { retryAfterSeconds = status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined } = error;
    const serverTime = this.#parts.gateway.wallNow();
    const data = retryAfterSeconds && { serverTime, retryAfter: serverTime + retryAfterSeconds * 1_000 };
    const text = JSON.stringify({ code, msg, ...(data && { data }) });
    const body = `{"id":${id},"status":${status},"error":${text}${this.#limitsText(params, usage, placesOrder)}}`;
    return { status, headers: {}, body, refusal: { code, message: msg } };
  }

  #limitsText(params: ApiFrame["params"], usage: Usage, placesOrder: boolean): string {
    const shown = params.get("returnRateLimits") ?? String(this.#showsLimits);
    return shown === "false" ? "" : `,"rateLimits":${rateLimitsOf(usage, placesOrder)}`;
  }

  #addressUsage(): Usage {
    const { budgets, wallNow } = this.#parts.gateway;
    return budgets.usage(addressHolder(this.#upgrade.address), wallNow());
  }

  /** The row of a method of the connection itself. */
  #rowOf(
    { access, run }: OwnMethod,
    { method }: ApiFrame,
    onDone: (then: (() => void) | undefined) => void,
  ): Route {
    return {
      method: "GET",
      paths: [`/${method}`],
      summary: method,
      access,
      strategyType: method.startsWith("userDataStream.subscribe") ? this.#parts.type : null,
      placesOrder: false,
      writes: false,
      parameters: {},
      known: null,
      weight: () => SESSION_WEIGHT,
      parse: (parameters: Parameters) => parameters,
      answer: async (parameters, _ports, call) => {
        const asked = parameters as Parameters;
        const done = await run(call, asked.get("apiKey") ?? this.#session?.apiKey ?? "", asked);
        if (isRefusal(done)) return done;
        onDone(done.afterwards);
        return done.result;
      },
    };
  }

  #sessionMethods(): Readonly<Record<string, OwnMethod>> {
    return {
      "session.logon": {
        access: "signed",
        isAlwaysSigned: true,
        run: (_caller, apiKey) => {
          this.#endSession();
          const { keyChecks, gateway } = this.#parts;
          const forget = keyChecks.add(apiKey, { strategyId: null, end: () => this.#loseSession() });
          this.#session = { apiKey, authorizedSince: gateway.wallNow(), forget };
          return { result: this.#sessionStatus() };
        },
      },
      "session.status": { access: "public", run: () => ({ result: this.#sessionStatus() }) },
      "session.logout": {
        access: "public",
        run: () => {
          const ended = this.#endSession();
          return { result: this.#sessionStatus(), afterwards: () => this.#announceEnds(ended) };
        },
      },
    };
  }

  #userDataMethods(): Readonly<Record<string, OwnMethod>> {
    const subscribe =
      (isOfSession: boolean): OwnMethod["run"] =>
      ({ strategyId }, apiKey) =>
        this.#subscribe(strategyId, apiKey, isOfSession);
    return {
      "userDataStream.subscribe": { access: "signed", needsNoTime: true, run: subscribe(true) },
      "userDataStream.subscribe.signature": { access: "signed", run: subscribe(false) },
      "userDataStream.unsubscribe": {
        access: "public",
        run: (_caller, _apiKey, parameters) => {
          const text = parameters.get("subscriptionId");
          const ids = text === undefined ? [...this.#subscriptions.keys()] : [Number(text)];
          if (!ids.every((id) => this.#subscriptions.has(id))) return { refusal: "SUBSCRIPTION_INACTIVE" };
          this.#unsubscribe(ids);
          return { result: {}, afterwards: () => this.#announceEnds(ids) };
        },
      },
      "session.subscriptions": {
        access: "public",
        run: () => ({
          result: [...this.#subscriptions.keys()].map((subscriptionId) => ({ subscriptionId })),
        }),
      },
    };
  }

  async #subscribe(strategyId: string, apiKey: string, isOfSession: boolean): Promise<Done | Refusal> {
    const { userStreams, keyChecks } = this.#parts;
    const isActive = () => [...this.#subscriptions.values()].some((one) => one.strategyId === strategyId);
    if (isActive()) return { refusal: "SUBSCRIPTION_ACTIVE" };
    if (
      this.#nextSubscription >= SUBSCRIPTIONS_PER_CONNECTION_MAX ||
      keyChecks.countOf(apiKey) >= USER_STREAMS_PER_KEY_MAX
    ) {
      return { refusal: "SUBSCRIPTIONS_EXHAUSTED" };
    }
    const feed = await userStreams.open(strategyId);
    if (feed === null) return { refusal: "KEY_NOT_BOUND" };
    // Another request may have subscribed while the account was loaded.
    if (isActive()) return { refusal: "SUBSCRIPTION_ACTIVE" };
    const subscriptionId = this.#nextSubscription;
    this.#nextSubscription += 1;
    // It has its place from now on, so that no other request subscribes to the account before the answer.
    const subscription: Subscription = { strategyId, isOfSession, cancel: () => {} };
    this.#subscriptions.set(subscriptionId, subscription);
    const begin = () => {
      if (this.#subscriptions.get(subscriptionId) !== subscription) return;
      const cancelFeed = feed.listen(
        ({ text }) => this.#connection.send(`{"subscriptionId":${subscriptionId},"event":${text}}`),
        () => this.#connection.close(1_011, "events were lost"),
      );
      const forget = keyChecks.add(apiKey, {
        strategyId,
        end: () => {
          this.#unsubscribe([subscriptionId]);
          this.#announceEnds([subscriptionId]);
        },
      });
      subscription.cancel = () => {
        cancelFeed();
        forget();
      };
    };
    return { result: { subscriptionId }, afterwards: begin };
  }

  #unsubscribe(ids: readonly number[]): void {
    for (const id of ids) {
      this.#subscriptions.get(id)?.cancel();
      this.#subscriptions.delete(id);
    }
  }

  #announceEnds(ids: readonly number[]): void {
    const E = this.#parts.gateway.wallNow();
    for (const subscriptionId of ids) {
      this.#connection.send(JSON.stringify({ subscriptionId, event: { e: "eventStreamTerminated", E } }));
    }
  }

  /** Ends the session and the subscriptions that were made with it, and answers their ids. */
  #endSession(): readonly number[] {
    this.#session?.forget();
    this.#session = null;
    const ended = [...this.#subscriptions].flatMap(([id, { isOfSession }]) => (isOfSession ? [id] : []));
    this.#unsubscribe(ended);
    return ended;
  }

  /** The session's key has ended. */
  #loseSession(): void {
    this.#announceEnds(this.#endSession());
    const { status, code, msg } = wireError({ refusal: "KEY_REFUSED" });
    this.#connection.send(JSON.stringify({ id: null, status, error: { code, msg } }));
  }

  #sessionStatus(): object {
    return {
      apiKey: this.#session?.apiKey ?? null,
      authorizedSince: this.#session?.authorizedSince ?? null,
      connectedSince: this.#connection.openedAt,
      returnRateLimits: this.#showsLimits,
      serverTime: this.#parts.gateway.wallNow(),
      userDataStream: this.#subscriptions.size > 0,
    };
  }
}

const NO_PARAMS: ApiFrame["params"] = new Map();
/** What is no key is refused as one that there is not. */
const NO_KEY = { failed: null, because: { refusal: "KEY_REFUSED" } } as const;
/** Parameters of the envelope, which no row reads. */
const ENVELOPE_PARAMETERS = ["signature", "returnRateLimits"];

/** The answer to a request that failed on our side. */
function faultOf(error: unknown): WireError {
  if (error instanceof StoreUnavailable) return wireError({ refusal: "BUSY" });
  if (error instanceof StoreFailure) return { status: 503, code: -1007, msg: OUTCOME_UNKNOWN };
  return { status: 500, code: -1000, msg: FAULT };
}

/** The rows of the budgets, with what is used of them, as JSON. Source: reference sockets, section 8.1. */
function rateLimitsOf({ weight, orders10s, orders1m }: Usage, placesOrder: boolean): string {
  const [ofWeight, ofTenSeconds, ofMinute] = LIMIT_ROWS;
  if (!placesOrder) return `[${ofWeight}${weight}}]`;
  return `[${ofWeight}${weight}},${ofTenSeconds}${orders10s}},${ofMinute}${orders1m}}]`;
}

/** Each row up to its count. */
const LIMIT_ROWS = RATE_LIMITS.map((row) => JSON.stringify({ ...row, count: 0 }).slice(0, -"0}".length));
