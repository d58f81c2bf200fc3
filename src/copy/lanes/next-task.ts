// What comes next in a lane: whatever may have been sent already; the closing; legs whose position has come; a look that cannot wait;
// actions; requests; a look. Of a copy that is stopped only what had been sent, and what is asked of it.
//
// Of one lane one thing was under way when it ended: which, only the venue can tell. So all that may have been is looked for before
// anything is sent, as the book stood then: first what adds no line to the log before its own, since a closing's client ids come from
// the number of the next line, and an action's sizes from all that is booked.
import type { Copy, CopyRequest, MirrorEntry } from "../../domain/copying.ts";
import type { ActionLog } from "./action-log.ts";
import { closesPosition } from "./leg-of.ts";
import { readyLeg } from "./legs.ts";
import type { MaySend } from "./may-send.ts";
import type { Turn } from "./turn.ts";
import type { Task, Uncertain } from "./uncertain.ts";
import { isWaitingLeg } from "./work.ts";

const CLOSING: Task = { kind: "CLOSING" };
const LOOK: Task = { kind: "LOOK" };

/**
 * Passes over the actions from before the copy began: up to where, and the first one that is to be dealt with (null if there is
 * none yet). None of those is ever sent: what of them may have been is the first that is.
 */
export async function passOver(
  log: ActionLog,
  { doneSeq, fromVersion }: Pick<Copy, "doneSeq" | "fromVersion">,
  uncertain: Uncertain,
): Promise<{ readonly doneSeq: number; readonly nextSeq: number | null }> {
  let done = doneSeq;
  let action = await log.at(done + 1);
  while (action !== null && action.version <= fromVersion) {
    const passed: Task = { kind: "ACTION", seq: action.seq };
    const next = await log.at(action.seq + 1);
    const mayHaveSent = next !== null && uncertain.has(passed);
    if (mayHaveSent) uncertain.add({ kind: "ACTION", seq: next.seq });
    uncertain.delete(passed);
    done = action.seq;
    action = next;
  }
  return { doneSeq: done, nextSeq: action?.seq ?? null };
}

/** What is to be done now; null if nothing is, or nothing may be. */
export async function nextTask(of: {
  readonly turn: Turn;
  readonly uncertain: Uncertain;
  readonly maySend: MaySend;
  /** The first action that is not dealt with; null if there is none. */
  readonly seq: number | null;
  /** Those that are not done, oldest first. */
  readonly requests: readonly CopyRequest[];
  readonly isClosingDue: boolean;
  readonly isLookDue: boolean;
  /** Whether the look that is due goes before the strategy's next action. */
  readonly isLookFirst: boolean;
}): Promise<Task | null> {
  const { turn, uncertain, maySend, seq } = of;
  const { status } = turn.copy;
  const isStopped = status === "STOPPED";
  const action: Task | null = seq === null ? null : { kind: "ACTION", seq };
  const request = requestTask(of.requests, isStopped);
  if (!uncertain.isEmpty) {
    if (await maySend.isRejected()) return isStopped ? request : null;
    const leg = uncertainLeg(turn, uncertain);
    if (leg !== null) return leg;
    if (status === "CLOSING" && uncertain.has(CLOSING)) return CLOSING;
    const begun = uncertainRequest(of.requests, uncertain);
    if (begun !== null) return begun;
    if (action !== null && uncertain.has(action)) return action;
  }
  if (isStopped) return request === null || (await maySend.isHalted()) ? null : request;
  if (status === "CLOSING" && of.isClosingDue) return CLOSING;
  const leg = readyLeg(turn);
  if (leg !== null && (await maySend.stopped()) === null) return { kind: "LEG", entry: leg };
  const mayLook = async () => of.isLookDue && !(await maySend.isBlind());
  if (action !== null) return of.isLookFirst && (await mayLook()) ? LOOK : action;
  if (request !== null) return request;
  return (await mayLook()) ? LOOK : null;
}

/** What is asked of a stopped copy may be known before that it is stopped. */
function requestTask(requests: readonly CopyRequest[], isStopped: boolean): Task | null {
  const request = requests.find(({ kind }) => isStopped || kind !== "WITHDRAW");
  return request === undefined ? null : { kind: "REQUEST", requestId: request.requestId };
}

/** A leg is sent only while its position is there. */
function uncertainLeg(turn: Turn, uncertain: Uncertain): Task | null {
  const mayBeThere = (entry: MirrorEntry) =>
    isWaitingLeg(entry) && uncertain.has({ kind: "LEG", entry }) && closesPosition(turn, entry);
  const entry = turn.resting().find(mayBeThere);
  return entry === undefined ? null : { kind: "LEG", entry };
}

/** One that may have sent orders: its cancels are repeated without harm. */
function uncertainRequest(requests: readonly CopyRequest[], uncertain: Uncertain): Task | null {
  for (const { kind, requestId } of requests) {
    const task: Task = { kind: "REQUEST", requestId };
    if ((kind === "REPAIR" || kind === "CLOSE") && uncertain.has(task)) return task;
  }
  return null;
}
