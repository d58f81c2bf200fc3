// Scenarios of strategies under `strict`: a book in the scenario's own hands, trades of the market, and the
// queues that open orders wait in, which are those of the trigger index.
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { Arrivals } from "../../desk/arrivals.ts";
import { crossingKey, matchKey } from "../../domain/command.ts";
import { QUEUE_MODELS } from "../../domain/fill-profile.ts";
import type { BookView, ChangedLevel, MarketTrade } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { BookLevel, BookSide } from "../../domain/receipt.ts";
import {
  type Amount,
  add,
  decimal,
  formatBriefly,
  type Price,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import {
  type Crossing,
  type Match,
  moveByChange,
  SymbolQueues,
  type Waiting,
  waitingOf,
} from "../../triggers/symbol-queues.ts";
import { apply } from "../apply.ts";
import { STRICT_DEFAULTS, strictProfile } from "../matching/terms.ts";
import { isWorking, restingSide } from "../matching/walk.ts";
import { contractRules } from "./contract-rules.ts";
import { FUTURES } from "./futures-setup.ts";
import { symbolRules } from "./market-stub.ts";
import { SPOT } from "./spot-setup.ts";
import {
  inOrder,
  priceAfter,
  type ScenarioSetup,
  type Step,
  type Workbench,
  wholeNumber,
} from "./workbench.ts";

/** A symbol's book: what the last change said, less what was traded since. */
class BookStub implements BookView {
  lastUpdateId = 0;
  eventTime = 0;
  readonly tickerUpdateId = null;
  lastTradeId: number | null = null;
  readonly #levels: Record<BookSide, Map<Price, Quantity>> = { BID: new Map(), ASK: new Map() };
  #newer: MarketTrade[] = [];

  get receivedAt(): number {
    return this.eventTime;
  }

  *displayed(side: BookSide): Generator<BookLevel> {
    const isDescending = side === "BID";
    const prices = [...this.#levels[side].keys()].sort((one, other) =>
      one < other === isDescending ? 1 : -1,
    );
    for (const price of prices) {
      const newerTrades = this.#tradedAt(side, price);
      yield { price, displayed: this.displayedAt(side, price), fromTicker: false, newerTrades };
    }
  }

  displayedAt(side: BookSide, price: Price): Quantity {
    const said = this.#levels[side].get(price) ?? ZERO;
    const traded = this.#tradedAt(side, price);
    return said > traded ? subtract(said, traded) : ZERO;
  }

  /** Replaces a side; `at` is the exchange's time. Answers the levels that have changed. */
  change(side: BookSide, levels: ReadonlyMap<Price, Quantity>, at: number): readonly ChangedLevel[] {
    const before = this.#levels[side];
    const prices = new Set([...before.keys(), ...levels.keys()]);
    this.#levels[side] = new Map(levels);
    this.#newer = this.#newer.filter(({ time }) => time > at);
    this.lastUpdateId += 1;
    this.eventTime = at;
    return [...prices].flatMap((price) => {
      const quantity = levels.get(price) ?? ZERO;
      if (quantity === (before.get(price) ?? ZERO)) return [];
      const displayed = this.displayedAt(side, price);
      const newerTrades = this.#tradedAt(side, price);
      return [{ side, price, quantity, displayed, fromTicker: false, newerTrades, isDisplayed: true }];
    });
  }

  trade(trade: MarketTrade): void {
    if (trade.time > this.eventTime) this.#newer.push(trade);
  }

  #tradedAt(side: BookSide, price: Price): Quantity {
    return this.#newer
      .filter((trade) => trade.side === side && trade.price === price)
      .reduce((sum, { quantity }) => add(sum, quantity), ZERO as Quantity);
  }
}

/** What is known of a symbol while a scenario runs. */
type Followed = {
  readonly book: BookStub;
  queues: SymbolQueues;
  /** The orders in these queues, by their ids. */
  readonly waiting: Map<number, Waiting>;
  /** Of the commands that were executed. */
  readonly keys: Set<string>;
  trades: number;
  /** Trades since the service has stopped; null while it runs. */
  missed: MarketTrade[] | null;
};

const FOLLOWED = new WeakMap<Workbench, Map<string, Followed>>();
/** Every order is followed. */
const ALL = () => true;

/** A symbol with its queues, in which the orders wait that are open now. */
function followedOn(bench: Workbench, symbol: string): Followed {
  const bySymbol = FOLLOWED.get(bench) ?? new Map<string, Followed>();
  FOLLOWED.set(bench, bySymbol);
  let followed = bySymbol.get(symbol);
  if (followed === undefined) {
    const queues = new SymbolQueues();
    followed = { book: new BookStub(), queues, waiting: new Map(), keys: new Set(), trades: 0, missed: null };
    bySymbol.set(symbol, followed);
    bench.market.setBook(symbol, followed.book);
  }
  update(followed, bench, symbol);
  return followed;
}

function update({ queues, waiting }: Followed, bench: Workbench, symbol: string): void {
  const open = [...bench.account.openOrders.values()].filter(
    (order) => order.symbol === symbol && order.queue !== undefined && isWorking(order),
  );
  const ids = new Set(open.map(({ orderId }) => orderId));
  for (const [orderId, each] of waiting) {
    if (ids.has(orderId)) continue;
    queues.remove(each);
    waiting.delete(orderId);
  }
  for (const order of open) {
    const known = waiting.get(order.orderId);
    if (known === undefined) addTo(queues, waiting, order, bench);
    else known.remaining = subtract(order.quantity, order.executedQuantity);
  }
}

function addTo(queues: SymbolQueues, waiting: Map<number, Waiting>, order: Order, bench: Workbench): void {
  const { account, market } = bench;
  const added = waitingOf(account.strategyId, order, account.profile.strict?.queue ?? "trades");
  waiting.set(order.orderId, added);
  const book = market.book(order.symbol);
  queues.add(added, {
    displayed: book?.displayedAt(restingSide(order.side), order.price) ?? null,
    updateId: book?.lastUpdateId ?? Number.NEGATIVE_INFINITY,
  });
}

/** `asks BTCUSDT 60000x0.0005 …`: what a side displays from now on. Changed levels may cross open orders. */
function changeBook(side: BookSide): Step {
  return (bench, [symbol = "", ...words]) => {
    const followed = followedOn(bench, symbol);
    const { book, queues } = followed;
    const quantities = new Map(
      words.slice(0, words.includes("of") ? words.indexOf("of") : undefined).map((word) => {
        const [price = "", quantity = ""] = word.split("x");
        return [decimal<Price>(price), decimal<Quantity>(quantity)] as const;
      }),
    );
    const levels = book.change(side, quantities, timeIn(words, bench));
    bench.market.setQuote(symbol, { bid: bestOf(book, "BID"), ask: bestOf(book, "ASK") });
    if (followed.missed !== null) return "nothing";
    const { eventTime: time, lastUpdateId: updateId } = book;
    const diff = { type: "DIFF", time, updateId, levels, book } as const;
    queues.change(diff, ALL);
    if (bench.market.book(symbol) === null) return "nothing";
    const change = `DIFF:${updateId}`;
    return inOrder(queues.crossedBy(diff).map((each) => cross(bench, followed, each, change)));
  };
}

function cross(
  bench: Workbench,
  { book, keys }: Followed,
  { order, levels }: Crossing,
  change: string,
): string {
  const { orderId } = order;
  const key = crossingKey(orderId, change);
  if (keys.has(key)) return "nothing";
  keys.add(key);
  return quietIfNothing(bench.carryOut({ type: "MatchCrossing", orderId, levels, book }));
}

/**
 * `seller 0.0004 BTCUSDT @ 60001`: a seller took the bids; it may fill orders, move queues and reach
 * triggers.
 */
function trade(side: BookSide): Step {
  return (bench, words) => {
    const [quantityText = "", symbol = ""] = words;
    const followed = followedOn(bench, symbol);
    const price = priceAfter("@", words) ?? ZERO;
    const quantity = decimal<Quantity>(quantityText);
    followed.trades += words.includes("again") ? 0 : 1;
    const time = timeIn(words, bench);
    const market: MarketTrade = { aggregateId: followed.trades, price, quantity, side, time };
    if (followed.missed !== null) {
      followed.missed.push(market);
      return "nothing";
    }
    const key = matchKey(symbol, market);
    if (followed.keys.has(key)) return "nothing";
    followed.keys.add(key);
    const matches = followed.queues.trade(market, stepOf(bench, symbol), ALL);
    const matched = matches.map((each) => match(bench, symbol, market, each));
    followed.book.trade(market);
    bench.market.setLastPrice(symbol, price);
    return inOrder([...matched, bench.executeHits(bench.index().takeAtTrade(symbol, price))]);
  };
}

function match(
  bench: Workbench,
  symbol: string,
  market: MarketTrade,
  { queues, fills }: Match,
  seenAt?: number,
): string {
  if (fills.length === 0) return "nothing";
  const seen = seenAt === undefined ? {} : { seenAt };
  const outcome = bench.carryOut({ type: "MatchTrade", symbol, trade: market, queues, ...seen });
  for (const { order, quantity } of fills) order.expected = subtract(order.expected, quantity);
  return quietIfNothing(outcome);
}

/**
 * The book is known again: what it displays may cross open orders, and is all that can be in front of them.
 */
const known: Step = (bench, [symbol = ""]) => {
  const followed = followedOn(bench, symbol);
  const { book, queues } = followed;
  bench.market.setBook(symbol, book);
  queues.known(
    { time: book.eventTime, updateId: book.lastUpdateId },
    (side, price) => book.displayedAt(side, price),
    ALL,
  );
  const crossings = queues.crossedAnew((side) => book.displayed(side));
  const change = `KNOWN:${book.lastUpdateId}:null`;
  return inOrder(crossings.map((each) => cross(bench, followed, each, change)));
};

/** The service runs again: it continues where the orders were noted, with the trades since then. */
const up: Step = (bench, [symbol = ""]) => {
  const followed = followedOn(bench, symbol);
  const { book, waiting, missed } = followed;
  followed.missed = null;
  followed.queues = new SymbolQueues();
  for (const each of waiting.values()) {
    followed.queues.add(each, {
      displayed: book.displayedAt(restingSide(each.side), each.price),
      updateId: book.lastUpdateId,
    });
  }
  const outcomes = (missed ?? []).flatMap((market) => {
    const matches = followed.queues.match(market, stepOf(bench, symbol), ALL);
    return matches.map((each) => match(bench, symbol, market, each, market.time));
  });
  for (const each of waiting.values()) {
    moveByChange(each, book.displayedAt(restingSide(each.side), each.price), book.eventTime);
  }
  return inOrder(outcomes);
};

function stepOf({ market }: Workbench, symbol: string): Quantity {
  return market.rules(symbol)?.lotSize?.stepSize ?? ZERO;
}

/** `of 970`: when the exchange made what is received now. */
function timeIn(words: readonly string[], { at }: Workbench): number {
  return words.includes("of") ? wholeNumber(words[words.indexOf("of") + 1] ?? "") : at;
}

function bestOf(book: BookStub, side: BookSide): Price | null {
  for (const { price, displayed } of book.displayed(side)) if (displayed > 0n) return price;
  return null;
}

function quietIfNothing(outcome: string): string {
  return outcome === "NOTHING_TO_FILL" ? "nothing" : outcome;
}

/** What others display in front of an open order now. */
function aheadOnBench(bench: Workbench, orderId: number): Quantity | null | undefined {
  for (const { waiting } of FOLLOWED.get(bench)?.values() ?? []) {
    const order = waiting.get(orderId);
    if (order !== undefined) return order.position.ahead;
  }
  return undefined;
}

/**
 * The steps of a scenario that are on their way to the exchange, and what came of those that have arrived.
 */
type Way = {
  readonly time: ManualTime;
  readonly arrivals: Arrivals<readonly string[]>;
  readonly outcomes: string[];
};

const WAYS = new WeakMap<Workbench, Way>();

function wayOf(bench: Workbench): Way {
  const known = WAYS.get(bench);
  if (known !== undefined) return known;
  const time = createManualTime(0);
  const outcomes: string[] = [];
  const arrivals = new Arrivals<readonly string[]>({
    ...{ now: time.now, timers: time, marketSpeed: 1 },
    arrived(step) {
      bench.at = time.now();
      outcomes.push(bench.run(step));
    },
  });
  const way = { time, arrivals, outcomes };
  WAYS.set(bench, way);
  return way;
}

const STEPS: Readonly<Record<string, Step>> = {
  asks: changeBook("ASK"),
  bids: changeBook("BID"),
  seller: trade("BID"),
  buyer: trade("ASK"),
  unknown(bench, [symbol = ""]) {
    bench.market.setBook(symbol, null);
    return "nothing";
  },
  known,
  down(bench, [symbol = ""]) {
    followedOn(bench, symbol).missed = [];
    return "nothing";
  },
  up,
  queue({ account }, [name]) {
    const { profile } = account;
    const queue = QUEUE_MODELS.find((each) => each === name);
    if (queue === undefined || profile.strict === null) throw new Error(`there is no model ${name}`);
    account.profile = { ...profile, strict: { ...profile.strict, queue } };
    return "nothing";
  },
  ahead(bench, [text = ""]) {
    const orderId = wholeNumber(text);
    const ahead = aheadOnBench(bench, orderId) ?? bench.account.openOrders.get(orderId)?.queue?.ahead;
    return `${orderId} waits behind ${ahead == null ? "unknown" : formatBriefly(ahead)}`;
  },
  sent(bench, [, latencyMs = "", ...step]) {
    const { time, arrivals } = wayOf(bench);
    time.advance(bench.at - time.now());
    arrivals.add(step, arrivals.timeOf(bench.at + wholeNumber(latencyMs)));
    return "nothing";
  },
  ms(bench, [text = ""]) {
    const until = wholeNumber(text);
    const { time, outcomes } = wayOf(bench);
    time.advance(until - time.now());
    // The next step is at this time.
    bench.at = until - 1;
    return inOrder(outcomes.splice(0));
  },
  grant(bench, [amount = "", asset = ""]) {
    const postings = [{ from: "seed", to: "free", asset, amount: decimal<Amount>(amount) }] as const;
    apply(bench.account, { type: "StrategyOpened", at: bench.at, postings });
    return "nothing";
  },
};

function strictly(setup: ScenarioSetup, rules: ScenarioSetup["rules"]): ScenarioSetup {
  const profile = strictProfile(setup.type, STRICT_DEFAULTS);
  if (profile === null) throw new Error("the first tier of fees is always known");
  return {
    ...setup,
    rules: rules.map((each) => ({ ...each, orderTypes: [...each.orderTypes, "LIMIT_MAKER"] })),
    profile,
    aheadOf: aheadOnBench,
    steps: { ...setup.steps, ...STEPS },
  };
}

export const STRICT_SPOT = strictly(SPOT, [...SPOT.rules, symbolRules("ETH")]);
export const STRICT_FUTURES = strictly(FUTURES, [contractRules("BTC"), contractRules("ETH")]);
