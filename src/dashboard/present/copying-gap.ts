// Strategy against exchange as the browser gets it: what copies got at their venues beside what the strategy got here. Of single copies it
// says nothing: the strategy's own size and what a copy bought of it would tell what its owner has.
import { type Gap, gapOf } from "../../copy/sizing/gap.ts";
import { orderIdOf } from "../../domain/collective-id.ts";
import { formatBriefly } from "../../money/decimal.ts";
import type { ExecutedEntry } from "../../store/copy-store.ts";
import type { GapShape } from "../shapes.ts";

/** Of a strategy's orders the newest that copies executed something of, and of each so many of their own. */
export const GAP_BOUNDS = { orders: 40, perOrder: 50 } as const;

/** Of the entries within those bounds, newest order first. `nameOf` is what a strategy is called. */
export function presentGap(
  entries: readonly ExecutedEntry[],
  nameOf: (strategyId: string) => string,
): GapShape {
  const { bySymbol, bySize, byOrder } = gapOf(entries);
  const times = byOrder.map(({ at }) => at);
  return {
    bySymbol: bySymbol.map(({ symbol, ...gap }) => ({ symbol, ...presented(gap) })),
    bySize: bySize.map(({ upTo, ...gap }) => ({
      upTo: upTo === null ? null : formatBriefly(upTo),
      ...presented(gap),
    })),
    orders: byOrder.map((order) => ({
      strategyId: order.strategyId,
      strategyName: nameOf(order.strategyId),
      collectiveId: order.collectiveId,
      orderId: order.isLeg ? null : orderIdOf(order.collectiveId),
      at: order.at,
      symbol: order.symbol,
      side: order.side,
      quantity: order.leadQuantity === null ? null : formatBriefly(order.leadQuantity),
      paper: formatBriefly(order.leadPrice),
      copies: order.copies,
      isCut: order.orders >= GAP_BOUNDS.perOrder,
      ...presented(order),
    })),
    range:
      byOrder.length === 0
        ? null
        : { from: Math.min(...times), to: Math.max(...times), copiesPerOrder: GAP_BOUNDS.perOrder },
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
