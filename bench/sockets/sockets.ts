// The exchange's own sockets. First the messages of one market stream to many connections, by the gateway and
// by bare `ws` in turns. Then a gateway on each store, round by round: orders over REST with nobody
// subscribed, the same over the WebSocket API, beside a bare `ws` that only verifies them, the same over REST
// with user data subscriptions of others and with those of the traders themselves, and the time from an order
// to its event. At last the memory of connections with a subscription, and how long many take that come back
// at the same time. Real are the gateway and the connections; upstream of the market messages is the bench.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MemoryOf } from "../figures.ts";
import type { Options } from "../options.ts";
import type { Machine } from "../processes/machine.ts";
import {
  type Gateway,
  type Listeners,
  memoryOf,
  startEcho,
  startGateway,
  startListeners,
  startSender,
  startStreamServer,
} from "../processes/processes.ts";
import { type BenchStore, differenceIn, STORE_TITLES, type StoreName } from "../stores.ts";
import { prepareStrategies, readTrips, SPOT } from "../strategies.ts";
import { TRADE_BROADCASTERS, type TradeBroadcasterName } from "../streams/broadcasters.ts";
import { type Broadcast, measureBroadcasts } from "../streams/streams.ts";
import { MeasurementFailed, Trial } from "../trial.ts";
import type { Loaded } from "../wire/load.ts";
import type { Credentials } from "../wire/requests.ts";
import type { Listening } from "./listeners.ts";
import type { Probed } from "./probe.ts";
import { GENTLY } from "./wire.ts";

export type TradeRound = { readonly [N in TradeBroadcasterName]: Broadcast };

export type SocketRound = {
  /** Over REST: with nobody subscribed, and with subscriptions of others or of the traders. */
  readonly rest: Loaded;
  readonly besideOthers: Loaded;
  readonly ofTraders: Loaded;
  /** Events that the traders' subscriptions brought. */
  readonly events: number;
  readonly sockets: Loaded;
  /** The same requests to a bare `ws` that only verifies them. */
  readonly echo: Loaded;
  readonly idle: Probed;
  readonly half: Probed;
};
export type StoreSockets = {
  readonly store: StoreName;
  readonly rounds: readonly SocketRound[];
  readonly acknowledged: number;
};

export type ConnectionsMeasured = MemoryOf & {
  readonly returned: readonly Listening[];
};
export type SocketsMeasured = {
  readonly sizes: Options["sockets"];
  readonly trades: readonly TradeRound[];
  readonly stores: readonly StoreSockets[];
  readonly gateway: ConnectionsMeasured;
  readonly bare: ConnectionsMeasured;
};

/** A filled order is reported as new, as traded and by the balances. */
const EVENTS_PER_ORDER = 3;
/** Events in flight arrive within this time, ms. */
const ARRIVAL_MS = 300;

type Say = (text: string) => void;

/** Null where clients cannot have many loopback addresses, as the limits of an address ask for. */
export async function measureSockets(
  stores: readonly BenchStore[],
  directory: string,
  options: Options,
  machine: Machine,
  say: Say,
): Promise<SocketsMeasured | null> {
  if (process.platform !== "linux") return null;
  const { connections } = options.sockets;
  say(`trades to ${connections} connections`);
  const trades = await measureBroadcasts(TRADE_BROADCASTERS, "", connections, options, machine, say);
  const ofStores: StoreSockets[] = [];
  for (const store of stores) ofStores.push(await measureStore(store, options, machine, say));
  say(`memory of ${options.sockets.many} user data connections`);
  const ofConnections = await measureConnections(mkdtempSync(join(directory, "sockets-")), options, machine);
  return { sizes: options.sockets, trades, stores: ofStores, ...ofConnections };
}

async function measureStore(
  store: BenchStore,
  options: Options,
  { pinning }: Machine,
  say: Say,
): Promise<StoreSockets> {
  const { traders, others, probes } = options.sockets;
  say(`sockets on ${STORE_TITLES[store.name]}`);
  const place = await store.newPlace();
  const keys = await prepareStrategies(place, traders + others + probes, SPOT);
  const ofTraders = keys.slice(0, traders);
  const ofOthers = keys.slice(traders, traders + others);
  const gateway = await startGateway(place, pinning?.server ?? null);
  const setup = {
    credentials: { SPOT: ofTraders, FUTURES: [] },
    probes: keys.slice(traders + others),
    trips: await readTrips(gateway.url),
    yieldsToDatabase: place.databaseUrl !== null,
  };
  const sender = await startSender(setup, pinning?.sender ?? null);
  const listeners = startListeners(pinning?.sender ?? null);
  const name = `sockets on ${STORE_TITLES[store.name]}`;
  const { warmSeconds, firstSeconds } = options;
  const trial = new Trial({ name, target: "gateway", server: gateway, sender, warmSeconds });
  const echoServer = await startEcho(ofTraders, pinning?.server ?? null);
  const echo = new Trial({ name: "the ws echo", target: "echo", server: echoServer, sender, warmSeconds });
  const rounds: SocketRound[] = [];
  await trial.saturate("orders", firstSeconds.gateway);
  await trial.saturateSockets(firstSeconds.gateway);
  await echo.saturateSockets(firstSeconds.echo);
  while (rounds.length < options.rounds) {
    rounds.push(
      await measureRound(
        { gateway, trial, echo, listeners, ofTraders, ofOthers },
        options,
        rounds.length % 2 === 0,
      ),
    );
    say(`sockets ${rounds.length} of ${options.rounds}`);
  }
  listeners.stop();
  sender.stop();
  echoServer.stop();
  await gateway.stop();
  const acknowledged = trial.ordersAcknowledged;
  const difference = await differenceIn(place, { orders: acknowledged, signals: 0 });
  if (difference !== null) throw new MeasurementFailed(`${name}: ${difference}`);
  return { store: store.name, rounds, acknowledged };
}

type Parts = {
  readonly gateway: Gateway;
  readonly trial: Trial;
  readonly echo: Trial;
  readonly listeners: Listeners;
  readonly ofTraders: readonly Credentials[];
  readonly ofOthers: readonly Credentials[];
};

async function measureRound(
  { gateway, trial, echo, listeners, ofTraders, ofOthers }: Parts,
  { seconds }: Options,
  isEven: boolean,
): Promise<SocketRound> {
  const { port } = gateway;
  const restWith = async (keys: readonly Credentials[]): Promise<Loaded> => {
    await listen(listeners, { port, keys, atOnce: GENTLY });
    return await trial.saturate("orders", seconds);
  };
  const measured: Partial<Record<"sockets" | "rest" | "besideOthers" | "echo", Loaded>> = {};
  const steps = [
    async () => (measured.echo = await echo.saturateSockets(seconds)),
    async () => (measured.sockets = await trial.saturateSockets(seconds)),
    async () => (measured.rest = await restWith([])),
    async () => (measured.besideOthers = await restWith(ofOthers)),
  ];
  // Whatever comes first in one round comes last in the next; what is compared stands side by side.
  for (const step of isEven ? steps : steps.toReversed()) await step();
  const ordersBefore = trial.ordersAcknowledged;
  const traded = await restWith(ofTraders);
  await wait(ARRIVAL_MS);
  const { events } = await listen(listeners, { port, keys: [], atOnce: GENTLY });
  const expected = (trial.ordersAcknowledged - ordersBefore) * EVENTS_PER_ORDER;
  if (events !== expected) throw new MeasurementFailed(`user data: of ${expected} events ${events} arrived`);
  const { rest, besideOthers, sockets, echo: echoed } = measured as Required<typeof measured>;
  const idle = await trial.probe(seconds, null);
  const half = await trial.probe(seconds, rest.perSecond / 2);
  return { rest, besideOthers, ofTraders: traded, events, sockets, echo: echoed, idle, half };
}

async function listen(listeners: Listeners, task: Parameters<Listeners["run"]>[0]): Promise<Listening> {
  const listening = await listeners.run(task);
  if (listening.failure !== null) throw new MeasurementFailed(`user data: ${listening.failure}`);
  return listening;
}

async function measureConnections(
  dataDir: string,
  options: Options,
  { pinning }: Machine,
): Promise<Pick<SocketsMeasured, "gateway" | "bare">> {
  const serverCore = pinning?.server ?? null;
  const inspected = { canBeInspected: true };
  const place = { dataDir, databaseUrl: null };
  const keys = await prepareStrategies(place, options.sockets.many, SPOT);
  const measured = async (
    server: Pick<Gateway, "port" | "pid" | "inspectorUrl">,
  ): Promise<ConnectionsMeasured> => {
    const listeners = startListeners(pinning?.sender ?? null);
    const { port } = server;
    const { few, many, returning } = options.sockets;
    const memoryWith = async (count: number) => {
      await listen(listeners, { port, keys: keys.slice(0, count), atOnce: GENTLY });
      return await memoryOf(server);
    };
    try {
      const memory = { few: await memoryWith(few), many: await memoryWith(many) };
      const together = { port, keys: keys.slice(0, returning), atOnce: returning };
      await listen(listeners, { port, keys: [], atOnce: GENTLY });
      // The first time is the compiler's, and makes the connections that are cut.
      await listen(listeners, { ...together, atOnce: GENTLY });
      const returned: Listening[] = [];
      while (returned.length < options.rounds) returned.push(await listen(listeners, together));
      return { ...memory, returned };
    } finally {
      listeners.stop();
    }
  };
  const bareServer = { name: "bareTrades", dataDir: "", connections: 0 } as const;
  const bare = await startStreamServer(bareServer, serverCore, inspected);
  const ofBare = await measured(bare);
  bare.stop();
  const gateway = await startGateway(place, serverCore, inspected);
  const ofGateway = await measured(gateway);
  await gateway.stop();
  return { gateway: ofGateway, bare: ofBare };
}
