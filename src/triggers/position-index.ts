// Indexes the strategies that hold a contract now, and those that held it before a settlement of funding
// still to come. Positions are values: the index has what was committed, whatever happens to the account
// object.
import type { Account, Position } from "../domain/account.ts";

type Holding = {
  /** Null if the contract was held only in the past. */
  readonly position: Position | null;
  /** The earliest known time of the holding, market time, Unix ms. */
  readonly since: number;
};

/** A contract that a strategy holds or has held, and the earliest known time, market time, Unix ms. */
export type HeldContract = { readonly symbol: string; readonly since: number };

export class PositionIndex {
  /** By symbol, then by strategy. */
  readonly #bySymbol = new Map<string, Map<string, Holding>>();
  /** The symbols of each strategy. */
  readonly #byStrategy = new Map<string, ReadonlySet<string>>();

  /** Records what an account holds. Returns the symbols whose holding has changed. */
  take({ strategyId, positions, heldBefore }: Account): readonly string[] {
    const former = this.#byStrategy.get(strategyId) ?? NONE;
    // Every commit of a spot strategy returns here.
    if (positions.size + heldBefore.size + former.size === 0) return [];
    const symbols = new Set([...positions.keys(), ...heldBefore.keys()]);
    const changed: string[] = [];
    for (const symbol of new Set([...former, ...symbols])) {
      const position = positions.get(symbol) ?? null;
      const before = this.#bySymbol.get(symbol)?.get(strategyId);
      const times = (heldBefore.get(symbol) ?? []).map(({ changedAt }) => changedAt);
      if (position !== null) times.push(position.openedAt);
      if (before === undefined || before.position !== position || times.length === 0) changed.push(symbol);
      if (times.length === 0) this.#remove(symbol, strategyId);
      else this.#put(symbol, strategyId, { position, since: Math.min(...times) });
    }
    if (symbols.size > 0) this.#byStrategy.set(strategyId, symbols);
    else this.#byStrategy.delete(strategyId);
    return changed;
  }

  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** The strategies that hold or held a contract. */
  of(symbol: string): readonly string[] {
    return [...(this.#bySymbol.get(symbol)?.keys() ?? [])];
  }

  /** The open positions of a contract, each with its strategy. */
  positions(symbol: string): readonly (readonly [strategyId: string, position: Position])[] {
    const holdings = [...(this.#bySymbol.get(symbol) ?? [])];
    return holdings.flatMap(([strategyId, { position }]) =>
      position === null ? [] : [[strategyId, position] as const],
    );
  }

  contracts(): readonly HeldContract[] {
    return [...this.#bySymbol].map(([symbol, holdings]) => {
      // A spread into Math.min would exceed the limit of arguments.
      let earliest = Number.POSITIVE_INFINITY;
      for (const { since } of holdings.values()) earliest = Math.min(earliest, since);
      return { symbol, since: earliest };
    });
  }

  strategies(): Iterable<string> {
    return this.#byStrategy.keys();
  }

  #put(symbol: string, strategyId: string, holding: Holding): void {
    const holdings = this.#bySymbol.get(symbol);
    if (holdings === undefined) this.#bySymbol.set(symbol, new Map([[strategyId, holding]]));
    else holdings.set(strategyId, holding);
  }

  #remove(symbol: string, strategyId: string): void {
    const holdings = this.#bySymbol.get(symbol);
    holdings?.delete(strategyId);
    if (holdings?.size === 0) this.#bySymbol.delete(symbol);
  }
}

const NONE: ReadonlySet<string> = new Set();
