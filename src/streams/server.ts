// The streams: Socket.IO beside HTTP on one port, a namespace for candles and one for depth. Invariants: a
// connection to a namespace always succeeds, and messages sent before admission are ignored. If its handshake
// is rejected, the client gets an `error` event and is disconnected; a standard client does not reconnect
// after that, so that it does not fail repeatedly. If the handshake could not be checked, only the transport
// is closed after the `error` event, as in a network failure, so the client reconnects.
// Source: specification 5.3, 6, 7.3 and 8.3.

import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { type Namespace, Server, type Socket } from "socket.io";
import { Semaphore } from "../concurrency/semaphore.ts";
import type { Timers } from "../concurrency/time.ts";
import { KeyChecks } from "../keys/key-checks.ts";
import { MasterVersionMissing } from "../keys/master-key.ts";
import type { TradingPairs } from "../market/pairs.ts";
import { ConnectionBound, STREAMS_PER_ADDRESS_DEFAULT } from "../rate-limits/connections.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import { StoreUnavailable } from "../store/store.ts";
import { named, type StreamError, streamError } from "./errors.ts";
import { authenticate, type HandshakeParts, type LetIn, UnknownKeys } from "./handshake.ts";
import { MESSAGE_BYTES_MAX } from "./limits.ts";
import { Session, Sessions } from "./sessions.ts";
import { CANDLES, DEPTH, type StreamKind } from "./stream-kinds.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { Audience, CandleTopic, DepthTopic, MarketData, OrderBook, Source } from "./topics.ts";
import { UpgradeHandler } from "./upgrade-handler.ts";

/** Makes the source of a stream, which sends to the audience given. */
export type OpenSource<Topic, Payload> = (audience: Audience<Topic, Payload>) => Source<Topic>;

export type StreamsParts = HandshakeParts & {
  /** It must leave to HTTP what is no `isStreamUpgrade`. */
  readonly server: HttpServer;
  readonly pairs: Pick<TradingPairs, "has">;
  readonly sources: {
    readonly candles: OpenSource<CandleTopic, MarketData>;
    readonly depth: OpenSource<DepthTopic, OrderBook>;
  };
  /** The address of the client that a request came from. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Called with the key of each accepted connection to a namespace, and with its first request. */
  readonly onKeyUsed: (keyId: string, namespace: string, request: IncomingMessage) => void;
  /** Called with each refused handshake. */
  readonly onRefused: (refused: { namespace: string; address: string; code: StreamError["code"] }) => void;
  /** Maximum of connections per address; there is a default. */
  readonly perAddress?: ConnectionBound;
  readonly timers: Timers;
  readonly log: Logger;
};

/** A namespace on the streams' connections, for code that checks its own handshakes and members. */
export type SharedNamespace = {
  readonly namespace: Namespace;
  /** Its handshake was accepted: a connection that joins nothing soon is closed. */
  joined(socket: Socket): void;
  /** It has left, after having joined. */
  left(socket: Socket): void;
};

export type Streams = {
  /** Opens another namespace, which lasts until `close`. */
  share(name: string): SharedNamespace;
  /** Disconnects all clients; resolves when nothing is left open. */
  close(): Promise<void>;
};

/** Serves the streams on a server, which may be listening already or not. */
export function createStreams(parts: StreamsParts): Streams {
  const { server, store, sources, timers, log } = parts;
  const io = new Server({
    transports: ["websocket"],
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: MESSAGE_BYTES_MAX,
  });
  const { perAddress = new ConnectionBound(STREAMS_PER_ADDRESS_DEFAULT), addressOf } = parts;
  const upgrades = new UpgradeHandler(io, server, { ...parts, perAddress, addressOf });
  const sessions = new Sessions();
  const keyChecks = new KeyChecks({ store, every: timers.every, log });
  // This namespace is there of itself.
  io.of("/").use((_socket, next) => next(new Error("Invalid namespace")));
  const shared = {
    ...parts,
    io,
    upgrades,
    sessions,
    keyChecks,
    failing: new Semaphore<string>({ permitsPerKey: 1 }),
    unknownKeys: new UnknownKeys(),
  };
  const served = [serve(CANDLES, sources.candles, shared), serve(DEPTH, sources.depth, shared)];

  return {
    share: (name) => ({
      namespace: io.of(name),
      joined: ({ conn }) => upgrades.joined(conn),
      left: ({ conn }) => upgrades.left(conn),
    }),
    async close() {
      const checked = keyChecks.close();
      await upgrades.close();
      await checked;
      for (const { close } of served) close();
    },
  };
}

type Shared = Omit<StreamsParts, "sources"> & {
  readonly io: Server;
  readonly upgrades: UpgradeHandler;
  readonly sessions: Sessions;
  readonly keyChecks: KeyChecks;
  readonly failing: Semaphore<string>;
  readonly unknownKeys: UnknownKeys;
};

/** Serves one namespace. */
function serve<Topic extends { readonly pair: string }, Payload extends object>(
  kind: StreamKind<Topic, Payload>,
  openSource: OpenSource<Topic, Payload>,
  {
    io,
    upgrades,
    sessions,
    keyChecks,
    pairs,
    addressOf,
    onKeyUsed,
    onRefused,
    wallNow,
    log,
    ...parts
  }: Shared,
): { close(): void } {
  const subscriptions = new Subscriptions(kind, openSource);

  async function letIn(socket: Socket): Promise<LetIn | StreamError> {
    try {
      const { auth, headers } = socket.handshake;
      const address = addressHolder(addressOf(socket.request));
      return await authenticate({ auth, headers, address }, kind.namespace, { ...parts, wallNow });
    } catch (error) {
      // The client has left, and at the end of the program there is no database.
      if (socket.conn.readyState !== "open") return streamError("INTERNAL");
      if (error instanceof MasterVersionMissing) return streamError("INTERNAL");
      if (error instanceof StoreUnavailable) log.warn({ reason: error.message }, OUT_OF_REACH);
      else log.error({ err: error }, "a stream handshake could not be checked");
      return streamError("INTERNAL");
    }
  }

  function handle(session: Session, name: string, payload: unknown): StreamError | null {
    const excess = session.admit(name, wallNow());
    if (excess !== null) return excess;
    if (name === "subscribe") {
      const topic = kind.readSubscription(payload);
      if (isError(topic)) return topic;
      if (!pairs.has(topic.pair)) {
        const message = `${named(topic)}: the pair is not in the list of supported pairs.`;
        return streamError("SUB_UNSUPPORTED_SYMBOL", { message });
      }
      return subscriptions.subscribe(session, topic);
    }
    if (name === "unsubscribe") {
      const fields = kind.readUnsubscription(payload);
      return isError(fields) ? fields : subscriptions.unsubscribe(session, fields);
    }
    return streamError("SUB_INVALID_PAYLOAD", {
      message: "The only messages are subscribe and unsubscribe.",
    });
  }

  function take(socket: Socket, { apiKey, keyId }: LetIn): void {
    const session = sessions.open(apiKey, socket);
    if (!(session instanceof Session)) return void refuse(socket, session);
    upgrades.joined(socket.conn);
    onKeyUsed(keyId, kind.namespace, socket.request);
    socket.onAny((name: string, payload: unknown) => {
      // Messages that arrived together with the end of the session are processed after it.
      if (!socket.connected) return;
      try {
        const error = handle(session, name, payload);
        if (error !== null) session.answer("error", error);
      } catch (error) {
        log.error({ err: error }, "a stream message could not be handled");
        session.answer("error", streamError("INTERNAL"));
      }
    });
    const forget = keyChecks.add(apiKey, {
      strategyId: null,
      end: () => session.end(streamError("AUTH_KEY_REVOKED")),
    });
    socket.on("disconnect", () => {
      forget();
      subscriptions.drop(session);
      sessions.close(session);
      upgrades.left(socket.conn);
    });
  }

  const namespace = io.of(kind.namespace);
  namespace.use((socket, next) => {
    void letIn(socket).then((handshake) => {
      socket.data = handshake;
      next();
    });
  });
  namespace.on("connection", (socket: Socket) => {
    const handshake: LetIn | StreamError = socket.data;
    if (!("code" in handshake)) return take(socket, handshake);
    const { code } = handshake;
    if (code !== "INTERNAL")
      onRefused({ namespace: kind.namespace, address: addressOf(socket.request), code });
    refuse(socket, handshake);
  });
  return { close: () => subscriptions.close() };
}

const OUT_OF_REACH = "the database is out of reach: a stream handshake could not be checked";

function refuse(socket: Socket, error: StreamError): void {
  socket.emit("error", error);
  if (error.code === "INTERNAL") socket.conn.close();
  else socket.disconnect();
}

function isError(read: object): read is StreamError {
  return "code" in read;
}
