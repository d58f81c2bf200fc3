// Shadows: the orders of strategies under `strict` on other terms, beside the orders themselves. A shadow
// begins when its order is sent, so that each of its accounts meets the book that is displayed when the order
// would have arrived there, and ends when the order has ended; its rows are stored then. Nothing waits for a
// shadow, and it changes no account. What is lost with the process, gives way or has missed messages has no
// rows. Source: strict fills, section 12; decision 71.
import type { Logger } from "pino";
import type { Timers } from "../../concurrency/time.ts";
import type { Announcement, Desk, DeskMarket, Executed, SentCommand } from "../../desk/desk.ts";
import type { Account, StrategyType } from "../../domain/account.ts";
import type { Command, PlaceOrder } from "../../domain/command.ts";
import { ALTERNATIVES, type Counterfactual, type CounterfactualRow } from "../../domain/counterfactual.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import { isOpen, isStopType, type Order, type OrderStatus } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type CountedFill, rowOf } from "../../engine/matching/counterfactual.ts";
import { latencyOf } from "../../engine/matching/terms.ts";
import type { LiveMarket } from "../../market/feed.ts";
import type { Store } from "../../store/store.ts";
import { OpenShadows } from "./open-shadows.ts";
import { type Holdings, ShadowAccount } from "./shadow-account.ts";

/**
 * Shadows of a strategy at a time. Beyond it the oldest whose order is decided gives way; where there is
 * none, the order that is sent gets none. Source: strict fills, section 12.
 */
const SHADOWS_PER_STRATEGY_MAX = 20;
/** Shadows of all strategies of a type at a time, some 8 KB each; beyond it the oldest gives way. */
const SHADOWS_MAX = 2_000;
/** Counterfactuals that wait to be stored; beyond it the oldest are given up. */
const UNSTORED_MAX = 1_000;
/** Delay before counterfactuals that could not be stored are stored again, ms. */
const RETRY_MS = 1_000;
/** How often open orders are looked up, ms: a server that is killed does not notify of its last commits. */
const LOOK_UP_INTERVAL_MS = 60_000;
/** Delay before they are looked up first, ms: others do not know at once that this server watches. */
const FIRST_LOOK_UP_MS = 1_000;
/** An order with more fills is not compared. */
const OWN_FILLS_MAX = 5_000;

type Deps = {
  readonly type: StrategyType;
  readonly desk: Pick<Desk, "onCommitted">;
  readonly store: Pick<
    Store,
    "findOrder" | "listTrades" | "storeCounterfactuals" | "onCommittedElsewhere" | "watchStrategy"
  >;
  readonly market: LiveMarket & Pick<DeskMarket, "prepare" | "prepareBook">;
  readonly timers: Pick<Timers, "after" | "every">;
  /** How many times as fast as the timers market time runs. */
  readonly marketSpeed?: number;
  readonly log: Pick<Logger, "error" | "warn">;
};

/** How an order has ended, and when it would have ended in each account, market time in Unix ms. */
type End = {
  readonly status: OrderStatus;
  readonly at: number;
  /** When the cancel was sent that ended it; null for any other end. */
  readonly cancelSentAt: number | null;
};

type Shadow = {
  readonly strategyId: string;
  readonly profile: FillProfile;
  readonly command: PlaceOrder;
  readonly holdings: Holdings;
  readonly shadowAccounts: readonly ShadowAccount[];
  /** Orders of the strategy on the symbol that were on their way when this one was sent. */
  earlier: readonly Shadow[];
  /** The order as it was placed; null until it is decided. */
  placed: Order | null;
  /** What it executed at its placement. */
  readonly fills: CountedFill[];
  end: End | null;
  /** `SKIPPED`: it has no accounts, and is kept until its order is decided, for the orders behind it. */
  state: "SENT" | "SKIPPED" | "PLACED" | "REFUSED" | "GONE" | "COMPLETE";
};

export class Shadows {
  readonly #deps: Deps;
  readonly #ofStrategy = new Map<string, Set<Shadow>>();
  /** Oldest first. */
  readonly #all = new Set<Shadow>();
  readonly #resting = new Map<string, OpenShadows>();
  /** Strategies with an open order, which another server may fill, and how to stop watching them. */
  readonly #watched = new Map<string, () => void>();
  /** Complete, and not stored yet, by strategy and order. */
  readonly #unstored = new Map<string, Counterfactual>();
  #lastName = 0;
  #isStoring: Promise<void> | null = null;
  #stopListening: (() => void) | null = null;
  #stopListeningElsewhere: () => Promise<void> = async () => {};
  #stopLookingUp: () => void = () => {};
  #isLookingUp = false;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Subscribes to commits of other servers. */
  async open(): Promise<void> {
    this.#stopListeningElsewhere = await this.#deps.store.onCommittedElsewhere({
      committed: (strategies) => {
        for (const { strategyId } of strategies) void this.#lookUp(strategyId);
      },
      lost() {},
      resumed: () => void this.#lookUpAll(),
    });
    this.#stopLookingUp = this.#deps.timers.every(LOOK_UP_INTERVAL_MS, () => void this.#lookUpAll());
  }

  /** Whether the shadow of an order runs here, or its rows are not stored yet. */
  isRunning(strategyId: string, orderId: number): boolean {
    if (this.#unstored.has(nameOf(strategyId, orderId))) return true;
    const own = this.#ofStrategy.get(strategyId) ?? [];
    return [...own].some(({ placed }) => placed?.orderId === orderId);
  }

  /**
   * Begins the shadow of an order that is sent, market time in Unix ms; null for what has none. Never throws.
   */
  readonly sent = (account: Account, command: Command, sentAt: number): SentCommand | null => {
    const placement = command.type === "ExecuteSignal" ? command.order : command;
    if (placement.type !== "PlaceOrder" || isStopType(placement.orderType) || this.#isClosed) return null;
    const shadow = this.#begin(account, placement, sentAt);
    return { decided: (outcome) => this.#guarded(() => this.#decided(shadow, outcome)) };
  };

  /** Ends all shadows, and resolves when what is complete is stored. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening?.();
    this.#stopLookingUp();
    await this.#stopListeningElsewhere();
    for (const shadow of [...this.#all]) this.#drop(shadow, "GONE");
    await this.#isStoring;
  }

  // The life of a shadow.

  #begin(account: Account, command: PlaceOrder, sentAt: number): Shadow {
    const { type } = this.#deps;
    const { strategyId, profile, positions, leverages, consumed } = account;
    const { symbol } = command;
    const own = this.#ofStrategy.get(strategyId) ?? new Set();
    const isSkipped = !this.#makeRoom(own);
    const shadowAccounts = isSkipped
      ? []
      : ALTERNATIVES.map((alternative) => {
          this.#lastName += 1;
          return new ShadowAccount(`shadow ${this.#lastName}`, type, profile, alternative, sentAt);
        });
    const isOnTheWay = ({ state }: Shadow) => state === "SENT" || state === "SKIPPED";
    const shadow: Shadow = {
      strategyId,
      profile,
      command,
      holdings: {
        position: positions.get(symbol) ?? null,
        leverages,
        lots: consumed.get(symbol) ?? [],
      },
      shadowAccounts,
      earlier: [...own].filter((other) => isOnTheWay(other) && other.command.symbol === symbol),
      placed: null,
      fills: [],
      end: null,
      state: isSkipped ? "SKIPPED" : "SENT",
    };
    this.#ofStrategy.set(strategyId, own.add(shadow));
    this.#all.add(shadow);
    const [oldest] = this.#all;
    if (this.#all.size > SHADOWS_MAX && oldest !== undefined) this.#drop(oldest, "GONE");
    for (const shadowAccount of shadowAccounts)
      this.#at(shadowAccount.arrivesAt, () => this.#arrive(shadow, shadowAccount));
    return shadow;
  }

  /** Whether a strategy may have one more shadow, once the oldest has given way. */
  #makeRoom(own: ReadonlySet<Shadow>): boolean {
    const running = [...own].filter(({ state }) => state !== "SKIPPED");
    if (running.length < SHADOWS_PER_STRATEGY_MAX) return true;
    const oldest = running.find(({ state }) => state !== "SENT");
    if (oldest !== undefined) this.#drop(oldest, "GONE");
    return oldest !== undefined;
  }

  /** An order that takes from a book which is not known waits for it, in a account as at the exchange. */
  #arrive(shadow: Shadow, shadowAccount: ShadowAccount): void {
    if (isOver(shadow)) return;
    const { market } = this.#deps;
    const { symbol } = shadow.command;
    const needed = [market.prepare(symbol)];
    if (shadowAccount.alternative.profile === "strict") needed.push(market.prepareBook(symbol));
    const prepared = needed.filter((each) => each !== undefined);
    if (prepared.length === 0) this.#place(shadow, shadowAccount);
    else void Promise.all(prepared).then(() => this.#guarded(() => this.#place(shadow, shadowAccount)));
  }

  #place(shadow: Shadow, shadowAccount: ShadowAccount): void {
    if (isOver(shadow)) return;
    const { command, holdings, shadowAccounts } = shadow;
    const earlier = shadow.earlier.filter(({ state }) => state !== "REFUSED");
    // Nobody knows what an order before it would have left.
    if (earlier.some(({ state }) => state === "GONE" || state === "SKIPPED")) {
      this.#drop(shadow, "GONE");
      return;
    }
    const index = shadowAccounts.indexOf(shadowAccount);
    const lots = [...holdings.lots, ...earlier.flatMap((other) => other.shadowAccounts[index]?.lots ?? [])];
    try {
      shadowAccount.place(command, { ...holdings, lots }, this.#deps.market);
    } catch (error) {
      this.#drop(shadow, "GONE");
      throw error;
    }
    if (shadowAccount.isOpen) this.#rest(shadow, shadowAccount);
    if (shadowAccounts.every(({ placedAt }) => placedAt !== null)) shadow.earlier = [];
    this.#completeWhenDue(shadow);
  }

  #rest({ command, profile }: Shadow, shadowAccount: ShadowAccount): void {
    const { symbol } = command;
    let resting = this.#resting.get(symbol);
    if (resting === undefined) {
      resting = new OpenShadows(symbol, this.#deps.market, (error) => this.#lost(symbol, error));
      this.#resting.set(symbol, resting);
    }
    resting.add(shadowAccount, profile.strict?.queue ?? "trades");
  }

  /** The order itself is decided. */
  #decided(shadow: Shadow, outcome: Executed | Refusal | null): void {
    if (isOver(shadow) && shadow.state !== "SKIPPED") return;
    const { clientOrderId } = shadow.command;
    const isPlaced = outcome !== null && !isRefusal(outcome) && !outcome.replayed;
    const placed = isPlaced && outcome.orders.find((order) => order.clientOrderId === clientOrderId);
    if (!placed) {
      this.#drop(shadow, "REFUSED");
      return;
    }
    if (shadow.state === "SKIPPED") {
      this.#drop(shadow, "GONE");
      return;
    }
    shadow.state = "PLACED";
    shadow.placed = placed;
    for (const event of outcome.events) {
      if (event.type === "OrderFilled" && event.trade.orderId === placed.orderId)
        shadow.fills.push(event.trade);
    }
    if (isOpen(placed)) this.#awaitEnd(shadow.strategyId);
    else this.#ended(shadow, { status: placed.status, at: placed.updatedAt, cancelSentAt: null });
  }

  /** Listens to commits, of this server and of others, while there is an open order. */
  #awaitEnd(strategyId: string): void {
    this.#stopListening ??= this.#deps.desk.onCommitted((announcement) =>
      this.#guarded(() => this.#committed(announcement)),
    );
    if (this.#watched.has(strategyId)) return;
    this.#watched.set(strategyId, this.#deps.store.watchStrategy(strategyId));
    this.#deps.timers.after(FIRST_LOOK_UP_MS, () => void this.#lookUp(strategyId));
  }

  #committed({ strategyId, orders, arrival }: Announcement): void {
    if (!this.#watched.has(strategyId)) return;
    for (const order of orders) {
      const cancelSentAt = arrival === null ? null : arrival.arrivesAt - arrival.latencyMs;
      this.#changed(strategyId, order, cancelSentAt);
    }
  }

  #changed(strategyId: string, order: Order, cancelSentAt: number | null): void {
    if (isOpen(order)) return;
    for (const shadow of this.#ofStrategy.get(strategyId) ?? []) {
      if (shadow.placed?.orderId !== order.orderId || shadow.end !== null) continue;
      const { status, updatedAt: at } = order;
      this.#ended(shadow, { status, at, cancelSentAt: status === "CANCELED" ? cancelSentAt : null });
    }
  }

  /** One after another. Never rejects. */
  async #lookUpAll(): Promise<void> {
    if (this.#isLookingUp) return;
    this.#isLookingUp = true;
    for (const strategyId of [...this.#watched.keys()]) await this.#lookUp(strategyId);
    this.#isLookingUp = false;
  }

  /** Another server may have committed to a strategy: its open orders may have ended. Never rejects. */
  async #lookUp(strategyId: string): Promise<void> {
    if (!this.#watched.has(strategyId)) return;
    const { store, log } = this.#deps;
    for (const { placed, end, profile } of [...(this.#ofStrategy.get(strategyId) ?? [])]) {
      if (placed === null || end !== null) continue;
      try {
        const { orderId, symbol, clientOrderId } = placed;
        const order = await store.findOrder(strategyId, { orderId, symbol });
        if (order === null || this.#isClosed) continue;
        // It was canceled by a command of the other server, with the latency that is drawn for it everywhere.
        const latency = profile.strict?.latency ?? 0;
        const latencyMs = latencyOf(latency, { strategyId, clientOrderId, action: "cancel" });
        this.#changed(strategyId, order, order.updatedAt - latencyMs);
      } catch (error) {
        log.error({ err: error, strategyId }, "an order with a shadow could not be looked up");
      }
    }
  }

  #ended(shadow: Shadow, end: End): void {
    shadow.end = end;
    this.#completeWhenDue(shadow);
  }

  /**
   * Ends the order in the accounts where that is due, and completes the shadow once it has ended in all of
   * them.
   */
  #completeWhenDue(shadow: Shadow): void {
    const { end, shadowAccounts, command } = shadow;
    if (isOver(shadow) || end === null || shadowAccounts.some(({ placedAt }) => placedAt === null)) return;
    const now = this.#deps.market.now();
    const later: number[] = [];
    for (const shadowAccount of shadowAccounts) {
      const cutOff = cutOffOf(shadowAccount, end);
      if (!shadowAccount.isOpen) continue;
      if (cutOff > now) later.push(cutOff);
      // Nothing that comes in the same millisecond may fill it any more.
      else this.#resting.get(command.symbol)?.remove(shadowAccount);
    }
    if (later.length === 0) void this.#complete(shadow, end);
    else this.#at(Math.min(...later), () => this.#completeWhenDue(shadow));
  }

  /** Computes the rows of a shadow, and has them stored. Never rejects. */
  async #complete(shadow: Shadow, end: End): Promise<void> {
    const { strategyId, placed, command, shadowAccounts } = shadow;
    this.#drop(shadow, "COMPLETE");
    if (placed === null) return;
    const { store, market, log } = this.#deps;
    const { symbol, side } = command;
    const { orderId } = placed;
    const name = nameOf(strategyId, orderId);
    const rules = market.rules(symbol);
    if (rules === null) return;
    const { baseAsset, contract } = rules;
    const quoteAsset = contract?.marginAsset ?? rules.quoteAsset;
    const compared = {
      side,
      quoteAsset,
      feeAsset: contract === null && side === "BUY" ? baseAsset : quoteAsset,
    };
    const completedAt = market.now();
    // Until it has rows the order still counts as running.
    this.#unstored.set(name, { strategyId, orderId, symbol, quoteAsset, completedAt, rows: [] });
    try {
      // Orders that were open may have been filled by any server.
      const own = isOpen(placed)
        ? await store.listTrades(strategyId, { symbol, orderId, limit: OWN_FILLS_MAX })
        : shadow.fills;
      if (own.length === OWN_FILLS_MAX) throw new Error(`too many fills of order ${orderId}`);
      const rows = shadowAccounts.map(
        (shadowAccount): CounterfactualRow => rowOf(...outcomeOf(shadowAccount, end), own, compared),
      );
      const latencyMs = placed.arrival?.latencyMs ?? 0;
      rows.push(rowOf({ profile: "own", latencyMs, status: end.status }, own, own, compared));
      this.#unstored.set(name, { strategyId, orderId, symbol, quoteAsset, completedAt, rows });
      this.#isStoring ??= this.#store();
    } catch (error) {
      this.#unstored.delete(name);
      log.error({ err: error, strategyId, orderId }, "an order could not be compared");
    }
  }

  /** Stores what is complete, until nothing is left or the service ends. Never rejects. */
  async #store(): Promise<void> {
    const { store, timers, log } = this.#deps;
    const isReady = ({ rows }: Counterfactual) => rows.length > 0;
    for (let ready = [...this.#unstored.values()].filter(isReady); ready.length > 0; ) {
      for (const each of ready.slice(0, -UNSTORED_MAX)) this.#forget(each);
      ready = ready.slice(-UNSTORED_MAX);
      try {
        await store.storeCounterfactuals(ready);
        for (const each of ready) this.#forget(each);
      } catch (error) {
        log.error({ err: error }, "counterfactuals could not be stored; it is tried again");
        if (this.#isClosed) break;
        await new Promise<void>((resolve) => timers.after(RETRY_MS, resolve));
      }
      ready = [...this.#unstored.values()].filter(isReady);
    }
    this.#isStoring = null;
  }

  #forget({ strategyId, orderId }: Counterfactual): void {
    this.#unstored.delete(nameOf(strategyId, orderId));
  }

  /**
   * Nothing is known of the open orders on a symbol any more: messages were missed, or one could not be
   * applied.
   */
  #lost(symbol: string, error: unknown): void {
    if (error !== null) this.#deps.log.error({ err: error, symbol }, "open orders of shadows have failed");
    for (const shadow of [...this.#all]) {
      if (
        shadow.command.symbol === symbol &&
        shadow.shadowAccounts.some((shadowAccount) => shadowAccount.isOpen)
      )
        this.#drop(shadow, "GONE");
    }
  }

  #drop(shadow: Shadow, state: Shadow["state"]): void {
    const { strategyId, command, shadowAccounts } = shadow;
    shadow.state = state;
    shadow.earlier = [];
    this.#all.delete(shadow);
    const own = this.#ofStrategy.get(strategyId);
    own?.delete(shadow);
    if (own?.size === 0) this.#ofStrategy.delete(strategyId);
    const resting = this.#resting.get(command.symbol);
    for (const shadowAccount of shadowAccounts) resting?.remove(shadowAccount);
    if (resting?.isEmpty) {
      resting.release();
      this.#resting.delete(command.symbol);
    }
    const isWatching = [...(own ?? [])].some(({ placed, end }) => placed !== null && end === null);
    if (isWatching) return;
    this.#watched.get(strategyId)?.();
    this.#watched.delete(strategyId);
    if (this.#watched.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
  }

  /**
   * Calls back at a market time, Unix ms, also if a timer is early; at once after the present work if it has
   * come.
   */
  #at(time: number, callback: () => void): void {
    const { market, timers, marketSpeed = 1 } = this.#deps;
    const due = () => {
      if (this.#isClosed) return;
      if (market.now() < time) this.#at(time, callback);
      else this.#guarded(callback);
    };
    const left = time - market.now();
    if (left <= 0) queueMicrotask(due);
    else timers.after(Math.ceil(left / marketSpeed), due);
  }

  /** A shadow must not disturb what it is beside. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#deps.log.error({ err: error }, "a shadow has failed");
    }
  }
}

function isOver({ state }: Shadow): boolean {
  return state !== "SENT" && state !== "PLACED";
}

/**
 * When the order would have ended in a account: a cancel would have arrived with its latency, any other end
 * is at the exchange. Not before it was placed there.
 */
function cutOffOf({ alternative, placedAt }: ShadowAccount, { at, cancelSentAt }: End): number {
  const endsAt = cancelSentAt === null ? at : cancelSentAt + alternative.latencyMs;
  return Math.max(endsAt, placedAt ?? endsAt);
}

/** What an order did in a account until its end there. */
function outcomeOf(
  shadowAccount: ShadowAccount,
  end: End,
): [Pick<CounterfactualRow, "profile" | "latencyMs" | "status">, readonly CountedFill[]] {
  const { alternative, fills } = shadowAccount;
  const cutOff = cutOffOf(shadowAccount, end);
  const counted = fills.filter(({ at }) => at <= cutOff);
  const wasOpen = shadowAccount.isOpen || counted.length < fills.length;
  const open = counted.length === 0 ? "NEW" : "PARTIALLY_FILLED";
  const status = wasOpen ? (end.status === "CANCELED" ? "CANCELED" : open) : shadowAccount.status;
  return [{ ...alternative, status }, counted];
}

function nameOf(strategyId: string, orderId: number): string {
  return `${strategyId} ${orderId}`;
}
