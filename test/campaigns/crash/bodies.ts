// Orders, legs and trades as the crash cycles look at them, of either type.

export type TradeBody = {
  readonly id: number;
  readonly orderId: number;
  readonly qty: string;
  readonly quoteQty: string;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
type Wire = any;

export type OrderBody = ReturnType<typeof orderOf>;

/** An order of either type, or a leg, which executes nothing by itself. */
export function orderOf(body: Wire) {
  if (body.algoId !== undefined) {
    const { algoId, clientAlgoId, side, orderType, algoStatus, triggerPrice, createTime, updateTime } = body;
    return {
      orderId: algoId,
      clientOrderId: clientAlgoId,
      side,
      type: orderType,
      status: algoStatus,
      /** Of a leg its trigger. */
      price: triggerPrice,
      origQty: "0",
      executedQty: "0",
      cummulativeQuoteQty: "0",
      time: createTime,
      updateTime,
      /** Of a leg: its entry rests still, so that no mark price fires it. */
      waitsForEntry: body.waitsForEntry,
    };
  }
  const { orderId, side, type, status, price, origQty, executedQty, time, updateTime } = body;
  return {
    orderId,
    // The answer to a cancellation has a new id of its own.
    clientOrderId: body.origClientOrderId ?? body.clientOrderId,
    side,
    type,
    status,
    price,
    origQty,
    executedQty,
    cummulativeQuoteQty: body.cummulativeQuoteQty ?? body.cumQuote,
    time,
    updateTime,
    waitsForEntry: false,
  };
}

/** Whether an order may still be filled, or a leg fire. */
export function isOpenBody({ status }: Pick<OrderBody, "status">): boolean {
  return status === "NEW" || status === "PARTIALLY_FILLED";
}

const LEG_TYPES: readonly string[] = ["STOP_MARKET", "TAKE_PROFIT_MARKET"];

export function isLeg({ type }: Pick<OrderBody, "type">): boolean {
  return LEG_TYPES.includes(type);
}
