// Since when the times of a strategy's records ascend with their ids.
//
// Records have the market time of their decision, so times ascend but for the small differences between the
// clocks of servers. They go back further when a tape is played again and when a server's clock is set back.
// An account remembers the ids since then, so that history by time is found by bisection over ids.

/** The first order or leg, and the first trade, from which times ascend. */
export type TimeOrder = { readonly orderId: number; readonly tradeId: number };

export const FROM_THE_FIRST: TimeOrder = { orderId: 1, tradeId: 1 };

/** The most that a record is earlier than any record before it where times ascend, ms. */
export const DISORDER_MS_MAX = 60_000;

/**
 * The most that one change may be earlier than the change before it, ms: ten times what clocks of servers may
 * differ. It is a part of the disorder, since several such steps can follow each other.
 */
const STEP_BACK_MS_MAX = 10_000;

/** The ids from which times ascend after a change of an account, which was changed before it last. */
export function timeOrderAfter(
  account: {
    readonly ascendsFrom: TimeOrder;
    readonly updatedAt: number;
    readonly nextOrderId: number;
    readonly nextTradeId: number;
  },
  at: number,
): TimeOrder {
  const { ascendsFrom, updatedAt, nextOrderId, nextTradeId } = account;
  if (at >= updatedAt - STEP_BACK_MS_MAX) return ascendsFrom;
  return { orderId: nextOrderId, tradeId: nextTradeId };
}
