// Waiting for an outside process: asks again until it holds, and fails after a bound. Nothing else may wait.
import { setTimeout as pause } from "node:timers/promises";

/** How long an outside process may take, ms. */
export const OUTSIDE_MS_MAX = 10_000;
const ASK_AGAIN_MS = 5;

/** Resolves when `holds` answers true; rejects, naming `what`, when it has not within the bound. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + OUTSIDE_MS_MAX;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still not so after ${OUTSIDE_MS_MAX} ms: ${what}`);
    await pause(ASK_AGAIN_MS);
  }
}
