// The WebSocket API: requests and answers over one connection, sessions, and on spot the user data
// subscriptions. A request passes the steps of the one pipeline (`http/pipeline.ts`) by the rows and the
// budgets of REST; only the envelope and the signed text differ. Answers may overtake each other, but what
// follows a logon or a subscription begins behind its answer: it finds the session, and no event is lost.
// Source: reference sockets, sections 6, 8 and 11; where our keys differ (HMAC sessions), section 8.3 "GW".
import type { Logger } from "pino";
import type { Cancel } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import {
  authenticateKey,
  type Credentials,
  EXCHANGE,
  FAULT,
  NOBODY,
  OUTCOME_UNKNOWN,
  UNAVAILABLE_RETRY_AFTER_SECONDS,
} from "../http/exchange.ts";
import { Overload } from "../http/overload.ts";
import type { Parameters } from "../http/parameters.ts";
import {
  type Gateway,
  type Limit,
  observed,
  type Protocol,
  type Reply,
  type Request,
  respond,
  type Unauthenticated,
} from "../http/pipeline.ts";
import { type WireError, wireError } from "../http/refusals.ts";
import {
  type Answer,
  type ExchangeCaller,
  publicRoute,
  ReadyJson,
  Replay,
  type Route,
  type SignedCall,
} from "../http/route.ts";
import { RATE_LIMITS } from "../http/routes/exchange-info.ts";
import type { KeyChecks } from "../keys/key-checks.ts";
import { MasterVersionMissing } from "../keys/master-key.ts";
import type { RequestContext } from "../observability/request-context.ts";
import type { Usage } from "../rate-limits/budgets.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { isKeyText } from "../streams/handshake.ts";
import {
  type ApiFrame,
  formOf,
  otherSignedTexts,
  readFrame,
  signedTextOf,
  type UnreadFrame,
} from "./api-frame.ts";
import { methodsOf } from "./api-methods.ts";
import type { Connection, ConnectionHandler } from "./connection.ts";
import {
  ANSWERS_WAITING_BYTES_MAX,
  FUTURES_PING,
  REQUESTS_IN_FLIGHT_MAX,
  SPOT_PING,
  SUBSCRIPTIONS_PER_CONNECTION_MAX,
  USER_STREAMS_PER_KEY_MAX,
} from "./limits.ts";
import { mayLogOn, UsedSignatures, unreadByLogon } from "./logons.ts";
import { type Endpoint, type Upgrade, unservedIn } from "./server.ts";
import type { UserStreams } from "./user-streams.ts";

export type WsApiParts = {
  readonly gateway: Gateway;
  readonly routes: readonly Route[];
  readonly userStreams: Pick<UserStreams, "open">;
  readonly keyChecks: KeyChecks;
  readonly log: Pick<Logger, "warn" | "error">;
};

const PLACES = {
  SPOT: {
    path: "/ws-api/v3",
    ping: SPOT_PING,
    connectWeight: 2,
    version: "v3/",
    served: { timeUnit: "MILLISECOND", responseFormat: "JSON" },
  },
  // On the exchange too, it has neither parameter.
  FUTURES: { path: "/ws-fapi/v1", ping: FUTURES_PING, connectWeight: 5, version: "v1/", served: {} },
} as const;
/** What the socket has in common with REST. */
const { heedsBans, keyOf, cost, admit } = EXCHANGE;
const NO_HEADERS: readonly string[] = [];
/** The weight of the methods of sessions and subscriptions. */
const SESSION_WEIGHT = 2;

/** The endpoints of both types. */
export function createWsApi(parts: WsApiParts): readonly Endpoint[] {
  const overload = new Overload();
  const usedSignatures = new UsedSignatures();
  const waiting = { bytes: 0 };
  return (["SPOT", "FUTURES"] as const).map((type) => {
    const { path, ping, connectWeight, served } = PLACES[type];
    const methods = new Map(
      [...methodsOf(type, parts.routes)].map(([method, row]) => [method, { row, path: `${path} ${method}` }]),
    );
    const { budgets, wallNow } = parts.gateway;
    return {
      takes: (asked) => asked === path,
      ping,
      refusalOf({ address, query }) {
        const unserved = unservedIn(query, served);
        if (unserved !== null) return unserved;
        const cost = { weight: connectWeight, placesOrder: false };
        const { refusal } = budgets.charge(addressHolder(address), wallNow(), cost);
        return refusal === null ? null : wireError(refusal);
      },
      open: (upgrade) => (connection) =>
        new ApiConnection(connection, upgrade, {
          ...parts,
          ...{ type, methods, overload, usedSignatures, waiting },
        }),
    };
  });
}

type ConnectionParts = WsApiParts & {
  readonly type: StrategyType;
  /** The rows of the methods, with what the request log calls them. */
  readonly methods: ReadonlyMap<string, KnownMethod>;
  readonly overload: Overload;
  readonly usedSignatures: UsedSignatures;
  /**
   * Answers of all connections that have not left for the network. A character counts as a byte, which it is
   * in all but a few names of symbols.
   */
  readonly waiting: { bytes: number };
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
/** A caller, and the session in which the request came. */
type OwnCaller = Pick<SignedCall, "strategyId"> & { readonly session: Session | null };
type OwnMethod = {
  readonly access: "public" | "signed";
  /** Logs on: signed also by a client that has logged on before. */
  readonly isLogon?: true;
  /** What comes behind it begins when it is answered. */
  readonly holdsOthers?: true;
  /** Takes no time from a client that has logged on. */
  readonly needsNoTime?: true;
  /** Its effect; `apiKey` is that of a signed request. */
  run(caller: OwnCaller, apiKey: string, parameters: Parameters): Promise<Done | Refusal> | Done | Refusal;
};

type KnownMethod = { readonly row: Route; readonly path: string };
/** The row of a method, the method if it is one of the connection itself, and the key that asks for it. */
type Method = { readonly row: Route; readonly own: OwnMethod | undefined; readonly apiKey: string | null };
/** A message as the pipeline reads it. A class: literals with a getter of their own are slow to read. */
class Message implements Request {
  readonly method = "WS";
  readonly path: string;
  readonly target: string;
  readonly headers: Request["headers"];
  readonly rawHeaders = NO_HEADERS;
  readonly body = "";
  readonly apiKey: string | null;
  readonly address: string;
  readonly #params: ApiFrame["params"];

  constructor(
    { path, target, apiKey }: Pick<Request, "path" | "target" | "apiKey">,
    { address, request }: Upgrade,
    params: ApiFrame["params"],
  ) {
    this.path = path;
    this.target = target;
    this.headers = request.headers;
    this.apiKey = apiKey;
    this.address = address;
    this.#params = params;
  }

  /** Read of refused requests alone. */
  get query(): string {
    return formOf(this.#params);
  }
}

/** What an answer repeats of its request, or heeds. */
type Envelope = Pick<ApiFrame, "id" | "params">;
/** What is used of the budgets, as JSON. */
type UsageShown = Readonly<Record<string, string>>;

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
  /** Resolves when the last request that holds others is answered; null if none is in flight. */
  #held: Promise<void> | null = null;
  /** Bytes of its own answers that have not left for the network. */
  #waitingBytes = 0;

  constructor(connection: Connection, upgrade: Upgrade, parts: ConnectionParts) {
    this.#connection = connection;
    this.#upgrade = upgrade;
    this.#parts = parts;
    this.#showsLimits = new URLSearchParams(upgrade.query).get("returnRateLimits") !== "false";
    this.#own = new Map(
      Object.entries({ ...this.#sessionMethods(), ...(parts.type === "SPOT" && this.#userDataMethods()) }),
    );
  }

  onMessage(text: string): Promise<void> {
    this.#inFlight += 1;
    if (this.#inFlight === REQUESTS_IN_FLIGHT_MAX) this.#connection.pause();
    const frame = readFrame(text);
    const method = this.#methodOf(frame);
    const before = this.#held;
    const release = this.#own.get(method)?.holdsOthers === true ? this.#hold() : null;
    if (before === null && release === null) return this.#answer(frame, method, NOTHING);
    return this.#answerInTurn(before, frame, method, release ?? NOTHING);
  }

  async #answerInTurn(
    before: Promise<void> | null,
    frame: ApiFrame | UnreadFrame,
    method: string,
    release: () => void,
  ): Promise<void> {
    try {
      await before;
      await this.#answer(frame, method, release);
    } finally {
      release();
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

  /** Holds the requests that come from now on; returns what lets them begin. */
  #hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return () => {
      if (this.#held === promise) this.#held = null;
      resolve();
    };
  }

  /** The method that a message names, without its version; empty if it cannot be read. */
  #methodOf(frame: ApiFrame | UnreadFrame): string {
    if ("refusal" in frame) return "";
    const { method } = frame;
    const { version } = PLACES[this.#parts.type];
    return method.startsWith(version) ? method.slice(version.length) : method;
  }

  /**
   * `method` is without its version; `onAnswered` is called when the answer was written, and what follows
   * from it is done.
   */
  async #answer(frame: ApiFrame | UnreadFrame, method: string, onAnswered: () => void): Promise<void> {
    const { gateway, type, methods, overload, log } = this.#parts;
    const { path } = PLACES[type];
    const read = "refusal" in frame ? NOTHING_READ : frame;
    const { params } = read;
    const own = this.#own.get(method);
    let afterwards: (() => void) | undefined;
    const known: KnownMethod | undefined =
      methods.get(method) ??
      (own && { row: this.#rowOf(own, method, (then) => (afterwards = then)), path: `${path} ${method}` });
    const row =
      known?.row ?? refusingRow("refusal" in frame ? frame.refusal : { refusal: "METHOD_UNSUPPORTED" });
    const apiKey = params.get("apiKey") ?? this.#session?.apiKey ?? null;
    const seen = new Message({ path: known?.path ?? path, target: path, apiKey }, this.#upgrade, params);
    const envelope = { id: frame.id, params };
    const isRead = row.method === "GET";
    let bytes = 0;
    const protocol: Protocol<Route, ExchangeCaller, Answer> = {
      heedsBans,
      keyOf,
      cost,
      admit,
      authenticate: (_asked, _gateway, context) => this.#authenticate({ row, own, apiKey }, read, context),
      usageHeaders: RATE_LIMITS_SHOWN,
      envelope: (answer, usage, limit) => {
        const complete = this.#reply(envelope, answer, usage, limit);
        // A method of the connection itself has had its effect.
        const mayWait = !isRead || own !== undefined || this.#mayWait(complete);
        const reply = mayWait ? complete : this.#reply(envelope, { refusal: "BUSY" }, usage);
        bytes = reply.body.length;
        this.#countWaiting(bytes);
        return reply;
      },
    };
    const run = (context: RequestContext): Promise<Reply> => {
      context.path = known?.path ?? null;
      if (overload.isTickTooLong() || (!isRead && gateway.desk.isBehind()))
        return Promise.resolve(this.#reply(envelope, { refusal: "BUSY" }, this.#addressUsage()));
      if (row.access !== "public") context.apiKey = apiKey;
      return respond(seen, { route: row, protocol, pages: NO_PAGES }, gateway, context);
    };
    try {
      const reply = await observed(seen, gateway.observer, run);
      const written = this.#connection.answer(String(reply.body));
      const left = written instanceof Promise ? (await written).left : written.left;
      // Orders in flight have passed before the ban began.
      if (reply.status === 418) void this.#connection.end(1_008, "banned");
      afterwards?.();
      onAnswered();
      if (left !== null) await left;
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        if (!(error instanceof MasterVersionMissing))
          log.warn({ reason: error.message }, "the database is out of reach");
      } else log.error({ err: error, method }, "a request of the WebSocket API could not be answered");
      const body = String(this.#error(envelope, faultOf(error), this.#addressUsage()).body);
      await (await this.#connection.answer(body)).left;
    } finally {
      this.#countWaiting(-bytes);
      this.#inFlight -= 1;
      if (this.#inFlight === REQUESTS_IN_FLIGHT_MAX - 1) this.#connection.resume();
    }
  }

  /** Whether an answer may wait for the client, by `ANSWERS_WAITING_BYTES_MAX`. */
  #mayWait({ status, body }: Reply): boolean {
    if (status !== 200 || this.#waitingBytes === 0) return true;
    return this.#parts.waiting.bytes + body.length <= ANSWERS_WAITING_BYTES_MAX;
  }

  #countWaiting(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#parts.waiting.bytes += bytes;
  }

  /** Passes the promise of the checks on: each async function more costs every request. */
  #authenticate(
    { row, own, apiKey }: Method,
    frame: Read,
    context: RequestContext,
  ): Promise<ExchangeCaller | Unauthenticated<Answer>> {
    const { params } = frame;
    if (row.access === "public") return Promise.resolve({ ...NOBODY, asked: params });
    if (apiKey === null) return Promise.resolve({ failed: "HEADER", because: NOT_LOGGED_ON });
    if (!isKeyText(apiKey)) return Promise.resolve(NO_KEY);
    // A session has signed once; a request with a signature of its own is checked by that.
    const isLoggedOn = this.#session?.apiKey === apiKey && !params.has("signature");
    const isLogon = own?.isLogon === true;
    const isOfSession = isLoggedOn && !isLogon;
    const proof: Credentials["proof"] =
      row.access === "key" || (isOfSession && own?.needsNoTime === true)
        ? "KEY"
        : isOfSession
          ? "SESSION"
          : {
              signature: params.get("signature")?.toLowerCase() ?? null,
              message: signedTextOf(frame),
              others: () => otherSignedTexts(frame),
            };
    const isSigned = typeof proof === "object";
    const readParameters = (): Parameters | Refusal => {
      if (isSigned && !frame.isUnambiguous) return { refusal: "REQUEST_MALFORMED" };
      return (isLogon ? unreadByLogon(params) : null) ?? params;
    };
    const caller = authenticateKey({ apiKey, readParameters, proof }, this.#parts.gateway, context);
    return isSigned && mayLogOn(params) ? this.#usedOnce(caller, params, isLogon) : caller;
  }

  /** The caller of a request that could be a logon, if none has used its signature otherwise. */
  async #usedOnce(
    authenticated: ReturnType<typeof authenticateKey>,
    params: ApiFrame["params"],
    isLogon: boolean,
  ): ReturnType<typeof authenticateKey> {
    const caller = await authenticated;
    if ("failed" in caller) return caller;
    const { usedSignatures } = this.#parts;
    const isUsed = usedSignatures.use(params, isLogon ? addressHolder(this.#upgrade.address) : null);
    return isLogon && isUsed ? { ...caller, asked: { refusal: "KEY_REFUSED" } } : caller;
  }

  #reply(envelope: Envelope, answer: Answer | Refusal, usage: UsageShown, limit?: Limit): Reply {
    if (isRefusal(answer)) {
      return this.#error(envelope, wireError(answer), usage, limit?.retryAfterSeconds);
    }
    const isReplay = answer instanceof Replay;
    const result =
      answer instanceof ReadyJson ? answer.text : JSON.stringify(isReplay ? answer.body : answer);
    const limits = this.#limitsText(envelope, usage);
    const replay = isReplay ? ',"replay":true' : "";
    const body = `{"id":${envelope.id},"status":200,"result":${result}${limits}${replay}}`;
    return { status: 200, headers: {}, body, isReplay };
  }

  #error(
    envelope: Envelope,
    { status, code, msg }: WireError,
    usage: UsageShown,
    retryAfterSeconds = status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined,
  ): Reply {
    const serverTime = this.#parts.gateway.wallNow();
    const data = retryAfterSeconds && { serverTime, retryAfter: serverTime + retryAfterSeconds * 1_000 };
    const text = JSON.stringify({ code, msg, ...(data && { data }) });
    const limits = this.#limitsText(envelope, usage);
    const body = `{"id":${envelope.id},"status":${status},"error":${text}${limits}}`;
    return { status, headers: {}, body, refusal: { code, message: msg } };
  }

  #limitsText({ params }: Envelope, { rateLimits }: UsageShown): string {
    const shown = params.get("returnRateLimits") ?? String(this.#showsLimits);
    return shown === "false" ? "" : `,"rateLimits":${rateLimits}`;
  }

  #addressUsage(): UsageShown {
    const { budgets, wallNow } = this.#parts.gateway;
    return RATE_LIMITS_SHOWN.ofAddress(budgets.usage(addressHolder(this.#upgrade.address), wallNow()));
  }

  /** The row of a method of the connection itself. */
  #rowOf(
    { access, run }: OwnMethod,
    method: string,
    onDone: (then: (() => void) | undefined) => void,
  ): Route {
    const session = this.#session;
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
        const done = await run({ ...call, session }, call.apiKey, asked);
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
        isLogon: true,
        holdsOthers: true,
        run: (_caller, apiKey) => {
          // The client may have left by now, and nothing would end the session.
          if (!this.#connection.isOpen) return { refusal: "BUSY" };
          const ended = this.#endSession();
          const { keyChecks, gateway } = this.#parts;
          const forget = keyChecks.add(apiKey, { strategyId: null, end: () => this.#loseSession() });
          this.#session = { apiKey, authorizedSince: gateway.wallNow(), forget };
          return { result: this.#sessionStatus(), afterwards: () => this.#announceEnds(ended) };
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
      (caller, apiKey) =>
        this.#subscribe(caller, apiKey, isOfSession);
    return {
      "userDataStream.subscribe": {
        access: "signed",
        holdsOthers: true,
        needsNoTime: true,
        run: subscribe(true),
      },
      "userDataStream.subscribe.signature": { access: "signed", holdsOthers: true, run: subscribe(false) },
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

  async #subscribe(
    { strategyId, session }: OwnCaller,
    apiKey: string,
    isOfSession: boolean,
  ): Promise<Done | Refusal> {
    const { userStreams, keyChecks, gateway } = this.#parts;
    const isActive = [...this.#subscriptions.values()].some((one) => one.strategyId === strategyId);
    const areExhausted = () =>
      this.#nextSubscription >= SUBSCRIPTIONS_PER_CONNECTION_MAX ||
      keyChecks.streamsOf(apiKey) >= USER_STREAMS_PER_KEY_MAX;
    if (isActive) return { refusal: "SUBSCRIPTION_ACTIVE" };
    if (areExhausted()) return { refusal: "SUBSCRIPTIONS_EXHAUSTED" };
    const bound = await gateway.store.findKey(apiKey);
    if (bound?.strategy?.status === "CLOSED") return { refusal: "STRATEGY_NOT_LIVE" };
    const feed = await userStreams.open(strategyId);
    if (feed === null) return { refusal: "KEY_NOT_BOUND" };
    // The client may have left by now, and nothing would end the subscription.
    if (!this.#connection.isOpen) return { refusal: "BUSY" };
    // Its session may have ended, and nothing would end the subscription either.
    if (isOfSession && session !== null && session !== this.#session) return NOT_LOGGED_ON;
    // Other connections of the key may have subscribed while the account was loaded.
    if (areExhausted()) return { refusal: "SUBSCRIPTIONS_EXHAUSTED" };
    const subscriptionId = this.#nextSubscription;
    this.#nextSubscription += 1;
    // It has its place from now on: other connections of the key count it before it is answered.
    const answered = Promise.withResolvers<void>();
    const forget = keyChecks.add(apiKey, {
      strategyId,
      end: () => {
        this.#unsubscribe([subscriptionId]);
        void answered.promise.then(() => this.#announceEnds([subscriptionId]));
      },
    });
    const subscription: Subscription = { strategyId, isOfSession, cancel: forget };
    this.#subscriptions.set(subscriptionId, subscription);
    const begin = () => {
      answered.resolve();
      if (this.#subscriptions.get(subscriptionId) !== subscription) return;
      const cancelFeed = feed.listen(
        ({ text }) => this.#connection.send(`{"subscriptionId":${subscriptionId},"event":${text}}`),
        // The order whose events were lost may not be answered yet.
        () => void this.#connection.end(1_011, "events were lost"),
      );
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

/** What is read of a message, whatever its method. */
type Read = Pick<ApiFrame, "params" | "isSorted" | "isUnambiguous" | "source">;
const NOTHING_READ: Read = { params: new Map(), isSorted: true, isUnambiguous: true, source: null };
const NOTHING = () => {};
const NO_PAGES = () => null;
/** What names no key has a session's, or none. */
const NOT_LOGGED_ON = { refusal: "PARAMETER_MISSING", parameter: "apiKey" } as const;
/** What is no key is refused as one that there is not. */
const NO_KEY = { failed: null, because: { refusal: "KEY_REFUSED" } } as const;

/** What names no method passes the steps of a request, so that its address is charged for it. */
function refusingRow(refusal: Refusal): Route {
  return publicRoute("/", "", { answer: () => refusal });
}

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

/** The state of the budgets, which answers over REST have in their headers. */
const RATE_LIMITS_SHOWN: Protocol<Route, ExchangeCaller, Answer>["usageHeaders"] = {
  ofAddress: (usage) => ({ rateLimits: rateLimitsOf(usage, false) }),
  ofRoute: ({ placesOrder }, { usage }) => ({ rateLimits: rateLimitsOf(usage, placesOrder) }),
};

/** Each row up to its count. */
const LIMIT_ROWS = RATE_LIMITS.map((row) => JSON.stringify({ ...row, count: 0 }).slice(0, -"0}".length));
