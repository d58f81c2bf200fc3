// The only entry point for changes of a strategy: an order, a triggered order, a funding payment, a close.
// Invariants: commands of one strategy run one after another, those of others in parallel; the decision is
// pure; events, state, rows and key are committed in one transaction, for many strategies at a time; a used
// key is answered from the journal; listeners are notified after the commit. An outdated commit is decided
// again; a failed one rejects, since its outcome is unknown, and stops the process. Under `strict`,
// placements and cancels take the latency of their profile before they are decided (decision 73).
import type { Logger } from "pino";
import { systemTimers, type Timers } from "../concurrency/time.ts";
import type { Account, StrategyType } from "../domain/account.ts";
import type { Command } from "../domain/command.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { Income } from "../domain/income.ts";
import type { Leg } from "../domain/leg.ts";
import type { Market } from "../domain/market.ts";
import type { Order, Trade } from "../domain/order.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { NewSignal, SettledSignal } from "../domain/signal.ts";
import type { JournalEntry } from "../domain/strategy.ts";
import { apply } from "../engine/apply.ts";
import { decide, symbolsConcerned } from "../engine/decide.ts";
import type { Quantity } from "../money/decimal.ts";
import type { Commit, LoadedAccount, TradingStore } from "../store/ports/trading.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { type Arrival, Arrivals, arrivedWith, latencyMsOf, WITH_LATENCY } from "./arrivals.ts";
import { GroupCommit } from "./group-commit.ts";

/**
 * Commands that may wait in a strategy's queue; further ones are refused BUSY, unless they come from the
 * market.
 */
const STRATEGY_COMMANDS_WAITING_MAX = 500;
/** Commands of all strategies that may wait; one more is refused BUSY. */
const COMMANDS_WAITING_MAX = 20_000;
/** Commands of all strategies under `strict` that may be on their way to the exchange; likewise. */
const COMMANDS_ON_THE_WAY_MAX = 20_000;
/** Strategies cached with their accounts; beyond it the oldest are evicted, and loaded when needed. */
const STRATEGIES_CACHED_MAX = 20_000;
/**
 * Number of entries checked for eviction at a time: all may be busy, when the market triggers many together.
 */
const EVICTION_CHECKS_MAX = 8;

/** The market as the desk needs it: values for a decision, and a moment to have them fresh. */
export type DeskMarket = Market & {
  /** Market time, Unix ms. */
  now(): number;
  /** The sequence number of the last quote, trade or mark price, of any symbol. */
  sequence(): number;
  /** Prepares rules and quote of a symbol; returns nothing if they are ready. */
  prepare(symbol: string): Promise<void> | undefined;
  /**
   * The same for the effective book of a symbol, which only `strict` needs. It may stay unknown.
   * `withTrades`: it is also to have the trades that were streamed one by one, which hit stops before the
   * book has them.
   */
  prepareBook(symbol: string, options?: { readonly withTrades: boolean }): Promise<void> | undefined;
};

export type ExecuteOptions = {
  /** The idempotency key, unique within the strategy. */
  readonly key?: string;
  /**
   * When the gateway admitted the request, wall time in Unix ms; a placement counts against the order budgets
   * then.
   */
  readonly admittedAt?: number;
  /** Called before the command is decided: a reason not to execute it any more. */
  readonly lapsed?: () => Refusal | null;
  /**
   * The signal that the command settles, to be recorded by the same commit. The command is refused BUSY, and
   * nothing is stored, if it cannot be decided and committed at once: the strategy has other commands in
   * progress or is under `strict`, the market has to be prepared, the refusal of the order is transient, or a
   * signal with this key or signature is recorded. If the database cannot take the commit, the execution
   * rejects with StoreUnavailable, and nothing is stored either.
   */
  readonly records?: NewSignal;
};

export type Executed = {
  readonly events: readonly DomainEvent[];
  /** The orders concerned: as the command left them, or, replayed, in their present state. */
  readonly orders: readonly Order[];
  /** Likewise the legs. */
  readonly legs: readonly Leg[];
  readonly replayed: boolean;
};

/** A committed change, for listeners that publish it. */
export type Announcement = {
  readonly strategyId: string;
  readonly type: StrategyType;
  /** The strategy's after this commit. */
  readonly version: number;
  readonly events: readonly DomainEvent[];
  readonly orders: readonly Order[];
  readonly legs: readonly Leg[];
  /** As committed; it may be read until the listener returns. */
  readonly account: Account;
  /** The market's sequence number when the command was decided. */
  readonly sequence: number;
  /** How the command came to the exchange; null for one without latency, as all under `standard` are. */
  readonly arrival: Arrival | null;
};

/** Follows a command that was sent under `strict`. Neither may throw. */
export type SentCommand = {
  /** The answer to the command; null if there is none. */
  decided(outcome: Executed | Refusal | null): void;
};
/**
 * Called when a command with latency is sent, market time in Unix ms, before it is decided. The account is as
 * committed then and changes afterwards. Null: nobody follows the command.
 */
export type OnSent = (account: Account, command: Command, sentAt: number) => SentCommand | null;

/** Spot and futures use the same symbol names, so each has a market of its own. */
type ByType<T> = { readonly [Type in StrategyType]: T };

/**
 * What others display in front of an open order of a strategy; undefined if that is not followed, null if
 * unknown.
 */
type AheadOf = (strategyId: string, orderId: number) => Quantity | null | undefined;

type Job = {
  readonly command: Command;
  readonly options: ExecuteOptions;
  readonly reply: PromiseWithResolvers<Executed | Refusal>;
  /**
   * Under `strict`, market time in Unix ms; null while the profile is not known: the latency then counts from
   * the command's first transaction.
   */
  readonly receivedAt: number | null;
  /** Null until its latency is known, and for commands without one. */
  arrival: Arrival | null;
  sent: SentCommand | null;
};

/** The state of one strategy. */
type StrategyQueue = {
  /** The command in progress, and those behind it. */
  readonly jobs: Job[];
  /** The account as last committed; null while it is not known, or ahead of the store. */
  cached: LoadedAccount | null;
  /**
   * Whether another process has committed between our last commands. Each command then begins with a load,
   * which costs less than a commit that is outdated.
   */
  isShared: boolean;
  /**
   * The commands on their way to the exchange; null for `standard`, undefined while the profile is not known.
   */
  arrivals: Arrivals<Job> | null | undefined;
};

const BUSY: Refusal = { refusal: "BUSY" };

/** Outcome of a transaction that sent its command to the exchange: another one decides it on arrival. */
const ON_THE_WAY = "ON_THE_WAY";

export class Desk {
  readonly #store: TradingStore;
  readonly #markets: ByType<DeskMarket>;
  readonly #onStoreFailure: (failure: StoreFailure) => void;
  readonly #isShortOfSpace: () => boolean;
  readonly #aheadOf: AheadOf | undefined;
  readonly #onSent: OnSent | undefined;
  readonly #timers: Pick<Timers, "after">;
  readonly #marketSpeed: number;
  readonly #log: Pick<Logger, "error">;
  readonly #commits: GroupCommit;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  /**
   * In order of first use. An entry stays when its queue is empty, since a map that always changes costs
   * memory.
   */
  readonly #queues = new Map<string, StrategyQueue>();
  #queuesBusy = 0;
  #commandsWaiting = 0;
  readonly #onTheWay = new Set<Arrivals<Job>>();
  #commandsOnTheWay = 0;
  #isEndingArrivals = false;
  #whenIdle: PromiseWithResolvers<void> | null = null;

  constructor(parts: {
    store: TradingStore;
    markets: ByType<DeskMarket>;
    /** Called when a commit fails: the process must stop. */
    onStoreFailure: (failure: StoreFailure) => void;
    /** Whether so little disk space is left that nothing new may be placed. */
    isShortOfSpace?: () => boolean;
    /** What is in front of open orders under `strict`; where absent, what was at their placement counts. */
    aheadOf?: AheadOf;
    onSent?: OnSent;
    timers?: Pick<Timers, "after">;
    /** How many times as fast as the timers market time runs. */
    marketSpeed?: number;
    log: Pick<Logger, "error">;
  }) {
    this.#store = parts.store;
    this.#markets = parts.markets;
    this.#onStoreFailure = parts.onStoreFailure;
    this.#isShortOfSpace = parts.isShortOfSpace ?? (() => false);
    this.#aheadOf = parts.aheadOf;
    this.#onSent = parts.onSent;
    this.#timers = parts.timers ?? systemTimers;
    this.#marketSpeed = parts.marketSpeed ?? 1;
    this.#log = parts.log;
    this.#commits = new GroupCommit(parts.store);
  }

  /**
   * Executes a command of a strategy and returns when its effect is durable, or a refusal. Rejects with
   * StoreFailure if the commit failed (whether the command took effect is then unknown), with any other error
   * if there is a bug in deciding it (it then took none).
   */
  execute(strategyId: string, command: Command, options: ExecuteOptions = {}): Promise<Executed | Refusal> {
    const queue = this.#queueOf(strategyId);
    const isFull =
      this.#commandsWaiting >= COMMANDS_WAITING_MAX ||
      queue.jobs.length >= STRATEGY_COMMANDS_WAITING_MAX ||
      (options.records !== undefined && queue.jobs.length > 0) ||
      this.#commits.isBehind();
    if (this.#whenIdle !== null || (isFull && !isFromMarket(command))) return Promise.resolve(BUSY);
    const receivedAt = queue.arrivals?.now() ?? null;
    const reply = Promise.withResolvers<Executed | Refusal>();
    const job: Job = { command, options, reply, receivedAt, arrival: null, sent: null };
    this.#enqueue(strategyId, queue, job);
    return job.reply.promise;
  }

  /** The fill profile of a strategy, which never changes. Rejects if there is no such strategy. */
  async profileOf(strategyId: string): Promise<FillProfile> {
    const { account } = this.#queues.get(strategyId)?.cached ?? (await this.#load(strategyId));
    return account.profile;
  }

  /** Whether the commit backlog is so long that a client's command would be refused BUSY. */
  isBehind(): boolean {
    return this.#commits.isBehind();
  }

  /**
   * Whether placements are refused for want of disk space; other writers, such as sign-ups, refuse as well
   * then.
   */
  isShortOfSpace(): boolean {
    return this.#isShortOfSpace();
  }

  /** Number of commands waiting or in progress, without those on their way to the exchange. */
  waitingCount(): number {
    return this.#commandsWaiting;
  }

  /** Calls the listener after every commit, in the order of the strategy's commits, until it is released. */
  onCommitted(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Refuses the commands that are on their way to the exchange, and all that would be sent there later:
   * nothing of them is stored, and a shutdown does not wait for them.
   */
  endArrivals(): void {
    this.#isEndingArrivals = true;
    for (const arrivals of this.#onTheWay) {
      for (const job of arrivals.end()) {
        this.#commandsOnTheWay -= 1;
        answer(job, BUSY);
      }
    }
    this.#onTheWay.clear();
  }

  /** Refuses later commands and resolves when all accepted ones are answered. */
  async drain(): Promise<void> {
    this.endArrivals();
    this.#whenIdle ??= Promise.withResolvers();
    if (this.#queuesBusy === 0) this.#whenIdle.resolve();
    await this.#whenIdle.promise;
  }

  #enqueue(strategyId: string, queue: StrategyQueue, job: Job): void {
    this.#commandsWaiting += 1;
    queue.jobs.push(job);
    if (queue.jobs.length === 1) void this.#executeQueue(strategyId, queue);
  }

  /** Executes the commands of a strategy one after another, until its queue is empty. */
  async #executeQueue(strategyId: string, queue: StrategyQueue): Promise<void> {
    const { jobs } = queue;
    this.#queuesBusy += 1;
    for (let job = jobs[0]; job !== undefined; job = jobs[0]) {
      try {
        const outcome = await this.#transact(strategyId, queue, job);
        if (outcome !== ON_THE_WAY) answer(job, outcome);
      } catch (error) {
        queue.cached = null;
        if (error instanceof StoreFailure) this.#onStoreFailure(error);
        job.reply.reject(error);
        job.sent?.decided(null);
      }
      jobs.shift();
      this.#commandsWaiting -= 1;
    }
    this.#queuesBusy -= 1;
    if (this.#queuesBusy === 0) this.#whenIdle?.resolve();
  }

  /** Decides a command and commits its effect; decides it again if the commit was outdated. */
  async #transact(
    strategyId: string,
    queue: StrategyQueue,
    job: Job,
  ): Promise<Executed | Refusal | typeof ON_THE_WAY> {
    const { options } = job;
    const { key = null, records } = options;
    let decidedOn: number | undefined;
    for (let mayBeReplay = false; ; ) {
      const cached = queue.isShared ? null : queue.cached;
      const { account, version } = cached ?? (await this.#load(strategyId));
      const known = decidedOn ?? queue.cached?.version;
      if (cached === null && known !== undefined) queue.isShared = version !== known;
      decidedOn = version;
      const market = this.#markets[account.type];
      if (queue.arrivals === undefined) queue.arrivals = this.#arrivalsOf(strategyId, queue, account, market);
      const { arrivals } = queue;
      if (records !== undefined && arrivals !== null) return BUSY;
      if (arrivals !== null && job.arrival === null && WITH_LATENCY.has(job.command.type)) {
        const sent = this.#send(job, account, market, arrivals);
        if (sent !== null) return sent;
        // Commands that were sent before it have arrived behind it.
        if (queue.jobs.some((other) => other !== job && other.arrival !== null)) {
          this.#enqueue(strategyId, queue, job);
          return ON_THE_WAY;
        }
      }
      const command = job.arrival === null ? job.command : arrivedWith(job.command, job.arrival);
      // Hardly any key was used before, so it is looked up only when the commit has found it, or nothing is
      // to be committed.
      const earlier = mayBeReplay ? await this.#findEntry(strategyId, key) : null;
      const prepared = earlier === null ? prepare(market, account, command) : undefined;
      if (records !== undefined && prepared !== undefined) return BUSY;
      if (prepared !== undefined) await prepared;
      const lapsed = options.lapsed?.() ?? null;
      if (lapsed !== null) return lapsed;
      if (earlier !== null) return await this.#replay(strategyId, earlier);

      const sequence = market.sequence();
      const at = market.now();
      const { admittedAt } = options;
      const aheadOf =
        arrivals === null ? undefined : (orderId: number) => this.#aheadOf?.(strategyId, orderId);
      const circumstances = { market, at, admittedAt, aheadOf };
      const decision =
        isPlacement(command) && this.#isShortOfSpace()
          ? ({ refusal: "STORAGE_SHORT" } as const)
          : decide(account, command, circumstances);
      const events = isRefusal(decision) ? [] : decision.events;
      if (records !== undefined && events.length === 0) return BUSY;
      if (events.length === 0) {
        const isKeyUnused = mayBeReplay && prepared === undefined;
        const replayed = isKeyUnused ? null : await this.#findEntry(strategyId, key);
        if (replayed !== null) return await this.#replay(strategyId, replayed);
        // Nothing is committed, so no version check would show that another process has moved the account
        // since. One that was loaded just now has not moved, unless the market was waited for.
        if (
          (cached !== null || prepared !== undefined) &&
          (await this.#load(strategyId)).version !== version
        ) {
          queue.cached = null;
          continue;
        }
        return isRefusal(decision) ? decision : { events, orders: [], legs: [], replayed: false };
      }

      // From here on the account in memory is ahead of the store: it is committed, or forgotten.
      queue.cached = null;
      const changed = applyAll(account, events, records);
      const { orders, legs } = changed;
      const entry: JournalEntry = { version: version + 1, key, at, events };
      const outcome = await this.#commits.commit({ account, entry, ...changed });
      if (outcome === "OUTDATED") {
        if (records !== undefined) {
          queue.cached = await this.#load(strategyId);
          // With the version unchanged, it is the signal's key or signature that is known.
          if (queue.cached.version === version) return BUSY;
        }
        mayBeReplay = true;
        continue;
      }
      if (outcome === "BUSY") {
        if (records !== undefined) throw new StoreUnavailable("the database could not take a signal");
        // A client may retry.
        if (!isFromMarket(command)) return BUSY;
        this.#refuseBehind(queue);
        continue;
      }
      queue.cached = { account, version: entry.version };
      const committed = { strategyId, type: account.type, version: entry.version };
      const { arrival } = job;
      this.#announce({ ...committed, events, orders, legs, account, sequence, arrival });
      return { events, orders, legs, replayed: false };
    }
  }

  /**
   * Refuses what clients have sent behind a command of the market that could not be written: the market's is
   * retried for as long as that takes, such as while the disk is full, and clients are not to wait for it.
   */
  #refuseBehind({ jobs }: StrategyQueue): void {
    const behind = jobs.splice(1);
    jobs.push(...behind.filter(({ command }) => isFromMarket(command)));
    for (const job of behind) {
      if (isFromMarket(job.command)) continue;
      this.#commandsWaiting -= 1;
      answer(job, BUSY);
    }
  }

  #arrivalsOf(
    strategyId: string,
    queue: StrategyQueue,
    { profile }: Account,
    market: DeskMarket,
  ): Arrivals<Job> | null {
    if (profile.strict === null) return null;
    const arrivals: Arrivals<Job> = new Arrivals({
      now: () => market.now(),
      timers: this.#timers,
      marketSpeed: this.#marketSpeed,
      arrived: (job) => {
        this.#commandsOnTheWay -= 1;
        if (arrivals.count === 0) this.#onTheWay.delete(arrivals);
        this.#enqueue(strategyId, queue, job);
      },
    });
    return arrivals;
  }

  /** Sends a command to the exchange; null if it has arrived already. */
  #send(
    job: Job,
    account: Account,
    market: DeskMarket,
    arrivals: Arrivals<Job>,
  ): Refusal | typeof ON_THE_WAY | null {
    const latencyMs = latencyMsOf(account, job.command);
    const sentAt = job.receivedAt ?? market.now();
    const arrivesAt = arrivals.timeOf(sentAt + latencyMs);
    job.arrival = { latencyMs, arrivesAt };
    job.sent = this.#onSent?.(account, job.command, sentAt) ?? null;
    if (arrivals.count === 0 && arrivesAt <= market.now()) return null;
    const isFull =
      arrivals.count >= STRATEGY_COMMANDS_WAITING_MAX || this.#commandsOnTheWay >= COMMANDS_ON_THE_WAY_MAX;
    if (isFull || this.#isEndingArrivals) return BUSY;
    // The book may be known when the command arrives.
    void prepare(market, account, job.command);
    this.#commandsOnTheWay += 1;
    this.#onTheWay.add(arrivals);
    arrivals.add(job, arrivesAt);
    return ON_THE_WAY;
  }

  async #findEntry(strategyId: string, key: string | null): Promise<JournalEntry | null> {
    return key === null ? null : await this.#store.findEntry(strategyId, key);
  }

  async #load(strategyId: string): Promise<LoadedAccount> {
    const loaded = await this.#store.loadAccount(strategyId);
    if (loaded === null) throw new Error(`a command names a strategy that exists: ${strategyId}`);
    return loaded;
  }

  async #replay(strategyId: string, { events }: JournalEntry): Promise<Executed> {
    const orders: Order[] = [];
    const placed = events.flatMap((event) => (event.type === "OrderPlaced" ? [event.order] : []));
    for (const orderId of new Set(events.flatMap(orderIdOf))) {
      const symbol = placed.find((order) => order.orderId === orderId)?.symbol;
      const order = await this.#store.findOrder(strategyId, { orderId, ...(symbol && { symbol }) });
      if (order !== null) orders.push(order);
    }
    const legs: Leg[] = [];
    for (const legId of new Set(events.flatMap(legIdOf))) {
      const leg = await this.#store.findLeg(strategyId, { legId });
      if (leg !== null) legs.push(leg);
    }
    return { events, orders, legs, replayed: true };
  }

  #queueOf(strategyId: string): StrategyQueue {
    const known = this.#queues.get(strategyId);
    if (known !== undefined) return known;
    if (this.#queues.size >= STRATEGIES_CACHED_MAX) this.#evictIdle();
    const queue: StrategyQueue = { jobs: [], cached: null, isShared: false, arrivals: undefined };
    this.#queues.set(strategyId, queue);
    return queue;
  }

  /**
   * Evicts idle strategies among the oldest; busy ones move to the end. A `BoundedMap` does not fit: busy
   * strategies must stay, and a look-up must not reorder entries.
   */
  #evictIdle(): void {
    for (const [strategyId, queue] of this.#queues.entries().take(EVICTION_CHECKS_MAX).toArray()) {
      this.#queues.delete(strategyId);
      if (queue.jobs.length > 0 || (queue.arrivals?.count ?? 0) > 0) this.#queues.set(strategyId, queue);
    }
  }

  #announce(announcement: Announcement): void {
    for (const listener of this.#listeners) {
      try {
        listener(announcement);
      } catch (error) {
        // The commit is final, so the other listeners still receive it.
        const { strategyId } = announcement;
        this.#log.error({ err: error, strategyId }, "a listener of committed events has thrown");
      }
    }
  }
}

/** The client receives its answer before any follower. */
function answer({ reply, sent }: Job, outcome: Executed | Refusal): void {
  reply.resolve(outcome);
  sent?.decided(outcome);
}

/**
 * Prepares the values that a decision needs; returns nothing if they are ready, as most are. Under `strict`
 * the books of its symbols are followed as well, and awaited where the decision takes from them.
 */
export function prepare(
  market: Pick<DeskMarket, "prepare" | "prepareBook">,
  account: Account,
  command: Command,
): Promise<unknown> | undefined {
  const awaited: Promise<void>[] = [];
  const withTrades = command.type === "TriggerStop";
  for (const symbol of symbolsConcerned(account, command)) {
    const prepared = market.prepare(symbol);
    if (prepared !== undefined) awaited.push(prepared);
    if (account.profile.strict === null) continue;
    const preparedBook = market.prepareBook(symbol, { withTrades });
    if (preparedBook !== undefined && TAKES_FROM_BOOKS.has(command.type)) awaited.push(preparedBook);
  }
  return awaited.length === 0 ? undefined : Promise.all(awaited);
}

/** A liquidation is not among them: it does not wait. */
const TAKES_FROM_BOOKS: ReadonlySet<Command["type"]> = new Set([
  "PlaceOrder",
  "ExecuteSignal",
  "TriggerStop",
  "TriggerLeg",
  "CloseStrategy",
]);

type Changed = Omit<Commit, "account" | "entry">;

/** `records`: the signal that the commit records, if it records one. */
function applyAll(account: Account, events: readonly DomainEvent[], records?: NewSignal): Changed {
  const orders = new Map<number, Order>();
  const legs = new Map<number, Leg>();
  const trades: Trade[] = [];
  const incomes: Income[] = [];
  for (const event of events) {
    const applied = apply(account, event);
    if (applied.order !== null) orders.set(applied.order.orderId, applied.order);
    if (applied.leg !== null) legs.set(applied.leg.legId, applied.leg);
    if (event.type === "OrderFilled") trades.push(event.trade);
    incomes.push(...applied.incomes);
  }
  const received = records === undefined ? {} : { received: records };
  const signals = events.flatMap((event) => {
    const settled = settledBy(event, orders);
    return settled === null ? [] : [{ ...settled, ...received }];
  });
  return { orders: [...orders.values()], trades, legs: [...legs.values()], incomes, signals };
}

/** The signal that an event settles; `orders` are those of its entry, as the entry left them. */
function settledBy(event: DomainEvent, orders: ReadonlyMap<number, Order>): SettledSignal | null {
  switch (event.type) {
    case "SignalExecuted": {
      const { signalId, processedAt, orderId } = event;
      const order = orders.get(orderId);
      if (order === undefined) throw new Error(`a signal is executed with its order: ${signalId}`);
      return { signalId, state: { status: "EXECUTED", processedAt, order } };
    }
    case "SignalRejected": {
      const { signalId, processedAt, reason } = event;
      return { signalId, state: { status: "REJECTED", processedAt, reason } };
    }
    default:
      return null;
  }
}

/**
 * Commands that open something new. Reductions of a position go on, as cancels and closes do, and so does a
 * recorded signal.
 */
function isPlacement(command: Command): boolean {
  if (command.type === "PlaceOrder") return command.entry?.reduceOnly !== true;
  return command.type === "PlaceLeg";
}

/**
 * A trigger fires only once and must not be lost; there are at most as many as open orders, legs and
 * positions.
 */
function isFromMarket({ type }: Command): boolean {
  return FROM_MARKET.has(type);
}

const FROM_MARKET: ReadonlySet<Command["type"]> = new Set([
  "FillRestingOrder",
  "TriggerStop",
  "MatchTrade",
  "MatchCrossing",
  "TriggerLeg",
  "LiquidatePosition",
  "SettleFunding",
]);

function orderIdOf(event: DomainEvent): number[] {
  if (event.type === "OrderPlaced") return [event.order.orderId];
  if (event.type === "OrderFilled") return [event.trade.orderId];
  return "orderId" in event ? [event.orderId] : [];
}

function legIdOf(event: DomainEvent): number[] {
  if (event.type === "LegPlaced") return [event.leg.legId];
  return "legId" in event ? [event.legId] : [];
}
