// Keeps traders at work until a victim is killed. A killed gateway leaves requests in flight without an
// answer. A gateway whose database was killed answers what was in flight when the database is back, or 503
// before, and then continues normally; only what it cannot commit again lets it end by itself: exit 1, and
// its last words say why. Both may be killed at once. In the end the gateway is dead and the database is
// running.
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import type { GatewayProcess } from "../../support/servers/gateway.ts";
import { GatewayFault } from "../harness/faults.ts";
import type { AllPrices } from "../harness/markets.ts";
import type { CrashedStore } from "../harness/stores.ts";
import { hasEnded, isBack, saidWhy, type Victim } from "../harness/victims.ts";
import type { Acknowledged, Trader } from "./trader.ts";

/** How the gateway ended: by our kill, by itself, or by our kill after it had outlived its database. */
export type End = "KILLED" | "STOPPED" | "OUTLIVED";

export type Killed = {
  readonly victim: Victim;
  readonly end: End;
  /** Orders and cancellations that were acknowledged before. */
  readonly placed: number;
  readonly canceled: number;
};

/** Requests that a trader has in flight. */
const WORKERS = 2;
const ACKNOWLEDGED_MIN = 5;
const ACKNOWLEDGED_MAX = 60;
/** Actions of each request loop of a trader, and those that remain when its gateway has lost the database. */
const ACTIONS_MAX = 6;
const ACTIONS_WITHOUT_DATABASE_MAX = 3;
/**
 * From an answer to the kill at most, ms: longer than a commit takes, so that every moment of one has its
 * turn.
 */
const STRIKE_AFTER_MS_MAX = 6;
/** How long a killed database is down, ms. */
const DOWN_MS = 500;
/** From the first request until all have an answer, or none for ever, on a busy machine too, ms. */
const ANSWERED_MS_MAX = 90_000;

/** Lets the traders loose, and kills. Rejects with GatewayFault if the gateway does what it must not. */
export async function killUnderLoad(parts: {
  readonly gateway: GatewayProcess;
  readonly store: CrashedStore;
  readonly traders: readonly Trader[];
  readonly prices: AllPrices;
  readonly victim: Victim;
  readonly draw: () => number;
  /** Called when a gateway has outlived its database and that is back: the gateway has to catch up. */
  readonly onOutlived: () => Promise<void>;
}): Promise<Killed> {
  const { gateway, store, traders, prices, victim, draw, onOutlived } = parts;
  const enough = ACKNOWLEDGED_MIN + Math.floor(draw() * (ACKNOWLEDGED_MAX - ACKNOWLEDGED_MIN));
  const strikeAfterMs = Math.floor(draw() * (STRIKE_AFTER_MS_MAX + 1));
  const counts = { PLACED: 0, CANCELED: 0 };
  let isStruck = false;
  let isUnanswered = false;
  let struck: Promise<void> | null = null;
  const strike = async () => {
    await pause(strikeAfterMs);
    isStruck = true;
    const database = victim === "gateway" ? undefined : store.server?.kill();
    await Promise.all([victim === "database" ? undefined : gateway.kill(), database]);
    if (victim === "gateway") return;
    // What is in flight is answered when the database is back.
    await pause(DOWN_MS);
    await store.server?.restart();
  };
  const begin = () => {
    struck ??= strike();
    // Awaited below, once the traders are done.
    struck.catch(() => {});
    return struck;
  };
  const take = (acknowledged: Acknowledged) => {
    if (acknowledged !== null) counts[acknowledged] += 1;
    if (counts.PLACED + counts.CANCELED >= enough) void begin();
  };
  const worker = async (trader: Trader) => {
    let actionsLeft = ACTIONS_MAX;
    let isWarned = false;
    while (actionsLeft > 0) {
      if (isStruck && victim !== "database") return;
      if (isStruck && !isWarned) {
        isWarned = true;
        actionsLeft = ACTIONS_WITHOUT_DATABASE_MAX;
      }
      actionsLeft -= 1;
      try {
        take(await trader.act(gateway.url, prices));
      } catch (error) {
        if (error instanceof GatewayFault || !isStruck) throw error;
        // Without an answer, since somebody is gone.
        isUnanswered = true;
        return;
      }
    }
  };
  const workers = traders.flatMap((trader) => Array.from({ length: WORKERS }, () => worker(trader)));
  const tooLate = pause(ANSWERED_MS_MAX, undefined, { ref: false }).then(() => {
    throw new GatewayFault(`not all that was sent is answered or cut off after ${ANSWERED_MS_MAX} ms`);
  });
  tooLate.catch(() => {});
  await Promise.race([Promise.all(workers), tooLate]);
  await begin();
  const killed = { victim, placed: counts.PLACED, canceled: counts.CANCELED };
  // Only a gateway that is on its way out leaves a request without an answer.
  if (isUnanswered) await eventually("a gateway that cut requests off has ended", () => hasEnded(gateway));
  if (victim !== "database") return { ...killed, end: "KILLED" };
  if (!(await isBack(gateway, traders))) {
    await saidWhy(gateway);
    return { ...killed, end: "STOPPED" };
  }
  await onOutlived();
  await gateway.kill();
  return { ...killed, end: "OUTLIVED" };
}
