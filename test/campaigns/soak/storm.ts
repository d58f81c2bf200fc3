// All clients cut off in the same instant: how long until they are back, subscribed to everything again.
import { setTimeout as pause } from "node:timers/promises";
import type { Oracle } from "./oracle.ts";
import type { Subscriber } from "./subscriber.ts";

export type Storm = {
  readonly clients: number;
  /** Whether they came back without waiting, which stock clients do not. */
  readonly isBackAtOnce: boolean;
  /** From the cut until this share of them was subscribed to everything again, ms. */
  readonly halfMs: number;
  readonly nearlyAllMs: number;
  readonly allMs: number;
  /** Handshakes rejected during the storm: too many connections of a key, from the server's view. */
  readonly turnedAway: number;
};

const NEARLY_ALL = 0.99;
const HALF = 0.5;
/** By when all clients have to be back, and by when all their streams have to send again after that, ms. */
const BACK_MS_MAX = 60_000;
const HEARD_MS_MAX = 15_000;
const LOOK_AGAIN_MS = 20;

/** Null if they did not all come back. */
export async function raiseStorm(
  subscribers: readonly Subscriber[],
  oracle: Oracle,
  isBackAtOnce: boolean,
): Promise<Storm | null> {
  const turnedAwayBefore = oracle.turnedAway;
  const cutAt = oracle.now();
  for (const subscriber of subscribers) subscriber.cut(isBackAtOnce);
  const isBack = await isSoWithin(
    () => subscribers.every(({ completeAt }) => completeAt !== null),
    BACK_MS_MAX,
  );
  const tookMs = subscribers.map(({ completeAt }) => (completeAt ?? Number.NaN) - cutAt).sort(ascending);
  if (!isBack) {
    const missing = tookMs.filter(Number.isNaN).length;
    oracle.fault("NOT_BACK", `${missing} of ${subscribers.length} clients after ${BACK_MS_MAX} ms`);
    return null;
  }
  if (!(await isSoWithin(() => subscribers.every(({ hasHeardAll }) => hasHeardAll), HEARD_MS_MAX))) {
    const silent = subscribers.filter(({ hasHeardAll }) => !hasHeardAll).length;
    oracle.fault("SILENT", `something of ${silent} clients after a storm`);
  }
  const at = (share: number) => tookMs[Math.ceil(share * tookMs.length) - 1] ?? Number.NaN;
  return {
    clients: subscribers.length,
    isBackAtOnce,
    halfMs: at(HALF),
    nearlyAllMs: at(NEARLY_ALL),
    allMs: at(1),
    turnedAway: oracle.turnedAway - turnedAwayBefore,
  };
}

/** Whether something becomes so within a time, ms. */
export async function isSoWithin(holds: () => boolean, msMax: number): Promise<boolean> {
  const deadline = performance.now() + msMax;
  while (!holds()) {
    if (performance.now() > deadline) return false;
    await pause(LOOK_AGAIN_MS);
  }
  return true;
}

function ascending(one: number, other: number): number {
  return one - other;
}
