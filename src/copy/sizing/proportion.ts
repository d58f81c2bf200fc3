// Values a strategy and a copy in the quote asset at the same prices (the venue's, else the strategy's last),
// and scales the strategy's orders to the copy. Rounding makes a copy smaller: the strategy's value is
// rounded up, the copy's down. An asset without a price counts nothing. Copies of its strategy would then be
// too large, so nothing is opened for them while it has no price (`hasUnvalued`).
// Source: specification, section 1; design, section 6 (copiers).
import type { StrategyType } from "../../domain/account.ts";
import {
  COPY_QUOTE_ASSET,
  type CopyBook,
  type CopySettings,
  type LeadPlacement,
  type LeadState,
  type MirrorEntry,
  type Scale,
  type Skip,
  skipOf,
} from "../../domain/copying.ts";
import { STANDARD } from "../../domain/fill-profile.ts";
import type { Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { initialMargin } from "../../engine/futures/margin.ts";
import {
  type Amount,
  add,
  amountDown,
  amountUp,
  atLeastZero,
  costUp,
  decimal,
  divideDown,
  divideUp,
  feeUp,
  isAtMostShare,
  least,
  magnitude,
  type Price,
  type Product,
  proceedsDown,
  product,
  type Quantity,
  quantityFor,
  type Rate,
  SCALE,
  shareOf,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";

/** What of the copy rests on the order's symbol. */
export type RestingOnSymbol = {
  /** All orders, stops included: MAX_NUM_ORDERS. */
  readonly orders: number;
  /** Stops that wait for their trigger: MAX_NUM_ALGO_ORDERS. */
  readonly stops: number;
  /** Base units of BUYs and of SELLs that are not executed yet. */
  readonly buys: Quantity;
  readonly sells: Quantity;
  /** The sides of those that may open something at the venue: of contracts, they are not reduce-only. */
  readonly openSides: readonly Side[];
};

export const NOTHING_RESTS: RestingOnSymbol = { orders: 0, stops: 0, buys: ZERO, sells: ZERO, openSides: [] };

export type ScaleInput = {
  readonly type: StrategyType;
  readonly placement: LeadPlacement;
  /** The strategy before the order. */
  readonly lead: LeadState;
  readonly settings: CopySettings;
  /** What the copy holds by its own orders. */
  readonly holdings: CopyBook["holdings"];
  /** In the quote asset: on spot free and locked, of futures the wallet balance. */
  readonly wallet: Amount;
  /** What of it can be used now. */
  readonly available: Amount;
  /**
   * On spot what all resting BUYs of the copy may cost. Of futures zero: what is not available is in use
   * there.
   */
  readonly restingWorth: Amount;
  /**
   * Of futures what the open orders of other symbols that may open something are worth at their limits;
   * counts towards the copier's exposure bound. On spot zero: `restingWorth` has them.
   */
  readonly restingElsewhere: Amount;
  readonly restingOnSymbol: RestingOnSymbol;
  /** On spot all that the account has of the base asset (MAX_POSITION); of futures zero. */
  readonly accountHeld: Quantity;
  /** The venue's; null if it does not list the symbol. */
  readonly rules: SymbolRules | null;
  readonly prices: VenuePrices;
  /** Why nothing that opens may be sent, with figures where there are any; null if it may. */
  readonly opensNot: Skip | null;
};

/** What a copy's funds are computed from. */
export type Funds = Pick<ScaleInput, "type" | "settings" | "wallet" | "holdings" | "prices"> & {
  readonly lead: Pick<LeadState, "lastPrices">;
};

/** By symbol: of spot pairs the last prices, of contracts the mark prices. */
export type VenuePrices = ReadonlyMap<string, Price>;

/** A symbol's price at the venue, else that of the strategy's last trade, else null. */
export function priceOf(
  symbol: string,
  prices: VenuePrices,
  { lastPrices }: Pick<LeadState, "lastPrices">,
): Price | null {
  return prices.get(symbol) ?? lastPrices.get(symbol) ?? null;
}

/**
 * The quantity of an asset without a price that does no harm: at the price of the most expensive asset it is
 * worth about one USDT.
 */
const DUST: Quantity = decimal("0.00001");

/** The spot pair that an asset is copied by: `BTCUSDT` for `BTC`. */
export function spotSymbolOf(asset: string): string {
  return `${asset}${COPY_QUOTE_ASSET}`;
}

/** The symbol of what is held under a name: on spot an asset's pair, of futures the contract itself. */
export function symbolOf(type: StrategyType, name: string): string {
  return type === "SPOT" ? spotSymbolOf(name) : name;
}

/** The symbols of what a strategy holds. */
export function symbolsHeld(type: StrategyType, { held }: Pick<LeadState, "held">): readonly string[] {
  return [...held.keys()].map((name) => symbolOf(type, name));
}

/** The part of an open order that is not executed yet. */
export function unexecuted({
  quantity,
  executedQuantity,
}: Pick<MirrorEntry, "quantity" | "executedQuantity">): Quantity {
  return quantity === null ? ZERO : subtract(quantity, executedQuantity);
}

/** The value of that part, at the order's limit or its trigger. */
export function worthLeft(entry: MirrorEntry): Amount {
  const { price, stopPrice } = entry;
  return costUp(price !== null && price > 0n ? price : (stopPrice ?? ZERO), unexecuted(entry));
}

/** The value of the open orders of other contracts that may open something; zero on spot. */
export function restingElsewhere(
  type: StrategyType,
  entries: readonly MirrorEntry[],
  symbol: string,
): Amount {
  if (type === "SPOT") return ZERO;
  return sum(entries.filter((entry) => entry.symbol !== symbol && entry.reduceOnly !== true).map(worthLeft));
}

/** The open orders of a symbol, in the form that sizing takes. */
export function restingOn(entries: readonly MirrorEntry[]): RestingOnSymbol {
  const orders = entries.filter((entry) => entry.kind !== "PLACE_LEG" && unexecuted(entry) > 0n);
  const left = (side: Side) => sum(orders.filter((entry) => entry.side === side).map(unexecuted));
  const stops = entries.filter((entry) => entry.kind === "PLACE_LEG" || entry.orderType?.startsWith("STOP_"));
  const openSides = (["BUY", "SELL"] as const).filter((side) =>
    orders.some((entry) => entry.side === side && entry.reduceOnly !== true),
  );
  return { orders: orders.length, stops: stops.length, buys: left("BUY"), sells: left("SELL"), openSides };
}

/** The cost of the open bids. */
export function restingWorth(entries: readonly MirrorEntry[]): Amount {
  return sum(entries.filter((entry) => entry.kind !== "PLACE_LEG" && entry.side === "BUY").map(worthLeft));
}

/** The value of a copy's own spot holdings, in the quote asset, rounded down. */
export function worthOfHoldings(
  holdings: CopyBook["holdings"],
  prices: VenuePrices,
  lead: Pick<LeadState, "lastPrices">,
): Amount {
  const worths = [...holdings].map(([symbol, { quantity }]) =>
    product(priceOf(symbol, prices, lead) ?? ZERO, quantity),
  );
  return amountDown(worths.reduce((sum, worth) => sum + worth, 0n) as Product);
}

/**
 * A strategy's funds: on spot its quote asset and all its holdings, of futures its wallet without unrealized
 * profit.
 */
export function leadEquity(type: StrategyType, lead: LeadState, prices: VenuePrices): Amount {
  if (type === "FUTURES") return lead.wallet;
  const worth = [...lead.held].reduce(
    (sum, [asset, quantity]) => sum + (worthOfAsset(asset, quantity, prices, lead) ?? 0n),
    0n,
  );
  return add(lead.wallet, amountUp(worth as Product));
}

/** Whether a spot strategy has more than dust of an asset without a known price. */
export function hasUnvalued(type: StrategyType, lead: LeadState, prices: VenuePrices): boolean {
  if (type === "FUTURES") return false;
  return [...lead.held].some(
    ([asset, quantity]) => quantity > DUST && worthOfAsset(asset, quantity, prices, lead) === null,
  );
}

/** A copy's funds: its share of the account, at most its budget. */
export function copyEquity(funds: Funds): Amount {
  return workedWith(funds.settings, accountEquity(funds));
}

/** The account of which a copy has a share: on spot the quote asset and the copy's own purchases. */
export function accountEquity({ type, wallet, holdings, prices, lead }: Omit<Funds, "settings">): Amount {
  return type === "FUTURES" ? wallet : add(wallet, worthOfHoldings(holdings, prices, lead));
}

/** By which a copy uses a part of its account. */
type PartSettings = Pick<CopySettings, "share" | "budget">;

/**
 * The part of an account with this equity that a copy uses: its share, at most its budget, rounded down.
 * Never negative.
 */
export function workedWith({ share, budget }: PartSettings, whole: Amount): Amount {
  const shared = shareOf(atLeastZero(whole), share, SCALE);
  return budget === null ? shared : least(shared, budget);
}

/**
 * An amount as the same part of what a copy works with, once another share or budget of the account is set;
 * rounded towards zero. `whole`: the equity of the account, which is not zero.
 */
export function rescaledBy(
  { from, to, whole }: { readonly from: PartSettings; readonly to: PartSettings; readonly whole: Amount },
  amount: Amount,
): Amount {
  // Without the rounding of `workedWith`, so that a share that is set back leaves no trace.
  const exactly = ({ share, budget }: PartSettings): bigint => {
    const shared = whole * share;
    const most = budget === null ? shared : budget * SCALE;
    return most < shared ? most : shared;
  };
  return shareOf(amount, exactly(to), exactly(from));
}

/**
 * At the price of the asset, else by that of the quote asset in it (`USDTTRY`), rounded up; null if neither
 * is known.
 */
function worthOfAsset(
  asset: string,
  quantity: Quantity,
  prices: VenuePrices,
  { lastPrices }: Pick<LeadState, "lastPrices">,
): Product | null {
  for (const known of [prices, lastPrices]) {
    const price = known.get(spotSymbolOf(asset));
    if (price !== undefined) return product(price, quantity);
    const inverse = known.get(`${COPY_QUOTE_ASSET}${asset}`);
    if (inverse !== undefined && inverse > 0n)
      return divideUp(quantity * SCALE * SCALE, inverse) as bigint as Product;
  }
  return null;
}

/**
 * A part of an order and by what it was scaled; the scale of a part that the strategy's order does not have
 * is null.
 */
type Part = { readonly quantity: Quantity; readonly scale: Scale | null };
export type Parts = {
  readonly opening: Part;
  readonly reducing: Part;
  /**
   * The most that can be reduced: the copy's holding on that side, less what open orders will reduce, on spot
   * and where nothing may open.
   */
  readonly reducible: Quantity;
};

export const NO_PART: Part = { quantity: ZERO, scale: null };

/**
 * An order's parts, scaled, before anything is cut or snapped. `price`: the maximum cost of a unit; null if
 * none is known. An order through zero has both parts.
 * - The opening part is scaled by the funds of both (spot: equity, futures: collateral) or by the copier's
 *   fixed ratio or amount.
 * - The reducing part is scaled by what both hold of the symbol and have not promised to their open exit
 *   orders. A copy reduces only what its own orders opened, only on the side of the strategy's position.
 */
export function partsOf(input: ScaleInput, price: Price | null): Parts {
  return input.type === "SPOT" ? spotParts(input, price) : futuresParts(input, price);
}

/** The part of the strategy's order that opens something in the strategy itself. */
export function leadOpening({
  type,
  placement,
  lead,
}: Pick<ScaleInput, "type" | "placement" | "lead">): Quantity {
  const { side, quantity, reduceOnly, symbol } = placement;
  if (type === "SPOT") return side === "BUY" ? quantity : ZERO;
  if (reduceOnly) return ZERO;
  return subtract(quantity, least(quantity, against(lead.held.get(symbol) ?? ZERO, side)));
}

/** The part of a position that an order of a side reduces: its size if it is on the other side, else zero. */
export function against(position: Quantity, side: Side): Quantity {
  return position === 0n || position > 0n === (side === "BUY") ? ZERO : magnitude(position);
}

function spotParts(input: ScaleInput, price: Price | null): Parts {
  const { placement, lead, holdings, rules, restingOnSymbol } = input;
  const { side, quantity, symbol } = placement;
  const own = holdings.get(symbol)?.quantity ?? ZERO;
  const reducible = atLeastZero(subtract(own, restingOnSymbol.sells));
  if (side === "BUY") return { opening: openingPart(input, quantity, price), reducing: NO_PART, reducible };
  const theirs: Quantity = lead.held.get(rules?.baseAsset ?? "") ?? ZERO;
  const reducing = exitPart("HOLDING", quantity, {
    ours: { held: own, promised: restingOnSymbol.sells },
    theirs: { held: theirs, promised: lead.promised.get(symbol) ?? ZERO },
    closesAll: false,
  });
  return { opening: NO_PART, reducing, reducible };
}

function futuresParts(input: ScaleInput, price: Price | null): Parts {
  const { placement, lead, holdings, opensNot, restingOnSymbol } = input;
  const { side, quantity, symbol, orderType } = placement;
  const own = against(holdings.get(symbol)?.quantity ?? ZERO, side);
  const { buys, sells, openSides } = restingOnSymbol;
  const resting = side === "BUY" ? buys : sells;
  const isTaken = opensNot !== null && openSides.includes(side);
  const reducible = isTaken ? subtract(own, least(own, resting)) : own;
  const theirs = against(lead.held.get(symbol) ?? ZERO, side);
  const opened = leadOpening(input);
  const exited = least(subtract(quantity, opened), theirs);
  const exit = exitPart("POSITION", exited, {
    ours: { held: own, promised: resting },
    theirs: { held: theirs, promised: lead.promised.get(symbol) ?? ZERO },
    closesAll: orderType === "MARKET" && exited === theirs,
  });
  return {
    opening: opened === 0n ? NO_PART : openingPart(input, opened, price),
    reducing: theirs === 0n ? NO_PART : exit,
    reducible,
  };
}

/** A holding, or a position's size, and what of it open exit orders are about to sell or close. */
type Exits = { readonly held: Quantity; readonly promised: Quantity };

/**
 * An exit of so much, which is not more than the strategy holds. What neither has promised yet is compared,
 * so that it does not matter which of the two had an earlier exit filled first. Where exits overlap, since
 * this one is for more than the strategy has left unpromised, whole holdings are compared; so they are if it
 * closes all at once.
 */
function exitPart(
  by: "HOLDING" | "POSITION",
  quantity: Quantity,
  { ours, theirs, closesAll }: { readonly ours: Exits; readonly theirs: Exits; readonly closesAll: boolean },
): Part {
  const left = leftOf(theirs);
  const arePromised = ours.promised > 0n || theirs.promised > 0n;
  return closesAll || quantity > left || !arePromised
    ? scaledPart(quantity, { by, ours: ours.held, theirs: theirs.held })
    : scaledPart(quantity, { by: "UNPROMISED", ours: leftOf(ours), theirs: left });
}

/** Exits may promise more than there is: a target and a stop for the same position. */
function leftOf({ held, promised }: Exits): Quantity {
  return subtract(held, least(held, promised));
}

function openingPart(input: ScaleInput, quantity: Quantity, price: Price | null): Part {
  const { type, lead, prices } = input;
  const { size } = input.settings;
  if (size.by === "FIXED_RATIO")
    return scaledPart(quantity, { by: size.by, ours: size.ratio, theirs: SCALE });
  if (size.by === "FIXED_AMOUNT") {
    // Without a price nothing is opened.
    const ours = price === null || price <= 0n ? 0n : quantityFor(size.amount, price);
    return scaledPart(quantity, { by: size.by, ours, theirs: quantity });
  }
  return scaledPart(quantity, scaleOfFunds(input, leadEquity(type, lead, prices)));
}

/** The scale by the funds of both. */
export function scaleOfFunds(funds: Funds, theirs: Amount): Scale {
  return { by: funds.type === "SPOT" ? "EQUITY" : "COLLATERAL", ours: copyEquity(funds), theirs };
}

/** Quantity × ours / theirs, rounded down; nothing of a strategy that has nothing. */
function scaledPart(quantity: Quantity, scale: Scale): Part {
  const { ours, theirs } = scale;
  return { quantity: theirs <= 0n ? ZERO : shareOf(quantity, ours, theirs), scale };
}

// What a copy can pay for. Openings are cut to the usable funds, so that a strategy's order for all it has is
// copied although the venue's price is slightly worse; a cut of more than FUNDS_CUT_MAX is a skip. A market
// price is estimated with MARKET_SLACK on top; the copier's bound per order and the venue's minimums go by
// the plain value. A futures opening also needs its fee and its immediate loss against the mark price. Both
// are large at high leverage, so FUNDS_CUT_MAX ignores them, but room for them is always left. A market order
// through zero may use the margin that it frees, estimated low; a limit order may not. Source: reference
// exchange, section 15.7 and 15.8.

/** By so much of its size what opens may be cut for want of funds, before it is snapped: 2 %. */
const FUNDS_CUT_MAX: Rate = decimal("0.02");
/** How much worse than the known price a market order may be filled: 0.2 %. */
const MARKET_SLACK: Rate = decimal("0.002");
/** Units that rounding up a margin and a fee may add to their exact sum. */
const ROUNDING_SLACK = 3n;

/** By what the cost of opening something is reckoned. */
export type Payment = Pick<ScaleInput, "type"> &
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
  { type, leverage }: Pick<Payment, "type" | "leverage">,
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
  const loss = type === "SPOT" ? (ZERO as Price) : takesMarketPrice ? slack : lossAtLimit(order);
  return { type, leverage, known, price: add(known, slack), loss };
}

/**
 * The funds that an opening of this size needs: on spot its cost, of futures initial margin, opening loss and
 * the taker's fee.
 */
export function worthOfOpening({ type, leverage, price, loss }: Payment, quantity: Quantity): Amount {
  const cost = costUp(price, quantity);
  if (type === "SPOT") return cost;
  const margin = add(initialMargin(price, quantity, leverage ?? 1), costUp(loss, quantity));
  return add(margin, feeUp(cost, STANDARD.FUTURES.takerFee));
}

/** The most that can be opened with so much, before it is snapped; the price is not zero. */
export function affordableOpening({ type, leverage, price, loss }: Payment, room: Amount): Quantity {
  if (room <= 0n) return ZERO;
  if (type === "SPOT") return quantityFor(room, price);
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
  return atLeastZero(side === "BUY" ? subtract(limit, mark) : subtract(mark, limit));
}

function slackOf(price: Price): Price {
  return divideUp(price * MARKET_SLACK, SCALE) as Price;
}

/**
 * A copy's usable funds for openings: its share, at most its budget, less what is in use, and no more than is
 * available. Never negative. Funds that the same order frees count as available.
 */
export function roomOf(
  of: Funds & Pick<ScaleInput, "available" | "restingWorth">,
  released: Amount = ZERO,
): Amount {
  const { type, wallet, available } = of;
  const inUse =
    type === "SPOT"
      ? add(worthOfHoldings(of.holdings, of.prices, of.lead), of.restingWorth)
      : subtract(wallet, least(wallet, available));
  const freed = least(released, inUse);
  return atLeastZero(least(add(available, freed), add(subtract(copyEquity(of), inUse), freed)));
}

/**
 * The margin of a position that an order frees for its opening part. Never more than the margin of the part
 * that it closes.
 */
export function releasedBy(
  { type, placement, holdings }: Pick<ScaleInput, "type" | "placement" | "holdings">,
  {
    closed,
    price,
    leverage,
  }: { readonly closed: Quantity; readonly price: Price; readonly leverage: number | null },
): Amount {
  const held = holdings.get(placement.symbol);
  const isFreed = type === "FUTURES" && placement.orderType === "MARKET" && closed > 0n;
  if (!isFreed || held === undefined || held.quantity === 0n) return ZERO;
  const size = magnitude(held.quantity);
  const entered = divideDown(held.cost * least(closed, size), size) as Amount;
  const slack = slackOf(price);
  const left =
    held.quantity > 0n ? proceedsDown(subtract(price, slack), closed) : costUp(add(price, slack), closed);
  const lost = held.quantity > 0n ? subtract(entered, left) : subtract(left, entered);
  const fees = add(feeUp(entered, STANDARD.FUTURES.takerFee), feeUp(left, STANDARD.FUTURES.takerFee));
  const margin = divideDown(entered, BigInt(leverage ?? 1)) as Amount;
  return atLeastZero(subtract(subtract(margin, atLeastZero(lost)), fees));
}

/**
 * The part of an opening that the room suffices for, before it is snapped; null if that is too small a part.
 */
export function fundedOpening(payment: Payment, opening: Quantity, room: Amount): Quantity | null {
  if (worthOfOpening(payment, opening) <= room) return opening;
  const { type, known, leverage } = payment;
  const affordable = affordableOpening(payment, room);
  const margin = initialMargin(known, opening, leverage ?? 1);
  const isEnough =
    type === "SPOT"
      ? isAtMostShare(subtract(opening, affordable), FUNDS_CUT_MAX, opening)
      : isAtMostShare(subtract(margin, room), FUNDS_CUT_MAX, margin);
  return isEnough ? affordable : null;
}

/** The needed and the available funds of an opening that cannot be paid for. */
export function fundsSkip(
  { type }: Pick<ScaleInput, "type">,
  { wanted, had }: { readonly wanted: Amount; readonly had: Amount },
): Skip {
  const reason = type === "SPOT" ? "INSUFFICIENT_BALANCE" : "INSUFFICIENT_MARGIN";
  return skipOf(reason, { wanted, had, unit: "QUOTE" });
}
