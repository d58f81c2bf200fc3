// Scenarios of strategies under `strict`: a book in the scenario's own hands, trades of the market, and the queues
// that open orders wait in, kept as the trigger index keeps them.
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { Arrivals } from "../../desk/arrivals.ts";
import { crossingKey, matchKey, type QueuePosition } from "../../domain/command.ts";
import type { BookView } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { BookLevel, BookSide } from "../../domain/receipt.ts";
import { type Amount, add, decimal, type Price, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { apply } from "../apply.ts";
import { aheadAfterChange, byPriority, isTradedBy, matchTrade } from "../matching/queue.ts";
import { STRICT_DEFAULTS, strictProfile } from "../matching/terms.ts";
import { isWithin, isWorking, restingSide, takenSide } from "../matching/walk.ts";
import { contractRules } from "./contract-rules.ts";
import { FUTURES } from "./futures-family.ts";
import { symbolRules } from "./market-stub.ts";
import { SPOT } from "./spot-family.ts";
import { type Family, inOrder, priceAfter, type Step, type Workbench, wholeNumber } from "./workbench.ts";

type Sides = Record<BookSide, Map<Price, Quantity>>;

/** A symbol's book: what the last change said, less what was traded since. */
class BookStub implements BookView {
  lastUpdateId = 0;
  eventTime = 0;
  readonly tickerUpdateId = null;
  lastTradeId: number | null = null;
  readonly #levels: Sides = { BID: new Map(), ASK: new Map() };
  readonly #traded: Sides = { BID: new Map(), ASK: new Map() };

  get receivedAt(): number {
    return this.eventTime;
  }

  *displayed(side: BookSide): Generator<BookLevel> {
    const isDescending = side === "BID";
    const prices = [...this.#levels[side].keys()].sort((one, other) =>
      one < other === isDescending ? 1 : -1,
    );
    for (const price of prices) {
      const newerTrades = this.#traded[side].get(price) ?? ZERO;
      yield { price, displayed: this.displayedAt(side, price), fromTicker: false, newerTrades };
    }
  }

  displayedAt(side: BookSide, price: Price): Quantity {
    const said = this.#levels[side].get(price) ?? ZERO;
    const traded = this.#traded[side].get(price) ?? ZERO;
    return said > traded ? subtract(said, traded) : ZERO;
  }

  /** Replaces a side. Answers the prices that have changed, with what was said and traded there before. */
  change(side: BookSide, levels: ReadonlyMap<Price, Quantity>, at: number): Map<Price, Changed> {
    const before = this.#levels[side];
    const changed = new Map<Price, Changed>();
    for (const price of new Set([...before.keys(), ...levels.keys()])) {
      const said = before.get(price) ?? ZERO;
      const after = levels.get(price) ?? ZERO;
      if (said === after) continue;
      changed.set(price, { before: said, after, traded: this.#traded[side].get(price) ?? ZERO });
    }
    this.#levels[side] = new Map(levels);
    this.#traded.BID.clear();
    this.#traded.ASK.clear();
    this.lastUpdateId += 1;
    this.eventTime = at;
    return changed;
  }

  trade(side: BookSide, price: Price, quantity: Quantity): void {
    this.#traded[side].set(price, add(this.#traded[side].get(price) ?? ZERO, quantity));
  }
}

type Changed = { readonly before: Quantity; readonly after: Quantity; readonly traded: Quantity };

/** What is known of a symbol while a scenario runs. */
type Followed = {
  readonly book: BookStub;
  readonly queues: Map<number, QueuePosition>;
  readonly keys: Set<string>;
  trades: number;
};

const FOLLOWED = new WeakMap<Workbench, Map<string, Followed>>();

function followedOn(bench: Workbench, symbol: string): Followed {
  const bySymbol = FOLLOWED.get(bench) ?? new Map<string, Followed>();
  FOLLOWED.set(bench, bySymbol);
  const known = bySymbol.get(symbol);
  if (known !== undefined) return known;
  const followed = { book: new BookStub(), queues: new Map(), keys: new Set<string>(), trades: 0 };
  bySymbol.set(symbol, followed);
  bench.market.setBook(symbol, followed.book);
  return followed;
}

/** `asks BTCUSDT 60000x0.0005 …`: what a side displays from now on. Changed levels may cross open orders. */
function changeBook(side: BookSide): Step {
  return (bench, [symbol = "", ...words]) => {
    const followed = followedOn(bench, symbol);
    const levels = new Map(
      words.map((word) => {
        const [price = "", quantity = ""] = word.split("x");
        return [decimal<Price>(price), decimal<Quantity>(quantity)] as const;
      }),
    );
    const changed = followed.book.change(side, levels, bench.at);
    bench.market.setQuote(symbol, { bid: bestOf(followed.book, "BID"), ask: bestOf(followed.book, "ASK") });
    for (const order of restingOrders(bench, symbol)) {
      const change = changed.get(order.price);
      const ahead = queueOf(followed, order).ahead;
      if (restingSide(order.side) !== side || change === undefined || ahead === null) continue;
      const { queue = "trades" } = bench.account.profile.strict ?? {};
      move(followed, order, { ahead: aheadAfterChange(queue, ahead, change) });
    }
    return inOrder(crossedOrders(bench, symbol, side).map((order) => cross(bench, followed, order, changed)));
  };
}

function cross(
  bench: Workbench,
  { book, keys }: Followed,
  { orderId, side, price, symbol }: Order,
  changed: ReadonlyMap<Price, unknown>,
): string {
  const levels = [...book.displayed(takenSide(side))].filter(
    (level) => changed.has(level.price) && isWithin(side, price, level.price),
  );
  const key = `${symbol} ${crossingKey(orderId, book.lastUpdateId)}`;
  if (levels.length === 0 || keys.has(key)) return "nothing";
  keys.add(key);
  return quietIfNothing(bench.carryOut({ type: "MatchCrossing", orderId, levels, book }));
}

/** `seller 0.0004 BTCUSDT @ 60001`: a seller took the bids; it may fill orders, move queues and reach triggers. */
function trade(side: BookSide): Step {
  return (bench, words) => {
    const [quantityText = "", symbol = ""] = words;
    const followed = followedOn(bench, symbol);
    const price = priceAfter("@", words) ?? ZERO;
    const quantity = decimal<Quantity>(quantityText);
    followed.trades += words.includes("again") ? 0 : 1;
    const market = { aggregateId: followed.trades, price, quantity, side, time: bench.at };
    const key = matchKey(symbol, market);
    if (followed.keys.has(key)) return "nothing";
    followed.keys.add(key);
    const reached = restingOrders(bench, symbol).filter((order) => isTradedBy(order, market));
    const queues = new Map(reached.map((order) => [order.orderId, queueOf(followed, order)]));
    const matched = quietIfNothing(bench.carryOut({ type: "MatchTrade", symbol, trade: market, queues }));
    // A trade that only moves queues has no events: they are computed again here, as the trigger index does.
    let left = quantity;
    for (const order of reached.sort(byPriority)) {
      const position = queueOf(followed, order);
      const remaining = subtract(order.quantity, order.executedQuantity);
      const after = matchTrade(market, left, { price: order.price, remaining, ahead: position.ahead }, ZERO);
      if (after === null) continue;
      left = subtract(left, after.fill);
      move(followed, order, { ahead: after.ahead, tradedAtPrice: add(position.tradedAtPrice, quantity) });
    }
    followed.book.trade(side, price, quantity);
    bench.market.setLastPrice(symbol, price);
    return inOrder([matched, bench.executeHits(bench.index().takeAtTrade(symbol, price))]);
  };
}

function restingOrders({ account }: Workbench, symbol: string): Order[] {
  return [...account.openOrders.values()].filter(
    (order) => order.symbol === symbol && order.queue !== undefined && isWorking(order),
  );
}

function crossedOrders(bench: Workbench, symbol: string, side: BookSide): Order[] {
  return restingOrders(bench, symbol)
    .filter((order) => takenSide(order.side) === side)
    .sort(byPriority);
}

function queueOf({ queues }: Followed, order: Order): QueuePosition {
  const ahead = order.queue?.ahead ?? null;
  return queues.get(order.orderId) ?? { ahead, tradedAtPrice: ZERO, canceledAhead: ZERO };
}

function move(followed: Followed, order: Order, changed: Partial<QueuePosition>): void {
  followed.queues.set(order.orderId, { ...queueOf(followed, order), ...changed });
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
  for (const { queues } of FOLLOWED.get(bench)?.values() ?? []) {
    const position = queues.get(orderId);
    if (position !== undefined) return position.ahead;
  }
  return undefined;
}

/** The steps of a scenario that are on their way to the exchange, and what came of those that have arrived. */
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
  known(bench, [symbol = ""]) {
    bench.market.setBook(symbol, followedOn(bench, symbol).book);
    return "nothing";
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

function strictly(family: Family, rules: Family["rules"]): Family {
  const profile = strictProfile(family.type, STRICT_DEFAULTS);
  if (profile === null) throw new Error("the first tier of fees is always known");
  return {
    ...family,
    rules: rules.map((each) => ({ ...each, orderTypes: [...each.orderTypes, "LIMIT_MAKER"] })),
    profile,
    aheadOf: aheadOnBench,
    steps: { ...family.steps, ...STEPS },
  };
}

export const STRICT_SPOT = strictly(SPOT, [...SPOT.rules, symbolRules("ETH")]);
export const STRICT_FUTURES = strictly(FUTURES, [contractRules("BTC"), contractRules("ETH")]);
