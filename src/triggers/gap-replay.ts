// Fills gaps in the market data: finds the triggers that the market hit while a symbol was not covered.
// Trades decide for orders, mark prices for legs and liquidations. Candles inside the gap and trades at its
// edges are applied in order of time, together with settlements of funding, which move liquidation prices.
// Limits: the order of prices within a candle is unknown (adverse ones come first), and so is the mark price
// in the minutes at the edges. Source: design, section 4 (after an outage) and section 6.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { Executed } from "../desk/desk.ts";
import type { DomainEvent } from "../domain/event.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { MarketHistory, PriceRange } from "../market/feed.ts";
import type { Settled } from "./settle-funding.ts";
import { byPriority, type Hit, nameOf, ON_MARK_PRICES, ON_TRADES, type Trigger } from "./trigger.ts";
import type { TriggerIndex } from "./trigger-index.ts";

type Gap = { readonly from: number; readonly to: number };

/** One step of a gap; `at` is the market time of its beginning, Unix ms. */
type Step =
  | { readonly at: number; readonly type: "FUNDING"; readonly settlement: Settlement }
  | { readonly at: number; readonly type: "MARKED" | "TRADED"; readonly span: PriceRange };

/** Delay before a failed request is repeated, ms. */
const RETRY_MS = 5_000;

/**
 * A trade arrives at most this long after it was made, ms. One in flight when the stream was lost lies before
 * the gap by its own time, so each gap is requested from this much earlier. Applying a span twice does no
 * harm.
 */
const UNDER_WAY_MS_MAX = 1_000;

/**
 * A settlement is published and applied within this time after it was due, ms. One that was due up to this
 * long before a gap may not be applied yet, and comes before those in it. Applying one twice does no harm.
 */
const UNSETTLED_MS_MAX = 10 * 60_000;

/** Live triggers are deferred for a gap at most this long, ms, since the history may take long to arrive. */
const DEFERRED_MS_MAX = 10_000;

export class GapReplay {
  readonly #market: MarketHistory;
  readonly #list: TriggerIndex;
  readonly #dispatch: (reached: Hit) => Promise<Executed | Refusal | null>;
  readonly #settle: (settlement: Settlement) => Promise<Settled>;
  readonly #after: Timers["after"];
  readonly #log: Pick<Logger, "info" | "warn">;
  /** Unfilled gaps of a symbol; the first is in progress. */
  readonly #gaps = new Map<string, Gap[]>();
  readonly #retries = new Set<() => void>();
  /**
   * By symbol with a gap in progress: the live triggers deferred since, by name, and how to cancel the timer.
   */
  readonly #deferred = new Map<string, { readonly reached: Map<string, Hit>; readonly cancel: () => void }>();
  #isClosed = false;

  constructor(parts: {
    market: MarketHistory;
    list: TriggerIndex;
    /** Executes a trigger; null if that could not be committed. */
    dispatch: (reached: Hit) => Promise<Executed | Refusal | null>;
    settle: (settlement: Settlement) => Promise<Settled>;
    after: Timers["after"];
    log: Pick<Logger, "info" | "warn">;
  }) {
    this.#market = parts.market;
    this.#list = parts.list;
    this.#dispatch = parts.dispatch;
    this.#settle = parts.settle;
    this.#after = parts.after;
    this.#log = parts.log;
  }

  /** Adds a gap of a symbol; gaps of one symbol are filled one after another. */
  add(symbol: string, from: number, to: number): void {
    if (this.#isClosed || to <= from || !this.#list.has(symbol)) return;
    const pending = this.#gaps.get(symbol);
    if (pending !== undefined) addTo(pending, { from, to });
    else {
      this.#gaps.set(symbol, [{ from, to }]);
      void this.#fillAll(symbol);
    }
  }

  /** The market time from which a symbol is not covered yet, or null if it has no gap. */
  pendingSince(symbol: string): number | null {
    const gaps = this.#gaps.get(symbol);
    return gaps === undefined ? null : Math.min(...gaps.map(({ from }) => from));
  }

  /**
   * Defers a live trigger until the gap is filled, if its symbol has one; the trigger stays in the index.
   * Returns whether it did.
   */
  defers(reached: Hit): boolean {
    const { trigger } = reached;
    const deferred = this.#deferred.get(trigger.symbol);
    if (deferred === undefined) return false;
    this.#list.add(trigger);
    deferred.reached.set(nameOf(trigger), reached);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
    for (const { cancel } of this.#deferred.values()) cancel();
    this.#deferred.clear();
  }

  async #fillAll(symbol: string): Promise<void> {
    if (this.#list.has(symbol, ON_MARK_PRICES)) this.#beginDeferral(symbol);
    const gaps = this.#gaps.get(symbol) ?? [];
    for (let gap = gaps[0]; gap !== undefined && !this.#isClosed; gap = gaps[0]) {
      const steps = await this.#stepsIn(symbol, gap);
      if (this.#isClosed) return;
      if (steps === null) return this.#retryLater(symbol);
      // The present mark price would hit triggers created within the gap at once.
      if (steps.some(({ type }) => type === "MARKED") && !this.#deferred.has(symbol))
        this.#beginDeferral(symbol);
      let reached = 0;
      for (const step of steps) reached += await this.#apply(symbol, step);
      this.#log.info({ symbol, ...gap, steps: steps.length, reached }, "a gap in the market data is filled");
      gaps.shift();
    }
    this.#gaps.delete(symbol);
    this.#endDeferral(symbol);
  }

  /** The steps of a gap in order of time; null if the history is not available now. */
  async #stepsIn(symbol: string, gap: Gap): Promise<readonly Step[] | null> {
    const [from, to] = [gap.from - UNDER_WAY_MS_MAX, gap.to];
    const [settlements, marked, traded] = await Promise.all([
      this.#market.settlementsBetween(symbol, gap.from - UNSETTLED_MS_MAX, to),
      this.#market.markedBetween(symbol, from, to),
      this.#list.has(symbol, ON_TRADES) ? this.#market.tradedBetween(symbol, from, to) : [],
    ]);
    if (settlements === null || marked === null || traded === null) return null;
    const steps: Step[] = [
      ...settlements.map((settlement) => ({
        type: "FUNDING" as const,
        at: dueAt(settlement.fundingTime),
        settlement,
      })),
      ...marked.map((span) => ({ type: "MARKED" as const, at: span.from, span })),
      ...traded.map((span) => ({ type: "TRADED" as const, at: span.from, span })),
    ];
    // Steps with the same time stay in this order.
    return steps.sort((one, other) => one.at - other.at);
  }

  #retryLater(symbol: string): void {
    this.#log.warn({ symbol }, "what happened in a gap cannot be had now; it will be asked for again");
    this.#endDeferral(symbol);
    const cancel = this.#after(RETRY_MS, () => {
      this.#retries.delete(cancel);
      void this.#fillAll(symbol);
    });
    this.#retries.add(cancel);
  }

  /**
   * Returns the number of triggers that were hit. Commands carry the time of the span's end, so the engine
   * applies earlier settlements first; triggers that they create count as created at that time.
   */
  async #apply(symbol: string, step: Step): Promise<number> {
    if (step.type === "FUNDING") {
      const { outcomes } = await this.#settle(step.settlement);
      for (const [strategyId, { events }] of outcomes) this.#backdate(strategyId, events, step.at);
      return 0;
    }
    const taken = this.#take(symbol, step);
    const outcomes = await Promise.all(taken.map((reached) => this.#dispatch(reached)));
    for (const [place, { trigger }] of taken.entries()) {
      const outcome = outcomes[place] ?? null;
      if (outcome === null || isRefusal(outcome)) continue;
      this.#backdate(trigger.strategyId, outcome.events, step.span.to);
    }
    return taken.length;
  }

  /**
   * Removes the triggers hit by this price range. Triggers created after the range began are put back: the
   * range cannot apply to them.
   */
  #take(symbol: string, { type, span }: Exclude<Step, { readonly type: "FUNDING" }>): Hit[] {
    const { from, lowest, highest } = span;
    const taken =
      type === "MARKED"
        ? this.#list.takeMarked(symbol, lowest, highest)
        : this.#list.takeTraded(symbol, lowest, highest);
    for (const { trigger } of taken) if (trigger.since > from) this.#list.add(trigger);
    return taken
      .filter(({ trigger }) => trigger.since <= from)
      .map((reached) => ({ ...reached, seenAt: span.to }));
  }

  /** Sets the creation time of triggers created by these events to a time within the gap. */
  #backdate(strategyId: string, events: readonly DomainEvent[], to: number): void {
    for (const event of events) {
      const id = idOfWaiting(event);
      if (id !== null) this.#list.backdate(strategyId, id, { from: event.at, to });
    }
  }

  #beginDeferral(symbol: string): void {
    this.#endDeferral(symbol);
    const cancel = this.#after(DEFERRED_MS_MAX, () => this.#endDeferral(symbol));
    this.#deferred.set(symbol, { reached: new Map(), cancel });
  }

  #endDeferral(symbol: string): void {
    const deferred = this.#deferred.get(symbol);
    if (deferred === undefined) return;
    this.#deferred.delete(symbol);
    deferred.cancel();
    for (const each of [...deferred.reached.values()].sort(byPriority)) {
      const { trigger } = each;
      if (!this.#list.includes(trigger)) continue;
      this.#list.remove(trigger);
      void this.#dispatch(each);
    }
  }
}

/**
 * At most one gap waits behind the one in progress, however often the connection breaks; applying a span
 * twice does no harm.
 */
function addTo(gaps: Gap[], { from, to }: Gap): void {
  const last = gaps.length > 1 ? gaps.pop() : undefined;
  gaps.push({ from: Math.min(from, last?.from ?? from), to: Math.max(to, last?.to ?? to) });
}

/** The id of the trigger that an event may create or change; null if none. */
function idOfWaiting(event: DomainEvent): Trigger["id"] | null {
  switch (event.type) {
    case "OrderTriggered":
      return event.orderId;
    case "LegPlaced":
      return event.leg.legId;
    case "LegArmed":
      return event.legId;
    case "OrderFilled":
      return event.trade.symbol;
    case "FundingSettled":
      return event.symbol;
    default:
      return null;
  }
}
