// The market and the pending triggers of the strategies of one type in the walk through the desks.
import type { Account } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import type { SymbolRules } from "../../../src/domain/symbol.ts";
import { commandOf } from "../../../src/watch/errands.ts";
import type { Reached } from "../../../src/watch/waiting.ts";
import { WatchList } from "../../../src/watch/watch-list.ts";
import { pick } from "./chance.ts";
import type { Family } from "./families.ts";
import { checkSurvivor } from "./futures-rules.ts";
import { RandomFunding } from "./random-funding.ts";
import { RandomMarket } from "./random-market.ts";
import { follow } from "./watching.ts";

/** Market time that a round takes: every tenth is on the hour, when funding is due. */
export const ROUND_MS = 6 * MINUTE_MS;

export class Floor {
  readonly family: Family;
  readonly market: RandomMarket & { now(): number; mark(): number; prepare(): undefined };
  readonly #random: () => number;
  readonly #funding: RandomFunding;
  readonly #watchList = new WatchList();
  #reached: Reached[] = [];

  constructor(family: Family, random: () => number, now: () => number) {
    this.family = family;
    this.#random = random;
    const market = new RandomMarket(random, family.listings, {
      quote: (symbol, quote) => this.#reached.push(...this.#watchList.takeAtQuote(symbol, quote)),
      trade: (symbol, price) => this.#reached.push(...this.#watchList.takeAtTrade(symbol, price)),
      mark: (symbol, price) => this.#reached.push(...this.#watchList.takeAtMark(symbol, price)),
    });
    this.market = Object.assign(market, { now, mark: () => 0, prepare: () => undefined });
    this.#funding = new RandomFunding(random, market, now());
  }

  draw(account: Account, clientId: string): readonly Command[] {
    return this.family.draw({
      random: this.#random,
      market: this.market,
      account,
      symbol: pick(this.#random, this.market.symbols) ?? "",
      clientId,
      orders: account.openOrders,
      legs: account.openLegs,
    });
  }

  /** One step of every symbol. */
  move(): void {
    for (const symbol of this.market.symbols) this.market.move(symbol);
  }

  /** Triggers new entries that the present mark price already satisfies. */
  seeMarks(): void {
    for (const symbol of this.market.symbols) {
      const mark = this.market.markPrice(symbol);
      if (mark !== null) this.#reached.push(...this.#watchList.takeAtMark(symbol, mark));
    }
  }

  settlementsHeard(): readonly Settlement[] {
    return this.#funding.heardAt(this.market.now());
  }

  follow(account: Account): void {
    follow(this.#watchList, account, this.market);
  }

  /** The commands for entries triggered since the last call. */
  takeReached(): readonly { strategyId: string; command: Command; key: string | null }[] {
    return this.#reached.splice(0).map((reached) => {
      const [command, { key = null }] = commandOf(reached);
      return { strategyId: reached.waiting.strategyId, command, key };
    });
  }

  rules(): readonly SymbolRules[] {
    return this.market.symbols.flatMap((symbol) => this.market.rules(symbol) ?? []);
  }

  checkSurvivors(account: Account): void {
    for (const symbol of this.market.symbols) {
      const mark = this.market.markPrice(symbol);
      if (mark !== null) checkSurvivor(account, symbol, mark, this.market);
    }
  }
}
