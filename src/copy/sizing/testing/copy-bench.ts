// Runs a scenario of copying: a strategy, a copy of it, and a venue whose prices and rules the steps set.
// Orders fill in full and without fees, at the market's price or at their limit, so that tables can be
// computed by hand.
import type { StrategyType } from "../../../domain/account.ts";
import {
  type CopySettings,
  EXACT_SETTINGS,
  type Holding,
  type LeadPlacement,
  type LeadState,
  type Skip,
} from "../../../domain/copying.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import {
  type Amount,
  add,
  costUp,
  divideUp,
  least,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../../money/decimal.ts";
import { type Sized, scaleOrder, type Unsized } from "../scale-order.ts";

/** One of the two: its quote asset and what it holds, by symbol. */
class Trader {
  wallet: Amount = ZERO;
  readonly holdings = new Map<string, Holding>();

  held(symbol: string): Quantity {
    return this.holdings.get(symbol)?.quantity ?? ZERO;
  }

  /** Spot pays and is paid whole; of a contract what is closed gains or loses. */
  trade(type: StrategyType, { symbol, side }: LeadPlacement, quantity: Quantity, price: Price): void {
    const { quantity: held, cost } = this.holdings.get(symbol) ?? { quantity: ZERO, cost: ZERO };
    const isAgainst = held !== 0n && held > 0n !== (side === "BUY");
    const closed: Quantity = isAgainst ? least(quantity, magnitude(held)) : ZERO;
    const released = (closed === 0n ? 0n : (cost * closed) / magnitude(held)) as Amount;
    const opened = costUp(price, subtract(quantity, closed));
    const after = side === "BUY" ? add(held, quantity) : subtract(held, quantity);
    if (after === 0n) this.holdings.delete(symbol);
    else this.holdings.set(symbol, { quantity: after, cost: add(subtract(cost, released), opened) });
    const worth = proceedsDown(price, closed);
    if (type === "SPOT") this.wallet = add(this.wallet, subtract(worth, opened));
    else this.wallet = add(this.wallet, held > 0n ? subtract(worth, released) : subtract(released, worth));
  }
}

type Resting = { readonly placement: LeadPlacement; readonly copied: Sized | null };

export class CopyBench {
  readonly type: StrategyType;
  readonly strategy = new Trader();
  readonly copy = new Trader();
  readonly prices = new Map<string, Price>();
  readonly rules = new Map<string, SymbolRules>();
  readonly resting = new Map<number, Resting>();
  settings: CopySettings = EXACT_SETTINGS;
  opensNot: Skip | null = null;
  /** Where the strategy's orders at the market fill, if not at the venue's price. */
  readonly paper = new Map<string, Price>();
  /** Funds that the account's owner uses beside the copy. */
  usedOutside: Amount = ZERO;
  readonly #leverages = new Map<string, number>();
  #nextOrderId = 1;

  constructor(type: StrategyType, rules: readonly SymbolRules[]) {
    this.type = type;
    for (const each of rules) this.rules.set(each.symbol, each);
  }

  changeRules(symbol: string, changed: Partial<SymbolRules>): void {
    const rules = this.rules.get(symbol);
    if (rules === undefined) throw new Error(`no rules of ${symbol}`);
    this.rules.set(symbol, { ...rules, ...changed });
  }

  /** The strategy places an order; returns its copy. Market orders fill, anything else stays open. */
  place(order: Omit<LeadPlacement, "orderId" | "collectiveId" | "kind" | "filled">): Sized | Unsized {
    const orderId = this.#nextOrderId;
    this.#nextOrderId += 1;
    const placement = {
      ...order,
      kind: "PLACE",
      orderId,
      collectiveId: `order-${orderId}`,
      filled: this.#filledAtOnce(order),
    } as const;
    const scaled = this.scale(placement);
    const copied = scaled.kind === "SIZED" ? scaled : null;
    if (order.leverage !== null && copied !== null)
      this.#leverages.set(
        order.symbol,
        Math.min(order.leverage, this.settings.leverageMax ?? order.leverage),
      );
    this.resting.set(orderId, { placement, copied });
    if (order.orderType === "MARKET") this.fill(orderId, this.#priceOf(order.symbol));
    return scaled;
  }

  scale(placement: LeadPlacement): Sized | Unsized {
    const { symbol } = placement;
    const isSpot = this.type === "SPOT";
    const onSymbol = [...this.resting.values()].filter((each) => each.placement.symbol === symbol);
    const left = (side: "BUY" | "SELL") =>
      onSymbol
        .filter((each) => each.placement.side === side)
        .reduce((sum, { copied }) => add(sum, copied?.quantity ?? ZERO), ZERO as Quantity);
    return scaleOrder({
      type: this.type,
      placement,
      lead: this.#leadState(),
      settings: this.settings,
      holdings: this.copy.holdings,
      wallet: this.copy.wallet,
      available: this.available,
      restingWorth: isSpot ? this.#restingWorth() : ZERO,
      restingOnSymbol: {
        orders: onSymbol.filter(({ copied }) => copied !== null).length,
        stops: onSymbol.filter(({ copied }) => copied !== null && copied.stopPrice > 0n).length,
        buys: left("BUY"),
        sells: left("SELL"),
        openSides: onSymbol
          .filter(({ copied }) => copied !== null && !copied.reduceOnly)
          .map(({ placement: { side } }) => side),
      },
      restingElsewhere: isSpot ? ZERO : this.#worthElsewhere(symbol),
      accountHeld: isSpot ? this.copy.held(symbol) : ZERO,
      rules: this.rules.get(symbol) ?? null,
      prices: this.prices,
      opensNot: this.opensNot,
    });
  }

  /** Both fill: the strategy's order, and the copied one at the same price. */
  fill(orderId: number, price: Price): void {
    const resting = this.resting.get(orderId);
    if (resting === undefined) throw new Error(`no order ${orderId} rests`);
    this.resting.delete(orderId);
    const { placement, copied } = resting;
    this.strategy.trade(this.type, placement, placement.quantity, price);
    if (copied !== null) this.copy.trade(this.type, placement, copied.quantity, price);
  }

  /** The copy's order fills at its limit, the strategy's does not yet. */
  fillCopy(orderId: number): void {
    const resting = this.resting.get(orderId);
    if (resting?.copied == null) throw new Error(`no order ${orderId} of the copy rests`);
    const { placement, copied } = resting;
    this.copy.trade(this.type, placement, copied.quantity, copied.price);
    this.resting.set(orderId, { placement, copied: null });
  }

  cancel(orderId: number): void {
    this.resting.delete(orderId);
  }

  /** The usable funds of the copy's account. */
  get available(): Amount {
    const used = add(add(this.#restingWorth(), this.#margins()), this.usedOutside);
    return subtract(this.copy.wallet, used);
  }

  #leadState(): LeadState {
    const held = [...this.strategy.holdings].map(([symbol, { quantity }]) => {
      const name = this.type === "SPOT" ? symbol.replace(/USDT$/, "") : symbol;
      return [name, quantity] as const;
    });
    return {
      wallet: this.strategy.wallet,
      held: new Map(held),
      lastPrices: new Map(),
      promised: this.#promised(),
    };
  }

  /** The quantity of the strategy's open exits. */
  #promised(): ReadonlyMap<string, Quantity> {
    const promised = new Map<string, Quantity>();
    for (const { placement } of this.resting.values()) {
      const { symbol, side, quantity } = placement;
      const held = this.strategy.held(symbol);
      if (held === 0n || held > 0n === (side === "BUY")) continue;
      promised.set(symbol, add(promised.get(symbol) ?? ZERO, quantity));
    }
    return promised;
  }

  #filledAtOnce({ orderType, symbol, quantity }: Pick<LeadPlacement, "orderType" | "symbol" | "quantity">) {
    const price = orderType === "MARKET" ? this.paper.get(symbol) : undefined;
    return price === undefined ? null : { quantity, price };
  }

  #worthElsewhere(symbol: string): Amount {
    return [...this.resting.values()]
      .filter(({ placement, copied }) => placement.symbol !== symbol && copied?.reduceOnly === false)
      .reduce(
        (sum, { copied }) => add(sum, costUp(copied?.price ?? ZERO, copied?.quantity ?? ZERO)),
        ZERO as Amount,
      );
  }

  #restingWorth(): Amount {
    return [...this.resting.values()].reduce(
      (sum, { copied }) => add(sum, copied?.worth ?? ZERO),
      ZERO as Amount,
    );
  }

  #margins(): Amount {
    if (this.type === "SPOT") return ZERO;
    return [...this.copy.holdings].reduce(
      (sum, [symbol, { cost }]) =>
        add(sum, divideUp(cost, BigInt(this.#leverages.get(symbol) ?? 1)) as Amount),
      ZERO as Amount,
    );
  }

  #priceOf(symbol: string): Price {
    const price = this.prices.get(symbol);
    if (price === undefined) throw new Error(`no price of ${symbol}`);
    return price;
  }
}
