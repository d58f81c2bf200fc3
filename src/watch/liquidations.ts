// Where positions end: the prices of liquidation, which follow from a position and from the brackets of its contract. While
// the brackets are not known a position has none and cannot be watched; when they change, so do the prices.
import type { Position } from "../domain/account.ts";
import type { Bracket, ContractTerms } from "../domain/symbol.ts";
import type { Holders } from "./holders.ts";
import { type Waiting, waitingOfPosition } from "./waiting.ts";
import type { WatchedMarket } from "./watched-market.ts";

/** What a position waits for now; null if nothing. */
export type Repriced = { readonly strategyId: string; readonly waiting: Waiting | null };

export class Liquidations {
  readonly #market: Pick<WatchedMarket, "now" | "rules">;
  readonly #holders: Pick<Holders, "positions">;
  /** By symbol: those that the prices of its positions were last computed with. */
  readonly #brackets = new Map<string, readonly Bracket[]>();

  constructor(parts: { market: Pick<WatchedMarket, "now" | "rules">; holders: Pick<Holders, "positions"> }) {
    this.#market = parts.market;
    this.#holders = parts.holders;
  }

  /** What a position waits for; null if nothing, or while its contract's terms are not known. */
  of(strategyId: string, position: Position): Waiting | null {
    const terms = this.termsOf(position.symbol);
    if (terms === null) this.forget(position.symbol);
    return waitingOfPosition(strategyId, position, terms);
  }

  /** The terms of a contract; null while they are not known, and of a spot pair. */
  termsOf(symbol: string): ContractTerms | null {
    return this.#market.rules(symbol)?.contract ?? null;
  }

  /** Whether a symbol has positions that cannot be watched yet. */
  arePending(symbol: string): boolean {
    return this.termsOf(symbol) === null && this.#holders.positions(symbol).length > 0;
  }

  /**
   * What all positions of a symbol wait for if its brackets are others than when it was last asked, else nothing. At a price
   * that has changed with the brackets one waits only from now on.
   */
  reprice(symbol: string): readonly Repriced[] {
    const brackets = this.termsOf(symbol)?.brackets;
    const former = this.#brackets.get(symbol);
    if (brackets === undefined || brackets === former) return [];
    this.#brackets.set(symbol, brackets);
    const updatedAt = former === undefined ? {} : { updatedAt: this.#market.now() };
    return this.#holders.positions(symbol).map(([strategyId, position]) => ({
      strategyId,
      waiting: this.of(strategyId, { ...position, ...updatedAt }),
    }));
  }

  /** The prices of a symbol's positions are to be computed anew, if it has any. */
  forget(symbol: string): void {
    this.#brackets.delete(symbol);
  }
}
