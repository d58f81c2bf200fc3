// Waiting for an outside process: asks again until it holds, and fails after a bound. Nothing else may wait.
import { setTimeout as pause } from "node:timers/promises";

/** How long an outside process may take, ms; on a machine that is busy with other things, too. */
export const OUTSIDE_MS_MAX = 45_000;
const ASK_AGAIN_MS = 5;

/**
 * Resolves when `holds` answers true; rejects, naming `what`, when it has not within the bound. Where the
 * program itself takes longer by design, `msMax` says how long; where asking costs something, `askAgainMs`
 * says how often.
 */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { msMax = OUTSIDE_MS_MAX, askAgainMs = ASK_AGAIN_MS } = {},
): Promise<void> {
  const deadline = Date.now() + msMax;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still not so after ${msMax} ms: ${what}`);
    await pause(askAgainMs);
  }
}
