// The streams in the test's own process: real sockets and a real database, while time and what the sources
// say are the test's. Fixtures may stand on one database one after another, or at once, as servers do.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pino from "pino";
import { createManualTime, type ManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../../../src/config/data-directory.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { addressOfRequest } from "../../../src/http/transport-security.ts";
import { seedStrategies } from "../../../src/keys/seed.ts";
import type { Store } from "../../../src/store/store.ts";
import { createStreams } from "../../../src/streams/server.ts";
import type {
  Audience,
  CandleTopic,
  DepthTopic,
  MarketData,
  OrderBook,
  Source,
} from "../../../src/streams/topics.ts";
import { isStreamUpgrade } from "../../../src/streams/upgrade-handler.ts";
import { eventually } from "../eventually.ts";
import { newDirectory } from "../servers/gateway.ts";
import {
  handshakeAuth,
  openStream,
  type StreamClient,
  type StreamClientOptions,
  type StreamCredentials,
} from "./stream-client.ts";

/** A source that says what the test makes it say. */
export class SteeredSource<Topic, Payload> implements Source<Topic> {
  readonly audience: Audience<Topic, Payload>;
  /** Every topic that is followed, as JSON: one that is followed twice is in it twice. */
  readonly followed: string[] = [];
  isClosed = false;

  constructor(audience: Audience<Topic, Payload>) {
    this.audience = audience;
  }

  follow(topic: Topic): () => void {
    const name = JSON.stringify(topic);
    this.followed.push(name);
    return () => void this.followed.splice(this.followed.indexOf(name), 1);
  }

  close(): void {
    this.isClosed = true;
  }
}

export type StreamFixture = Awaited<ReturnType<typeof openStreamFixture>>;

/** The pairs that a fixture supports. */
export const STAGE_PAIRS = Array.from({ length: 40 }, (_, index) => `PAIR${index}USDT`);

/** Opens a fixture; `wrap` may stand between the streams and their store. */
export async function openStreamFixture({
  dataDir = newDirectory(),
  time = createManualTime(),
  wrap = (store) => store,
}: {
  readonly dataDir?: string;
  readonly time?: ManualTime;
  readonly wrap?: (store: Store) => Store;
} = {}) {
  const { store, master } = await openDataDirectory(dataDir, null);
  const server = createServer({ shouldUpgradeCallback: isStreamUpgrade }, (_request, response) =>
    response.writeHead(404).end(),
  );
  const candles: SteeredSource<CandleTopic, MarketData>[] = [];
  const depth: SteeredSource<DepthTopic, OrderBook>[] = [];
  const steered =
    <Topic, Payload>(made: SteeredSource<Topic, Payload>[]) =>
    (audience: Audience<Topic, Payload>) => {
      const source = new SteeredSource(audience);
      made.push(source);
      return source;
    };
  const keyUses: string[] = [];
  const refused: string[] = [];
  const streams = createStreams({
    server,
    store: wrap(store),
    master,
    pairs: { has: (pair) => STAGE_PAIRS.includes(pair) },
    sources: { candles: steered(candles), depth: steered(depth) },
    addressOf: (request) => addressOfRequest(request, 1),
    onKeyUsed: (keyId, namespace) => keyUses.push(`${keyId} ${namespace}`),
    onRefused: ({ namespace, address, code }) => refused.push(`${namespace} ${address} ${code}`),
    wallNow: () => time.now(),
    timers: time,
    log: pino({ level: "silent" }),
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: StreamClient[] = [];
  const open = (namespace: string, key: StreamCredentials, options: StreamClientOptions = {}) => {
    const auth = options.auth === undefined ? handshakeAuth(namespace, key, time.now()) : options.auth;
    const client = openStream(url, namespace, key, { ...options, auth });
    clients.push(client);
    return client;
  };
  let isOpen = true;
  const closeStreams = async () => {
    if (isOpen) await streams.close();
    isOpen = false;
  };
  return {
    url,
    server,
    store,
    time,
    candles: source(candles),
    depth: source(depth),
    /** Each reported use of a key: its id and the namespace. */
    keyUses,
    /** Each reported rejection of a handshake: the namespace, the address and the code. */
    refused,
    /** The keys of new strategies, of spot unless said. */
    keys: (count: number, type: StrategyType = "SPOT"): Promise<StreamCredentials[]> =>
      seedStrategies(
        store,
        master,
        Array.from({ length: count }, () => type),
        time.now(),
      ),
    /** A client whose handshake is signed at the fixture's time, connected or not yet. */
    async connect(
      namespace: string,
      key: StreamCredentials,
      options: StreamClientOptions = {},
    ): Promise<StreamClient> {
      const client = open(namespace, key, options);
      await client.next("connect");
      return client;
    },
    open,
    /** Resolves when so many topics are followed: none unless said. */
    untilFollowed: (followedCount = 0): Promise<void> =>
      eventually(
        `${followedCount} topics are followed`,
        () => source(candles).followed.length + source(depth).followed.length === followedCount,
      ),
    /** Ends the streams alone. */
    closeStreams,
    /** Ends everything. */
    async close(): Promise<void> {
      for (const client of clients) client.close();
      await closeStreams();
      await new Promise((resolve) => server.close(resolve));
      await store.close();
    },
  };
}

function source<Each>([made]: readonly Each[]): Each {
  if (made === undefined) throw new Error("the streams open their sources at once");
  return made;
}

/** A tick of a candle. */
export function candleOf(topic: CandleTopic, startTime: number, close: string, isFinal = false): MarketData {
  const prices = { open: "1.00000000", high: "9.00000000", low: "0.50000000", volume: "12.50000000" };
  return {
    event: "kline",
    ...topic,
    candle: { ...prices, close, startTime, closeTime: startTime + 59_999, isFinal },
  };
}

/** A snapshot of a book. */
export function bookOf(topic: DepthTopic, lastUpdateId: number): OrderBook {
  const side = (from: number, step: number) =>
    Array.from(
      { length: topic.levels },
      (_, index) => [(from + index * step).toFixed(8), "1.00000000"] as const,
    );
  return { event: "depth", ...topic, lastUpdateId, bids: side(100, -1), asks: side(101, 1) };
}
