// A copy on paper: what an account would hold and have left if a strategy's orders were copied on it and filled as the strategy's
// own were. It begins in proportion to the strategy, as if it had been copied before.
//
// Knowingly simple: fees are those of the standard profile, and a position's margin is its entry value at the leverage of the
// symbol's last order.
import type { StrategyType } from "../../domain/account.ts";
import type { CopySettings, Holding, LeadFilled, LeadPlacement, LeadState } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { STANDARD } from "../../engine/profiles.ts";
import {
  type Amount,
  add,
  amountDown,
  costUp,
  divideUp,
  feeUp,
  least,
  magnitude,
  type Price,
  proceedsDown,
  product,
  type Quantity,
  quantityFor,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { leadEquity, spotSymbolOf, type VenuePrices, workedWith } from "./equity.ts";
import { against } from "./parts.ts";
import type { RestingOnSymbol, Sized } from "./scale-order.ts";

const NO_PRICES: VenuePrices = new Map();

/** What a copy with a fixed ratio would hold, or one with a fixed amount if one order had opened it. */
function fixedHolding(
  size: Exclude<CopySettings["size"], { readonly by: "RATIO" }>,
  { held, price }: LeadHolding,
): Quantity {
  if (size.by === "FIXED_RATIO") return ((held * size.ratio) / SCALE) as Quantity;
  const quantity = price <= 0n ? ZERO : quantityFor(size.amount, price);
  return (held < 0n ? -quantity : quantity) as Quantity;
}
type LeadHolding = { readonly held: Quantity; readonly price: Price };

type Resting = {
  readonly placement: LeadPlacement;
  readonly quantity: Quantity;
  readonly left: Quantity;
  readonly worth: Amount;
};

export class PaperBook {
  readonly holdings = new Map<string, Holding>();
  readonly #family: StrategyType;
  readonly #leverageMax: number;
  readonly #leverages = new Map<string, number>();
  readonly #resting = new Map<number, Resting>();
  #wallet: Amount;

  /** Of an account that has so much, with what it would hold of these symbols if it had copied the strategy so far. */
  constructor(
    family: StrategyType,
    start: {
      readonly wallet: Amount;
      readonly settings: CopySettings;
      readonly lead: LeadState;
      readonly placements: readonly LeadPlacement[];
    },
  ) {
    this.#family = family;
    this.#leverageMax = start.settings.leverageMax ?? Number.POSITIVE_INFINITY;
    this.#wallet = start.wallet;
    const { lead } = start;
    const { size } = start.settings;
    const ours = workedWith(start.settings, start.wallet);
    const theirs = leadEquity(family, lead, NO_PRICES);
    for (const { symbol, leverage } of start.placements) {
      if (leverage !== null && !this.#leverages.has(symbol)) this.#setLeverage(symbol, leverage);
    }
    for (const [name, held] of theirs <= 0n ? [] : lead.held) {
      const symbol = family === "SPOT" ? spotSymbolOf(name) : name;
      const price = lead.lastPrices.get(symbol);
      if (price === undefined || (family === "FUTURES" && !this.#leverages.has(symbol))) continue;
      const quantity =
        size.by === "RATIO" ? (((held * ours) / theirs) as Quantity) : fixedHolding(size, { held, price });
      if (quantity === 0n) continue;
      const cost = costUp(price, magnitude(quantity));
      this.holdings.set(symbol, { quantity, cost });
      if (family === "SPOT") this.#wallet = subtract(this.#wallet, proceedsDown(price, quantity));
    }
  }

  /** On spot free and locked, of futures the wallet balance. */
  get wallet(): Amount {
    return this.#wallet;
  }

  get restingWorth(): Amount {
    return [...this.#resting.values()].reduce((sum, { worth }) => add(sum, worth), ZERO as Amount);
  }

  get available(): Amount {
    const free = subtract(this.#wallet, add(this.restingWorth, this.#marginInUse()));
    return free > 0n ? free : ZERO;
  }

  held(symbol: string): Quantity {
    return this.holdings.get(symbol)?.quantity ?? ZERO;
  }

  restingOn(symbol: string): RestingOnSymbol {
    const resting = [...this.#resting.values()].filter(({ placement }) => placement.symbol === symbol);
    const of = (side: Side) =>
      resting
        .filter(({ placement }) => placement.side === side)
        .reduce((sum, { left }) => add(sum, left), ZERO as Quantity);
    const stops = resting.filter(
      ({ placement: { orderType } }) => orderType === "STOP_LOSS" || orderType === "STOP_LOSS_LIMIT",
    );
    return { orders: resting.length, stops: stops.length, buys: of("BUY"), sells: of("SELL"), openSides: [] };
  }

  /** An order that was copied: it is filled as far as the strategy's own was at once, and rests as far as that does. */
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
    const share = ((quantity * filled.quantity) / placement.quantity) as Quantity;
    const executed = isWhole ? left : least(left, share);
    this.#execute(placement.symbol, placement.side, { quantity: executed, price: filled.price });
    const rest = subtract(left, executed);
    if (rest === 0n) this.#resting.delete(orderId);
    else this.#resting.set(orderId, { ...resting, left: rest, worth: ((worth * rest) / left) as Amount });
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
    const { quantity: held, cost } = this.holdings.get(symbol) ?? { quantity: ZERO, cost: ZERO };
    const worth = proceedsDown(price, quantity);
    const signed = (side === "BUY" ? quantity : -quantity) as Quantity;
    const closed = least(quantity, against(held, side));
    const released = (closed === 0n ? 0n : (cost * closed) / magnitude(held)) as Amount;
    const opened = subtract(quantity, closed);
    const isSpotBuy = this.#family === "SPOT" && side === "BUY";
    const arrives = isSpotBuy
      ? subtract(signed, feeUp(quantity, STANDARD.SPOT.takerFee) as bigint as Quantity)
      : signed;
    this.#hold(symbol, add(held, arrives), add(subtract(cost, released), costUp(price, opened)));
    if (this.#family === "SPOT") {
      const fee = feeUp(worth, STANDARD.SPOT.takerFee);
      this.#wallet = isSpotBuy
        ? subtract(this.#wallet, costUp(price, quantity))
        : add(this.#wallet, subtract(worth, fee));
      return;
    }
    const closingWorth = amountDown(product(price, closed));
    const gained = held > 0n ? subtract(closingWorth, released) : subtract(released, closingWorth);
    this.#wallet = subtract(add(this.#wallet, gained), feeUp(worth, STANDARD.FUTURES.takerFee));
  }

  #hold(symbol: string, quantity: Quantity, cost: Amount): void {
    if (quantity === 0n) this.holdings.delete(symbol);
    else this.holdings.set(symbol, { quantity, cost });
  }

  #setLeverage(symbol: string, leverage: number): void {
    this.#leverages.set(symbol, Math.min(leverage, this.#leverageMax));
  }

  #marginInUse(): Amount {
    if (this.#family === "SPOT") return ZERO;
    return [...this.holdings].reduce(
      (sum, [symbol, { cost }]) =>
        add(sum, divideUp(cost, BigInt(this.#leverages.get(symbol) ?? 1)) as Amount),
      ZERO as Amount,
    );
  }
}
