// A seeded random walk through the whole of trading, in memory: thousands of commands and a market that moves, gaps, falls
// silent and halts. It leads through several lives of a strategy, each from its seed to its close. After every step what
// must always hold is checked (design, section 7); now and then, and at the end of each life, the journal is replayed and
// must give the same account.
import type { Account } from "../../src/domain/account.ts";
import type { Command } from "../../src/domain/command.ts";
import type { DomainEvent } from "../../src/domain/event.ts";
import { isOpen, type Order } from "../../src/domain/order.ts";
import { isRefusal, type Refusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide, symbolsConcerned } from "../../src/engine/decide.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { STANDARD_SPOT } from "../../src/engine/profiles.ts";
import { type Reached, WatchList, waitingOf } from "../../src/watch/watch-list.ts";
import { seededRandom } from "../support/random.ts";
import { checkAccount, checkChange, stateOf } from "./invariants.ts";
import { RandomMarket, SYMBOLS } from "./random-market.ts";
import { randomOrder } from "./random-orders.ts";

export type Counts = Record<string, number>;

export type WalkReport = {
  readonly commands: number;
  /** By type; an expiry by its reason beside it: `OrderExpired LOT_SIZE`. */
  readonly events: Readonly<Counts>;
  /** By name; a failed filter with its own: `FILTER_FAILED LOT_SIZE`. */
  readonly refusals: Readonly<Counts>;
};

const STRATEGY = "walk";
/** Commands of one life: fees use up the seed of a longer one. */
const LIFE = 500;
const REPLAY_EVERY = 200;
/** Moves of the market after which a strategy that is still closing is helped: everything trades again. */
const CLOSING_MOVES = 20;
const AFTER_CLOSE = 20;

/**
 * Walks `commands` steps from a seed. Throws at the first step after which something does not hold, naming both. The
 * listener hears after every life how many steps are done.
 */
export function walk(
  seed: number,
  commands: number,
  onProgress: (done: number) => void = () => {},
): WalkReport {
  const random = seededRandom(seed);
  const report = { commands, events: {} as Counts, refusals: {} as Counts };
  let step = 0;
  try {
    while (step < commands) {
      const life = new Life(random, report, () => step);
      const end = Math.min(step + LIFE, commands);
      for (; step < end; step += 1) life.takeStep();
      life.end();
      onProgress(step);
    }
  } catch (error) {
    throw new Error(`seed ${seed}, step ${step}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  return report;
}

class Life {
  readonly #random: () => number;
  readonly #report: { readonly events: Counts; readonly refusals: Counts };
  readonly #now: () => number;
  readonly #account: Account;
  readonly #journal: DomainEvent[];
  readonly #market: RandomMarket;
  readonly #watchList = new WatchList();
  readonly #orders = new Map<number, Order>();
  /** Stops that were reached while their symbol was silent, by order id. */
  readonly #overdue = new Map<number, Reached>();

  constructor(random: () => number, report: Omit<WalkReport, "commands">, now: () => number) {
    this.#random = random;
    this.#report = report;
    this.#now = now;
    const { account, event } = openStrategy(STRATEGY, "SPOT", 0);
    this.#account = account;
    this.#journal = [event];
    count(report.events, event.type);
    this.#market = new RandomMarket(random, {
      quote: (symbol, quote) => {
        if (this.#market.rules(symbol)?.status !== "TRADING") return;
        const overdue = [...this.#overdue.values()].filter(({ waiting }) => waiting.symbol === symbol);
        for (const each of overdue) this.#reach(each);
        for (const each of this.#watchList.takeAtQuote(symbol, quote)) this.#reach(each);
      },
      trade: (symbol, price) => {
        for (const each of this.#watchList.takeAtTrade(symbol, price)) this.#reach(each);
      },
    });
  }

  takeStep(): void {
    const symbol = this.#pick(SYMBOLS);
    const choice = this.#random();
    if (choice < 0.45) this.#market.move(symbol);
    else if (choice < 0.86) this.#place(symbol);
    else if (choice < 0.96) this.#cancel();
    else if (choice < 0.98) this.#mistake();
    else this.#carryOut({ type: "CancelOpenOrders", symbol });
    this.#check();
    if (this.#journal.length % REPLAY_EVERY === 0) this.#checkReplay();
  }

  /** Closes the strategy, at times with a market that is silent, and sees that nothing happens to it afterwards. */
  end(): void {
    const [held] = symbolsConcerned(this.#account, { type: "CloseStrategy" });
    if (held !== undefined && this.#random() < 0.7) {
      this.#market.recover();
      this.#market.setQuote(held, null);
    }
    this.#carryOut({ type: "CloseStrategy" });
    if (this.#account.status === "LIVE")
      throw new Error("a strategy that is told to close is no longer live");
    this.#check();
    for (let moves = 0; this.#account.status === "CLOSING"; moves += 1) {
      if (moves > CLOSING_MOVES) throw new Error("a strategy is closed as soon as its markets are there");
      this.#place(this.#pick(SYMBOLS));
      this.#cancel();
      if (moves === CLOSING_MOVES) this.#market.recover();
      else this.#market.move(this.#pick(SYMBOLS));
      this.#carryOut({ type: "CloseStrategy" });
      this.#check();
    }
    for (let tries = 0; tries < AFTER_CLOSE; tries += 1) {
      this.#market.move(this.#pick(SYMBOLS));
      this.#place(this.#pick(SYMBOLS));
      this.#cancel();
      this.#mistake();
      this.#carryOut({ type: "CloseStrategy" });
    }
    this.#check();
    this.#checkReplay();
    if (this.#journal.at(-1)?.type !== "StrategyClosed")
      throw new Error("the last that happens to a strategy is that it is closed");
  }

  #place(symbol: string): void {
    const clientOrderId = `walk-${this.#now()}`;
    const middle = this.#market.middle(symbol);
    this.#carryOut(randomOrder(this.#random, this.#account, { symbol, middle, clientOrderId }));
  }

  #cancel(): void {
    const open = [...this.#account.openOrders.keys()];
    const isKnown = open.length > 0 && this.#random() < 0.9;
    this.#carryOut({ type: "CancelOrder", orderId: isKnown ? this.#pick(open) : this.#now() });
  }

  /** What a watcher that has it all wrong would do: any order, at its own prices, reached in either way. */
  #mistake(): void {
    const order = this.#orders.get(this.#pick([...this.#orders.keys()]));
    if (order === undefined) return;
    const { orderId } = order;
    const seen = this.#random() < 0.5 ? order.price : order.stopPrice;
    this.#carryOut({ type: "FillRestingOrder", orderId, seen });
    this.#carryOut({ type: "TriggerStop", orderId, seen });
  }

  /** As the watcher does it, but at once. */
  #reach(reached: Reached): void {
    const { orderId, waitsFor } = reached.waiting;
    const isTrade = waitsFor === "TRADE_FALLS" || waitsFor === "TRADE_RISES";
    this.#overdue.delete(orderId);
    const type = isTrade ? "TriggerStop" : "FillRestingOrder";
    const refusal = this.#carryOut({ type, orderId, seen: reached.seen });
    const order = this.#account.openOrders.get(orderId);
    if (order === undefined) return;
    this.#watchList.add(waitingOf(STRATEGY, order));
    if (refusal?.refusal === "MARKET_SILENT") this.#overdue.set(orderId, reached);
  }

  #carryOut(command: Command): Refusal | null {
    const circumstances = { market: this.#market, profile: STANDARD_SPOT, at: this.#now() };
    const before = stateOf(this.#account);
    const decision = decide(this.#account, command, circumstances);
    if (before !== stateOf(this.#account)) throw new Error("a decision changes nothing");
    if (isRefusal(decision)) {
      count(this.#report.refusals, nameOf(decision));
      return decision;
    }
    const { status } = this.#account;
    if (decision.events.length > 0 && status !== "LIVE" && command.type !== "CloseStrategy")
      throw new Error(`nothing happens to a strategy that is ${status}: ${command.type}`);
    for (const event of decision.events) {
      if (this.#account.status === "CLOSED")
        throw new Error(`nothing happens after the close: ${event.type}`);
      const order = apply(this.#account, event);
      this.#journal.push(event);
      count(this.#report.events, event.type);
      if (event.type === "OrderExpired") count(this.#report.events, `${event.type} ${event.reason}`);
      if (event.type === "OrderTriggered" && order?.workingAt !== event.at)
        throw new Error(`a triggered order works from its trigger on: ${event.orderId}`);
      if (order !== null) this.#follow(order);
    }
    return null;
  }

  #follow(order: Order): void {
    const earlier = this.#orders.get(order.orderId);
    if (earlier !== undefined) checkChange(earlier, order);
    this.#orders.set(order.orderId, order);
    this.#watchList.remove(order.symbol, STRATEGY, order.orderId);
    if (isOpen(order)) this.#watchList.add(waitingOf(STRATEGY, order));
    else this.#overdue.delete(order.orderId);
  }

  #check(): void {
    checkAccount(
      this.#account,
      SYMBOLS.flatMap((symbol) => this.#market.rules(symbol) ?? []),
    );
    const open = [...this.#account.openOrders.values()];
    for (const symbol of SYMBOLS) {
      if (this.#watchList.has(symbol) !== open.some((order) => order.symbol === symbol))
        throw new Error(`who is open is watched, and nobody else: ${symbol}`);
    }
  }

  #checkReplay(): void {
    const { account } = openStrategy(STRATEGY, "SPOT", 0);
    for (const event of this.#journal.slice(1)) apply(account, event);
    if (stateOf(account) !== stateOf(this.#account))
      throw new Error("replaying the events gives the same state");
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }
}

/** How the walks count a refusal: a failed filter by its own name. */
export function nameOf(refusal: Refusal): string {
  return refusal.refusal === "FILTER_FAILED" ? `FILTER_FAILED ${refusal.filter}` : refusal.refusal;
}

export function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
