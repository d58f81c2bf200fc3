// Lines of the mirror log as they begin.
import type {
  CopyRequest,
  LeadAction,
  LeadPlacement,
  MirrorKind,
  MirrorStatus,
  Skip,
} from "../../domain/copying.ts";
import { ZERO } from "../../money/decimal.ts";
import type { Refused } from "./dealings.ts";
import { refusedAs } from "./refusals.ts";
import type { NewEntry } from "./turn.ts";

const BLANK: Omit<NewEntry, "kind" | "leadAt" | "updatedAt"> = {
  seq: null,
  requestId: null,
  collectiveId: null,
  symbol: null,
  status: "DONE",
  skip: null,
  side: null,
  orderType: null,
  leadQuantity: null,
  leadPrice: null,
  scale: null,
  scaledQuantity: null,
  quantity: null,
  price: null,
  stopPrice: null,
  clientOrderId: null,
  venueOrderId: null,
  executedQuantity: ZERO,
  executedQuote: ZERO,
  fee: ZERO,
  sentAt: null,
  acknowledgedAt: null,
  sends: 0,
  queries: 0,
};

/** A line that answers an action, with what the action says of itself. `now` is wall time, Unix ms, here and below. */
export function lineOf(action: LeadAction, now: number): NewEntry {
  const line: NewEntry = {
    ...BLANK,
    kind: action.kind,
    seq: action.seq,
    leadAt: action.at,
    updatedAt: now,
    symbol: action.kind === "CLOSE" ? null : action.symbol,
    collectiveId: "collectiveId" in action ? action.collectiveId : null,
  };
  switch (action.kind) {
    case "PLACE":
      return { ...line, ...ofPlacement(action) };
    case "FILL":
    case "FIRE_LEG":
    case "LIQUIDATE":
      return {
        ...line,
        side: action.side,
        leadQuantity: action.filled.quantity,
        leadPrice: action.filled.price,
      };
    case "PLACE_LEG":
      return {
        ...line,
        side: action.side,
        orderType: action.legType,
        stopPrice: action.triggerPrice,
      };
    default:
      return line;
  }
}

/** A line that a request, or the closing of the copy, asked for. */
export function ownLine(
  kind: MirrorKind,
  symbol: string | null,
  of: { readonly request: CopyRequest | null; readonly now: number },
): NewEntry {
  const { request, now } = of;
  return {
    ...BLANK,
    kind,
    symbol,
    requestId: request?.requestId ?? null,
    leadAt: request?.askedAt ?? now,
    updatedAt: now,
  };
}

export function skipped(line: NewEntry, skip: Skip): NewEntry {
  return { ...line, status: "SKIPPED", skip };
}

export function isWantOfFunds({ reason }: Skip): boolean {
  return reason === "INSUFFICIENT_BALANCE" || reason === "INSUFFICIENT_MARGIN";
}

/** The line of an order that the venue refused. */
export function refusedLine(line: NewEntry, { refusal, counts }: Refused): NewEntry {
  return { ...line, ...counts, ...refusedAs(refusal) };
}

export function endedAs(line: NewEntry, status: MirrorStatus): NewEntry {
  return { ...line, status };
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
