// Signals under fire: the real program, the simulated market, cut connections and kill -9. Bots send signals
// concurrently. A connection may be cut at any moment of a request (cutting-proxy.ts). A bot then retries
// under the same key, sometimes twice at once, or leaves the signal to the server. At the same time the
// gateway, its database's server or both are killed. The seed decides what is drawn, not how requests
// interleave. The first answer that must never be given ends the run.
import { setTimeout as pause } from "node:timers/promises";
import { seedStrategies } from "../../../src/keys/seed.ts";
import { seededRandom } from "../../support/random.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import { type FaultKind, GatewayFault } from "../harness/faults.ts";
import { fewAtATime } from "../harness/patience.ts";
import type { Found } from "../harness/report.ts";
import { type CrashedStore, makeStore, type StoreName } from "../harness/stores.ts";
import { type Audit, auditAll, NO_AUDIT } from "./audit.ts";
import { Bot, isTerminal, type Sent, type ShownSignal, take } from "./bot.ts";
import { type Fate, openCuttingProxy } from "./cutting-proxy.ts";
import { type Counts, sendAll } from "./sending.ts";
import { Target } from "./target.ts";

export type FireOptions = {
  readonly store: StoreName;
  readonly seed: number;
  readonly signals: number;
  /** How often something is killed while they are sent. */
  readonly kills: number;
  readonly cuts: boolean;
  /** Whether every order can be taken and no bot gives up. */
  readonly isPlain?: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run without a verdict. */
  readonly signal?: AbortSignal;
};

/** What crashes must not do, and a signal that is not terminal in time. */
export type FireFaultKind = FaultKind | "LATE";
export type FireFault = Found<FireFaultKind>;

export type Progress = { readonly begun: number; readonly kills: number; readonly left: number | null };

export type FireReport = Readonly<Counts> & {
  readonly store: StoreName;
  readonly seed: number;
  readonly signals: number;
  /** Signals whose final state no bot received. */
  readonly left: number;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly kills: Target["kills"];
  /** From the last recovery to the last signal's end, ms. */
  readonly settledMs: number;
  readonly audit: Audit;
  readonly seconds: number;
  /** Empty if all is well. */
  readonly faults: readonly FireFault[];
};

/** So few that no key comes near its 50 orders in ten seconds. */
const SIGNALS_PER_BOT = 12;
const BOTS_MIN = 12;
/** Within this time of the last recovery every signal is over, ms. Source: specification 3.1. */
export const SETTLED_MS_MAX = 120_000;
const ASK_AGAIN_MS = 1_000;
const MS_PER_SECOND = 1_000;

/**
 * Runs the campaign. Returns null if the store's programs are missing. Once all signals are sent and the
 * gateway is back, it checks that
 *
 * - every signal is terminal within two minutes, without another request for it;
 * - every acknowledged signal exists, one for each key, and no terminal state has changed;
 * - each executed signal has one order, each rejected one has none, and no order lacks a signal;
 * - the result of a signal is its order, as its journal entry left it;
 * - balances follow from trades and open orders, accounts from journals, and the database is sound.
 */
export async function fire(options: FireOptions): Promise<FireReport | null> {
  const store = await makeStore(options.store);
  if (store === null) return null;
  const [prober, ...strategies] = await newStrategies(store, botsOf(options.signals) + 1);
  if (prober === undefined) throw new Error("strategies were made");
  const draw = seededRandom(options.seed);
  const { proxy, fates } = await openCuttingProxy(seededRandom(options.seed + 1), options.cuts);
  const target = new Target({ store, proxy, draw: seededRandom(options.seed + 2), prober });
  const started = performance.now();
  const counts: Counts = { requests: 0, retries: 0, twins: 0, mismatches: 0, unanswered: 0 };
  const report = {
    ...{ store: options.store, seed: options.seed, signals: options.signals },
    ...{ left: 0, settledMs: 0, audit: NO_AUDIT },
  };
  const faults: FireFault[] = [];
  try {
    const bots = strategies.map((credentials, index) => new Bot(`b${index}`, credentials));
    await target.start();
    const { signals, kills, signal, onProgress, isPlain = false } = options;
    const onKill = (begun: number, killed: number) => onProgress?.({ begun, kills: killed, left: null });
    await sendAll({ signals, isPlain, kills, signal, onKill, bots, target, proxy, counts, draw });
    report.left = sentOf(bots).filter(({ shown }) => !isTerminal(shown)).length;
    report.settledMs = await awaitEnds(target, bots, options, faults);
    await sendAgain(target, bots, draw);
    await target.stop();
    report.audit = await store.beside((beside) => auditAll(beside, store, bots));
    faults.push(...report.audit.faults);
    const { executed } = report.audit;
    if (isPlain && executed !== signals) {
      faults.push({
        kind: "LOST",
        what: `of ${signals} signals that can be taken ${executed} were executed`,
      });
    }
  } catch (error) {
    if (options.signal?.aborted !== true) {
      const reason = error instanceof Error ? error.stack : String(error);
      faults.push({ kind: "GATEWAY", what: `${reason}\n${await target.lastWords()}` });
    }
  } finally {
    await target.lastWords();
    await proxy[Symbol.asyncDispose]();
    await store.close();
  }
  const seconds = (performance.now() - started) / MS_PER_SECOND;
  return { ...report, ...counts, fates, kills: target.kills, seconds, faults };
}

function botsOf(signals: number): number {
  return Math.max(BOTS_MIN, Math.ceil(signals / SIGNALS_PER_BOT));
}

async function newStrategies(store: CrashedStore, count: number): Promise<Credentials[]> {
  const types = Array.from({ length: count }, () => "SPOT" as const);
  return await store.beside((beside) => seedStrategies(beside.store, store.master, types, Date.now()));
}

/**
 * Waits until every signal is terminal, without sending any again; answers how long it took since the last
 * recovery, ms.
 */
async function awaitEnds(
  target: Target,
  bots: readonly Bot[],
  { signal, onProgress, kills, signals }: FireOptions,
  faults: FireFault[],
): Promise<number> {
  const { url } = await target.serving();
  let waiting = [...bots];
  while (waiting.length > 0 && signal?.aborted !== true) {
    const sinceMs = Date.now() - target.recoveredAt;
    const found = await fewAtATime(waiting, async (bot) => ({ bot, signals: await bot.list(url) }));
    const pending = found.flatMap((each) => each.signals?.filter((shown) => !isTerminal(shown)) ?? []);
    waiting = found
      .filter((each) => each.signals === null || !each.signals.every(isTerminal))
      .map(({ bot }) => bot);
    for (const each of found) if (each.signals !== null) hold(each.bot, each.signals);
    if (waiting.length === 0) break;
    if (sinceMs > SETTLED_MS_MAX) {
      const what = `${pending.length} are not over ${sinceMs} ms after the last recovery: ${JSON.stringify(pending[0])}`;
      faults.push({ kind: "LATE", what });
      break;
    }
    onProgress?.({ begun: signals, kills, left: pending.length });
    await pause(ASK_AGAIN_MS);
  }
  return Date.now() - target.recoveredAt;
}

/** Compares a list with the answers that a bot received before. */
function hold(bot: Bot, listed: readonly ShownSignal[]): void {
  const byId = new Map(listed.map((shown) => [shown.signalId, shown]));
  if (byId.size !== listed.length) throw new GatewayFault(`${bot.name}: a list shows a signal once`);
  for (const sent of bot.signals.values()) {
    if (sent.shown === null) continue;
    const shown = byId.get(sent.shown.signalId);
    if (shown === undefined) throw new GatewayFault(`${sent.key} was acknowledged and is not listed`);
    take(sent, shown);
  }
}

/** Sends a signal of every bot once more, when all is over: it is replayed as it is. */
async function sendAgain(target: Target, bots: readonly Bot[], draw: () => number): Promise<void> {
  const { url } = await target.serving();
  await fewAtATime(bots, async (bot) => {
    const known = [...bot.signals.values()].filter(({ shown }) => isTerminal(shown));
    const sent = known[Math.floor(draw() * known.length)];
    if (sent !== undefined) await bot.submit(url, sent);
  });
}

function sentOf(bots: readonly Bot[]): Sent[] {
  return bots.flatMap((bot) => [...bot.signals.values()]);
}
