// A leg: an algo order of the exchange that closes the whole position when the mark price reaches
// its trigger. At most one stop and one take-profit a symbol and direction are NEW; both end with the
// position. A leg that comes with an entry is PENDING until that entry is filled.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.
import type { Price, Quantity } from "../money/decimal.ts";

export const LEG_TYPES = ["STOP_MARKET", "TAKE_PROFIT_MARKET"] as const;
export type LegType = (typeof LEG_TYPES)[number];

/**
 * PENDING → NEW → FINISHED (it fired), CANCELED or EXPIRED; the last three are terminal. A pending leg may
 * end too.
 */
export type LegStatus = "PENDING" | "NEW" | "FINISHED" | "CANCELED" | "EXPIRED";

/** Why a leg was canceled. */
export const LEG_CANCEL_REASONS = [
  "REQUESTED",
  "OTHER_LEG_FIRED",
  "ENTRY_CANCELED",
  "LIQUIDATION",
  "STRATEGY_CLOSED",
] as const;
export type LegCancelReason = (typeof LEG_CANCEL_REASONS)[number];
/** Why a leg expired. */
export const LEG_EXPIRY_REASONS = [
  "POSITION_CLOSED",
  "ENTRY_EXPIRED",
  "ENTRY_ONLY_REDUCED",
  "LEG_EXISTS",
] as const;
export type LegExpiryReason = (typeof LEG_EXPIRY_REASONS)[number];

/** The price that triggers a leg: the mark price, or the last trade's. */
export type WorkingType = "MARK_PRICE" | "CONTRACT_PRICE";

export type Leg = {
  /** From the same numbers as order ids. On the wire `algoId`. */
  readonly legId: number;
  /** On the wire `clientAlgoId`. */
  readonly clientLegId: string;
  readonly symbol: string;
  /** The side of the order that closes the position. */
  readonly side: "BUY" | "SELL";
  readonly type: LegType;
  readonly status: LegStatus;
  /** Compared with the price of its working type. */
  readonly triggerPrice: Price;
  /** Absent for the mark price. */
  readonly workingType?: "CONTRACT_PRICE";
  /** Not triggered while the last price and the mark price are far apart. */
  readonly priceProtect?: true;
  /** Market time, Unix ms. */
  readonly placedAt: number;
  readonly updatedAt: number;
  /** The order that closed the position, once the leg has fired. */
  readonly fired: FiredLeg | null;
  /** The entry that it came with; absent for a leg that was placed by itself. */
  readonly entryId?: number;
  /**
   * Why it ended; absent while it is open, once it has fired, and of legs that ended before reasons were
   * recorded.
   */
  readonly endReason?: LegCancelReason | LegExpiryReason;
};

/** The record of an attached leg in its entry's order. */
export type AttachedLeg = Pick<Leg, "legId" | "clientLegId" | "type" | "triggerPrice">;

export type FiredLeg = {
  readonly orderId: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** Market time, Unix ms. */
  readonly at: number;
};

/** Whether the leg waits for a price that rises to its trigger. */
export function waitsForRise({ side, type }: Pick<Leg, "side" | "type">): boolean {
  return (side === "BUY") === (type === "STOP_MARKET");
}
