// The legs attached to an entry: checked and recorded when it is placed, NEW if it is filled at once, else
// PENDING. The fill of an open entry arms them, or ends those that it cannot arm; an entry that ends unfilled
// ends them all. Invariant: every requested leg is armed, or has a reason why not. Source: specification 4.2
// (takeProfitPrice, stopLossPrice); design, section 6; decision 44.
import type { Account } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import type { AttachedLeg, Leg, LegExpiryReason } from "../../domain/leg.ts";
import type { Market } from "../../domain/market.ts";
import type { AttachedLegs, Order, Side } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Price } from "../../money/decimal.ts";
import type { Draft } from "../draft.ts";
import { canceledLeg, expiredLeg } from "../release.ts";
import { isTriggeredBy, legTrigger } from "../trigger.ts";
import type { Contract } from "./contract.ts";
import { legCountRefusal, priceRefusal } from "./contract-filters.ts";
import { closingPart } from "./fill.ts";
import { openLegOf } from "./locks.ts";

/**
 * Why the legs of an entry are refused: a trigger price that fails its price filter, an existing leg of the
 * same kind on the mark price, a trigger price beyond the entry's own price (the mark price, for a market
 * order), or more legs than the symbol may have.
 */
export function attachedRefusal(
  account: Account,
  { symbol, side: entrySide, price }: PlaceOrder,
  attached: AttachedLegs,
  contract: Contract,
  market: Market,
): Refusal | null {
  const side = opposite(entrySide);
  const wanted = wantedBy(attached);
  for (const { triggerPrice } of wanted) {
    const unfit = priceRefusal(contract, triggerPrice);
    if (unfit !== null) return unfit;
  }
  for (const { type } of wanted) if (openLegOf(account, symbol, side, type)) return { refusal: "LEG_EXISTS" };
  const reached = price ?? market.markPrice(symbol);
  if (reached === null) return { refusal: "MARKET_SILENT" };
  if (wouldTrigger(attached, side, reached)) return { refusal: "LEG_WOULD_TRIGGER" };
  return legCountRefusal(contract, account, wanted.length);
}

/**
 * Why the legs of an order that is about to be filled on arrival are refused: they wait for the mark price
 * from then on, and it has reached a trigger; or the fill opens nothing that a leg could close.
 */
export function refusalOnFill(
  account: Account,
  { symbol, side, size, entry }: PlaceOrder,
  mark: Price,
): Refusal | null {
  const attached = entry?.attached ?? null;
  if (attached === null || !("quantity" in size)) return null;
  if (wouldTrigger(attached, opposite(side), mark)) return { refusal: "LEG_WOULD_TRIGGER" };
  const held = account.positions.get(symbol) ?? null;
  if (closingPart(held, side, size.quantity) < size.quantity) return null;
  const parameter = attached.stopLossPrice === null ? "takeProfitPrice" : "stopLossPrice";
  return { refusal: "LEG_OF_REDUCTION", parameter };
}

/** The legs as the entry's order records them, the stop first. */
export function attachedLegsOf(
  attached: AttachedLegs,
  { entryId, firstLegId }: { readonly entryId: number; readonly firstLegId: number },
): AttachedLeg[] {
  return wantedBy(attached).map((leg, index) => ({
    ...leg,
    legId: firstLegId + index,
    // No client can choose an id that begins so.
    clientLegId: `${leg.type === "STOP_MARKET" ? "stopLoss" : "takeProfit"}/${entryId}`,
  }));
}

/** Records the legs of an entry that was just placed. */
export function placeAttached(draft: Draft, entry: Order, status: "PENDING" | "NEW"): void {
  for (const leg of entry.legs ?? []) addLeg(draft, entry, leg, status, entry.placedAt);
}

/** Arms the legs of an entry that was just filled, and ends those that cannot be armed. */
export function armAttached(draft: Draft, entry: Order, at: number): void {
  const { orderId: entryId, attached } = entry;
  if (attached !== undefined) {
    const legs = attachedLegsOf(attached, { entryId, firstLegId: draft.account.nextOrderId });
    for (const leg of legs) addLeg(draft, entry, leg, "PENDING", at);
  }
  for (const leg of pendingOf(draft.account, entryId)) {
    const reason = whyNotArmed(draft.account, leg);
    if (reason !== null) draft.add(expiredLeg(leg, reason, at));
    else draft.add({ type: "LegArmed", at, legId: leg.legId, postings: [] });
  }
}

/** Ends the legs of an entry that was canceled. */
export function cancelAttached(draft: Draft, { orderId }: Pick<Order, "orderId">, at: number): void {
  for (const leg of pendingOf(draft.account, orderId)) draft.add(canceledLeg(leg, "ENTRY_CANCELED", at));
}

/** Ends the legs of an entry that has expired. */
export function expireAttached(draft: Draft, { orderId }: Pick<Order, "orderId">, at: number): void {
  for (const leg of pendingOf(draft.account, orderId)) draft.add(expiredLeg(leg, "ENTRY_EXPIRED", at));
}

function addLeg(
  draft: Draft,
  { orderId, symbol, side }: Order,
  leg: AttachedLeg,
  status: "PENDING" | "NEW",
  at: number,
): void {
  draft.add({
    type: "LegPlaced",
    at,
    leg: {
      ...leg,
      symbol,
      side: opposite(side),
      status,
      placedAt: at,
      updatedAt: at,
      fired: null,
      entryId: orderId,
    },
    postings: [],
  });
}

/**
 * Null if the leg can be armed. The first leg of a kind covers the whole position, whatever is added to it
 * later.
 */
function whyNotArmed(account: Account, { symbol, side, type }: Leg): LegExpiryReason | null {
  const position = account.positions.get(symbol);
  if (position === undefined || closingSide(position) !== side) return "ENTRY_ONLY_REDUCED";
  return openLegOf(account, symbol, side, type) === undefined ? null : "LEG_EXISTS";
}

function pendingOf({ openLegs }: Account, entryId: number): Leg[] {
  return [...openLegs.values()].filter((leg) => leg.status === "PENDING" && leg.entryId === entryId);
}

function wantedBy({
  takeProfitPrice,
  stopLossPrice,
}: AttachedLegs): Pick<AttachedLeg, "type" | "triggerPrice">[] {
  const wanted: Pick<AttachedLeg, "type" | "triggerPrice">[] = [];
  if (stopLossPrice !== null) wanted.push({ type: "STOP_MARKET", triggerPrice: stopLossPrice });
  if (takeProfitPrice !== null) wanted.push({ type: "TAKE_PROFIT_MARKET", triggerPrice: takeProfitPrice });
  return wanted;
}

function wouldTrigger(attached: AttachedLegs, side: Side, reached: Price): boolean {
  return wantedBy(attached).some((leg) => isTriggeredBy(legTrigger({ side, ...leg }), reached));
}

function opposite(side: Side): Side {
  return side === "BUY" ? "SELL" : "BUY";
}
