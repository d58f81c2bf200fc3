// From tick to fill. The watcher keeps the watch list in step with what was committed, has the market stream the symbols
// that somebody waits on, and turns every crossing into a command through the desk.
//
// A crossing is never lost: the quote that made it travels with the command, and an order that starts to rest is held
// against the extremes of every quote since it was decided.
import type { Logger } from "pino";
import type { Announcement, Desk } from "../desk/desk.ts";
import type { Quote } from "../domain/market.ts";
import { isOpen, type Order } from "../domain/order.ts";
import { isRefusal } from "../domain/refusal.ts";
import { isMetBy } from "../engine/spot/crossing.ts";
import type { Price } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import { type Crossed, type Waiting, WatchList } from "./watch-list.ts";

/** The market as the watcher needs it. */
export type WatchedMarket = {
  /** Streams a symbol's quotes to the listener until the returned function is called. */
  watchQuotes(symbol: string, listener: (quote: Quote) => void): () => void;
  /** The highest bid and the lowest ask seen after a mark, or null if no quote was. */
  extremesSince(
    symbol: string,
    mark: number,
  ): { readonly highestBid: Price | null; readonly lowestAsk: Price | null } | null;
};

export class Watcher {
  readonly #list = new WatchList();
  readonly #desk: Desk;
  readonly #store: Pick<Store, "findOrder" | "listAllOpenOrders">;
  readonly #market: WatchedMarket;
  readonly #log: Logger;
  readonly #releases = new Map<string, () => void>();
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(parts: {
    desk: Desk;
    store: Pick<Store, "findOrder" | "listAllOpenOrders">;
    market: WatchedMarket;
    log: Logger;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#market = parts.market;
    this.#log = parts.log;
    this.#stopListening = this.#desk.onCommitted((announcement) => this.#heed(announcement));
  }

  /** Takes up every order that rests in the store. Answers how many there are. */
  async rebuild(): Promise<number> {
    const open = await this.#store.listAllOpenOrders();
    for (const { strategyId, order } of open) this.#watch(strategyId, order);
    return open.length;
  }

  /** Takes up nothing more; what rests is found in the store at the next start. */
  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }

  #heed({ strategyId, orders, mark }: Announcement): void {
    for (const order of orders) {
      if (isOpen(order)) {
        this.#watch(strategyId, order);
        this.#catchUp(strategyId, order, mark);
      } else {
        this.#list.remove(order.symbol, strategyId, order.orderId);
        this.#releaseIfIdle(order.symbol);
      }
    }
  }

  #watch(strategyId: string, { orderId, symbol, side, price }: Order): void {
    if (this.#isClosed) return;
    this.#list.add({ strategyId, orderId, symbol, side, price });
    if (this.#releases.has(symbol)) return;
    this.#releases.set(
      symbol,
      this.#market.watchQuotes(symbol, (quote) => this.#tick(symbol, quote)),
    );
  }

  /** Holds an order that has just begun to rest, and no other, against what came between its decision and now. */
  #catchUp(strategyId: string, order: Order, mark: number): void {
    const missed = this.#market.extremesSince(order.symbol, mark);
    const seen = order.side === "BUY" ? missed?.lowestAsk : missed?.highestBid;
    if (seen == null || !isMetBy(order, seen)) return;
    const { orderId, symbol, side, price } = order;
    this.#list.remove(symbol, strategyId, orderId);
    void this.#fill({ waiting: { strategyId, orderId, symbol, side, price }, seen });
  }

  #tick(symbol: string, quote: Quote): void {
    const crossed = this.#list.take(symbol, quote);
    for (const each of crossed) void this.#fill(each);
  }

  async #fill({ waiting, seen }: Crossed): Promise<void> {
    const { strategyId, orderId, symbol } = waiting;
    try {
      const outcome = await this.#desk.execute(
        strategyId,
        { type: "FillRestingOrder", orderId, seen },
        { key: `fill:${orderId}` },
      );
      // Refused, but still open: the symbol is halted. It goes on waiting for the next tick.
      if (isRefusal(outcome)) await this.#resume(waiting);
    } catch (error) {
      // The order rests in the store and is found at the next start; a failed store has the process stopped.
      this.#log.error({ err: error, strategyId, orderId }, "a fill could not be committed");
    }
    this.#releaseIfIdle(symbol);
  }

  async #resume({ strategyId, orderId }: Waiting): Promise<void> {
    const order = await this.#store.findOrder(strategyId, { orderId });
    if (order !== null && isOpen(order)) this.#watch(strategyId, order);
  }

  #releaseIfIdle(symbol: string): void {
    if (this.#list.has(symbol)) return;
    this.#releases.get(symbol)?.();
    this.#releases.delete(symbol);
  }
}
