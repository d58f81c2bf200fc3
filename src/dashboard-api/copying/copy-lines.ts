// Pages of a mirror log. A filter has to go through lines that do not pass it, and a log may have hundreds of
// thousands: it reads some at a time, other requests are handled between, and a page ends where enough were
// read. An index for it would cost every line that is written.
import { setImmediate as nextTick } from "node:timers/promises";
import type { MirrorEntry } from "../../domain/copying.ts";
import type { CopiesStore, EntryQuery } from "../../store/ports/copies.ts";

/** Lines that a filter goes through at a time, which takes a few milliseconds; */
export const LINES_AT_ONCE = 5_000;
/** and for a page. */
export const LINES_FOR_A_PAGE = 20_000;

/** A page, newest first; `next` is where the next one begins, null after the last. */
export type Lines = { readonly found: readonly MirrorEntry[]; readonly next: number | null };

export async function linesOf(
  copying: Pick<CopiesStore, "listMirrorEntries">,
  copyId: string,
  { before, statuses, symbol, limit }: EntryQuery,
): Promise<Lines> {
  if (statuses === undefined && symbol === undefined) {
    const found = await copying.listMirrorEntries(copyId, { before, limit: limit + 1 });
    return pageOf(found, limit);
  }
  const [newest] = await copying.listMirrorEntries(copyId, { before, limit: 1 });
  let end = newest === undefined ? 0 : newest.entryId + 1;
  const floor = end - LINES_FOR_A_PAGE;
  const found: MirrorEntry[] = [];
  while (end > 1 && end > floor) {
    const from = Math.max(1, end - LINES_AT_ONCE);
    const wanted = limit + 1 - found.length;
    found.push(
      ...(await copying.listMirrorEntries(copyId, { before: end, from, statuses, symbol, limit: wanted })),
    );
    if (found.length > limit) return pageOf(found, limit);
    end = from;
    await nextTick();
  }
  return { found, next: end > 1 ? end : null };
}

/** Of what was asked for with one more than a page holds. */
function pageOf(found: readonly MirrorEntry[], limit: number): Lines {
  const page = found.slice(0, limit);
  return { found: page, next: found.length > limit ? (page.at(-1)?.entryId ?? null) : null };
}
