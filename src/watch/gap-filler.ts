// What was missed. While a symbol was not heard of, its market may have reached those who waited; what was traded meanwhile
// decides about orders, what the mark price was about legs and liquidations. Candles wholly inside the gap and single trades
// at its edges are gone through in the order of time, and only who had waited since before a stretch is held against it.
// What begins to wait by what a stretch brings about counts as waiting from the end of that stretch on.
//
// Settlements of funding in the gap are applied on the way: each before the stretches of its minute, since it moves the prices
// of liquidation, and is for what was held then: what a stretch brings about is carried out with the time of its end. What is
// exact is therefore the order. What is not: a candle does not tell in which order its prices came (what is adverse comes
// first), and nothing is known of the mark price in the minutes at the edges.
//
// Where the mark price decides, whatever the market reaches while a gap is gone through comes after the gap.
// Source: design, section 4 (after an outage) and section 6.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { Executed } from "../desk/desk.ts";
import type { DomainEvent } from "../domain/event.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { Settled } from "./funding-settler.ts";
import { byTurn, nameOf, type Reached, type Waiting } from "./waiting.ts";
import type { WatchList } from "./watch-list.ts";
import type { PastMarket, PriceSpan } from "./watched-market.ts";

type Gap = { readonly from: number; readonly to: number };

/** One thing that happened in a gap; `at` is the market time of its beginning, Unix ms. */
type Step =
  | { readonly at: number; readonly type: "FUNDING"; readonly settlement: Settlement }
  | { readonly at: number; readonly type: "MARKED" | "TRADED"; readonly span: PriceSpan };

/** How long after a failed question it is asked again, ms. */
const RETRY_MS = 5_000;

/**
 * A trade is heard at most this long after it was made, ms. One that was under way when the stream was lost lies before
 * the gap by its own time, and nobody has heard it: each gap is looked at from so much earlier. To look at a moment twice
 * does no harm.
 */
const UNDER_WAY_MS_MAX = 1_000;

/**
 * A settlement is published and applied within this time after it was due, ms: one that was due so long before a gap may not be
 * applied yet, and comes before those in it. To apply one twice does no harm.
 */
const UNSETTLED_MS_MAX = 10 * 60_000;

/** What the market reaches is put off for a gap at most this long, ms: the past may take long to be told. */
const PUT_OFF_MS_MAX = 10_000;

export class GapFiller {
  readonly #market: PastMarket;
  readonly #list: WatchList;
  readonly #carryOut: (reached: Reached) => Promise<Executed | Refusal | null>;
  readonly #settle: (settlement: Settlement) => Promise<Settled>;
  readonly #after: Timers["after"];
  readonly #log: Pick<Logger, "info" | "warn">;
  /** Gaps of a symbol that are not filled yet; the first is under way. */
  readonly #gaps = new Map<string, Gap[]>();
  readonly #retries = new Set<() => void>();
  /** By symbol whose gap is gone through: whom the market has reached meanwhile, by name, and how to end the waiting. */
  readonly #putOff = new Map<
    string,
    { readonly reached: Map<string, Reached>; readonly cancel: () => void }
  >();
  #isClosed = false;

  constructor(parts: {
    market: PastMarket;
    list: WatchList;
    /** Has the desk carry out what was reached; null if that could not be committed. */
    carryOut: (reached: Reached) => Promise<Executed | Refusal | null>;
    settle: (settlement: Settlement) => Promise<Settled>;
    after: Timers["after"];
    log: Pick<Logger, "info" | "warn">;
  }) {
    this.#market = parts.market;
    this.#list = parts.list;
    this.#carryOut = parts.carryOut;
    this.#settle = parts.settle;
    this.#after = parts.after;
    this.#log = parts.log;
  }

  /** Takes up a gap of a symbol; those of one symbol are filled one after another. */
  add(symbol: string, from: number, to: number): void {
    if (this.#isClosed || to <= from || !this.#list.has(symbol)) return;
    const waiting = this.#gaps.get(symbol);
    if (waiting !== undefined) addTo(waiting, { from, to });
    else {
      this.#gaps.set(symbol, [{ from, to }]);
      void this.#fillAll(symbol);
    }
  }

  /** The market time from which a symbol has not been looked at yet, or null if there is no gap. */
  pendingSince(symbol: string): number | null {
    const gaps = this.#gaps.get(symbol);
    return gaps === undefined ? null : Math.min(...gaps.map(({ from }) => from));
  }

  /** Whether one whom the market reaches now is put off until a gap has been gone through; it stays on the list meanwhile. */
  putsOff(reached: Reached): boolean {
    const { waiting } = reached;
    const putOff = this.#putOff.get(waiting.symbol);
    if (putOff === undefined) return false;
    this.#list.add(waiting);
    putOff.reached.set(nameOf(waiting), reached);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
    for (const { cancel } of this.#putOff.values()) cancel();
    this.#putOff.clear();
  }

  async #fillAll(symbol: string): Promise<void> {
    if (this.#list.awaitsMark(symbol)) this.#beginToPutOff(symbol);
    const gaps = this.#gaps.get(symbol) ?? [];
    for (let gap = gaps[0]; gap !== undefined && !this.#isClosed; gap = gaps[0]) {
      const steps = await this.#stepsIn(symbol, gap);
      if (this.#isClosed) return;
      if (steps === null) return this.#tryLater(symbol);
      // Whoever begins to wait by what happened in the gap is reached by the present mark price at once.
      if (steps.some(({ type }) => type === "MARKED") && !this.#putOff.has(symbol))
        this.#beginToPutOff(symbol);
      let reached = 0;
      for (const step of steps) reached += await this.#goThrough(symbol, step);
      this.#log.info({ symbol, ...gap, steps: steps.length, reached }, "a gap in the market data is filled");
      gaps.shift();
    }
    this.#gaps.delete(symbol);
    this.#endPuttingOff(symbol);
  }

  /** What happened in a gap in the order of time; null if that cannot be told now. */
  async #stepsIn(symbol: string, gap: Gap): Promise<readonly Step[] | null> {
    const [from, to] = [gap.from - UNDER_WAY_MS_MAX, gap.to];
    const [settlements, marked, traded] = await Promise.all([
      this.#market.settlementsBetween(symbol, gap.from - UNSETTLED_MS_MAX, to),
      this.#market.markedBetween(symbol, from, to),
      this.#list.awaitsTrades(symbol) ? this.#market.tradedBetween(symbol, from, to) : [],
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
    // Of what began at one moment each comes before what is written below it.
    return steps.sort((one, other) => one.at - other.at);
  }

  #tryLater(symbol: string): void {
    this.#log.warn({ symbol }, "what happened in a gap cannot be had now; it will be asked for again");
    this.#endPuttingOff(symbol);
    const cancel = this.#after(RETRY_MS, () => {
      this.#retries.delete(cancel);
      void this.#fillAll(symbol);
    });
    this.#retries.add(cancel);
  }

  /** Answers how many were reached. */
  async #goThrough(symbol: string, step: Step): Promise<number> {
    if (step.type === "FUNDING") {
      const { outcomes } = await this.#settle(step.settlement);
      for (const [strategyId, { events }] of outcomes) this.#backdate(strategyId, events, step.at);
      return 0;
    }
    const taken = this.#take(symbol, step);
    const outcomes = await Promise.all(taken.map((reached) => this.#carryOut(reached)));
    for (const [place, { waiting }] of taken.entries()) {
      const outcome = outcomes[place] ?? null;
      if (outcome === null || isRefusal(outcome)) continue;
      this.#backdate(waiting.strategyId, outcome.events, step.span.to);
    }
    return taken.length;
  }

  /** Takes out those whom a span reached. Who came later is back at once, since the market goes on meanwhile. */
  #take(symbol: string, { type, span }: Exclude<Step, { readonly type: "FUNDING" }>): Reached[] {
    const { from, lowest, highest } = span;
    const taken =
      type === "MARKED"
        ? this.#list.takeMarked(symbol, lowest, highest)
        : this.#list.takeTraded(symbol, lowest, highest);
    for (const { waiting } of taken) if (waiting.since > from) this.#list.add(waiting);
    return taken
      .filter(({ waiting }) => waiting.since <= from)
      .map((reached) => ({ ...reached, seenAt: span.to }));
  }

  /** What has begun to wait by just these events counts as waiting since a time in the gap. */
  #backdate(strategyId: string, events: readonly DomainEvent[], to: number): void {
    for (const event of events) {
      const id = idOfWaiting(event);
      if (id !== null) this.#list.backdate(strategyId, id, { from: event.at, to });
    }
  }

  #beginToPutOff(symbol: string): void {
    this.#endPuttingOff(symbol);
    const cancel = this.#after(PUT_OFF_MS_MAX, () => this.#endPuttingOff(symbol));
    this.#putOff.set(symbol, { reached: new Map(), cancel });
  }

  #endPuttingOff(symbol: string): void {
    const putOff = this.#putOff.get(symbol);
    if (putOff === undefined) return;
    this.#putOff.delete(symbol);
    putOff.cancel();
    for (const each of [...putOff.reached.values()].sort(byTurn)) {
      const { waiting } = each;
      if (!this.#list.includes(waiting)) continue;
      this.#list.remove(symbol, waiting.strategyId, waiting.id);
      void this.#carryOut(each);
    }
  }
}

/** Behind the gap that is under way waits at most one, however often the line breaks: looking twice does no harm. */
function addTo(gaps: Gap[], { from, to }: Gap): void {
  const last = gaps.length > 1 ? gaps.pop() : undefined;
  gaps.push({ from: Math.min(from, last?.from ?? from), to: Math.max(to, last?.to ?? to) });
}

/** Who may begin to wait by an event, or for something else than before: null if nobody. */
function idOfWaiting(event: DomainEvent): Waiting["id"] | null {
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
