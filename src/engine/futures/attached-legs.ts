// The legs that an entry brings with it: checked when it is placed, armed when it is filled.
// Source: specification 4.2 (takeProfitPrice, stopLossPrice); design, section 6.
import type { Account } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import { isReachedByMark, type Leg, type LegType } from "../../domain/leg.ts";
import type { Market } from "../../domain/market.ts";
import type { AttachedLegs, Order, Side } from "../../domain/order.ts";
import { closingSide } from "../../domain/position.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Price } from "../../money/decimal.ts";
import type { Draft } from "../draft.ts";
import type { Contract } from "./contract.ts";
import { legCountRefusal, priceRefusal } from "./contract-filters.ts";
import { openLegOf } from "./legs.ts";

type Wanted = { readonly type: LegType; readonly triggerPrice: Price };

/**
 * What is wrong with the legs of an entry: a trigger that its price filter refuses, one that the entry's own price (the mark
 * price, for an order at the market's) has reached already, or a leg of the same kind that stands there.
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
  if (wanted.some((leg) => isReachedByMark({ side, ...leg }, reached)))
    return { refusal: "LEG_WOULD_TRIGGER" };
  return legCountRefusal(contract, account, wanted.length);
}

/**
 * Arms the legs of an entry that was just filled. One that another leg of its kind has forestalled is dropped, or one too many
 * for the symbol by then, and all are if the fill has only reduced what was held on the other side.
 */
export function armAttached(draft: Draft, entry: Order, contract: Contract, at: number): void {
  const { symbol } = contract;
  const position = draft.account.positions.get(symbol);
  const side = opposite(entry.side);
  if (entry.attached === undefined || position === undefined || closingSide(position) !== side) return;
  for (const { type, triggerPrice } of wantedBy(entry.attached)) {
    if (openLegOf(draft.account, symbol, side, type)) continue;
    if (legCountRefusal(contract, draft.account, 1) !== null) continue;
    const leg: Leg = {
      legId: draft.account.nextOrderId,
      // No client can choose this id: its own may not hold the sign.
      clientLegId: `${type === "STOP_MARKET" ? "stopLoss" : "takeProfit"}#${entry.orderId}`,
      symbol,
      side,
      type,
      status: "NEW",
      triggerPrice,
      placedAt: at,
      updatedAt: at,
      fired: null,
    };
    draft.add({ type: "LegPlaced", at, leg, postings: [] });
  }
}

function wantedBy({ takeProfitPrice, stopLossPrice }: AttachedLegs): Wanted[] {
  const wanted: Wanted[] = [];
  if (stopLossPrice !== null) wanted.push({ type: "STOP_MARKET", triggerPrice: stopLossPrice });
  if (takeProfitPrice !== null) wanted.push({ type: "TAKE_PROFIT_MARKET", triggerPrice: takeProfitPrice });
  return wanted;
}

function opposite(side: Side): Side {
  return side === "BUY" ? "SELL" : "BUY";
}
