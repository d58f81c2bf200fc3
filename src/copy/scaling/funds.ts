// What a copy can pay for. What opens is cut to what it may still use, so that a strategy's order for all that it has is copied
// although the venue's price is a little worse than the strategy's was; what would have to be cut by more than FUNDS_CUT_MAX is
// not copied.
//
// What takes the market's price is reckoned with MARKET_SLACK on top, since nobody knows what it will be filled at. The copier's
// bound for an order and the venue's minimums are not: they are about what an order is worth.
//
// An order at the market's price through zero frees the margin of what it closes before it opens the rest, so that counts as room; the
// venue wants the whole reserve of one with a limit beforehand. What is freed is reckoned low: by what the position cost, at the
// order's leverage, which is never below the position's; less what closing it loses, and less the fees of both ends.
//
// Knowingly left out: what a contract that is bought above its mark price has lost at once, which the venue asks margin for too.
import type { LeadPlacement, Skip } from "../../domain/copying.ts";
import { initialMargin } from "../../engine/futures/margin.ts";
import { STANDARD } from "../../engine/profiles.ts";
import {
  type Amount,
  add,
  costUp,
  decimal,
  divideDown,
  divideUp,
  feeUp,
  least,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  quantityFor,
  type Rate,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { copyEquity, worthOfHoldings } from "./equity.ts";
import type { ScaleInput } from "./scale-order.ts";
import { skipOf } from "./skip.ts";

/** By so much of its size what opens may be cut for want of funds, before it is snapped: 2 %. */
const FUNDS_CUT_MAX: Rate = decimal("0.02");
/** By so much an order at the market's price may be filled above the price that is known: 0.2 %. */
const MARKET_SLACK: Rate = decimal("0.002");
/** Of units that rounding up a margin and a fee may take beyond their exact sum. */
const ROUNDING_SLACK = 2n;

/** By what the cost of opening something is reckoned. */
export type Payment = Pick<ScaleInput, "family"> &
  Pick<LeadPlacement, "leverage"> & { readonly price: Price };

/** The price that a payment is reckoned at. */
export function priceToPay(price: Price, order: { readonly takesMarketPrice: boolean }): Price {
  return order.takesMarketPrice ? (divideUp(price * (SCALE + MARKET_SLACK), SCALE) as Price) : price;
}

/** What opening so much takes of the available: on spot what it costs, of futures initial margin and the taker's fee. */
export function worthOfOpening({ family, leverage, price }: Payment, quantity: Quantity): Amount {
  const cost = costUp(price, quantity);
  if (family === "SPOT") return cost;
  const margin = initialMargin(price, quantity, leverage ?? 1);
  return add(margin, feeUp(cost, STANDARD.FUTURES.takerFee));
}

/** The most that can be opened with so much, before it is snapped; the price is not zero. */
export function affordableOpening({ family, leverage, price }: Payment, room: Amount): Quantity {
  if (room <= 0n) return ZERO;
  if (family === "SPOT") return quantityFor(room, price);
  const times = BigInt(leverage ?? 1);
  const usable = room > ROUNDING_SLACK ? room - ROUNDING_SLACK : 0n;
  const notional = (usable * times * SCALE) / (SCALE + STANDARD.FUTURES.takerFee * times);
  return quantityFor(notional as Amount, price);
}

/**
 * What a copy may still use for what opens: its share less what is in use, and no more than is available. Never negative. What the
 * same order sets free is not in use any more, and available.
 */
export function roomOf(
  {
    family,
    settings,
    wallet,
    available,
    holdings,
    restingWorth,
    prices,
    lead,
  }: Pick<
    ScaleInput,
    "family" | "settings" | "wallet" | "available" | "holdings" | "restingWorth" | "prices" | "lead"
  >,
  released: Amount = ZERO,
): Amount {
  const ours = copyEquity(family, { share: settings.share, wallet, holdings }, prices, lead);
  const inUse =
    family === "SPOT"
      ? add(worthOfHoldings(holdings, prices, lead), restingWorth)
      : subtract(wallet, least(wallet, available));
  const freed = least(released, inUse);
  const room = least(add(available, freed), add(subtract(ours, inUse), freed));
  return room > 0n ? room : ZERO;
}

/** What an order sets free of a position for what it opens beyond it. Never more than the margin of the part that it closes. */
export function releasedBy(
  { family, placement, holdings }: Pick<ScaleInput, "family" | "placement" | "holdings">,
  {
    closed,
    price,
    leverage,
  }: { readonly closed: Quantity; readonly price: Price; readonly leverage: number | null },
): Amount {
  const held = holdings.get(placement.symbol);
  const isFreed = family === "FUTURES" && placement.orderType === "MARKET" && closed > 0n;
  if (!isFreed || held === undefined || held.quantity === 0n) return ZERO;
  const size = magnitude(held.quantity);
  const entered = divideDown(held.cost * least(closed, size), size) as Amount;
  const left = held.quantity > 0n ? proceedsDown(price, closed) : costUp(price, closed);
  const lost = held.quantity > 0n ? subtract(entered, left) : subtract(left, entered);
  const fees = add(feeUp(entered, STANDARD.FUTURES.takerFee), feeUp(left, STANDARD.FUTURES.takerFee));
  const margin = divideDown(entered, BigInt(leverage ?? 1)) as Amount;
  const freed = subtract(subtract(margin, lost > 0n ? lost : ZERO), fees);
  return freed > 0n ? freed : ZERO;
}

/** Of what is to be opened as much as the room is enough for, before it is snapped; null if that is too little of it. */
export function fundedOpening(payment: Payment, opening: Quantity, room: Amount): Quantity | null {
  if (worthOfOpening(payment, opening) <= room) return opening;
  const affordable = affordableOpening(payment, room);
  return (opening - affordable) * SCALE <= opening * FUNDS_CUT_MAX ? affordable : null;
}

/** What an opening that cannot be paid for would take, and what there is. */
export function fundsSkip(
  { family }: Pick<ScaleInput, "family">,
  { wanted, had }: { readonly wanted: Amount; readonly had: Amount },
): Skip {
  const reason = family === "SPOT" ? "INSUFFICIENT_BALANCE" : "INSUFFICIENT_MARGIN";
  return skipOf(reason, { wanted, had, unit: "QUOTE" });
}
