// The state of a strategy right before an action, by which copies are scaled; and its holding of a symbol
// before and after an execution, from which a copy's target follows.
import type { Account, StrategyType } from "../../domain/account.ts";
import { COPY_QUOTE_ASSET, type LeadAction, type LeadState } from "../../domain/copying.ts";
import type { Order, Side } from "../../domain/order.ts";
import {
  type Amount,
  add,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";

/**
 * The remainder of a spot holding that is worth less than this counts as zero: fees are taken out of
 * purchases, so that hardly any holding can be sold to the last unit. No exchange takes an order of so
 * little.
 */
export const DUST_WORTH: Amount = SCALE as Amount;

const NO_PRICES: ReadonlyMap<string, Price> = new Map();
/** On spot everything that is sold is held. */
const LONG = SCALE as Quantity;

/** The strategy's present state, given its last action before. */
export function leadStateOf(account: Account, last: LeadAction | null): LeadState {
  const held = heldBy(account);
  return {
    wallet: ownedOf(account.balances, COPY_QUOTE_ASSET),
    held,
    lastPrices: last === null ? NO_PRICES : pricesOfHeld(held, account, pricesAfter(last)),
    promised: promisedBy(account),
  };
}

/** By symbol what open orders still sell on spot, and of contracts what they still take off the position. */
function promisedBy({ type, positions, openOrders }: Account): ReadonlyMap<string, Quantity> {
  const promised = new Map<string, Quantity>();
  for (const { symbol, side, quantity, executedQuantity } of openOrders.values()) {
    const position = type === "SPOT" ? LONG : (positions.get(symbol)?.quantity ?? ZERO);
    const isExit = position !== 0n && position > 0n === (side === "SELL");
    if (!isExit) continue;
    const left = subtract(quantity, executedQuantity);
    promised.set(symbol, add(promised.get(symbol) ?? ZERO, left));
  }
  return promised;
}

/**
 * Whether a fill of this order has left nothing of its symbol that could be sold or closed; `account` is as
 * of the fill.
 */
export function holdsNothing(
  account: Account,
  { symbol, side, reservedAsset }: Order,
  price: Price,
): boolean {
  if (account.type === "FUTURES") return !account.positions.has(symbol);
  if (side === "BUY") return false;
  // A sale reserves the asset that it sells.
  const left = ownedOf(account.balances, reservedAsset) as bigint as Quantity;
  return left === 0n || (isReckoned(symbol) && proceedsDown(price, left) < DUST_WORTH);
}

function heldBy({ type, balances, positions }: Account): ReadonlyMap<string, Quantity> {
  const held = new Map<string, Quantity>();
  if (type === "FUTURES") {
    for (const { symbol, quantity } of positions.values()) held.set(symbol, quantity);
    return held;
  }
  for (const asset of balances.keys()) {
    const owned = ownedOf(balances, asset) as bigint as Quantity;
    if (asset !== COPY_QUOTE_ASSET && owned > 0n) held.set(asset, owned);
  }
  return held;
}

/** The last prices as an action leaves them. */
function pricesAfter(action: LeadAction): ReadonlyMap<string, Price> {
  const { lastPrices } = action.lead;
  const filled = "filled" in action ? action.filled : null;
  if (filled === null || !("symbol" in action)) return lastPrices;
  return new Map(lastPrices).set(action.symbol, filled.price);
}

/** Only what is held has to be valued; actions are many, and each has its own. */
function pricesOfHeld(
  held: ReadonlyMap<string, Quantity>,
  { type }: Pick<Account, "type">,
  prices: ReadonlyMap<string, Price>,
): ReadonlyMap<string, Price> {
  const isHeld = (symbol: string) =>
    type === "FUTURES" ? held.has(symbol) : isReckoned(symbol) && held.has(baseOf(symbol));
  return new Map([...prices].filter(([symbol]) => isHeld(symbol)));
}

/** Whether a symbol's prices are in the asset that copies are reckoned in. */
function isReckoned(symbol: string): boolean {
  return symbol.endsWith(COPY_QUOTE_ASSET);
}

/** The base asset of a pair that is quoted in `COPY_QUOTE_ASSET`. */
export function baseOf(symbol: string): string {
  return symbol.slice(0, -COPY_QUOTE_ASSET.length);
}

/** Base units, negative of a short. */
export function leadHeld(family: StrategyType, { held }: Pick<LeadState, "held">, symbol: string): Quantity {
  if (family === "FUTURES") return held.get(symbol) ?? ZERO;
  return isReckoned(symbol) ? (held.get(baseOf(symbol)) ?? ZERO) : ZERO;
}

/**
 * The size that an execution leaves of a position which it reduces, zero if it goes through zero; null if it
 * reduces none.
 */
export function reduced(before: Quantity, side: Side, quantity: Quantity): Quantity | null {
  if (before === 0n || before > 0n === (side === "BUY")) return null;
  const size = magnitude(before);
  return quantity >= size ? ZERO : subtract(size, quantity);
}

/** Whether a position that is left could not be sold or closed: of a spot pair a remainder of a fee. */
export function isFlat(family: StrategyType, left: Quantity, price: Price): boolean {
  return left === 0n || (family === "SPOT" && proceedsDown(price, left) < DUST_WORTH);
}
