// Servers killed under load: several gateways on one PostgreSQL database, at the prices of one steered
// market. Traders place, fill and cancel orders at all of them by turns. Again and again one server is killed
// while limit orders of every trader rest, and the market reaches these orders just before or just after.
// Half of the time it leaves them again before another server can own the slots, which must then find the
// price in the exchange's history. The others must fill the orders. In the end every acknowledged order must
// be there once, and every book must be what its trades and its journal make it. Half are under `strict`.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OUTSIDE_MS_MAX } from "../../support/eventually.ts";
import { seededRandom } from "../../support/random.ts";
import { type GatewayProcess, newDirectory, startGateway } from "../../support/servers/gateway.ts";
import { symbol } from "../../support/spot-trader.ts";
import { seedBothProfiles } from "../harness/receipts.ts";
import { openSteeredMarket } from "../harness/steered-market.ts";
import { makeStore } from "../harness/stores.ts";
import type { CrashFault } from "./crash-cycles.ts";
import { endedFaults, type InsistentTrader, startTraders } from "./insistent-trader.ts";

export type ServerKill = {
  /** From the kill until every resting order of every trader was shown as FILLED, ms. */
  readonly filledAfterMs: number;
  /** How long that may take: longer if the market has left the orders again. */
  readonly filledMsMax: number;
  /** Orders acknowledged since the kill before. */
  readonly acknowledged: number;
  /** Requests since the kill before that were answered 503, or not at all, and sent again. */
  readonly sentAgain: number;
};

export type ServerKillsReport = {
  readonly seed: number;
  readonly kills: readonly ServerKill[];
  /** Orders acknowledged in all, and those of them that the market reached. */
  readonly orders: number;
  readonly reached: number;
  /** Trades under `strict`, which follow from their receipts. */
  readonly receipts: number;
  readonly faults: readonly CrashFault[];
};

const TRADERS = 12;
/** Load with all servers, before orders are placed for the market to reach, ms. */
const LOAD_MS = 2_000;
/**
 * How long before the kill the market reaches the orders at most, ms; every other time it does so after it.
 */
const REACHED_BEFORE_MS_MAX = 40;
const ASK_AGAIN_MS = 250;
/** How soon another server must have filled what a killed one did not, ms. */
const FILLED_MS_MAX = 15_000;
/**
 * The same where the market has left the orders: gaps are requested every 5 s, a second after their end, and
 * again 5 s later if the history is not available.
 */
const REPLAYED_MS_MAX = FILLED_MS_MAX + 12_000;
/** How long the market stays where it reaches the orders if it leaves, ms: less than a lease lasts. */
const STAYS_MS = 1_000;
/** Parts of the first price: where orders rest, and where the market goes to reach them. */
const [RESTING, REACHED] = [0.99, 0.98];

/** Kills one of so many servers so many times. Null where PostgreSQL's programs are missing. */
export async function runServerKills(parts: {
  readonly servers: number;
  readonly count: number;
  readonly seed: number;
  /** How many times longer than a free machine a busy one may take; 1 if it is left out. */
  readonly slowness?: number;
  readonly onKill?: (kill: ServerKill) => void;
  readonly signal?: AbortSignal;
}): Promise<ServerKillsReport | null> {
  const { servers, count, seed, slowness = 1, onKill, signal } = parts;
  const random = seededRandom(seed);
  const store = await makeStore("postgres");
  if (store === null) return null;
  const market = await openSteeredMarket();
  const first = market.price(symbol);
  const at = (part: number) => (Math.round(Number(first.bid) * part * 100) / 100).toFixed(2);
  const [resting, reached] = [at(RESTING), at(REACHED)];
  const directories = Array.from({ length: servers }, (_, index) =>
    index === 0 ? store.dataDir : newDirectory(),
  );
  for (const directory of directories.slice(1))
    copyFileSync(join(store.dataDir, "master.key"), join(directory, "master.key"));
  const gateways: GatewayProcess[] = [];
  const urls: string[] = [];
  const start = async (index: number) => {
    const dataDir = directories[index] ?? "";
    const gateway = await startGateway({ dataDir, env: { ...store.env, ...market.env } });
    gateways[index] = gateway;
    urls[index] = gateway.url;
  };
  try {
    const strategies = await store.beside(({ store: stored }) => {
      const wanted = Array.from({ length: TRADERS }, () => "SPOT" as const);
      return seedBothProfiles(stored, store.master, wanted);
    });
    for (const index of directories.keys()) await start(index);
    const started = await startTraders(strategies, urls);
    const { traders } = started;
    const kills: ServerKill[] = [];
    const faults: CrashFault[] = [];
    const check = async (
      kill: number,
      trader: InsistentTrader,
      orderId: number,
      { killedAt, filledMsMax }: { readonly killedAt: number; readonly filledMsMax: number },
    ) => {
      const filledAt = await whenFilled(trader, orderId, killedAt + filledMsMax);
      const ms = filledAt === null ? null : filledAt - killedAt;
      const what = `order ${orderId} of ${trader.strategy.strategyId}, at kill ${kill}`;
      if (ms === null) faults.push({ kind: "LOST", what: `${what}: not filled` });
      else if (ms > filledMsMax) faults.push({ kind: "GATEWAY", what: `${what}: filled after ${ms} ms` });
      return ms ?? filledMsMax;
    };
    while (kills.length < count && signal?.aborted !== true) {
      await pause(LOAD_MS);
      const kill = kills.length + 1;
      const placed = await Promise.race([
        Promise.all(traders.map(async (trader) => [trader, await trader.rest(`r${kill}`, resting)] as const)),
        failed(started.working),
      ]);
      const victim = Math.floor(random() * servers);
      const reach = () => market.setPrice(symbol, { bid: reached, ask: at(REACHED + 0.0001) });
      if (kill % 2 === 0) {
        reach();
        await pause(random() * REACHED_BEFORE_MS_MAX);
      }
      const killedAt = performance.now();
      await gateways[victim]?.kill();
      if (kill % 2 !== 0) reach();
      // Both with a price from before the kill and with one from after it.
      const leaves = kill % 4 < 2;
      if (leaves) {
        await pause(STAYS_MS);
        market.setPrice(symbol, first);
      }
      const filledMsMax = slowness * (leaves ? REPLAYED_MS_MAX : FILLED_MS_MAX);
      const took = await Promise.race([
        Promise.all(
          placed.map(([trader, orderId]) => check(kill, trader, orderId, { killedAt, filledMsMax })),
        ),
        failed(started.working),
      ]);
      if (!leaves) market.setPrice(symbol, first);
      await Promise.race([
        Promise.all(traders.map((trader) => trader.sell(`s${kill}`))),
        failed(started.working),
      ]);
      const report = { filledAfterMs: Math.max(...took), filledMsMax, ...started.takeCounts() };
      kills.push(report);
      onKill?.(report);
      await start(victim);
    }
    await pause(LOAD_MS);
    await started.stop();
    const { faults: found, receipts } = await store.beside((beside) => started.check(beside));
    faults.push(...endedFaults(gateways), ...found);
    const orders = started.orders();
    return { seed, kills, orders, reached: kills.length * traders.length, receipts, faults };
  } finally {
    for (const gateway of gateways) await gateway.kill();
    await market.close();
    await store.close();
  }
}

/**
 * When a server showed it as FILLED, by the monotonic clock, ms; null if none did, for a while at least and
 * until `inTime`.
 */
async function whenFilled(trader: InsistentTrader, orderId: number, inTime: number): Promise<number | null> {
  const until = Math.max(inTime, performance.now() + OUTSIDE_MS_MAX);
  while (performance.now() < until) {
    const answer = await trader.ask("/api/v3/order", { symbol, orderId });
    if (answer?.body.status === "FILLED") return performance.now();
    await pause(ASK_AGAIN_MS);
  }
  return null;
}

/** Rejects once a trader gives up. */
async function failed(working: Promise<unknown>): Promise<never> {
  await working;
  throw new Error("the traders have stopped");
}
