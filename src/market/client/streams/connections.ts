// The stream connections of one route, and which stream is on which. The exchange takes
// `streamsPerConnectionMax` streams per connection; when all open ones are full another is opened, and stays;
// at most `connectionsMax`.
// The streams of one symbol stay together, so that a lost connection causes gaps of its own symbols only: a
// connection takes new symbols while it has `streamsKeptFree` left for those it carries. If these are used up
// too, a symbol's next stream is on another connection, and the loss of either is its gap.
import { type ConnectionOptions, StreamConnection } from "./connection.ts";
import { streamsPerConnectionMax } from "./stream-socket.ts";

/** 8,192 streams. */
export const connectionsMaxDefault = 8;
export const streamsKeptFree = 64;

/** A connection, for callers that only need what it carries. */
export type Carrier = Pick<StreamConnection, "carries" | "renew">;

export type Connections = {
  /** Opens what there is, and from here on whatever is added. */
  open(): void;
  /** False when no connection has room; nothing is wanted then. */
  want(stream: string): boolean;
  unwant(stream: string): void;
  /** Whether upstream has confirmed a stream on the present socket of its connection. */
  isConfirmed(stream: string): boolean;
  /** Whether a stream has a connection and that is open. */
  isOpenFor(stream: string): boolean;
  status(): {
    /** Whether every connection is open. */
    readonly connected: boolean;
    /** Unix ms of the last data message; 0 before the first. */
    readonly lastMessageAt: number;
    /** How many sockets have been in use. */
    readonly connects: number;
    readonly streams: number;
  };
  close(): Promise<void>;
};

export type ConnectionsOptions = Omit<ConnectionOptions, "onMessage" | "onOpen" | "onLost"> & {
  readonly connectionsMax: number;
  readonly onMessage: (text: string, mayRepeat: boolean, from: Carrier) => void;
  /** A lost connection is open again: the streams it carries start over. */
  readonly onReconnected: (connection: Carrier) => void;
  /** An open connection is gone: what it carries is missed until it is open again. */
  readonly onLost: (connection: Carrier) => void;
};

/** Where the streams of one symbol are, and how many of them are wanted. */
type Home = { readonly connection: StreamConnection; streams: number };

export function createConnections(options: ConnectionsOptions): Connections {
  const { connectionsMax, onMessage, onReconnected, onLost } = options;
  const connections: StreamConnection[] = [];
  const placeOf = new Map<string, StreamConnection>();
  const homeOf = new Map<string, Home>();
  let isOpen = false;
  add();

  function add(): StreamConnection {
    const connection: StreamConnection = new StreamConnection({
      ...options,
      onMessage: (text, mayRepeat) => onMessage(text, mayRepeat, connection),
      onOpen: () => {
        if (connection.connects > 1) onReconnected(connection);
      },
      onLost: () => onLost(connection),
    });
    connections.push(connection);
    if (isOpen) connection.open();
    return connection;
  }

  function placeFor(home: Home | undefined): StreamConnection | undefined {
    if (home !== undefined && hasRoom(home.connection, 1)) return home.connection;
    const roomy = connections.find((connection) => hasRoom(connection, 1 + streamsKeptFree));
    if (roomy !== undefined) return roomy;
    if (connections.length < connectionsMax) return add();
    return connections.find((connection) => hasRoom(connection, 1));
  }

  return {
    open() {
      isOpen = true;
      for (const connection of connections) connection.open();
    },
    want(stream) {
      if (placeOf.has(stream)) return true;
      const symbol = symbolOf(stream);
      const home = homeOf.get(symbol);
      const connection = placeFor(home);
      if (connection === undefined) return false;
      connection.want(stream);
      placeOf.set(stream, connection);
      if (home === undefined) homeOf.set(symbol, { connection, streams: 1 });
      else home.streams += 1;
      return true;
    },
    unwant(stream) {
      placeOf.get(stream)?.unwant(stream);
      if (!placeOf.delete(stream)) return;
      const symbol = symbolOf(stream);
      const home = homeOf.get(symbol);
      if (home === undefined) return;
      home.streams -= 1;
      if (home.streams === 0) homeOf.delete(symbol);
    },
    isConfirmed: (stream) => placeOf.get(stream)?.isConfirmed(stream) ?? false,
    isOpenFor: (stream) => placeOf.get(stream)?.isOpen ?? false,
    status: () => ({
      connected: connections.every((connection) => connection.isOpen),
      lastMessageAt: Math.max(...connections.map(({ lastMessageAt }) => lastMessageAt)),
      connects: sum(connections.map(({ connects }) => connects)),
      streams: placeOf.size,
    }),
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

function hasRoom(connection: StreamConnection, streams: number): boolean {
  return connection.streamCount + streams <= streamsPerConnectionMax;
}

/** `btcusdt@trade` → `btcusdt`. */
function symbolOf(stream: string): string {
  return stream.split("@", 1)[0] ?? stream;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
