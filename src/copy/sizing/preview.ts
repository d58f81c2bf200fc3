// The preview for a person before they copy a strategy: its last orders scaled to an account as it is now,
// copied or skipped with a reason, and the account size that is needed to copy recent orders. A simulated
// account follows the orders, so that sales follow purchases; prices are those of that time, rules the
// present ones. It requests nothing. Orders of symbols that are never copied do not count for the account
// size, nor does the available balance.

import type { StrategyType } from "../../domain/account.ts";
import {
  COPY_QUOTE_ASSET,
  type CopyBook,
  type CopySettings,
  EMPTY_BOOK,
  type Holding,
  type LeadAction,
  type LeadFilled,
  type LeadPlacement,
  type LeadState,
} from "../../domain/copying.ts";
import { STANDARD } from "../../domain/fill-profile.ts";
import type { Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  add,
  atLeastZero,
  costUp,
  divideUp,
  feeUp,
  least,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  quantityFor,
  SCALE,
  shareOf,
  subtract,
  sum,
  withSignOf,
  ZERO,
} from "../../money/decimal.ts";
import { executedIn, holdingOf } from "./book.ts";
import {
  leadEquity,
  leadOpening,
  priceOf,
  type RestingOnSymbol,
  symbolOf,
  type VenuePrices,
  workedWith,
} from "./proportion.ts";
import { type Sized, scaleOrder, type Unsized } from "./scale-order.ts";
import { leastQuantityAt, takesMarketPrice } from "./snap.ts";

export type PreviewRow = {
  readonly action: LeadAction & LeadPlacement;
  readonly scaled: Sized | Unsized;
  /**
   * The order's value, at its limit or the market price of that time; null if it is skipped, or no price is
   * known.
   */
  readonly notional: Amount | null;
  /** Whether it only sells, reduces or closes what the strategy holds. */
  readonly isExit: boolean;
};

export type PreviewInput = {
  readonly type: StrategyType;
  /** Oldest first. Of all kinds: fills and cancels are followed too. */
  readonly actions: readonly LeadAction[];
  /** The account's quote asset, and on spot the holdings of a copy on it. */
  readonly worked: Amount;
  readonly settings: CopySettings;
  /** The venue's; null for what it does not list. */
  readonly rulesOf: (symbol: string) => SymbolRules | null;
};

/** The share that suffices at the last prices, which differ from the prices of that time. */
const NO_PRICES: VenuePrices = new Map();

/** A row for each order that was placed, oldest first. */
export function previewOrders(input: PreviewInput): readonly PreviewRow[] {
  const { type, actions, worked, settings } = input;
  const [first] = actions;
  if (first === undefined) return [];
  const placements = actions.filter((action) => action.kind === "PLACE");
  const book = new PaperBook(type, { wallet: worked, settings, lead: first.lead, placements });
  return actions.flatMap((action) => {
    if (action.kind === "PLACE") return [previewOf(input, book, action)];
    follow(book, action);
    return [];
  });
}

function previewOf(
  { type, settings, rulesOf }: PreviewInput,
  book: PaperBook,
  action: LeadAction & LeadPlacement,
): PreviewRow {
  const { symbol, lead, price, filled } = action;
  const scaled = scaleOrder({
    type,
    placement: action,
    lead,
    settings,
    holdings: book.holdings,
    wallet: book.wallet,
    available: book.available,
    restingWorth: type === "SPOT" ? book.restingWorth : ZERO,
    restingElsewhere: type === "SPOT" ? ZERO : book.restingElsewhere(symbol),
    restingOnSymbol: book.restingOn(symbol),
    accountHeld: type === "SPOT" ? book.held(symbol) : ZERO,
    rules: rulesOf(symbol),
    prices: NO_PRICES,
    opensNot: null,
  });
  const isExit = leadOpening({ type, placement: action, lead }) === 0n;
  if (scaled.kind === "SKIPPED") return { action, scaled, notional: null, isExit };
  book.place(action, scaled);
  const measured = price > 0n ? price : (filled?.price ?? priceOf(symbol, NO_PRICES, lead));
  const worth = measured === null ? null : proceedsDown(measured, scaled.quantity);
  return { action, scaled, notional: worth, isExit };
}

function follow(book: PaperBook, action: LeadAction): void {
  if (action.kind === "FILL") book.fill(action.orderId, action.filled);
  if (action.kind === "CANCEL") book.cancel(action.orderId);
  if (action.kind === "FIRE_LEG" || action.kind === "LIQUIDATE")
    book.closePosition(action.symbol, action.filled.price);
}

/** The holding of a copy with a fixed ratio, or with a fixed amount if one order had opened it. */
function fixedHolding(
  size: Exclude<CopySettings["size"], { readonly by: "RATIO" }>,
  { held, price }: LeadHolding,
): Quantity {
  if (size.by === "FIXED_RATIO") return shareOf(held, size.ratio, SCALE);
  const quantity = price <= 0n ? ZERO : quantityFor(size.amount, price);
  return withSignOf(quantity, held);
}
type LeadHolding = { readonly held: Quantity; readonly price: Price };

type Resting = {
  readonly placement: LeadPlacement;
  readonly quantity: Quantity;
  readonly left: Quantity;
  readonly worth: Amount;
};

/**
 * A simulated copy: what an account would hold and have left if a strategy's orders were copied on it and
 * filled as the strategy's own were. It begins in proportion to the strategy, as if it had been copied
 * before.
 * Simplified: fees are those of the standard profile, and a position's margin is its entry value at the
 * leverage of the symbol's last order.
 */
class PaperBook {
  readonly #type: StrategyType;
  readonly #leverageMax: number;
  readonly #leverages = new Map<string, number>();
  readonly #resting = new Map<number, Resting>();
  #wallet: Amount;
  #book: CopyBook = EMPTY_BOOK;

  /** An account with this equity, with its holdings of these symbols if it had copied the strategy so far. */
  constructor(
    type: StrategyType,
    start: {
      readonly wallet: Amount;
      readonly settings: CopySettings;
      readonly lead: LeadState;
      readonly placements: readonly LeadPlacement[];
    },
  ) {
    this.#type = type;
    this.#leverageMax = start.settings.leverageMax ?? Number.POSITIVE_INFINITY;
    this.#wallet = start.wallet;
    const { lead } = start;
    const { size } = start.settings;
    const ours = workedWith(start.settings, start.wallet);
    const theirs = leadEquity(type, lead, NO_PRICES);
    for (const { symbol, leverage } of start.placements) {
      if (leverage !== null && !this.#leverages.has(symbol)) this.#setLeverage(symbol, leverage);
    }
    const holdings = new Map<string, Holding>();
    for (const [name, held] of theirs <= 0n ? [] : lead.held) {
      const symbol = symbolOf(type, name);
      const price = lead.lastPrices.get(symbol);
      if (price === undefined || (type === "FUTURES" && !this.#leverages.has(symbol))) continue;
      const quantity =
        size.by === "RATIO" ? shareOf(held, ours, theirs) : fixedHolding(size, { held, price });
      if (quantity === 0n) continue;
      holdings.set(symbol, { quantity, cost: costUp(price, magnitude(quantity)) });
      if (type === "SPOT") this.#wallet = subtract(this.#wallet, proceedsDown(price, quantity));
    }
    this.#book = { ...EMPTY_BOOK, holdings };
  }

  get holdings(): CopyBook["holdings"] {
    return this.#book.holdings;
  }

  /** On spot free and locked, of futures the wallet balance. */
  get wallet(): Amount {
    return this.#wallet;
  }

  get restingWorth(): Amount {
    return sum([...this.#resting.values()].map(({ worth }) => worth));
  }

  /** The value of the open orders of other symbols that may open something. */
  restingElsewhere(symbol: string): Amount {
    const others = [...this.#resting.values()].filter(
      ({ placement }) => placement.symbol !== symbol && !placement.reduceOnly,
    );
    return sum(others.map(({ placement, left }) => costUp(placement.price, left)));
  }

  get available(): Amount {
    return atLeastZero(subtract(this.#wallet, add(this.restingWorth, this.#marginInUse())));
  }

  held(symbol: string): Quantity {
    return holdingOf(this.#book, symbol).quantity;
  }

  restingOn(symbol: string): RestingOnSymbol {
    const resting = [...this.#resting.values()].filter(({ placement }) => placement.symbol === symbol);
    const of = (side: Side) =>
      sum(resting.filter(({ placement }) => placement.side === side).map(({ left }) => left));
    const stops = resting.filter(
      ({ placement: { orderType } }) => orderType === "STOP_LOSS" || orderType === "STOP_LOSS_LIMIT",
    );
    const openSides = resting.flatMap(({ placement }) => (placement.reduceOnly ? [] : placement.side));
    return { orders: resting.length, stops: stops.length, buys: of("BUY"), sells: of("SELL"), openSides };
  }

  /** Copies an order: it is filled and stays open to the same extent as the strategy's own. */
  place(placement: LeadPlacement, { quantity, worth }: Sized): void {
    const { orderId, symbol, leverage, filled, orderType } = placement;
    if (leverage !== null) this.#setLeverage(symbol, leverage);
    this.#resting.set(orderId, { placement, quantity, left: quantity, worth });
    if (filled !== null) this.fill(orderId, filled);
    if (orderType === "MARKET") this.#resting.delete(orderId);
  }

  /** The strategy's order was filled, or a part of it. */
  fill(orderId: number, filled: LeadFilled): void {
    const resting = this.#resting.get(orderId);
    if (resting === undefined) return;
    const { placement, quantity, left, worth } = resting;
    const isWhole = filled.quantity >= placement.quantity;
    const share = shareOf(quantity, filled.quantity, placement.quantity);
    const executed = isWhole ? left : least(left, share);
    this.#execute(placement.symbol, placement.side, { quantity: executed, price: filled.price });
    const rest = subtract(left, executed);
    if (rest === 0n) this.#resting.delete(orderId);
    else this.#resting.set(orderId, { ...resting, left: rest, worth: shareOf(worth, rest, left) });
  }

  cancel(orderId: number): void {
    this.#resting.delete(orderId);
  }

  /** The strategy's position was closed by a leg or a liquidation. */
  closePosition(symbol: string, price: LeadFilled["price"]): void {
    const held = this.held(symbol);
    if (held !== 0n) this.#execute(symbol, held > 0n ? "SELL" : "BUY", { quantity: magnitude(held), price });
  }

  #execute(symbol: string, side: Side, { quantity, price }: LeadFilled): void {
    const isSpot = this.#type === "SPOT";
    const isSpotBuy = isSpot && side === "BUY";
    const quote = isSpotBuy ? costUp(price, quantity) : proceedsDown(price, quantity);
    const { takerFee } = STANDARD[this.#type];
    const feeInBase = isSpotBuy ? (feeUp(quantity, takerFee) as bigint as Quantity) : ZERO;
    const fee = isSpotBuy ? ZERO : feeUp(quote, takerFee);
    const before = this.#book;
    this.#book = executedIn(before, this.#type, { symbol, side, quantity, quote, fee, feeInBase });
    const gained = subtract(this.#book.realized, before.realized);
    const paid = isSpotBuy ? quote : subtract(fee, isSpot ? quote : gained);
    this.#wallet = subtract(this.#wallet, paid);
  }

  #setLeverage(symbol: string, leverage: number): void {
    this.#leverages.set(symbol, Math.min(leverage, this.#leverageMax));
  }

  #marginInUse(): Amount {
    if (this.#type === "SPOT") return ZERO;
    const leverageOf = (symbol: string) => BigInt(this.#leverages.get(symbol) ?? 1);
    return sum([...this.holdings].map(([symbol, { cost }]) => divideUp(cost, leverageOf(symbol)) as Amount));
  }
}

export type SmallestBalance = {
  /** Number of orders considered. */
  readonly orders: number;
  /** Enough for all of them, for 95 and for 80 %. */
  readonly all: Amount;
  readonly most: Amount;
  readonly many: Amount;
};

const ALL = 100;
const MOST = 95;
const MANY = 80;

/**
 * The smallest balances, in the quote asset, rounded up, as if the copy had existed all the time with its
 * whole account: holdings in proportion. Null if none of the actions is an order that could be copied.
 */
export function smallestBalances(
  type: StrategyType,
  actions: readonly LeadAction[],
  rulesOf: (symbol: string) => SymbolRules | null,
): SmallestBalance | null {
  const balances = actions
    .flatMap((action) => (action.kind === "PLACE" ? [smallestFor(type, action, rulesOf(action.symbol))] : []))
    .filter((balance) => balance !== null)
    .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const enoughFor = (percent: number) =>
    balances.find((_, index) => (index + 1) * ALL >= balances.length * percent);
  const [all, most, many] = [enoughFor(ALL), enoughFor(MOST), enoughFor(MANY)];
  if (all === undefined || most === undefined || many === undefined) return null;
  return { orders: balances.length, all, most, many };
}

/**
 * The least equity at which an order's scaled size, snapped down, is valid at the venue; null if there is
 * none.
 */
function smallestFor(
  type: StrategyType,
  action: LeadAction & LeadPlacement,
  rules: SymbolRules | null,
): Amount | null {
  const { lead, symbol, orderType, quantity, filled } = action;
  if (rules === null || rules.quoteAsset !== COPY_QUOTE_ASSET || quantity <= 0n) return null;
  const theirs = leadEquity(type, lead, NO_PRICES);
  if (theirs <= 0n) return null;
  const atMarket = takesMarketPrice(orderType);
  const market = filled?.price ?? priceOf(symbol, NO_PRICES, lead);
  const isReduction = leadOpening({ type, placement: action, lead }) === 0n;
  const least = leastQuantityAt(rules, {
    takesMarketPrice: atMarket,
    price: atMarket ? market : action.price,
    reduceOnly: type === "FUTURES" && (action.reduceOnly || (isReduction && orderType === "MARKET")),
  });
  return divideUp(least * theirs, quantity) as Amount;
}
