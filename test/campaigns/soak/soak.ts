// The soak itself: a gateway of its own on a market whose connections are cut now and then, many clients for
// a while, then all of them cut off at once. What is wrong is collected, not thrown.
import { setTimeout as pause } from "node:timers/promises";
import { memoryOf } from "../../../bench/processes/processes.ts";
import { seededRandom } from "../../support/random.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { seedMany } from "../../support/strategies.ts";
import type { Drop } from "./drops.ts";
import type { Fault, FaultKind } from "./faults.ts";
import { type Growth, growthOf, isGrowing, type MemorySample } from "./flatness.ts";
import { Oracle } from "./oracle.ts";
import { CONNECTIONS_PER_KEY, drawPlan, drawPool, type Pool } from "./plan.ts";
import { isSoWithin, raiseStorm, type Storm } from "./storm.ts";
import { Subscriber } from "./subscriber.ts";
import { openSoakUpstream, type SoakUpstream } from "./upstream.ts";

export type SoakParts = {
  readonly seed: number;
  readonly seconds: number;
  readonly clients: number;
  readonly subscriptions: number;
  /** Of how many pairs at most; all there are unless said. */
  readonly pairsMax?: number;
  /** How many clients are cut off at once in the end; 0 for no storm. */
  readonly storm: number;
  readonly drops: Iterator<Drop, unknown>;
  /** How many times longer than a free machine a busy one may be silent; 1 if it is left out. */
  readonly slowness?: number;
  /** From one look at the memory to the next, s. */
  readonly memoryEverySeconds: number;
  readonly onProgress?: (progress: SoakProgress) => void;
  /** Ends the soak early. */
  readonly signal?: AbortSignal;
};

export type SoakProgress = {
  readonly seconds: number;
  /** Clients that are subscribed to everything. */
  readonly complete: number;
  readonly messages: number;
  readonly finals: number;
  readonly drops: number;
  readonly longestSilenceMs: number;
  readonly heapBytes: number | null;
  readonly faults: number;
};

export type SoakReport = Pick<SoakParts, "seed" | "clients" | "subscriptions"> & {
  /** Of the soak without its storms, and what came in that time. */
  readonly seconds: number;
  readonly messages: number;
  readonly books: number;
  readonly ticks: number;
  readonly finals: number;
  readonly drops: number;
  readonly unavailable: number;
  readonly longestSilenceMs: number;
  readonly longestInAllMs: number;
  readonly memory: readonly MemorySample[];
  readonly growth: Growth | null;
  readonly storms: readonly Storm[];
  readonly counts: { readonly [K in FaultKind]: number };
  /** The first few of each kind. */
  readonly faults: readonly Fault[];
};

/** Clients that connect at a time while the soak is set up. */
const CONNECTING_MAX = 50;
const COMPLETE_MS_MAX = 30_000;
/** One client in so many is a stock one. */
const STOCK_EVERY = 10;
const PROGRESS_MS = 5_000;
/**
 * By when the gateway has to be connected to a market that takes connections again: its longest wait and
 * some, ms.
 */
const RECONNECTED_MS_MAX = 50_000;
/** The gateway reports an outage after five seconds; the rest is for its check interval, ms. */
const SAID_MS_MAX = 8_000;
/** A shorter run is that of a cold process, whose memory still grows. */
const JUDGED_SECONDS_MIN = 60;
/** pino's level of an error. */
const ERROR_LEVEL = 50;

export async function runSoak(parts: SoakParts): Promise<SoakReport> {
  const { seed, seconds, clients, storm } = parts;
  const oracle = new Oracle(() => performance.now(), parts.slowness);
  const upstream = await openSoakUpstream(seed);
  const gateway = await startGateway({
    env: {
      ...upstream.env,
      LOG_LEVEL: "error",
      NODE_OPTIONS: "--inspect=127.0.0.1:0",
      // All clients are at one address.
      CONNECTIONS_PER_ADDRESS: "100000",
      STREAMS_PER_ADDRESS: "100000",
    },
  });
  const fixture = { parts, oracle, upstream, gateway, draw: seededRandom(seed) };
  const subscribers: Subscriber[] = [];
  const memory: MemorySample[] = [];
  const storms: Storm[] = [];
  let ran = { seconds: 0, messages: 0 };
  try {
    const most = Math.max(clients, storm);
    const made = await makeSubscribers(fixture, most);
    subscribers.push(...made);
    await connect(subscribers.slice(0, clients), oracle);
    const [startedAt, messagesBefore] = [oracle.now(), oracle.messages];
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, ...(parts.signal === undefined ? [] : [parts.signal])]);
    const work = [drop(fixture, signal), watchMemory(fixture, memory, signal)];
    await watchProgress(fixture, { subscribers, memory, untilMs: startedAt + seconds * 1_000, signal });
    ended.abort();
    await Promise.all(work);
    ran = { seconds: (oracle.now() - startedAt) / 1_000, messages: oracle.messages - messagesBefore };
    for (const subscriber of subscribers) subscriber.heedSilences();
    if (storm > 0 && parts.signal?.aborted !== true) {
      await connect(subscribers.slice(clients, storm), oracle);
      for (const isBackAtOnce of [false, true]) {
        const raised = await raiseStorm(subscribers.slice(0, storm), oracle, isBackAtOnce);
        if (raised !== null) storms.push(raised);
      }
    }
  } finally {
    for (const subscriber of subscribers) subscriber.close();
    await endGateway(gateway, oracle);
    await upstream.close();
  }
  const growth = growthOf(memory);
  const isJudged = growth !== null && ran.seconds >= JUDGED_SECONDS_MIN;
  if (isJudged && isGrowing(growth)) oracle.fault("MEMORY", `grew: ${JSON.stringify(growth)}`);
  return reportOf(fixture, { ...ran, memory, growth, storms });
}

type Fixture = {
  readonly parts: SoakParts;
  readonly oracle: Oracle;
  readonly upstream: SoakUpstream;
  readonly gateway: GatewayProcess;
  readonly draw: () => number;
};

async function makeSubscribers(fixture: Fixture, count: number): Promise<Subscriber[]> {
  const { parts, oracle, upstream, gateway, draw } = fixture;
  const pairs = upstream.pairs.slice(0, parts.pairsMax);
  const keys = await seedMany(gateway.dataDir, Math.ceil(count / CONNECTIONS_PER_KEY));
  const pools: readonly (readonly [Credentials, Pool])[] = keys.map((key, number) => [
    key,
    drawPool(number, pairs, draw),
  ]);
  return Array.from({ length: count }, (_, number) => {
    const [credentials, pool] = pools[Math.floor(number / CONNECTIONS_PER_KEY)] ?? [];
    if (credentials === undefined || pool === undefined) throw new Error("every client has a key");
    return new Subscriber({
      name: `client ${number}`,
      url: gateway.url,
      credentials,
      plan: drawPlan(pool, parts.subscriptions, draw),
      make: number % STOCK_EVERY === 0 ? "stock" : "bare",
      oracle,
      draw,
    });
  });
}

async function connect(subscribers: readonly Subscriber[], oracle: Oracle): Promise<void> {
  for (let from = 0; from < subscribers.length; from += CONNECTING_MAX) {
    const some = subscribers.slice(from, from + CONNECTING_MAX);
    for (const subscriber of some) subscriber.connect();
    if (await isSoWithin(() => some.every(({ completeAt }) => completeAt !== null), COMPLETE_MS_MAX))
      continue;
    oracle.fault("NOT_BACK", "clients did not get their subscriptions at the start");
    return;
  }
}

/** Drops upstream's connections as planned until it is aborted. An outage in progress is ended first. */
async function drop({ parts, upstream, oracle }: Fixture, signal: AbortSignal): Promise<void> {
  const { drops, clients, subscriptions } = parts;
  for (let next = drops.next(); next.done !== true; next = drops.next()) {
    const { afterMs, awayMs } = next.value;
    if (!(await isPaused(afterMs, signal))) return;
    oracle.outages.begin(oracle.now());
    if (awayMs > 0) upstream.setAway(true);
    upstream.cut();
    const toldBefore = oracle.unavailable;
    const isWhole = await isPaused(awayMs, signal);
    const told = oracle.unavailable - toldBefore;
    if (isWhole && awayMs >= SAID_MS_MAX && told !== clients * subscriptions) {
      oracle.fault("UNSAID", `${told} of ${clients * subscriptions} subscriptions, of ${awayMs} ms`);
    }
    upstream.setAway(false);
    const isBack = await isSoWithin(() => upstream.connections > 0, RECONNECTED_MS_MAX);
    if (!isBack) oracle.fault("GATEWAY", `did not connect to its market within ${RECONNECTED_MS_MAX} ms`);
    oracle.outages.end(oracle.now());
  }
}

async function watchMemory(
  { parts: { memoryEverySeconds }, gateway, oracle }: Fixture,
  memory: MemorySample[],
  signal: AbortSignal,
): Promise<void> {
  const { pid } = gateway.process;
  const inspectorUrl = /^Debugger listening on (\S+)$/m.exec(gateway.output())?.[1];
  if (pid === undefined || inspectorUrl === undefined) throw new Error("the gateway can be inspected");
  while (await isPaused(memoryEverySeconds * 1_000, signal)) {
    memory.push({ at: oracle.now(), ...(await memoryOf({ pid, inspectorUrl })) });
  }
}

async function watchProgress(
  { parts, oracle }: Fixture,
  {
    subscribers,
    memory,
    untilMs,
    signal,
  }: {
    readonly subscribers: readonly Subscriber[];
    readonly memory: readonly MemorySample[];
    readonly untilMs: number;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const startedAt = oracle.now();
  for (;;) {
    const leftMs = untilMs - oracle.now();
    if (leftMs <= 0 || !(await isPaused(Math.min(PROGRESS_MS, leftMs), signal))) return;
    for (const subscriber of subscribers) subscriber.heedSilences();
    parts.onProgress?.({
      seconds: (oracle.now() - startedAt) / 1_000,
      complete: subscribers.filter(({ completeAt }) => completeAt !== null).length,
      messages: oracle.messages,
      finals: oracle.finals,
      drops: oracle.outages.count,
      longestSilenceMs: oracle.longestSilenceMs,
      heapBytes: memory.at(-1)?.heapBytes ?? null,
      faults: oracle.faults.total,
    });
  }
}

async function endGateway(gateway: GatewayProcess, oracle: Oracle): Promise<void> {
  const hasEnded = gateway.process.exitCode !== null || gateway.process.signalCode !== null;
  const exitCode = await gateway.stop();
  if (hasEnded || exitCode !== 0) oracle.fault("GATEWAY", `ended with ${exitCode}: ${gateway.output()}`);
  for (const line of gateway.output().split("\n")) {
    if (line.startsWith("{") && JSON.parse(line).level >= ERROR_LEVEL) oracle.fault("GATEWAY", line);
  }
}

function reportOf(
  { parts: { seed, clients, subscriptions }, oracle }: Fixture,
  ran: Pick<SoakReport, "seconds" | "messages" | "memory" | "growth" | "storms">,
): SoakReport {
  const { books, ticks, finals, unavailable, longestSilenceMs, longestInAllMs, outages, faults } = oracle;
  return {
    ...{ seed, clients, subscriptions },
    ...ran,
    ...{ books, ticks, finals, unavailable, longestSilenceMs, longestInAllMs },
    drops: outages.count,
    counts: faults.counts,
    faults: faults.kept,
  };
}

/** Whether a pause, in ms, went by undisturbed. */
async function isPaused(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
