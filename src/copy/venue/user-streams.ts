// The user data streams of the accounts at one venue, as hints that an order has changed. Streams of many
// accounts share a socket, since a venue limits connections by address (300 in five minutes). A subscription
// is *waiting* (for its next attempt), *asked* (for a listen key, or the answer of the socket) or
// *live*, which begins with RESUMED, since earlier events were missed. A lost socket, an expired key and a
// refusal lead back to waiting. Nothing here fails: without a stream there are the polls. Source: reference
// sockets, sections 1, 2, 6 and 7.
import { WebSocket } from "ws";
import { BackOff } from "../../concurrency/delays.ts";
import { createPacer, type Pacer } from "../../concurrency/pacer.ts";
import type { Cancel, Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import { sign } from "../../keys/signatures.ts";
import { parseDecimal, type Quantity } from "../../money/decimal.ts";
import { type Body, parsed, TIMESTAMP_CODE } from "./answers.ts";
import { type Cost, WEIGHTS } from "./limits.ts";
import type { Asker, VenueRest } from "./signed-rest.ts";
import type { VenueAnswer, VenueEvent } from "./venue.ts";

/** Where sockets are, of venues that do not serve them at the origin of their REST API. */
const SOCKET_HOSTS: ReadonlyMap<string, string> = new Map([
  ["https://api.binance.com", "wss://ws-api.binance.com:443"],
  ["https://testnet.binance.vision", "wss://ws-api.testnet.binance.vision"],
  ["https://fapi.binance.com", "wss://fstream.binance.com"],
  ["https://testnet.binancefuture.com", "wss://fstream.binancefuture.com"],
]);
const PATHS = { SPOT: "/ws-api/v3", FUTURES: "/private/stream" } as const;

/** Streams on one socket; a venue takes 1,000 or more. */
export const STREAMS_PER_SOCKET_MAX = 200;
/** Between two messages to a venue, ms: it takes ten a second on a socket. */
const MESSAGE_PAUSE_MS = 150;
const ASKED_AT_A_TIME_MAX = 10;
const WAITING_MAX = 50_000;
/** How long the handshake, and the answer to a message, may take, ms. */
const ANSWER_MS_MAX = 10_000;
/** Between two attempts that failed, ms; doubled each time. */
const RETRY = { minMs: 1_000, maxMs: 60_000 };
/** A socket that was open this long, ms, is opened again after the shortest delay. */
const LASTED_MS = 10_000;
/** After a refusal: the venue may have no streams, or takes no more connections, ms. */
export const REFUSED_RETRY_MS = 600_000;
/** A listen key lives for an hour. */
const KEEP_ALIVE_MS = 1_800_000;
const KEEP_ALIVE_RETRY_MS = 60_000;
/** A silent socket is pinged; one that is silent still is replaced, ms. */
const CHECK_MS = 10_000;
const PING_AFTER_MS = 15_000;
export const DEAD_AFTER_MS = 40_000;
export const MESSAGE_BYTES_MAX = 1_024 * 1_024;

type Parts = {
  readonly origin: string;
  readonly type: StrategyType;
  readonly rest: Pick<VenueRest, "ask" | "clock" | "limits">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly after: Timers["after"];
  readonly onRefused: (reason: string) => void;
};
type Listener = (event: VenueEvent) => void;
type Account = NonNullable<Asker>;
type Subscription = {
  readonly account: Account;
  readonly listeners: Set<Listener>;
  readonly backOff: BackOff;
  socket: SharedSocket | null;
  /** What its events are named on its socket, while it is live. */
  name: string | null;
  /** Of the next attempt while it waits, and of the next renewal of its listen key while it is live. */
  cancelTimer: Cancel;
};

export class UserStreams {
  readonly #parts: Parts;
  /** By API key: an account takes one subscription on a socket. */
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #sockets = new Set<SharedSocket>();
  readonly #pacer: Pacer;
  readonly #reconnects = new BackOff(RETRY);
  /** No socket is opened before this, wall time, Unix ms. */
  #connectAt = 0;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#pacer = createPacer({
      ...{ atATimeMax: ASKED_AT_A_TIME_MAX, waitingMax: WAITING_MAX },
      wallClock: { now: parts.wallNow },
      timers: { after: parts.after },
    });
  }

  /** How many accounts have a stream at present. */
  get live(): number {
    let live = 0;
    for (const { name } of this.#subscriptions.values()) if (name !== null) live += 1;
    return live;
  }

  listen(account: Account, onEvent: Listener): Cancel {
    const { apiKey } = account.credentials;
    // Each call has a listener of its own.
    const listener: Listener = (event) => onEvent(event);
    const known = this.#subscriptions.get(apiKey);
    const subscription = known ?? {
      account,
      listeners: new Set(),
      backOff: new BackOff(RETRY),
      socket: null,
      name: null,
      cancelTimer() {},
    };
    subscription.listeners.add(listener);
    this.#subscriptions.set(apiKey, subscription);
    if (known === undefined) this.#subscribe(subscription);
    else if (known.name !== null) listener({ kind: "RESUMED" });
    return () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size === 0 && this.#subscriptions.get(apiKey) === subscription) {
        this.#subscriptions.delete(apiKey);
        this.#unsubscribe(subscription);
      }
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#pacer.close();
    for (const { cancelTimer } of this.#subscriptions.values()) cancelTimer();
    this.#subscriptions.clear();
    for (const socket of this.#sockets) socket.terminate();
  }

  #isOver({ listeners }: Subscription): boolean {
    return this.#isClosed || listeners.size === 0;
  }

  #subscribe(subscription: Subscription): void {
    void this.#pacer.run(() => this.#attempt(subscription), MESSAGE_PAUSE_MS);
  }

  #retryIn(subscription: Subscription, ms: number): void {
    this.#leave(subscription);
    if (this.#isOver(subscription)) return;
    subscription.cancelTimer();
    subscription.cancelTimer = this.#parts.after(ms, () => this.#subscribe(subscription));
  }

  /** Never rejects. */
  async #attempt(subscription: Subscription): Promise<void> {
    const { wallNow } = this.#parts;
    if (this.#isOver(subscription)) return;
    const socket = this.#socketWithRoom();
    if (socket === null) return this.#retryIn(subscription, this.#connectAt - wallNow());
    socket.members.add(subscription);
    subscription.socket = socket;
    const isOpen = await socket.opened;
    const asked = isOpen ? await this.#requestOf(subscription) : null;
    // A socket that was lost has scheduled the next attempt.
    if (subscription.socket !== socket) return;
    if (this.#isOver(subscription)) return this.#leave(subscription);
    if (asked === null || asked.kind !== "OK") {
      if (asked?.kind === "REFUSED" || asked?.kind === "REJECTED") {
        return this.#retryIn(subscription, REFUSED_RETRY_MS);
      }
      // Nothing was sent: again as soon as the venue's limits allow it.
      if (asked?.kind === "DELAYED")
        return this.#retryIn(subscription, Math.max(RETRY.minMs, asked.until - wallNow()));
      const isMissing = asked?.kind === "UNKNOWN" && asked.status !== undefined;
      return this.#retryIn(subscription, isMissing ? REFUSED_RETRY_MS : subscription.backOff.next());
    }
    const { method, params, name } = asked.value;
    await socket.ask(method, params, (answer) => {
      if (subscription.socket !== socket || this.#isOver(subscription)) return;
      const given = name ?? subscriptionIdIn(answer);
      if (answer === null || given === null || "error" in answer) {
        const ms = isRefusal(answer) ? REFUSED_RETRY_MS : subscription.backOff.next();
        return this.#retryIn(subscription, ms);
      }
      this.#resumed(subscription, socket, given);
    });
  }

  #resumed(subscription: Subscription, socket: SharedSocket, name: string): void {
    subscription.name = name;
    subscription.backOff.reset();
    socket.byName.set(name, subscription);
    if (this.#parts.type === "FUTURES") this.#keepAliveIn(subscription, KEEP_ALIVE_MS);
    for (const listener of subscription.listeners) listener({ kind: "RESUMED" });
  }

  /** The message that subscribes an account. On futures its listen key is the name of its events. */
  async #requestOf({
    account,
  }: Subscription): Promise<
    VenueAnswer<{ readonly method: string; readonly params: unknown; readonly name: string | null }>
  > {
    const { rest, type } = this.#parts;
    if (type === "FUTURES") {
      const answer = await rest.ask(account, { method: "POST", ...LISTEN_KEY });
      if (answer.kind !== "OK") return answer;
      const key = (answer.value as Body | null)?.listenKey;
      if (typeof key !== "string") return { kind: "UNKNOWN", reason: "its answer has no listen key" };
      return { kind: "OK", value: { method: "SUBSCRIBE", params: [key], name: key } };
    }
    const untimely = await rest.clock.ready();
    if (untimely !== null) return untimely;
    const charge = rest.limits.admit(account.accountId, SUBSCRIPTION);
    if (typeof charge === "number") {
      return { kind: "DELAYED", why: "LIMITED", until: charge, reason: "the venue's limits" };
    }
    rest.limits.end(charge, null);
    const { apiKey, apiSecret } = account.credentials;
    const timestamp = rest.clock.now();
    const signature = sign(apiSecret, `apiKey=${apiKey}&timestamp=${timestamp}`);
    const params = { apiKey, timestamp, signature };
    return { kind: "OK", value: { method: "userDataStream.subscribe.signature", params, name: null } };
  }

  #keepAliveIn(subscription: Subscription, ms: number): void {
    subscription.cancelTimer();
    subscription.cancelTimer = this.#parts.after(ms, async () => {
      const { name } = subscription;
      const answer = await this.#parts.rest.ask(subscription.account, { method: "PUT", ...LISTEN_KEY });
      if (name === null || subscription.name !== name || this.#isOver(subscription)) return;
      if (answer.kind === "REFUSED" || answer.kind === "REJECTED") this.#retryIn(subscription, RETRY.minMs);
      else this.#keepAliveIn(subscription, answer.kind === "OK" ? KEEP_ALIVE_MS : KEEP_ALIVE_RETRY_MS);
    });
  }

  #unsubscribe(subscription: Subscription): void {
    const { socket, name } = subscription;
    subscription.cancelTimer();
    this.#leave(subscription);
    if (socket === null || name === null) return;
    const [method, params] =
      this.#parts.type === "FUTURES"
        ? ["UNSUBSCRIBE", [name]]
        : ["userDataStream.unsubscribe", { subscriptionId: Number(name) }];
    void this.#pacer.run(async () => socket.send(method, params), MESSAGE_PAUSE_MS);
  }

  /** Nothing that the socket brings is for this account any more. */
  #leave(subscription: Subscription): void {
    const { socket, name } = subscription;
    subscription.socket = null;
    subscription.name = null;
    if (socket === null) return;
    socket.members.delete(subscription);
    if (name !== null) socket.byName.delete(name);
    if (socket.members.size === 0) socket.terminate();
  }

  /** Null while no further one may be opened. */
  #socketWithRoom(): SharedSocket | null {
    for (const socket of this.#sockets) if (socket.members.size < STREAMS_PER_SOCKET_MAX) return socket;
    const { origin, type, wallNow, after } = this.#parts;
    if (wallNow() < this.#connectAt) return null;
    const socket = new SharedSocket({
      ...{ url: socketUrl(origin, type), wallNow, after },
      onMessage: (message) => this.#receive(socket, message),
      onClose: (refusal) => this.#lost(socket, refusal),
    });
    this.#sockets.add(socket);
    return socket;
  }

  #lost(socket: SharedSocket, refusal: string | null): void {
    const { wallNow, onRefused } = this.#parts;
    this.#sockets.delete(socket);
    if (this.#isClosed || socket.members.size === 0) return;
    if (socket.openedAt !== null && wallNow() - socket.openedAt >= LASTED_MS) this.#reconnects.reset();
    const waitMs = refusal === null ? this.#reconnects.next() : REFUSED_RETRY_MS;
    this.#connectAt = wallNow() + waitMs;
    if (refusal !== null) onRefused(refusal);
    for (const subscription of [...socket.members]) this.#retryIn(subscription, waitMs);
  }

  #receive({ byName }: SharedSocket, message: Body): void {
    const name = message.stream ?? message.subscriptionId;
    const subscription = byName.get(String(name));
    const body = message.data ?? message.event;
    if (subscription === undefined || typeof body !== "object" || body === null) return;
    const { e: kind } = body as Body;
    const isOver = kind === "listenKeyExpired" || kind === "eventStreamTerminated";
    if (isOver) this.#retryIn(subscription, subscription.backOff.next());
    const event = isOver ? null : orderEventOf(body as Body);
    if (event !== null) for (const listener of subscription.listeners) listener(event);
  }
}

/** A stream costs little, and says at once what polls find late. */
const EARLY: Omit<Cost, "weight"> = { placesOrder: false, priority: "DOUBT" };
const LISTEN_KEY = { path: "/fapi/v1/listenKey", weight: WEIGHTS.FUTURES.userStream, ...EARLY } as const;
const SUBSCRIPTION: Cost = { weight: WEIGHTS.SPOT.userStream, ...EARLY };

export function socketUrl(origin: string, type: StrategyType): string {
  return (SOCKET_HOSTS.get(origin) ?? origin.replace(/^http/, "ws")) + PATHS[type];
}

function subscriptionIdIn(answer: Body | null): string | null {
  const id = (answer?.result as Body | null | undefined)?.subscriptionId;
  return typeof id === "number" ? String(id) : null;
}

/**
 * Whether an answer says that asking again soon is of no use; a refused time is corrected by the next
 * request.
 */
function isRefusal(answer: Body | null): boolean {
  const { code } = (answer?.error ?? {}) as Body;
  return typeof code === "number" && code !== TIMESTAMP_CODE;
}

const CHANGES: ReadonlyMap<unknown, "PLACED" | "EXECUTED" | "ENDED"> = new Map([
  ["NEW", "PLACED"],
  ["TRADE", "EXECUTED"],
  // By the venue itself: a liquidation.
  ["CALCULATED", "EXECUTED"],
  ["FINISHED", "EXECUTED"],
  ["CANCELED", "ENDED"],
  ["EXPIRED", "ENDED"],
  ["REJECTED", "ENDED"],
]);

/**
 * Null for events that name no order. Balances change with an order's execution, and otherwise by what no
 * order waits for.
 */
function orderEventOf(body: Body): VenueEvent | null {
  const order = (body.e === "executionReport" ? body : body.o) as Body | undefined;
  if (typeof order !== "object" || order === null) return null;
  const isLeg = body.e === "ALGO_UPDATE";
  const change = CHANGES.get(isLeg ? order.X : order.x);
  // A cancel on spot has an id of its own in `c`.
  const original = body.e === "executionReport" && order.C !== "" ? order.C : order.c;
  const clientOrderId = isLeg ? order.caid : original;
  if (change === undefined || typeof clientOrderId !== "string") return null;
  const executed = typeof order.z === "string" ? parseDecimal(order.z) : null;
  return {
    ...{ kind: "ORDER", clientOrderId, change },
    executed: typeof executed === "bigint" ? (executed as Quantity) : null,
  };
}

type SocketParts = Pick<Parts, "wallNow" | "after"> & {
  readonly url: string;
  /** A message that answers nothing. */
  readonly onMessage: (message: Body) => void;
  /** It has ended, or was never open; `refusal`: why the venue refuses such connections. */
  readonly onClose: (refusal: string | null) => void;
};

/** One socket to a venue, for the streams of its members. */
class SharedSocket {
  readonly members = new Set<Subscription>();
  readonly byName = new Map<string, Subscription>();
  /** Resolves once it is open, with false if it never was. */
  readonly opened: Promise<boolean>;
  /** Wall time, Unix ms; null before. */
  openedAt: number | null = null;
  readonly #parts: SocketParts;
  readonly #socket: WebSocket;
  readonly #unanswered = new Map<number, (answer: Body | null) => void>();
  #lastId = 0;
  #receivedAt = 0;
  #cancelTimer: Cancel;

  constructor(parts: SocketParts) {
    this.#parts = parts;
    const { url, wallNow, after } = parts;
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: MESSAGE_BYTES_MAX });
    this.#socket = socket;
    this.#cancelTimer = after(ANSWER_MS_MAX, () => this.terminate());
    const opened = Promise.withResolvers<boolean>();
    this.opened = opened.promise;
    let refusal: string | null = null;
    const received = () => {
      this.#receivedAt = wallNow();
    };
    socket.on("open", () => {
      received();
      this.openedAt = wallNow();
      this.#check();
      opened.resolve(true);
    });
    socket.on("unexpected-response", (_request, { statusCode = 0 }) => {
      if (statusCode >= 400 && statusCode < 500) refusal = `HTTP ${statusCode}`;
      socket.terminate();
    });
    socket.on("ping", received);
    socket.on("pong", received);
    socket.on("message", (data, isBinary) => {
      received();
      if (!isBinary) this.#receive(String(data));
    });
    // It is closed next.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#cancelTimer();
      opened.resolve(false);
      parts.onClose(refusal);
      for (const answer of [...this.#unanswered.values()]) answer(null);
    });
  }

  /** Sends a message; `onAnswer` has its answer before later messages are received, or null. */
  ask(method: string, params: unknown, onAnswer: (answer: Body | null) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const id = this.send(method, params);
    const end = (answer: Body | null): void => {
      cancel();
      this.#unanswered.delete(id);
      onAnswer(answer);
      resolve();
    };
    const cancel = this.#parts.after(ANSWER_MS_MAX, () => end(null));
    this.#unanswered.set(id, end);
    return promise;
  }

  /** Returns its id. Nothing is sent once the socket is closed. */
  send(method: string, params: unknown): number {
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ id, method, params }));
    return id;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #check(): void {
    const silentMs = this.#parts.wallNow() - this.#receivedAt;
    if (silentMs >= DEAD_AFTER_MS) this.terminate();
    else if (silentMs >= PING_AFTER_MS) this.#socket.ping();
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.after(CHECK_MS, () => this.#check());
  }

  #receive(text: string): void {
    const value = parsed(text);
    if (typeof value !== "object" || value === null) return;
    const message = value as Body;
    const answered = typeof message.id === "number" ? this.#unanswered.get(message.id) : undefined;
    if (answered === undefined) this.#parts.onMessage(message);
    else answered(message);
  }
}
