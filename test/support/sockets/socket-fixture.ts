// The gateway's sockets in the test's own process: real connections, the real routes and the simulated
// market, while time is the test's.
import { createManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { createMarketFeed } from "../../../src/market/client/feed.ts";
import { until } from "../../../src/market/client/testing/upstream.ts";
import { StreamClient } from "../../../src/market/exchange/testing/stream-client.ts";
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { Budgets } from "../../../src/rate-limits/budgets.ts";
import { ConnectionBound } from "../../../src/rate-limits/connections.ts";
import { createMarketEndpoints } from "../../../src/sockets/market-streams.ts";
import { isWebSocketUpgrade, Sockets } from "../../../src/sockets/server.ts";
import { openOwnGateway } from "../servers/own-gateway.ts";

export type SocketFixture = Awaited<ReturnType<typeof openSocketFixture>>;

/** Streams that the simulated market never sends by itself, one of each upstream connection. */
const MARKERS = [
  ["SPOT", "/ws", "btcusdt@referencePrice"],
  ["FUTURES", "/public/ws", "btcusdt@rpiDepth@500ms"],
  ["FUTURES", "/market/ws", "btcusdt@forceOrder"],
] as const;

/**
 * While an answer is awaited, a ms passes in so many turns of the event loop: a request takes a few hundred.
 */
const TURNS_PER_MS = 50;

export async function openSocketFixture({ seed = 7 }: { readonly seed?: number } = {}) {
  const time = createManualTime();
  const exchange = await openSimulatedExchange({ seed, clock: time, manual: true });
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info() {}, warn: write, error: write };
  const feedOf = (type: StrategyType) =>
    createMarketFeed({
      type,
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
  const feeds = { SPOT: feedOf("SPOT"), FUTURES: feedOf("FUTURES") };
  await Promise.all([feeds.SPOT.start(), feeds.FUTURES.start()]);
  const wallNow = () => time.now();
  const own = await openOwnGateway(feeds, wallNow);
  const { server, url } = await own.serve({ isUpgrade: isWebSocketUpgrade });
  const sockets = new Sockets({
    server: server.server,
    endpoints: createMarketEndpoints({ markets: feeds }),
    addressOf: () => "127.0.0.1",
    perAddress: new ConnectionBound(1_000),
    budgets: new Budgets(),
    wallNow,
    timers: time,
    log: own.log,
  });
  const wsUrl = url.replace("http", "ws");
  const clients: StreamClient[] = [];
  const open = async (path: string) => {
    const client = await StreamClient.open(`${wsUrl}${path}`);
    clients.push(client);
    return client;
  };
  let marked = 0;
  const heard = new Map<string, number>();
  for (const [type, path, stream] of MARKERS) {
    const client = await open(`${path}/${stream}`);
    client.socket.on("message", (data) => heard.set(`${type}${stream}`, JSON.parse(String(data)).marker));
  }

  /** Resolves when upstream has confirmed a stream. */
  async function confirmed(type: StrategyType, stream: string): Promise<void> {
    await until(() => {
      if (feeds[type].clientStreams.isStreaming(stream)) return true;
      time.advance(20);
      exchange.pump();
      return false;
    });
  }

  /**
   * Resolves when the gateway has passed on what upstream sent: the markers that follow have come through.
   */
  async function settle(): Promise<void> {
    for (const [type, , stream] of MARKERS) {
      marked += 1;
      await until(() => {
        if (heard.get(`${type}${stream}`) === marked) return true;
        exchange.sendRaw(stream, { marker: marked }, type);
        return false;
      });
    }
  }

  return {
    /** `http://…` and `ws://…` of the one port. */
    url,
    wsUrl,
    time,
    exchange,
    feeds,
    sockets,
    /** What was logged as a warning or an error. */
    logged,
    open,
    settle,
    /** Lets time pass; resolves when the gateway has passed on what the market sent in it. */
    async pass(ms: number, stepMs = 1_000): Promise<void> {
      for (let left = ms; left > 0; left -= stepMs) {
        time.advance(Math.min(left, stepMs));
        exchange.pump();
        await settle();
      }
    },
    /** The body of a public route, while time passes as fast as upstream answers. */
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
    /** Cuts all connections upstream, for so many ms at least; resolves when they are back. */
    async interrupt(ms: number): Promise<void> {
      exchange.dropConnections();
      const isStreaming = ([type, , stream]: (typeof MARKERS)[number]) =>
        feeds[type].clientStreams.isStreaming(stream);
      await until(() => !MARKERS.some(isStreaming));
      time.advance(ms);
      exchange.pump();
      for (const [type, , stream] of MARKERS) await confirmed(type, stream);
    },
    async close(): Promise<void> {
      for (const client of clients) client.close();
      const closing = sockets.close();
      await Promise.all([closing, server.close()]);
      await own.close();
      await Promise.all([feeds.SPOT.close(), feeds.FUTURES.close()]);
      await exchange.close();
    },
  };
}
