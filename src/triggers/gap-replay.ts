// Replays gaps in the market data: finds the triggers that the market hit while a symbol was not covered.
// Trades decide for orders, mark prices for legs and liquidations. Candles inside the gap and trades at its
// edges are applied in order of time, together with settlements of funding, which move liquidation prices.
// Limits: the order of prices within a candle is unknown (adverse ones come first), and so is the mark price
// in the minutes at the edges. Source: design, section 4 (after an outage) and section 6.
import { Pauses } from "../concurrency/delays.ts";
import type { Timers } from "../concurrency/time.ts";
import type { DomainEvent } from "../domain/event.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import type { MarketHistory, PriceRange } from "../market/feed.ts";
import { byPriority, type Hit, nameOf, ON_TRADES, type Trigger } from "./trigger.ts";
import type { TriggerIndex } from "./trigger-index.ts";

type Gap = { readonly from: number; readonly to: number };

/** One step of a gap; `at` is the market time of its beginning, Unix ms. */
export type Step =
  | { readonly at: number; readonly type: "FUNDING"; readonly settlement: Settlement }
  | { readonly at: number; readonly type: "MARKED" | "TRADED"; readonly range: PriceRange };

/** Delay before a failed request is repeated, ms. */
const RETRY_MS = 5_000;

/**
 * A trade arrives at most this long after it was made, ms. One in flight when the stream was lost lies before
 * the gap by its own time, so each gap is requested from this much earlier. Applying a range twice does no
 * harm.
 */
const IN_FLIGHT_MS_MAX = 1_000;

/**
 * A settlement is published and applied within this time after it was due, ms. One that was due up to this
 * long before a gap may not be applied yet, and comes before those in it. Applying one twice does no harm.
 */
const UNSETTLED_MS_MAX = 10 * 60_000;

/**
 * A candle of the minute in which a trigger was created may show prices from before it: in the first part of
 * a gap, ms, trades are requested one by one up to the last such minute. Later triggers count from the minute
 * after.
 */
const SINGLY_MS_MAX = 10 * 60_000;

/** Live hits are deferred for a gap at most this long, ms, since the history may take long to arrive. */
const DEFERRED_MS_MAX = 10_000;

export class GapReplay {
  readonly #history: MarketHistory;
  readonly #after: Timers["after"];
  readonly #retryPauses: Pauses;
  /** Gaps of a symbol that are not replayed; the first is in progress. */
  readonly #gaps = new Map<string, Gap[]>();
  /** By symbol: the live hits deferred, by trigger name, and how to end that. */
  readonly #deferrals = new Map<string, { readonly hits: Map<string, Hit>; readonly end: () => void }>();

  constructor(deps: { history: MarketHistory; after: Timers["after"] }) {
    this.#history = deps.history;
    this.#after = deps.after;
    this.#retryPauses = new Pauses(deps.after);
  }

  /**
   * Adds a gap of a symbol; gaps of one symbol are replayed one after another. Returns whether it is the
   * first, so that a replay begins.
   */
  add(symbol: string, from: number, to: number): boolean {
    if (to <= from) return false;
    const gaps = this.#gaps.get(symbol);
    if (gaps === undefined) {
      this.#gaps.set(symbol, [{ from, to }]);
      return true;
    }
    // At most one gap is behind the one in progress, however often the connection breaks; applying a range
    // twice does no harm.
    const last = gaps.length > 1 ? gaps.pop() : undefined;
    gaps.push({ from: Math.min(from, last?.from ?? from), to: Math.max(to, last?.to ?? to) });
    return false;
  }

  /** The market time from which a symbol is not covered yet, or null if it has no gap. */
  pendingSince(symbol: string): number | null {
    const gaps = this.#gaps.get(symbol);
    return gaps === undefined ? null : Math.min(...gaps.map(({ from }) => from));
  }

  /** The gap of a symbol to replay next; null when none is left. */
  first(symbol: string): Gap | null {
    return this.#gaps.get(symbol)?.[0] ?? null;
  }

  /**
   * What happened in a gap, in order of time; without trades if none of the index's triggers needs them. Null
   * if the history is not available now.
   */
  async stepsIn(symbol: string, gap: Gap, index: TriggerIndex): Promise<readonly Step[] | null> {
    const [from, to] = [gap.from - IN_FLIGHT_MS_MAX, gap.to];
    const traded = () => {
      const created = index.lastCreatedBefore(symbol, gap.from + SINGLY_MS_MAX) ?? from;
      return this.#history.tradedBetween(symbol, from, to, created);
    };
    const [settlements, marked, trades] = await Promise.all([
      this.#history.settlementsBetween(symbol, gap.from - UNSETTLED_MS_MAX, to),
      this.#history.markedBetween(symbol, from, to),
      index.has(symbol, ON_TRADES) ? traded() : [],
    ]);
    if (settlements === null || marked === null || trades === null) return null;
    const steps: Step[] = [
      ...settlements.map((settlement) => ({
        type: "FUNDING" as const,
        at: dueAt(settlement.fundingTime),
        settlement,
      })),
      ...marked.map((range) => ({ type: "MARKED" as const, at: range.from, range })),
      ...trades.map((range) => ({ type: "TRADED" as const, at: range.from, range })),
    ];
    // Steps with the same time stay in this order.
    return steps.sort((one, other) => one.at - other.at);
  }

  /** The first gap of a symbol is replayed. */
  finish(symbol: string): void {
    const gaps = this.#gaps.get(symbol);
    gaps?.shift();
    if (gaps?.length === 0) this.#gaps.delete(symbol);
  }

  /** Resolves when a failed request may be repeated, or on `close`. */
  pauseBeforeRetry(): Promise<void> {
    return this.#retryPauses.pause(RETRY_MS);
  }

  /**
   * Defers the live hits of a symbol from now on, until `endDeferral` but at most 10 s. Resolves with them;
   * at once with none if that is in progress.
   */
  defer(symbol: string): Promise<readonly Hit[]> {
    if (this.#deferrals.has(symbol)) return Promise.resolve([]);
    return new Promise((resolve) => {
      const hits = new Map<string, Hit>();
      const end = () => {
        cancel();
        this.#deferrals.delete(symbol);
        resolve([...hits.values()].sort(byPriority));
      };
      const cancel = this.#after(DEFERRED_MS_MAX, end);
      this.#deferrals.set(symbol, { hits, end });
    });
  }

  /** Defers a live hit, if those of its symbol are deferred. Returns whether it did. */
  defers(hit: Hit): boolean {
    const deferral = this.#deferrals.get(hit.trigger.symbol);
    deferral?.hits.set(nameOf(hit.trigger), hit);
    return deferral !== undefined;
  }

  endDeferral(symbol: string): void {
    this.#deferrals.get(symbol)?.end();
  }

  close(): void {
    this.#retryPauses.end();
    for (const { end } of this.#deferrals.values()) end();
  }
}

/**
 * Removes the triggers hit by this price range. Triggers created after the range began are put back: the
 * range cannot apply to them. A command carries the time of the range's end, so the engine applies earlier
 * settlements first.
 */
export function takeHits(
  index: TriggerIndex,
  symbol: string,
  { type, range }: Exclude<Step, { readonly type: "FUNDING" }>,
): Hit[] {
  const { from, to, lowest, highest } = range;
  const taken =
    type === "MARKED" ? index.takeMarked(symbol, lowest, highest) : index.takeTraded(symbol, lowest, highest);
  for (const { trigger } of taken) if (trigger.since > from) index.add(trigger);
  return taken.filter(({ trigger }) => trigger.since <= from).map((hit) => ({ ...hit, seenAt: to }));
}

/** Sets the creation time of triggers created by these events to a time within the gap. */
export function backdateCreated(
  index: TriggerIndex,
  strategyId: string,
  { events, to }: { readonly events: readonly DomainEvent[]; readonly to: number },
): void {
  for (const event of events) {
    const id = createdBy(event);
    if (id !== null) index.backdate(strategyId, id, { from: event.at, to });
  }
}

/** The id of the trigger that an event may create or change; null if none. */
function createdBy(event: DomainEvent): Trigger["id"] | null {
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
