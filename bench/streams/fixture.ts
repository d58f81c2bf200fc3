// The gateway's streams in a process of their own: everything of `src/streams/`, on a database with real
// keys, or the market streams of `src/sockets/`, but fed with snapshots or trades by the bench. Each
// publication is a message of the upstream feed, followed at once by the moment of the schedule.
import { createServer } from "node:http";
import { pino } from "pino";
import { type Cancel, systemClock, systemTimers, type Timers } from "../../src/concurrency/time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { Sockets } from "../../src/sockets/server.ts";
import type { StreamsMarket } from "../../src/sockets/shared-streams.ts";
import { createDepth } from "../../src/streams/depth.ts";
import { createStreams } from "../../src/streams/server.ts";
import type { Broadcaster } from "./broadcasters.ts";
import { snapshotOf, TRADED, tradeOf } from "./message.ts";
import { CONNECTIONS_PER_KEY } from "./wire.ts";

type Listener = (data: unknown) => void;

/** Streams for this many connections, with the keys for them. */
export async function gatewayStreams(dataDir: string, connections: number): Promise<Broadcaster> {
  const { store, master } = await openDataDirectory(dataDir, null);
  const wanted = Array.from({ length: Math.ceil(connections / CONNECTIONS_PER_KEY) }, () => "SPOT" as const);
  const credentials = await seedStrategies(store, master, wanted, Date.now());
  const log = pino({ level: "error" });
  const server = createServer();
  const upstream = new Set<Listener>();
  const schedule = new Set<() => void>();
  const market = {
    subscribe: (_stream: string, listener: Listener) => entered(upstream, listener),
    isStreaming: () => true,
    query: () => Promise.reject(new Error("the bench's upstream is never asked")),
  };
  const timers: Timers = {
    after: systemTimers.after,
    every: (_intervalMs, callback) => entered(schedule, callback),
  };
  createStreams({
    server,
    store,
    master,
    pairs: { has: () => true },
    sources: {
      candles: () => ({ follow: () => () => {}, close: () => {} }),
      depth: (audience) =>
        createDepth({ market, audience, asksAboutQuietSymbols: false, wallClock: systemClock, timers, log }),
    },
    addressOf: () => "127.0.0.1",
    onRefused: () => {},
    onKeyUsed: () => {},
    timers: systemTimers,
    wallNow: () => Date.now(),
    log,
  });
  return {
    server,
    credentials,
    publish(number) {
      const snapshot = snapshotOf(number);
      for (const listener of upstream) listener(snapshot);
      for (const send of schedule) send();
    },
  };
}

/** Upgrades, limits, sessions and the fan-out are the gateway's own; its market is the bench. */
export function gatewayTrades(): Broadcaster {
  const server = createServer();
  const upstream = new Set<Listener>();
  const market: StreamsMarket = {
    type: "SPOT",
    exchangeInfo: () => ({ head: {}, symbols: new Map([[TRADED.symbol, {}]]), version: 1 }),
    clientStreams: {
      subscribe: (_stream, listener) => entered(upstream, listener),
      joined: () => {},
      isStreaming: () => true,
    },
  };
  new Sockets({
    server,
    endpoints: createMarketEndpoints({ markets: { SPOT: market, FUTURES: market } }),
    perAddress: new ConnectionBound(Number.POSITIVE_INFINITY),
    budgets: { ban: () => null },
    addressOf: ({ socket }) => socket.remoteAddress ?? "",
    timers: systemTimers,
    wallNow: () => Date.now(),
    log: pino({ level: "error" }),
  });
  return {
    server,
    credentials: [],
    path: TRADED.path,
    publish(number) {
      const trade = tradeOf(number);
      for (const listener of upstream) listener(trade);
    },
  };
}

function entered<Entry>(entries: Set<Entry>, entry: Entry): Cancel {
  entries.add(entry);
  return () => void entries.delete(entry);
}
