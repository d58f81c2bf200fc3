// A stock Socket.IO client that signs its handshake, for tests of the streams: it keeps every event in its
// order, and hands them out one after another.
import { createHmac } from "node:crypto";
import { io, type ManagerOptions, type SocketOptions } from "socket.io-client";
import type { Credentials } from "../servers/gateway.ts";

export const MARKET = "/bot/v1/market";
export const ORDER_BOOK = "/bot/v1/orderbook";

export type StreamCredentials = Pick<Credentials, "apiKey" | "apiSecret">;
export type HandshakeAuth = { readonly [field: string]: unknown };

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
export type StreamEvent = { readonly name: string; readonly payload: any };

export type StreamClient = ReturnType<typeof openStream>;

export type StreamClientOptions = {
  /** Sent instead of the signed auth object; null for none. */
  readonly auth?: HandshakeAuth | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it connects again by itself, as stock clients do; it does not unless said. */
  readonly reconnection?: boolean;
  /** The client library's `io`; that of the present version unless said. */
  readonly connectWith?: typeof io;
  readonly options?: Partial<ManagerOptions & SocketOptions>;
};

/** How long an event may take to come, ms. */
const EVENT_MS_MAX = 45_000;

/** Connects without waiting for the outcome: ask for `next("connect")` or `next("error")`. */
export function openStream(
  url: string,
  namespace: string,
  credentials: StreamCredentials,
  { auth, headers, reconnection = false, connectWith = io, options = {} }: StreamClientOptions = {},
) {
  const socket = connectWith(url + namespace, {
    transports: ["websocket"],
    forceNew: true,
    reconnection,
    // Computed for each attempt: a signature is valid for half a minute.
    ...(auth === null
      ? {}
      : { auth: (give: (auth: object) => void) => give(auth ?? handshakeAuth(namespace, credentials)) }),
    ...(headers === undefined ? {} : { extraHeaders: headers }),
    ...options,
  });
  const events: StreamEvent[] = [];
  const waiting: StreamEvent[] = [];
  const listeners = new Set<() => void>();
  const keep = (name: string, payload: unknown) => {
    events.push({ name, payload });
    waiting.push({ name, payload });
    for (const listener of [...listeners]) listener();
  };
  socket.onAny((name: string, payload: unknown) => keep(name, payload));
  socket.on("connect", () => keep("connect", null));
  socket.on("disconnect", (reason) => keep("disconnect", reason));
  socket.on("connect_error", (error) => keep("connect_error", error.message));

  const take = (names: readonly string[]): StreamEvent | null => {
    const index = waiting.findIndex(({ name }) => names.includes(name));
    return index === -1 ? null : (waiting.splice(index, 1)[0] ?? null);
  };
  const nextOf = (...names: readonly string[]) =>
    new Promise<StreamEvent>((resolve, reject) => {
      const look = () => {
        const event = take(names);
        if (event === null) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve(event);
      };
      const timer = setTimeout(() => {
        listeners.delete(look);
        reject(new Error(`no ${names.join(" or ")} within ${EVENT_MS_MAX} ms; so far: ${told(events)}`));
      }, EVENT_MS_MAX);
      listeners.add(look);
      look();
    });

  return {
    socket,
    /** Every event so far, `connect` and `disconnect` (with its reason) among them. */
    events: events as readonly StreamEvent[],
    /**
     * The next event of a name that was not handed out yet; the payload alone. One that was passed over stays
     * to be asked for by its own name. Rejects if it does not come within the bound.
     */
    next: async (name: string) => (await nextOf(name)).payload,
    /** As `next`, of whichever of the names comes first, with its name. */
    nextOf,
    /** Sends an event. */
    send: (name: string, ...payload: readonly unknown[]) => void socket.emit(name, ...payload),
    /**
     * Sends `subscribe` and resolves with what `subscribed` says; rejects with an error event if that comes
     * instead.
     */
    async subscribe(payload: unknown) {
      socket.emit("subscribe", payload);
      const { name, payload: answer } = await nextOf("subscribed", "error");
      if (name === "error") throw new Error(`not subscribed: ${JSON.stringify(answer)}`);
      return answer;
    },
    close: () => void socket.close(),
  };
}

/** Connects, and resolves when the namespace is joined. The server rejects a handshake only after that. */
export async function connectStream(
  url: string,
  namespace: string,
  credentials: StreamCredentials,
  options: StreamClientOptions = {},
): Promise<StreamClient> {
  const client = openStream(url, namespace, credentials, options);
  await client.next("connect");
  return client;
}

/** What a client says in its handshake, `at` in Unix ms. */
export function handshakeAuth(
  namespace: string,
  { apiKey, apiSecret }: StreamCredentials,
  at = Date.now(),
): { readonly apiKey: string; readonly timestamp: string; readonly signature: string } {
  const timestamp = String(at);
  const signature = createHmac("sha256", apiSecret).update(`${timestamp}GET${namespace}`).digest("hex");
  return { apiKey, timestamp, signature };
}

function told(events: readonly StreamEvent[]): string {
  return events.map(({ name, payload }) => `${name} ${JSON.stringify(payload)?.slice(0, 200)}`).join("; ");
}
