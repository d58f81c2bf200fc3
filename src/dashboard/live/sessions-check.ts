// Sessions that end while their browser is connected: those of all connections are looked up with one question.
import type { Accounts } from "../../people/accounts.ts";
import type { Viewer } from "./viewers.ts";

/** The viewers whose session has ended, at a wall time in Unix ms. */
export async function endedSessions(
  viewers: readonly Viewer[],
  accounts: Pick<Accounts, "lastingSessions">,
  now: number,
): Promise<readonly Viewer[]> {
  if (viewers.length === 0) return [];
  const lasting = await accounts.lastingSessions(
    [...new Set(viewers.map(({ sessionId }) => sessionId))],
    now,
  );
  return viewers.filter(({ sessionId }) => !lasting.has(sessionId));
}
