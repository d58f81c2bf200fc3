// Sessions that end while their browser is connected: those of all connections are looked up with one question.
import type { SignInRecords } from "../../store/people-store.ts";
import type { Viewer } from "./viewers.ts";

/** The viewers whose session has ended, at a wall time in Unix ms. */
export async function endedSessions(
  viewers: readonly Viewer[],
  records: Pick<SignInRecords, "find">,
  now: number,
): Promise<readonly Viewer[]> {
  if (viewers.length === 0) return [];
  const ids = [...new Set(viewers.map(({ sessionId }) => sessionId))];
  const found = await records.find("session", [
    { field: "id", operator: "in", value: ids, connector: "AND" },
    { field: "expiresAt", operator: "gt", value: new Date(now), connector: "AND" },
  ]);
  const live = new Set(found.map(({ id }) => id));
  return viewers.filter(({ sessionId }) => !live.has(sessionId));
}
