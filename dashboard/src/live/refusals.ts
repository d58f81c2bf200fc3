// Shows rejections of the live connection to the person, who would otherwise take stale data for live.
// Repeats the same rejection only once in a while, since the connection retries.
import type { ServerMessages } from "../../../src/dashboard-api/schemas.ts";

const SAID_AGAIN_AFTER_MS = 60_000;
/** The pages say themselves that a session has ended, and that what they are about is not there. */
const SAID_ELSEWHERE: readonly string[] = ["NOT_SIGNED_IN", "NOT_FOUND"];

/** What is to be called with each refusal; `say` shows a text, and `now` is any clock, ms. */
export function createRefusals(parts: {
  readonly say: (text: string) => void;
  readonly now: () => number;
}): (refused: ServerMessages["refused"]) => void {
  const saidAt = new Map<string, number>();
  return ({ code, message }) => {
    if (SAID_ELSEWHERE.includes(code)) return;
    const now = parts.now();
    if (now - (saidAt.get(message) ?? Number.NEGATIVE_INFINITY) < SAID_AGAIN_AFTER_MS) return;
    saidAt.set(message, now);
    parts.say(`Live updates were refused. ${message}`);
  };
}
