// A leg: an order of the exchange's algo family that waits for the mark price and then closes the whole position. At most
// one stop and one take-profit a symbol and direction; both go when the position goes.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.
import type { Price, Quantity } from "../money/decimal.ts";
import type { Side } from "./order.ts";

export const LEG_TYPES = ["STOP_MARKET", "TAKE_PROFIT_MARKET"] as const;
export type LegType = (typeof LEG_TYPES)[number];

/** NEW until it fires (FINISHED), is taken back (CANCELED) or its position is gone (EXPIRED). */
export type LegStatus = "NEW" | "FINISHED" | "CANCELED" | "EXPIRED";

export type Leg = {
  /** From the same numbers as order ids. On the wire `algoId`. */
  readonly legId: number;
  /** On the wire `clientAlgoId`. */
  readonly clientLegId: string;
  readonly symbol: string;
  /** The side of the order that closes the position. */
  readonly side: Side;
  readonly type: LegType;
  readonly status: LegStatus;
  /** Compared with the mark price. */
  readonly triggerPrice: Price;
  /** Market time, Unix ms. */
  readonly placedAt: number;
  readonly updatedAt: number;
  /** The order that closed the position, once the leg has fired. */
  readonly fired: FiredLeg | null;
};

export type FiredLeg = {
  readonly orderId: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** Market time, Unix ms. */
  readonly at: number;
};

/** Whether a mark price reaches the leg: a stop on its losing side, a take-profit on its winning side. */
export function isReachedByMark(
  { side, type, triggerPrice }: Pick<Leg, "side" | "type" | "triggerPrice">,
  mark: Price,
): boolean {
  return waitsForRise({ side, type }) ? mark >= triggerPrice : mark <= triggerPrice;
}

/** Whether the leg waits for a mark price that rises to its trigger. */
export function waitsForRise({ side, type }: Pick<Leg, "side" | "type">): boolean {
  return (side === "BUY") === (type === "STOP_MARKET");
}
