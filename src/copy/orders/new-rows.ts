// New rows of the mirror log, before the venue has said anything of their orders.
import {
  BLANK_ENTRY,
  type CopyRequest,
  type LeadAction,
  type LeadPlacement,
  type MirrorEntry,
  type MirrorKind,
} from "../../domain/copying.ts";

/** A row for an action, with what the action says of itself. `now` is wall time, Unix ms, here and below. */
export function rowOf(action: LeadAction, now: number): NewEntry {
  const row: NewEntry = {
    ...BLANK_ENTRY,
    kind: action.kind,
    seq: action.seq,
    leadAt: action.at,
    updatedAt: now,
    symbol: action.kind === "CLOSE" ? null : action.symbol,
    collectiveId: "collectiveId" in action ? action.collectiveId : null,
  };
  switch (action.kind) {
    case "PLACE":
      return { ...row, ...ofPlacement(action) };
    case "FILL":
    case "FIRE_LEG":
    case "LIQUIDATE":
      return {
        ...row,
        side: action.side,
        leadQuantity: action.filled.quantity,
        leadPrice: action.filled.price,
      };
    case "PLACE_LEG":
      return {
        ...row,
        side: action.side,
        orderType: action.legType,
        stopPrice: action.triggerPrice,
      };
    default:
      return row;
  }
}

/** A row of the copy's own: for a request, the closing of the copy, or the reconciler. */
export function ownRow(
  kind: MirrorKind,
  symbol: string | null,
  of: { readonly request: CopyRequest | null; readonly now: number },
): NewEntry {
  const { request, now } = of;
  return {
    ...BLANK_ENTRY,
    kind,
    symbol,
    requestId: request?.requestId ?? null,
    leadAt: request?.askedAt ?? now,
    updatedAt: now,
  };
}

function ofPlacement(action: LeadPlacement) {
  return {
    side: action.side,
    orderType: action.orderType,
    leadQuantity: action.quantity,
    leadPrice: action.filled?.price ?? (action.price > 0n ? action.price : null),
    price: action.price,
    stopPrice: action.stopPrice,
  };
}

/** A row of the log before it has its number. */
export type NewEntry = Omit<MirrorEntry, "copyId" | "entryId">;
