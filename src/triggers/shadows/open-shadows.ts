// The open orders of shadows on one symbol: those under `strict` in queues of their own, as if each was
// alone, those under `standard` until a quote reaches their limit. Messages are applied as `queues.ts`
// applies them; what is missed is not looked up, so the orders are lost then. Source: strict fills, section
// 7.
import type { QueueModel } from "../../domain/fill-profile.ts";
import type { Quote } from "../../domain/market.ts";
import { stampOf } from "../../engine/matching/evidence.ts";
import { bestOpposite, isTriggeredBy, limitTrigger } from "../../engine/trigger.ts";
import type { BookEvent, LiveMarket } from "../../market/feed.ts";
import { type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { type Crossing, SymbolQueues, unfilled, type Waiting, waitingOf } from "../symbol-queues.ts";
import type { ShadowAccount } from "./shadow-account.ts";

type Resting = { readonly shadowAccount: ShadowAccount; readonly waiting: Waiting };

/** Every order is followed, whatever its strategy. */
const ALL = () => true;

export class OpenShadows {
  readonly #symbol: string;
  readonly #market: LiveMarket;
  readonly #onLost: (error: unknown) => void;
  readonly #queues = new SymbolQueues();
  /** By the name of the account. */
  readonly #strict = new Map<string, Resting>();
  readonly #standard = new Set<ShadowAccount>();
  readonly #releases: readonly (() => void)[];
  #lastTradeId: number | null = null;
  /** Whether an order was added while the book was not known. */
  #wasUnknown = false;
  /** Whether the book has changed while it was not known. */
  #isBehind = false;

  /**
   * `onLost` is called when nothing is known of the orders any more: with null where messages were missed,
   * else with the error that a message caused.
   */
  constructor(symbol: string, market: LiveMarket, onLost: (error: unknown) => void) {
    this.#symbol = symbol;
    this.#market = market;
    this.#onLost = onLost;
    this.#releases = [
      market.followBook(symbol, (event) => this.#guarded(() => this.#received(event))),
      market.watch(symbol, {
        quote: (quote) => this.#guarded(() => this.#quoted(quote)),
        trade() {},
        markPrice() {},
        // Trades are received since the book is known.
        gap: (_from, _to, isOfNewStream) => {
          if (!isOfNewStream || this.#wasUnknown) onLost(null);
        },
      }),
    ];
  }

  get isEmpty(): boolean {
    return this.#strict.size === 0 && this.#standard.size === 0;
  }

  /** Adds an open order, which was decided just now; `model` is that of its strategy. */
  add(shadowAccount: ShadowAccount, model: QueueModel): void {
    const { order } = shadowAccount;
    if (order === null) return;
    if (shadowAccount.alternative.profile === "standard") {
      this.#standard.add(shadowAccount);
      return;
    }
    const waiting = waitingOf(shadowAccount.name, order, model);
    const book = this.#market.book(this.#symbol);
    if (book === null) this.#wasUnknown = true;
    this.#queues.join(waiting, book);
    this.#strict.set(shadowAccount.name, { shadowAccount, waiting });
  }

  remove(shadowAccount: ShadowAccount): void {
    this.#standard.delete(shadowAccount);
    const resting = this.#strict.get(shadowAccount.name);
    if (resting === undefined) return;
    this.#strict.delete(shadowAccount.name);
    this.#queues.remove(resting.waiting);
  }

  release(): void {
    for (const release of this.#releases) release();
  }

  /** What is beside a shadow receives the same messages. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onLost(error);
    }
  }

  #quoted(quote: Quote): void {
    for (const shadowAccount of this.#standard) {
      const { order } = shadowAccount;
      const seen = order && bestOpposite(order.side, quote);
      if (order === null || seen === null || !isTriggeredBy(limitTrigger(order), seen)) continue;
      shadowAccount.execute({ type: "FillRestingOrder", orderId: order.orderId, seen }, this.#market);
      if (!shadowAccount.isOpen) this.#standard.delete(shadowAccount);
    }
  }

  #received(event: BookEvent): void {
    const rules = this.#market.rules(this.#symbol);
    const isHalted = rules?.status !== "TRADING";
    const step: Quantity = rules?.lotSize?.stepSize ?? ZERO;
    if (event.type === "TRADE") this.#traded(event.trade, isHalted, step);
    if (this.#strict.size === 0) return;
    const book = this.#market.book(this.#symbol);
    if (event.type === "KNOWN" || book === null || isHalted) this.#isBehind = true;
    if (event.type === "DIFF" && !isHalted) this.#queues.change(event, ALL);
    if (book === null || isHalted) return;
    if (this.#isBehind) {
      this.#isBehind = false;
      const time = { time: book.eventTime, updateId: book.lastUpdateId };
      this.#queues.known(time, (side, price) => this.#market.boundAt(this.#symbol, side, price), ALL);
      const stamp = stampOf(book);
      for (const each of this.#queues.crossedAnew((side) => book.displayed(side))) this.#cross(each, stamp);
    } else if (event.type === "DIFF" || event.type === "TICKER") {
      for (const each of this.#queues.crossedBy(event)) this.#cross(each, event.book);
    }
  }

  #traded(trade: Extract<BookEvent, { type: "TRADE" }>["trade"], isHalted: boolean, step: Quantity): void {
    const last = this.#lastTradeId;
    this.#lastTradeId = trade.aggregateId;
    if (last !== null && trade.aggregateId > last + 1) {
      this.#onLost(null);
      return;
    }
    // A halted market does not trade.
    if (isHalted) return;
    for (const { strategyId, queues, fills } of this.#queues.trade(trade, step, ALL)) {
      const resting = this.#strict.get(strategyId);
      if (resting === undefined || fills.length === 0) continue;
      resting.shadowAccount.execute(
        { type: "MatchTrade", symbol: this.#symbol, trade, queues },
        this.#market,
      );
      for (const { order, quantity } of fills) order.expected = subtract(order.expected, quantity);
      this.#executed(resting);
    }
  }

  #cross({ order, levels }: Crossing, book: ReturnType<typeof stampOf>): void {
    const resting = this.#strict.get(order.strategyId);
    if (resting === undefined || unfilled(order) === 0n) return;
    const { orderId } = order;
    resting.shadowAccount.execute({ type: "MatchCrossing", orderId, levels, book }, this.#market);
    this.#executed(resting);
  }

  #executed({ shadowAccount, waiting }: Resting): void {
    const { order } = shadowAccount;
    if (order === null || !shadowAccount.isOpen) this.remove(shadowAccount);
    else waiting.remaining = subtract(order.quantity, order.executedQuantity);
  }
}
