// Paper against real as the browser gets it: what copies got at their venues beside what the strategy got here.
import { type Gap, gapOf } from "../../copy/scaling/gap.ts";
import { formatBriefly } from "../../money/decimal.ts";
import type { ExecutedEntry } from "../../store/copy-store.ts";
import type { GapShape } from "../shapes.ts";

/** Executed orders that a gap is reckoned from, the newest; */
export const GAP_ENTRIES_MAX = 2_000;
/** and how many of them are shown one by one. */
const GAP_ORDERS_SHOWN = 50;

/** Of entries newest first. */
export function presentGap(entries: readonly ExecutedEntry[]): GapShape {
  const { bySymbol, bySize, orders } = gapOf(entries);
  return {
    bySymbol: bySymbol.map(({ symbol, ...gap }) => ({ symbol, ...presented(gap) })),
    bySize: bySize.map(({ upTo, ...gap }) => ({
      upTo: upTo === null ? null : formatBriefly(upTo),
      ...presented(gap),
    })),
    orders: orders.slice(0, GAP_ORDERS_SHOWN).map(({ entry, real, bps, delayMs }) => ({
      at: entry.leadAt,
      symbol: entry.symbol,
      side: entry.side,
      paper: formatBriefly(entry.leadPrice),
      real: formatBriefly(real),
      quantity: formatBriefly(entry.executedQuantity),
      bps: formatBriefly(bps),
      delayMs,
    })),
  };
}

function presented({ orders, medianBps, worstBps, meanDelayMs }: Gap) {
  return {
    orders,
    medianBps: formatBriefly(medianBps),
    worstBps: formatBriefly(worstBps),
    meanDelayMs,
  };
}
