// Orders taken back at the venue: because the strategy took its own back, or because it has nothing of the symbol any more.
import type { LeadAction, LeadCancel, MirrorEntry, Skip } from "../../domain/copying.ts";
import { skipOf } from "../scaling/skip.ts";
import type { Dealings } from "./dealings.ts";
import { legOf } from "./leg-of.ts";
import { lineOf, refusedLine, skipped } from "./lines.ts";
import { entryGone, sentLine, settle } from "./settle.ts";
import type { NewEntry } from "./turn.ts";
import { isLeg, isWaitingLeg, type Work } from "./work.ts";

/** Takes back the mirrored order. */
export async function cancel(work: Work, action: LeadAction & LeadCancel): Promise<void> {
  const line = lineOf(action, work.now());
  const isOurs = (entry: MirrorEntry) => entry.kind === "PLACE" && entry.collectiveId === action.collectiveId;
  const resting = work.turn.resting(action.symbol).find(isOurs);
  if (resting === undefined) work.turn.add(await overBefore(work, line, isOurs));
  else await cancelWith(work, resting, line);
}

/** Takes back what rests, and adds the line of it. */
export async function cancelWith(work: Work, resting: MirrorEntry, line: NewEntry): Promise<void> {
  const { entry, outcome } = await takeBack(work, resting, null);
  const about = aboutOrder(line, resting);
  switch (outcome.kind) {
    case "UNSENT":
      work.turn.add(skipped(about, outcome.skip));
      return;
    case "REFUSED":
      work.turn.add(refusedLine(about, outcome));
      return;
    case "OVER": {
      const sent = { ...about, ...outcome.counts };
      work.turn.add(entry.status === "CANCELED" ? sent : skipped(sent, skipOf("ALREADY_OVER")));
      return;
    }
    case "NEVER_SENT":
      work.turn.add(about);
  }
}

/** The line of a cancel of which nothing rests: the order was over before, or was never mirrored. */
export async function overBefore(
  work: Work,
  line: NewEntry,
  isOurs: (entry: MirrorEntry) => boolean,
): Promise<NewEntry> {
  const { collectiveId } = line;
  const earlier = collectiveId === null ? [] : await work.entriesOf(collectiveId);
  const mirrored = earlier.find((entry) => isOurs(entry) && entry.venueOrderId !== null);
  if (mirrored === undefined) return skipped(line, skipOf("NOT_MIRRORED"));
  return skipped(aboutOrder(line, mirrored), skipOf("ALREADY_OVER"));
}

/** NEVER_SENT: a leg that still waited. */
type CancelOutcome = Awaited<ReturnType<Dealings["cancel"]>> | { readonly kind: "NEVER_SENT" };

/** Cancels an order or a leg, and settles it as it ended; `why` is noted on its line if it was canceled. */
export async function takeBack(
  work: Work,
  entry: MirrorEntry,
  why: Skip | null,
): Promise<{ readonly entry: MirrorEntry; readonly outcome: CancelOutcome }> {
  if (isWaitingLeg(entry)) {
    const found = work.mayHaveSent(entry) ? await work.dealings.recoverLeg(legOf(work.turn, entry)) : null;
    if (found !== null) {
      const sent = sentLine(entry, found);
      work.turn.replace(sent);
      return await takeBack(work, sent, why);
    }
  }
  const { symbol, clientOrderId } = entry;
  if (symbol === null || clientOrderId === null) {
    return { entry: entryGone(work, entry, why), outcome: { kind: "NEVER_SENT" } };
  }
  const kind = isLeg(entry) ? "LEG" : "ORDER";
  const outcome = await work.dealings.cancel(kind, symbol, clientOrderId, () => work.stopped());
  if (outcome.kind === "REFUSED") work.noteMissed();
  if (outcome.kind !== "OVER") return { entry, outcome };
  if (outcome.state === null) return { entry: entryGone(work, entry, why), outcome };
  const over = await settle(work, entry, outcome.state);
  if (why === null || over.status !== "CANCELED") return { entry: over, outcome };
  const explained: MirrorEntry = { ...over, skip: why };
  work.turn.replace(explained);
  return { entry: explained, outcome };
}

function aboutOrder(line: NewEntry, entry: MirrorEntry): NewEntry {
  const { side, orderType, quantity, clientOrderId, venueOrderId } = entry;
  return { ...line, side, orderType, quantity, clientOrderId, venueOrderId };
}
