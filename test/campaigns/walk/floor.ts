// The market, the pending triggers and the orders in queues of the strategies of one type in the walk through
// the desks.
import type { DeskMarket } from "../../../src/desk/desk.ts";
import type { Account } from "../../../src/domain/account.ts";
import { type Command, crossingKey, matchKey } from "../../../src/domain/command.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import type { Order } from "../../../src/domain/order.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import type { SymbolRules } from "../../../src/domain/symbol.ts";
import { ordersReached } from "../../../src/engine/matching/evidence.ts";
import { isWithin, takenSide } from "../../../src/engine/matching/walk.ts";
import type { Price } from "../../../src/money/decimal.ts";
import { type Hit, isInQueue } from "../../../src/triggers/trigger.ts";
import { commandOf } from "../../../src/triggers/trigger-dispatcher.ts";
import { TriggerIndex } from "../../../src/triggers/trigger-index.ts";
import { happens, pick } from "./chance.ts";
import { checkSurvivor } from "./futures-rules.ts";
import { inForce, LEVEL_WORTH, listingFor, randomTrade } from "./profiles.ts";
import { RandomBooks } from "./random/books.ts";
import { RandomFunding } from "./random/funding.ts";
import { type MarketListener, RandomMarket } from "./random/market.ts";
import type { WalkSetup } from "./setups.ts";
import { updateTriggers } from "./update-triggers.ts";

/** Market time that a round takes: every tenth is on the hour, when funding is due. */
export const ROUND_MS = 6 * MINUTE_MS;

export class Floor {
  readonly setup: WalkSetup;
  readonly market: RandomMarket & Pick<DeskMarket, "now" | "sequence" | "prepare" | "prepareBook">;
  readonly #random: () => number;
  readonly #funding: RandomFunding;
  readonly #index = new TriggerIndex();
  readonly #strict = new Map<string, Account>();
  #hits: Hit[] = [];
  #matches: Asked[] = [];
  #marketTrades = 0;

  constructor(setup: WalkSetup, random: () => number, now: () => number) {
    this.setup = setup;
    this.#random = random;
    const listener: MarketListener = {
      quote: (symbol, quote) => {
        this.#hits.push(...this.#index.takeAtQuote(symbol, quote));
        this.#cross(symbol);
      },
      trade: (symbol, price) => {
        this.#hits.push(...this.#index.takeAtTrade(symbol, price));
        this.#match(symbol, price);
      },
      mark: (symbol, price) => this.#hits.push(...this.#index.takeAtMark(symbol, price)),
    };
    const books = new RandomBooks(random, now, LEVEL_WORTH[setup.type]);
    const market = new RandomMarket(random, setup.listings.map(listingFor("strict")), listener, books);
    this.market = Object.assign(market, {
      now,
      sequence: () => 0,
      prepare: () => undefined,
      prepareBook: () => undefined,
    });
    this.#funding = new RandomFunding(random, market, now());
  }

  draw(account: Account, clientId: string): readonly Command[] {
    // What the books had too little for is sold as soon as they have more.
    if (account.status === "CLOSING" && happens(this.#random, 0.5)) return [{ type: "CloseStrategy" }];
    const drawn = this.setup.draw({
      random: this.#random,
      market: this.market,
      account,
      symbol: pick(this.#random, this.market.symbols) ?? "",
      clientId,
      orders: account.openOrders,
      legs: account.openLegs,
    });
    if (account.profile.strict === null) return drawn;
    return drawn.map((command) => inForce(command, this.setup, this.#random));
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
    if (account.profile.strict === null) return;
    if (account.status === "CLOSED") this.#strict.delete(account.strategyId);
    else this.#strict.set(account.strategyId, account);
  }

  /** The commands for entries triggered, and for orders in queues that were reached, since the last call. */
  takeHits(): readonly Asked[] {
    const triggered = this.#hits.splice(0).map((hit): Asked => {
      const [command, { key = null }] = commandOf(hit);
      return { strategyId: hit.trigger.strategyId, command, key };
    });
    return [...triggered, ...this.#matches.splice(0)];
  }

  /**
   * A trade for every strategy with an order that it reaches; what is in front of orders is as it was at
   * first.
   */
  #match(symbol: string, marketPrice: Price): void {
    if (this.market.rules(symbol)?.status !== "TRADING") return;
    const waiting = [...this.#strict.values()].flatMap((account) => inQueues(account, symbol));
    this.#marketTrades += 1;
    const trade = {
      ...randomTrade(this.setup, marketPrice, waiting, this.#random),
      ...{ aggregateId: this.#marketTrades, time: this.market.now() },
    };
    const command = { type: "MatchTrade", symbol, trade, queues: new Map() } as const;
    for (const [strategyId, account] of this.#strict) {
      if (ordersReached(account, symbol, trade).length === 0) continue;
      this.#matches.push({ strategyId, command, key: matchKey(symbol, trade) });
    }
  }

  /** The levels of a new book within the limits of orders. */
  #cross(symbol: string): void {
    const book = this.market.book(symbol);
    if (book === null || this.market.rules(symbol)?.status !== "TRADING") return;
    for (const [strategyId, account] of this.#strict) {
      for (const { orderId, side, price } of inQueues(account, symbol)) {
        const displayed = [...book.displayed(takenSide(side))];
        const levels = displayed.filter((level) => isWithin(side, price, level.price));
        if (levels.length === 0) continue;
        const command = { type: "MatchCrossing", orderId, levels, book } as const;
        this.#matches.push({ strategyId, command, key: crossingKey(orderId, `DIFF:${book.lastUpdateId}`) });
      }
    }
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

type Asked = { readonly strategyId: string; readonly command: Command; readonly key: string | null };

function inQueues({ openOrders }: Account, symbol: string): Order[] {
  return [...openOrders.values()].filter((order) => order.symbol === symbol && isInQueue(order));
}
