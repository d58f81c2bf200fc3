// What a copy can pay for. Openings are cut to the usable funds, so that a strategy's order for all it has is
// copied although the venue's price is slightly worse; a cut of more than FUNDS_CUT_MAX is a skip. A market
// price is estimated with MARKET_SLACK on top; the copier's bound per order and the venue's minimums go by
// the plain value. A futures opening also needs its fee and its immediate loss against the mark price. Both
// are large at high leverage, so FUNDS_CUT_MAX ignores them, but room for them is always left. A market order
// through zero may use the margin that it frees, estimated low; a limit order may not. Source: reference
// exchange, section 15.7 and 15.8.
import type { LeadPlacement, Skip } from "../../domain/copying.ts";
import { STANDARD } from "../../domain/fill-profile.ts";
import type { Side } from "../../domain/order.ts";
import { initialMargin } from "../../engine/futures/margin.ts";
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
import type { ScaleInput } from "./proportion.ts";
import { copyEquity, worthOfHoldings } from "./proportion.ts";
import { skipOf } from "./skip.ts";

/** By so much of its size what opens may be cut for want of funds, before it is snapped: 2 %. */
const FUNDS_CUT_MAX: Rate = decimal("0.02");
/** How much worse than the known price a market order may be filled: 0.2 %. */
const MARKET_SLACK: Rate = decimal("0.002");
/** Units that rounding up a margin and a fee may add to their exact sum. */
const ROUNDING_SLACK = 3n;

/** By what the cost of opening something is reckoned. */
export type Payment = Pick<ScaleInput, "family"> &
  Pick<LeadPlacement, "leverage"> & {
    /** The price that it may be filled at. */
    readonly price: Price;
    /** The immediate loss of a unit against the mark price; zero on spot. */
    readonly loss: Price;
    /** The known price. */
    readonly known: Price;
  };

/** How an opening is paid for. `known`: its limit or the market's price, whichever is higher. */
export function paymentOf(
  { family, leverage }: Pick<Payment, "family" | "leverage">,
  order: {
    readonly side: Side;
    readonly known: Price;
    readonly takesMarketPrice: boolean;
    /** Null where it has none. */
    readonly limit: Price | null;
    readonly mark: Price | null;
  },
): Payment {
  const { known, takesMarketPrice } = order;
  const slack = takesMarketPrice ? slackOf(known) : (ZERO as Price);
  const loss = family === "SPOT" ? (ZERO as Price) : takesMarketPrice ? slack : lossAtLimit(order);
  return { family, leverage, known, price: add(known, slack), loss };
}

/**
 * The funds that an opening of this size needs: on spot its cost, of futures initial margin, opening loss and
 * the taker's fee.
 */
export function worthOfOpening({ family, leverage, price, loss }: Payment, quantity: Quantity): Amount {
  const cost = costUp(price, quantity);
  if (family === "SPOT") return cost;
  const margin = add(initialMargin(price, quantity, leverage ?? 1), costUp(loss, quantity));
  return add(margin, feeUp(cost, STANDARD.FUTURES.takerFee));
}

/** The most that can be opened with so much, before it is snapped; the price is not zero. */
export function affordableOpening({ family, leverage, price, loss }: Payment, room: Amount): Quantity {
  if (room <= 0n) return ZERO;
  if (family === "SPOT") return quantityFor(room, price);
  const times = BigInt(leverage ?? 1);
  const usable = room > ROUNDING_SLACK ? room - ROUNDING_SLACK : 0n;
  const perUnit = price * (SCALE + STANDARD.FUTURES.takerFee * times) + loss * times * SCALE;
  return ((usable * times * SCALE * SCALE) / perUnit) as Quantity;
}

/** By how much a limit is worse than the mark price; zero where no mark price is known. */
function lossAtLimit({
  side,
  limit,
  mark,
}: {
  readonly side: Side;
  readonly limit: Price | null;
  readonly mark: Price | null;
}): Price {
  if (limit === null || mark === null) return ZERO;
  const loss = side === "BUY" ? subtract(limit, mark) : subtract(mark, limit);
  return loss > 0n ? loss : ZERO;
}

function slackOf(price: Price): Price {
  return divideUp(price * MARKET_SLACK, SCALE) as Price;
}

/**
 * A copy's usable funds for openings: its share, at most its budget, less what is in use, and no more than is
 * available. Never negative. Funds that the same order frees count as available.
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
  const { share, budget } = settings;
  const ours = copyEquity(family, { share, budget, wallet, holdings }, prices, lead);
  const inUse =
    family === "SPOT"
      ? add(worthOfHoldings(holdings, prices, lead), restingWorth)
      : subtract(wallet, least(wallet, available));
  const freed = least(released, inUse);
  const room = least(add(available, freed), add(subtract(ours, inUse), freed));
  return room > 0n ? room : ZERO;
}

/**
 * The margin of a position that an order frees for its opening part. Never more than the margin of the part
 * that it closes.
 */
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
  const slack = slackOf(price);
  const left =
    held.quantity > 0n ? proceedsDown(subtract(price, slack), closed) : costUp(add(price, slack), closed);
  const lost = held.quantity > 0n ? subtract(entered, left) : subtract(left, entered);
  const fees = add(feeUp(entered, STANDARD.FUTURES.takerFee), feeUp(left, STANDARD.FUTURES.takerFee));
  const margin = divideDown(entered, BigInt(leverage ?? 1)) as Amount;
  const freed = subtract(subtract(margin, lost > 0n ? lost : ZERO), fees);
  return freed > 0n ? freed : ZERO;
}

/**
 * The part of an opening that the room suffices for, before it is snapped; null if that is too small a part.
 */
export function fundedOpening(payment: Payment, opening: Quantity, room: Amount): Quantity | null {
  if (worthOfOpening(payment, opening) <= room) return opening;
  const { family, known, leverage } = payment;
  const affordable = affordableOpening(payment, room);
  const isEnough =
    family === "SPOT"
      ? (opening - affordable) * SCALE <= opening * FUNDS_CUT_MAX
      : initialMargin(known, opening, leverage ?? 1) * (SCALE - FUNDS_CUT_MAX) <= room * SCALE;
  return isEnough ? affordable : null;
}

/** The needed and the available funds of an opening that cannot be paid for. */
export function fundsSkip(
  { family }: Pick<ScaleInput, "family">,
  { wanted, had }: { readonly wanted: Amount; readonly had: Amount },
): Skip {
  const reason = family === "SPOT" ? "INSUFFICIENT_BALANCE" : "INSUFFICIENT_MARGIN";
  return skipOf(reason, { wanted, had, unit: "QUOTE" });
}
