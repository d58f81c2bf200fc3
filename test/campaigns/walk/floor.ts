// The market and the pending triggers of the strategies of one type in the walk through the desks.
import type { DeskMarket } from "../../../src/desk/desk.ts";
import type { Account } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import type { SymbolRules } from "../../../src/domain/symbol.ts";
import type { Hit } from "../../../src/triggers/trigger.ts";
import { commandOf } from "../../../src/triggers/trigger-dispatcher.ts";
import { TriggerIndex } from "../../../src/triggers/trigger-index.ts";
import { pick } from "./chance.ts";
import type { Family } from "./families.ts";
import { checkSurvivor } from "./futures-rules.ts";
import { RandomFunding } from "./random-funding.ts";
import { RandomMarket } from "./random-market.ts";
import { updateTriggers } from "./update-triggers.ts";

/** Market time that a round takes: every tenth is on the hour, when funding is due. */
export const ROUND_MS = 6 * MINUTE_MS;

export class Floor {
  readonly family: Family;
  readonly market: RandomMarket & Pick<DeskMarket, "now" | "sequence" | "prepare" | "prepareBook">;
  readonly #random: () => number;
  readonly #funding: RandomFunding;
  readonly #index = new TriggerIndex();
  #hits: Hit[] = [];

  constructor(family: Family, random: () => number, now: () => number) {
    this.family = family;
    this.#random = random;
    const market = new RandomMarket(random, family.listings, {
      quote: (symbol, quote) => this.#hits.push(...this.#index.takeAtQuote(symbol, quote)),
      trade: (symbol, price) => this.#hits.push(...this.#index.takeAtTrade(symbol, price)),
      mark: (symbol, price) => this.#hits.push(...this.#index.takeAtMark(symbol, price)),
    });
    this.market = Object.assign(market, {
      now,
      sequence: () => 0,
      prepare: () => undefined,
      prepareBook: () => undefined,
    });
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
      if (mark !== null) this.#hits.push(...this.#index.takeAtMark(symbol, mark));
    }
  }

  settlementsHeard(): readonly Settlement[] {
    return this.#funding.heardAt(this.market.now());
  }

  follow(account: Account): void {
    updateTriggers(this.#index, account, this.market);
  }

  /** The commands for entries triggered since the last call. */
  takeHits(): readonly { strategyId: string; command: Command; key: string | null }[] {
    return this.#hits.splice(0).map((hit) => {
      const [command, { key = null }] = commandOf(hit);
      return { strategyId: hit.trigger.strategyId, command, key };
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
