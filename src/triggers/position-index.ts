// Indexes the strategies that hold a contract now, and those that held it before a settlement of funding
// still to come. Also computes the triggers of positions, which follow from the brackets of their contract: a
// position whose brackets are not known has no trigger. Positions are values: the index has what was
// committed, whatever happens to the account object.
import type { Account, Position } from "../domain/account.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import type { Bracket, ContractTerms } from "../domain/symbol.ts";
import { triggerOfPosition } from "./trigger.ts";

type Holding = {
  /** Null if the contract was held only in the past. */
  readonly position: Position | null;
  /** The earliest known time of the holding, market time, Unix ms. */
  readonly since: number;
  /** Time of the last settlement that the strategy has, Unix ms; 0 for none. */
  readonly fundedUntil: number;
};

/** A contract that a strategy holds or has held, and the earliest known time, market time, Unix ms. */
export type HeldContract = { readonly symbol: string; readonly since: number };

export class PositionIndex {
  /** By symbol, then by strategy. */
  readonly #bySymbol = new Map<string, Map<string, Holding>>();
  /** The symbols of each strategy. */
  readonly #byStrategy = new Map<string, ReadonlySet<string>>();
  /** By symbol: the brackets that the triggers of its positions were last computed with. */
  readonly #brackets = new Map<string, readonly Bracket[]>();

  /** Replaces what a strategy holds. Returns the symbols whose holding has changed. */
  update(account: Pick<Account, "strategyId" | "positions" | "heldBefore" | "fundedUntil">) {
    const { strategyId, positions, heldBefore } = account;
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
      else {
        const fundedUntil = account.fundedUntil.get(symbol) ?? 0;
        this.#put(symbol, strategyId, { position, since: Math.min(...times), fundedUntil });
      }
    }
    if (symbols.size > 0) this.#byStrategy.set(strategyId, symbols);
    else this.#byStrategy.delete(strategyId);
    return changed;
  }

  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** The strategies that hold or held a contract. */
  strategiesOn(symbol: string): readonly string[] {
    return [...(this.#bySymbol.get(symbol)?.keys() ?? [])];
  }

  /** Those of them that do not have a settlement yet, as far as is known. */
  unsettledOn({ symbol, fundingTime }: Settlement): readonly string[] {
    return [...(this.#bySymbol.get(symbol) ?? [])].flatMap(([strategyId, { fundedUntil }]) =>
      dueAt(fundedUntil) < dueAt(fundingTime) ? [strategyId] : [],
    );
  }

  /** Whether a contract has open positions, of any strategy. */
  hasOpen(symbol: string): boolean {
    return this.#open(symbol).length > 0;
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

  /**
   * The strategies with an open position of a symbol and the triggers of these, if its brackets have changed
   * since the last call, else nothing. A trigger whose price has changed with the brackets counts as created
   * now, market time in Unix ms.
   */
  reprice(symbol: string, terms: ContractTerms | null, now: number) {
    const former = this.#brackets.get(symbol);
    if (terms === null || terms.brackets === former) return [];
    this.#brackets.set(symbol, terms.brackets);
    const changedAt = former === undefined ? {} : { updatedAt: now };
    return this.#open(symbol).map(([strategyId, position]) => ({
      strategyId,
      trigger: triggerOfPosition(strategyId, { ...position, ...changedAt }, terms),
    }));
  }

  /** Makes the next `reprice` of a symbol compute its triggers again. */
  forgetBrackets(symbol: string): void {
    this.#brackets.delete(symbol);
  }

  #open(symbol: string): readonly (readonly [strategyId: string, position: Position])[] {
    const holdings = [...(this.#bySymbol.get(symbol) ?? [])];
    return holdings.flatMap(([strategyId, { position }]) =>
      position === null ? [] : [[strategyId, position] as const],
    );
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
