// What a lane looks up in the store for a turn: lines of the copy's log, as far back as is needed, and the strategy's legs.

import { collectiveId } from "../../domain/collective-id.ts";
import type { MirrorEntry } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import type { Turn } from "./turn.ts";

/** Lines that are read at a time. */
const PAGE_ROWS = 200;

/** See `Work.findLine`. */
export async function findLine(
  store: Pick<CopyStore, "listMirrorEntries">,
  turn: Turn,
  symbol: string,
  holds: (line: MirrorEntry) => boolean,
): Promise<MirrorEntry | null> {
  let before: number | undefined;
  for (;;) {
    const page = await store.listMirrorEntries(turn.copy.copyId, { symbol, before, limit: PAGE_ROWS });
    // What the turn itself has added is newer than all pages.
    const lines = before === undefined ? turn.current(page) : page.map((line) => turn.latest(line));
    const found = lines.find((line) => line.symbol === symbol && holds(line));
    if (found !== undefined) return found;
    if (page.length < PAGE_ROWS) return null;
    before = page.at(-1)?.entryId;
  }
}

/** See `Work.leadLegsOf`. */
export async function leadLegsOf(
  store: Pick<CopyStore, "findLead">,
  strategyId: string,
  symbol: string,
): Promise<readonly string[]> {
  const lead = await store.findLead(strategyId);
  const legs = [...(lead?.account?.openLegs.values() ?? [])].filter(
    (leg) => leg.symbol === symbol && leg.status === "NEW",
  );
  return legs.map(({ legId }) => collectiveId(strategyId, legId));
}
