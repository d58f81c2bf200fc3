// One life of a strategy, from its seed to its close, and what must hold after every command of it.
import type { Account } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { DomainEvent } from "../../../src/domain/event.ts";
import type { FillProfile, FillProfileName } from "../../../src/domain/fill-profile.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import type { Order, Trade } from "../../../src/domain/order.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import { isRefusal, type Refusal } from "../../../src/domain/refusal.ts";
import { type Applied, apply } from "../../../src/engine/apply.ts";
import { type decide, symbolsConcerned } from "../../../src/engine/decide.ts";
import { ordersReached } from "../../../src/engine/matching/evidence.ts";
import { openStrategy } from "../../../src/engine/open-strategy.ts";
import type { Price } from "../../../src/money/decimal.ts";
import { freeOf } from "../../../src/money/posting.ts";
import { decodeEvents, encodeEvents } from "../../../src/store/codec.ts";
import { type Hit, isInQueue } from "../../../src/triggers/trigger.ts";
import { commandOf } from "../../../src/triggers/trigger-dispatcher.ts";
import { TriggerIndex } from "../../../src/triggers/trigger-index.ts";
import { receiptFaults } from "../harness/receipts.ts";
import { happens, pick } from "./chance.ts";
import { type Counts, count, nameOf } from "./counts.ts";
import { checkSurvivor } from "./futures-rules.ts";
import { checkAccount, checkChange, checkLegChange, checkSame, checkWriting, stateOf } from "./invariants.ts";
import type { Oracle } from "./oracle.ts";
import { inForce, LEVEL_WORTH, listingFor, profileOf, randomTrade } from "./profiles.ts";
import { Queues } from "./queues.ts";
import { RandomBooks } from "./random/books.ts";
import { RandomFunding } from "./random/funding.ts";
import { type MarketListener, RandomMarket } from "./random/market.ts";
import type { WalkSetup } from "./setups.ts";
import { updateTriggers } from "./update-triggers.ts";

/** What a life is lived with: one source of chance, one report and one clock for all of a walk. */
type Circumstances = {
  readonly random: () => number;
  readonly report: { readonly events: Counts; readonly refusals: Counts };
  readonly decides: typeof decide;
  /** The step that the walk is at. */
  readonly now: () => number;
};

/** An event, and what it concerned. */
type Happened = Applied & { readonly event: DomainEvent };

const STRATEGY = "walk";
/** Market time that a step takes: every tenth is on the hour, when funding is due. */
const STEP_MS = 6 * MINUTE_MS;
/** How much later what the market reached is found out at times. */
const FOUND_OUT_AFTER_MS_MAX = 180 * MINUTE_MS;
/** The number of past settlements that may be published once more. */
const PAST_SETTLEMENTS_MAX = 12;
const REPLAY_EVERY = 200;
/** Moves of the market after which a strategy that is still closing is helped: everything trades again. */
const CLOSING_MOVES = 20;
const AFTER_CLOSE = 20;
/** Of so many things that are asked for on spot one is asked for by a signal, if it is an order. */
const SIGNAL_EVERY = 3;
/** What happens when everything is over. */
const AFTER_ALL: readonly DomainEvent["type"][] = ["FundingSettled", "SignalRejected"];
/**
 * What still happens to a strategy that is no longer live: its positions live on, what it held is settled,
 * and its signals are rejected.
 */
const STILL_HAPPENS = {
  CLOSING: ["CloseStrategy", "LiquidatePosition", "SettleFunding", "ExecuteSignal"],
  CLOSED: ["SettleFunding", "ExecuteSignal"],
} as const satisfies { readonly [Status in Exclude<Account["status"], "LIVE">]: readonly Command["type"][] };

export class Life {
  readonly #setup: WalkSetup;
  readonly #profile: FillProfile;
  readonly #circumstances: Circumstances;
  readonly #random: () => number;
  readonly #account: Account;
  readonly #oracle: Oracle;
  readonly #journal: DomainEvent[] = [];
  readonly #market: RandomMarket;
  /** Null under `standard`. */
  readonly #queues: Queues | null;
  readonly #trades: Trade[] = [];
  readonly #funding: RandomFunding;
  readonly #index = new TriggerIndex();
  readonly #orders = new Map<number, Order>();
  readonly #legs = new Map<number, Leg>();
  /** Triggered entries that had no price to trade at, by id: the retry queue. */
  readonly #retries = new Map<number | string, Hit>();
  #pastSettlements: readonly Settlement[] = [];
  /** The account as the last command left it. */
  #state: string;
  #marketTrades = 0;
  #placed = 0;

  constructor(setup: WalkSetup, profile: FillProfileName, circumstances: Circumstances) {
    this.#setup = setup;
    this.#circumstances = circumstances;
    this.#random = circumstances.random;
    this.#oracle = setup.newOracle();
    this.#profile = profileOf(setup, profile, this.#random);
    const { account, event, incomes } = openStrategy(STRATEGY, setup.type, this.#at, this.#profile);
    this.#account = account;
    const isStrict = profile === "strict";
    this.#queues = isStrict ? new Queues(account) : null;
    const books = isStrict ? new RandomBooks(this.#random, () => this.#at, LEVEL_WORTH[setup.type]) : null;
    this.#state = stateOf(account);
    const listener: MarketListener = {
      quote: (symbol, quote) => {
        if (this.#market.rules(symbol)?.status !== "TRADING") return;
        this.#retry(symbol);
        for (const each of this.#index.takeAtQuote(symbol, quote)) this.#trigger(each);
        this.#seeBook(symbol);
      },
      trade: (symbol, price) => {
        this.#seeTrade(symbol, price);
        for (const each of this.#index.takeAtTrade(symbol, price)) this.#trigger(each);
      },
      mark: (symbol, price) => {
        // The brackets may have changed, and with them the prices of liquidations.
        this.#updateTriggers();
        this.#seeMark(symbol, price);
      },
    };
    this.#market = new RandomMarket(this.#random, setup.listings.map(listingFor(profile)), listener, books);
    this.#funding = new RandomFunding(this.#random, this.#market, this.#at);
    this.#note(event);
    this.#judge(null, null, [{ event, order: null, leg: null, incomes }], 0n);
  }

  takeStep(): void {
    const symbol = this.#anySymbol();
    if (happens(this.#random, 0.45)) this.#market.move(symbol);
    else this.#ask(symbol);
    this.#settleFunding();
    this.#check();
    if (this.#journal.length % REPLAY_EVERY === 0) this.#checkReplay();
  }

  /**
   * Closes the strategy, at times with a market that is silent, and sees that nothing happens to it
   * afterwards.
   */
  end(): void {
    const [held] = symbolsConcerned(this.#account, { type: "CloseStrategy" });
    if (held !== undefined && happens(this.#random, 0.7)) {
      this.#market.recover();
      this.#market.setQuote(held, null);
    }
    this.#carryOut({ type: "CloseStrategy" });
    if (this.#account.status === "LIVE")
      throw new Error("a strategy after a request to close is no longer live");
    this.#check();
    for (let moves = 0; this.#account.status === "CLOSING"; moves += 1) {
      if (moves > CLOSING_MOVES) throw new Error("a strategy is closed as soon as its markets are there");
      this.#ask(this.#anySymbol());
      this.#settleFunding();
      if (moves === CLOSING_MOVES) this.#market.recover();
      else this.#market.move(this.#anySymbol());
      this.#carryOut({ type: "CloseStrategy" });
      this.#check();
    }
    for (let tries = 0; tries < AFTER_CLOSE; tries += 1) {
      this.#market.move(this.#anySymbol());
      for (let asked = 0; asked < 3; asked += 1) this.#ask(this.#anySymbol());
      this.#carryOut({ type: "CloseStrategy" });
      this.#settleFunding();
    }
    this.#check();
    this.#checkReplay();
    const [fault] = receiptFaults(this.#trades, this.#account);
    if (fault !== undefined) throw new Error(fault);
    if (this.#journal.findLast(({ type }) => !AFTER_ALL.includes(type))?.type !== "StrategyClosed")
      throw new Error("the last that happens to a strategy is that it is closed");
  }

  get #at(): number {
    return this.#circumstances.now() * STEP_MS;
  }

  /** Whatever a trader asks for next, and a watcher that has it all wrong. */
  #ask(symbol: string): void {
    this.#placed += 1;
    const scenario = {
      random: this.#random,
      market: this.#market,
      account: this.#account,
      symbol,
      clientId: `walk-${this.#placed}`,
      orders: this.#orders,
      legs: this.#legs,
    };
    for (const command of this.#setup.draw(scenario)) {
      const asked = this.#queues === null ? command : inForce(command, this.#setup, this.#random);
      this.#carryOut(this.#asSignal(asked));
    }
  }

  /** A book moves the queues, and fills the orders that it has come to. */
  #seeBook(symbol: string): void {
    const book = this.#market.book(symbol);
    if (this.#queues === null || book === null) return;
    for (const crossing of this.#queues.show(symbol, book)) this.#carryOut(crossing);
  }

  /** A trade at a price of the market, or at the limit of an order; it fills orders and moves queues. */
  #seeTrade(symbol: string, marketPrice: Price): void {
    if (this.#queues === null) return;
    const waiting = [...this.#account.openOrders.values()].filter(
      (each) => each.symbol === symbol && isInQueue(each),
    );
    this.#marketTrades += 1;
    const trade = {
      ...randomTrade(this.#setup, marketPrice, waiting, this.#random),
      ...{ aggregateId: this.#marketTrades, time: this.#at },
    };
    const { quantity } = trade;
    const reached = ordersReached(this.#account, symbol, trade);
    const before = this.#trades.length;
    this.#carryOut(this.#queues.match(symbol, trade));
    const filled = this.#trades.slice(before).reduce((sum, each) => sum + each.quantity, 0n);
    if (filled > quantity) throw new Error(`a trade of ${quantity} fills no more than that: ${filled}`);
    this.#queues.moveByTrade(symbol, trade, reached);
  }

  #asSignal(command: Command): Command {
    const isSignal = this.#setup.type === "SPOT" && this.#placed % SIGNAL_EVERY === 0;
    if (!isSignal || command.type !== "PlaceOrder") return command;
    return {
      type: "ExecuteSignal",
      signalId: command.clientOrderId,
      order: command,
      processedAt: this.#at,
    };
  }

  #settleFunding(): void {
    const settlements = [...this.#funding.heardAt(this.#at)];
    // A past settlement may be published once more, even long after later ones.
    const past = pick(this.#random, this.#pastSettlements);
    if (past !== undefined && happens(this.#random, 0.1)) settlements.unshift(past);
    for (const settlement of settlements) this.#carryOut({ type: "SettleFunding", settlement });
    this.#pastSettlements = [...this.#pastSettlements, ...settlements].slice(-PAST_SETTLEMENTS_MAX);
    // Checks new triggers, and positions that have paid, against the present mark price.
    this.#updateTriggers();
    for (const symbol of this.#market.symbols) {
      const mark = this.#market.markPrice(symbol);
      if (mark !== null) this.#seeMark(symbol, mark);
    }
  }

  #seeMark(symbol: string, mark: Price): void {
    if (this.#market.rules(symbol)?.status === "TRADING") this.#retry(symbol);
    for (const each of this.#index.takeAtMark(symbol, mark)) this.#trigger(each);
    checkSurvivor(this.#account, symbol, mark, this.#market);
  }

  #retry(symbol: string): void {
    for (const each of [...this.#retries.values()]) if (each.trigger.symbol === symbol) this.#trigger(each);
  }

  /** As the server does it, but at once, or as if it had been found out only now. */
  #trigger(hit: Hit): void {
    const { trigger } = hit;
    this.#retries.delete(trigger.id);
    const seenAt = this.#at - Math.floor(this.#random() * FOUND_OUT_AFTER_MS_MAX);
    const isLate = happens(this.#random, 0.1);
    const [command] = commandOf(isLate ? { ...hit, seenAt } : hit);
    const refusal = this.#carryOut(command);
    this.#updateTriggers();
    if (refusal?.refusal === "MARKET_SILENT" && this.#index.includes(trigger))
      this.#retries.set(trigger.id, hit);
  }

  #carryOut(command: Command): Refusal | null {
    const { decides, report } = this.#circumstances;
    const account = this.#account;
    const market = this.#market;
    const freeBefore = freeOf(account.balances, "USDT");
    const queues = this.#queues;
    const circumstances = {
      ...{ market, at: this.#at },
      ...(queues !== null && { aheadOf: (orderId: number) => queues.aheadOf(orderId) }),
    };
    const decision = decides(account, command, circumstances);
    if (this.#state !== stateOf(account)) throw new Error("a decision changes nothing");
    const refusal = isRefusal(decision) ? decision : null;
    if (refusal !== null) count(report.refusals, nameOf(refusal));
    const events = isRefusal(decision) ? [] : decision.events;
    const { status } = account;
    if (
      events.length > 0 &&
      status !== "LIVE" &&
      !STILL_HAPPENS[status].some((type) => type === command.type)
    )
      throw new Error(`nothing happens to a strategy that is ${status}: ${command.type}`);
    const applied = events.map((event) => this.#apply(event));
    if (events.length > 0) this.#state = stateOf(account);
    this.#judge(command, refusal, applied, freeBefore);
    if (events.length > 0) this.#updateTriggers();
    return refusal;
  }

  #judge(
    command: Command | null,
    refusal: Refusal | null,
    applied: readonly Happened[],
    freeBefore: bigint,
  ): void {
    this.#oracle.judge({
      command,
      refusal,
      events: applied.map(({ event }) => event),
      incomes: applied.flatMap(({ incomes }) => incomes),
      orders: applied.flatMap(({ order }) => order ?? []),
      legs: applied.flatMap(({ leg }) => leg ?? []),
      freeBefore,
      account: this.#account,
      market: this.#market,
    });
  }

  #apply(event: DomainEvent): Happened {
    if (this.#account.status === "CLOSED" && !AFTER_ALL.includes(event.type))
      throw new Error(`nothing happens after the close: ${event.type}`);
    const applied = apply(this.#account, event);
    const { order, leg } = applied;
    this.#note(event);
    if (event.type === "OrderTriggered" && order?.workingAt !== event.at)
      throw new Error(`a triggered order works from its trigger on: ${event.orderId}`);
    if (event.type === "SignalRejected" && stateOf(this.#account) !== this.#state)
      throw new Error(`a rejected signal changes nothing: ${event.signalId}`);
    if (event.type === "SignalExecuted" && !this.#orders.has(event.orderId))
      throw new Error(`a signal is executed with its order: ${event.signalId}`);
    if (event.type === "OrderFilled") this.#heedTrade(event.trade);
    if (order !== null) {
      this.#compare(order.orderId, this.#orders.get(order.orderId), order, checkChange);
      this.#orders.set(order.orderId, order);
    }
    if (leg !== null) {
      this.#compare(leg.legId, this.#legs.get(leg.legId), leg, checkLegChange);
      this.#legs.set(leg.legId, leg);
    }
    return { event, ...applied };
  }

  #heedTrade(trade: Trade): void {
    this.#trades.push(trade);
    if (trade.tradeId !== this.#trades.length)
      throw new Error(`trades are numbered one by one: ${trade.tradeId}`);
    const { receipt, symbol, quantity, tradeId } = trade;
    if (receipt === undefined) return;
    count(this.#circumstances.report.events, `OrderFilled ${receipt.cause}`);
    const { level } = receipt;
    const displayed = level && this.#market.book(symbol)?.displayedAt(level.side, level.price);
    if (displayed != null && quantity > displayed)
      throw new Error(
        `nobody takes more of a level than is displayed: trade ${tradeId}, ${quantity} of ${displayed}`,
      );
  }

  #compare<T>(id: number, earlier: T | undefined, later: T, check: (earlier: T, later: T) => void): void {
    if (earlier !== undefined) check(earlier, later);
    else if (id !== this.#orders.size + this.#legs.size + 1)
      throw new Error(`orders and legs are numbered one by one: ${id}`);
  }

  #note(event: DomainEvent): void {
    const { events } = this.#circumstances.report;
    this.#journal.push(event);
    count(events, event.type);
    // A placement by a signal is refused like any other.
    if (event.type === "SignalRejected") count(this.#circumstances.report.refusals, nameOf(event.reason));
    if (event.type === "OrderExpired" || event.type === "LegExpired" || event.type === "LegCanceled")
      count(events, `${event.type} ${event.reason}`);
    if (event.type === "OrderPlaced" && event.order.type === "LIQUIDATION")
      count(events, `${event.type} ${event.order.type}`);
  }

  /** Updates the triggers from the account, and drops retries of entries that are gone. */
  #updateTriggers(): void {
    updateTriggers(this.#index, this.#account, this.#market);
    for (const [id, { trigger }] of this.#retries)
      if (!this.#index.includes(trigger)) this.#retries.delete(id);
  }

  #check(): void {
    checkAccount(
      this.#account,
      this.#market.symbols.flatMap((symbol) => this.#market.rules(symbol) ?? []),
    );
    const armed = [...this.#account.openLegs.values()].filter(({ status }) => status === "NEW");
    const triggered = [...this.#account.openOrders.values()].filter((order) => !isInQueue(order));
    const open = [...triggered.map(({ orderId }) => orderId), ...armed.map(({ legId }) => legId)];
    const indexed = this.#index.ofStrategy(STRATEGY).filter(({ kind }) => kind !== "LIQUIDATION");
    if (open.length !== indexed.length || !open.every((id) => indexed.some((each) => each.id === id)))
      throw new Error(
        `each open order outside of a queue and armed leg has a trigger, and nothing else: ${open}, ${indexed.map(({ id }) => id)}`,
      );
  }

  #checkReplay(): void {
    checkWriting(this.#account);
    const { account } = openStrategy(STRATEGY, this.#setup.type, this.#journal[0]?.at ?? 0, this.#profile);
    for (const event of decodeEvents(encodeEvents(this.#journal)).slice(1)) apply(account, event);
    checkSame(account, this.#account, "replaying the events gives the same account");
  }

  #anySymbol(): string {
    return pick(this.#random, this.#market.symbols) ?? "";
  }
}
