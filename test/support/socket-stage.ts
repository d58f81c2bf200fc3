// The gateway's sockets in the test's own process: real connections, the real routes and the simulated market,
// while time is the test's.
import { randomUUID } from "node:crypto";
import pino from "pino";
import { createManualTime, type ManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { STANDARD } from "../../src/domain/fill-profile.ts";
import { createServer } from "../../src/http/server.ts";
import { createMarketFeed, type MarketFeed } from "../../src/market/client/feed.ts";
import { until } from "../../src/market/client/testing/upstream.ts";
import type { Exchange } from "../../src/market/exchange/open.ts";
import { StreamClient } from "../../src/market/exchange/testing/stream-client.ts";
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";
import { botParts } from "./bot-parts.ts";
import { newDirectory } from "./gateway.ts";

export type SocketStage = {
  /** `http://…` and `ws://…` of the one port. */
  readonly url: string;
  readonly wsUrl: string;
  readonly time: ManualTime;
  readonly exchange: Exchange;
  readonly feeds: Readonly<Record<"SPOT" | "FUTURES", MarketFeed>>;
  readonly sockets: Sockets;
  /** What was logged as a warning or an error. */
  readonly logged: readonly string[];
  open(path: string): Promise<StreamClient>;
  /** Lets time pass; resolves when the gateway has passed on what the market sent in it. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Resolves when the gateway has passed on what upstream sent. */
  settle(): Promise<void>;
  /** The body of a public route, while time passes as fast as upstream answers. */
  read<Body>(path: string): Promise<Body>;
  /** Resolves when upstream has confirmed a stream. */
  confirmed(family: "SPOT" | "FUTURES", stream: string): Promise<void>;
  /** Cuts all connections upstream, for so many ms at least; resolves when they are back. */
  interrupt(ms: number): Promise<void>;
  close(): Promise<void>;
};

/** Streams that the simulated market never sends by itself, one of each upstream connection. */
const MARKERS = [
  ["spot", "/ws", "btcusdt@referencePrice"],
  ["futures", "/public/ws", "btcusdt@rpiDepth@500ms"],
  ["futures", "/market/ws", "btcusdt@forceOrder"],
] as const;

/** While an answer is awaited, a ms passes in so many turns of the event loop: a request takes a few hundred. */
const TURNS_PER_MS = 50;

export async function openSocketStage({ seed = 7 }: { readonly seed?: number } = {}): Promise<SocketStage> {
  const time = createManualTime();
  const exchange = await openSimulatedExchange({ seed, clock: time, manual: true });
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info() {}, warn: write, error: write };
  const feedOf = (family: "spot" | "futures") =>
    createMarketFeed({
      family,
      ...exchange,
      clock: time,
      wallClock: time,
      timers: time,
      random: () => 0.5,
      log,
      asksAboutQuietSymbols: false,
      measuresAge: false,
      isMetered: false,
    });
  const feeds = { SPOT: feedOf("spot"), FUTURES: feedOf("futures") };
  await Promise.all([feeds.SPOT.start(), feeds.FUTURES.start()]);
  const { store, master } = await openDataDirectory(newDirectory(), null);
  const wallNow = () => time.now();
  const silent = pino({ level: "silent" });
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const parts = { store, markets: feeds, profiles: STANDARD };
  const desk = new Desk({ ...parts, onStoreFailure, log: silent });
  const server = createServer(
    {
      ...parts,
      desk,
      master,
      budgets: new Budgets(),
      ...botParts({ desk, store, market: feeds.SPOT, wallNow }),
      wallNow,
      newClientOrderId: randomUUID,
    },
    { log: silent, isUpgrade: isWebSocketUpgrade },
  );
  const sockets = new Sockets({
    server: server.server,
    endpoints: createMarketEndpoints({ markets: feeds }),
    addressOf: () => "127.0.0.1",
    perAddress: new ConnectionBound(1_000),
    budgets: new Budgets(),
    wallNow,
    timers: time,
    log: silent,
  });
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const wsUrl = url.replace("http", "ws");
  const clients: StreamClient[] = [];
  const open = async (path: string) => {
    const client = await StreamClient.open(`${wsUrl}${path}`);
    clients.push(client);
    return client;
  };
  let marked = 0;
  const heard = new Map<string, number>();
  for (const [family, path, stream] of MARKERS) {
    const client = await open(`${path}/${stream}`);
    client.socket.on("message", (data) => heard.set(`${family}${stream}`, JSON.parse(String(data)).marker));
  }

  async function confirmed(family: "SPOT" | "FUTURES", stream: string): Promise<void> {
    await until(() => {
      if (feeds[family].clientStreams.isStreaming(stream)) return true;
      time.advance(20);
      exchange.pump();
      return false;
    });
  }

  /** What was sent before has gone through the gateway when the markers have. */
  async function settle(): Promise<void> {
    for (const [family, , stream] of MARKERS) {
      marked += 1;
      await until(() => {
        if (heard.get(`${family}${stream}`) === marked) return true;
        exchange.sendRaw(stream, { marker: marked }, family);
        return false;
      });
    }
  }

  return {
    url,
    wsUrl,
    time,
    exchange,
    feeds,
    sockets,
    logged,
    open,
    settle,
    async pass(ms, stepMs = 1_000) {
      for (let left = ms; left > 0; left -= stepMs) {
        time.advance(Math.min(left, stepMs));
        exchange.pump();
        await settle();
      }
    },
    async read<Body>(path: string): Promise<Body> {
      let body: { readonly value: Body } | null = null;
      let turns = 0;
      void fetch(`${url}${path}`)
        .then((response) => response.json() as Promise<Body>)
        .then((value) => {
          body = { value };
        });
      await until(() => {
        if (body !== null) return true;
        turns += 1;
        if (turns % TURNS_PER_MS === 0) {
          time.advance(1);
          exchange.pump();
        }
        return false;
      });
      return (body as unknown as { readonly value: Body }).value;
    },
    confirmed,
    async interrupt(ms) {
      exchange.dropConnections();
      const isStreaming = ([family, , stream]: (typeof MARKERS)[number]) =>
        feeds[family === "spot" ? "SPOT" : "FUTURES"].clientStreams.isStreaming(stream);
      await until(() => !MARKERS.some(isStreaming));
      time.advance(ms);
      exchange.pump();
      for (const [family, , stream] of MARKERS)
        await confirmed(family === "spot" ? "SPOT" : "FUTURES", stream);
    },
    async close() {
      for (const client of clients) client.close();
      const closing = sockets.close();
      await Promise.all([closing, server.close()]);
      await desk.drain();
      await Promise.all([feeds.SPOT.close(), feeds.FUTURES.close()]);
      await exchange.close();
      await store.close();
    },
  };
}
