// A copy that is paused, or was stopped without being closed, takes back what rests and would open something, so that nothing is bought for
// somebody who has left. What closes what the copy holds stays: orders and legs, as far as the holding goes. Of a copy that is stopped
// the log says of each that it was left at the venue; nobody looks at it any more.
import type { CopyRequest, MirrorEntry, Skip } from "../../domain/copying.ts";
import { magnitude, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { skipOf } from "../scaling/skip.ts";
import { skipWords } from "../scaling/skip-words.ts";
import type { VenueRefusal } from "../venue/venue.ts";
import { takeBack } from "./cancel.ts";
import { ownLine, skipped } from "./lines.ts";
import { refusedAs } from "./refusals.ts";
import { askAfter } from "./settle.ts";
import type { Turn } from "./turn.ts";
import { isLeg, isWaitingLeg, type Work } from "./work.ts";

/** Withdraws, and finishes the request; what may not be sent at the moment leaves it for later. */
export async function withdraw(work: Work, request: CopyRequest): Promise<void> {
  const { turn } = work;
  const blocked = work.stopped();
  if (blocked !== null) {
    if (blocked.reason === "CREDENTIALS") giveUp(turn, request, { skip: blocked, now: work.now() });
    return;
  }
  for (const entry of turn.resting()) if (!isWaitingLeg(entry)) await askAfter(work, entry);
  let refused: Skip | null = null;
  const isWhole = await takeBackEntries(work, {
    why: null,
    isToStay: () => false,
    onRefused(entry, refusal) {
      refused = refusedAs(refusal).skip;
      turn.replace({ ...entry, status: "LEFT", skip: refused, updatedAt: work.now() });
    },
  });
  if (!isWhole) return;
  leaveAll(turn, work.now());
  turn.add(lineOf(request, work.now()));
  turn.finishRequest(request.requestId, work.now(), refused && skipWords(refused, null));
}

/** Takes back what rests at a copy that opens nothing any more, but may be resumed: legs that wait go on waiting. */
export async function withdrawPaused(work: Work): Promise<void> {
  await takeBackEntries(work, { why: skipOf("PAUSED"), isToStay: isWaitingLeg, onRefused() {} });
}

/** Takes back all that rests but exits, as far as the holding goes; false if nothing may be sent at the moment. */
async function takeBackEntries(
  work: Work,
  how: {
    readonly why: Skip | null;
    readonly isToStay: (entry: MirrorEntry) => boolean;
    readonly onRefused: (entry: MirrorEntry, refusal: VenueRefusal) => void;
  },
): Promise<boolean> {
  const left = new Map<string, Quantity>();
  // What opens first: what of it was executed is held, and may be closed by what stays.
  for (const staysIf of [isExit, fits]) {
    for (const entry of work.turn.resting()) {
      if (how.isToStay(entry) || (await staysIf(work, entry, left))) continue;
      const { outcome } = await takeBack(work, entry, how.why);
      if (outcome.kind === "UNSENT") return false;
      if (outcome.kind === "REFUSED") how.onRefused(entry, outcome.refusal);
    }
  }
  return true;
}

/** Nothing can be sent for the account any more: all that rests stays there, and whatever was asked is over. */
export function giveUp(
  turn: Turn,
  request: CopyRequest,
  { skip, now }: { readonly skip: Skip; readonly now: number },
): void {
  if (request.kind === "WITHDRAW") {
    leaveAll(turn, now);
    turn.add(skipped(lineOf(request, now), skip));
  }
  turn.finishRequest(request.requestId, now, skipWords(skip, null));
}

function leaveAll(turn: Turn, now: number): void {
  for (const entry of turn.resting()) {
    const isFilled =
      entry.quantity !== null && entry.quantity > 0n && entry.executedQuantity === entry.quantity;
    turn.replace({ ...entry, status: isFilled ? "FILLED" : "LEFT", updatedAt: now });
  }
}

/** Whether it is on the side that closes what the copy holds, and was sent. */
function isExit({ turn }: Work, entry: MirrorEntry): boolean {
  const { quantity } = turn.holding(entry.symbol ?? "");
  return !isWaitingLeg(entry) && (entry.side === "SELL" ? quantity > 0n : quantity < 0n);
}

/** Whether an exit closes no more than the older ones leave of the holding; `left` is what they leave, by symbol. */
async function fits(work: Work, entry: MirrorEntry, left: Map<string, Quantity>): Promise<boolean> {
  const { turn } = work;
  const { symbol, quantity, executedQuantity } = entry;
  if (symbol === null || !isExit(work, entry)) return false;
  if (isLeg(entry) || (await isReduceOnly(work, entry))) return true;
  const before = left.get(symbol) ?? magnitude(turn.holding(symbol).quantity);
  const size = subtract(quantity ?? ZERO, executedQuantity);
  if (size > before) return false;
  left.set(symbol, subtract(before, size));
  return true;
}

async function isReduceOnly(work: Work, { seq, reduceOnly }: MirrorEntry): Promise<boolean> {
  if (reduceOnly === true) return true;
  const action = seq === null ? null : await work.actionAt(seq);
  return action?.kind === "PLACE" && action.reduceOnly;
}

function lineOf(request: CopyRequest, now: number) {
  return ownLine("WITHDRAW", null, { request, now });
}
