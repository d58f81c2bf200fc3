// An order of the strategy that rested was filled. The mirrored one is a promise of a price and nothing is chased after: the
// venue is asked how it stands, and it goes on resting if it does.
import type { LeadAction, LeadFill, MirrorEntry } from "../../domain/copying.ts";
import { lineOf } from "./lines.ts";
import { cancelOvertaken } from "./overtaken.ts";
import { askAfter } from "./settle.ts";
import { ORDER_WAITS_MS, unlessUnanswered } from "./snapshot.ts";
import type { Work } from "./work.ts";

/** Notes what the strategy was filled at, and settles the mirrored order. What was not mirrored gets no line. */
export async function fill(work: Work, action: LeadAction & LeadFill): Promise<void> {
  const { turn } = work;
  const isOurs = (entry: MirrorEntry) => entry.kind === "PLACE" && entry.collectiveId === action.collectiveId;
  const resting = turn.resting(action.symbol).find(isOurs);
  if (resting !== undefined) {
    const briefly = { ...work, dealings: work.dealings.briefly(ORDER_WAITS_MS) };
    // What the strategy does next does not wait for it.
    if (!(await unlessUnanswered(askAfter(briefly, resting)))) work.lookSoon();
  }
  const settled = resting === undefined ? await mirroredBefore(work, action) : turn.latest(resting);
  if (settled !== undefined) {
    turn.replace({ ...settled, leadPrice: action.filled.price });
    const { orderType, clientOrderId, venueOrderId } = settled;
    turn.add({ ...lineOf(action, work.now()), orderType, clientOrderId, venueOrderId });
  }
  if (action.empties) await cancelOvertaken(work, action.symbol, action.collectiveId);

  async function mirroredBefore({ entriesOf }: Work, { collectiveId }: LeadFill) {
    return (await entriesOf(collectiveId)).find((entry) => isOurs(entry) && entry.venueOrderId !== null);
  }
}
