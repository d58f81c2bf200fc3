// Liquidation prices, which follow from a position and the brackets of its contract. A position whose
// brackets are not known has no trigger; when brackets change, its price changes.
import type { Position } from "../domain/account.ts";
import type { Bracket, ContractTerms } from "../domain/symbol.ts";
import type { LiveMarket } from "../market/feed.ts";
import type { PositionIndex } from "./position-index.ts";
import { type Trigger, triggerOfPosition } from "./trigger.ts";

/** The trigger of a position; null if it has none. */
export type Repriced = { readonly strategyId: string; readonly trigger: Trigger | null };

export class Liquidations {
  readonly #market: Pick<LiveMarket, "now" | "rules">;
  readonly #holders: Pick<PositionIndex, "positions">;
  /** By symbol: the brackets that its prices were last computed with. */
  readonly #brackets = new Map<string, readonly Bracket[]>();

  constructor(parts: {
    market: Pick<LiveMarket, "now" | "rules">;
    holders: Pick<PositionIndex, "positions">;
  }) {
    this.#market = parts.market;
    this.#holders = parts.holders;
  }

  /** The trigger of a position; null if it has none, or while its contract's terms are not known. */
  of(strategyId: string, position: Position): Trigger | null {
    const terms = this.termsOf(position.symbol);
    if (terms === null) this.forget(position.symbol);
    return triggerOfPosition(strategyId, position, terms);
  }

  /** The terms of a contract; null while they are not known, and of a spot pair. */
  termsOf(symbol: string): ContractTerms | null {
    return this.#market.rules(symbol)?.contract ?? null;
  }

  /** Whether a symbol has positions without a trigger. */
  arePending(symbol: string): boolean {
    return this.termsOf(symbol) === null && this.#holders.positions(symbol).length > 0;
  }

  /**
   * The triggers of all positions of a symbol if its brackets have changed since the last call, else nothing.
   * A trigger whose price has changed with the brackets counts as created now.
   */
  reprice(symbol: string): readonly Repriced[] {
    const brackets = this.termsOf(symbol)?.brackets;
    const former = this.#brackets.get(symbol);
    if (brackets === undefined || brackets === former) return [];
    this.#brackets.set(symbol, brackets);
    const updatedAt = former === undefined ? {} : { updatedAt: this.#market.now() };
    return this.#holders.positions(symbol).map(([strategyId, position]) => ({
      strategyId,
      trigger: this.of(strategyId, { ...position, ...updatedAt }),
    }));
  }

  /** Makes the next call compute the prices of a symbol's positions again. */
  forget(symbol: string): void {
    this.#brackets.delete(symbol);
  }
}
