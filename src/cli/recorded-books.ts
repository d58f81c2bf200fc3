// The effective book of a recording at any of its update ids, built from its snapshot and diffs,
// independently of the book that a server keeps. Source: strict fills, section 2.
import type { StrategyType } from "../domain/account.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { BookLevel, BookSide, BookStamp } from "../domain/receipt.ts";
import type { Level } from "../market/exchange/source.ts";
import { type BookStep, stitch } from "../market/tape/book.ts";
import type { TapeLine } from "../market/tape/line.ts";
import type { Recording } from "../market/tape/recording.ts";
import { createTapeTrades, lastUntil } from "../market/tape/trades.ts";
import { add, decimal, type Price, type Quantity, ZERO } from "../money/decimal.ts";

/** A tape that is replayed sends changes of spot books at multiples of it, ms. */
const SENT_EVERY_MS = 100;

export type RecordedBook = {
  /** Best first; quantities may be zero. */
  displayed(side: BookSide): Iterable<BookLevel>;
  /** Whether a level at this price would be known. */
  knows(side: BookSide, price: Price): boolean;
};

export type RecordedLevel = { readonly price: Price; readonly quantity: Quantity };
/** A change of the book as a server received it: of the recording, or of the tape that was replayed. */
export type RecordedChange = {
  readonly updateId: number;
  /** The exchange's time, Unix ms. */
  readonly time: number;
  /** What it says of a price; null if it says nothing. */
  quantityAt(side: BookSide, price: Price): Quantity | null;
  /** The ticker that was newer than it when it came; null for none. */
  readonly ticker: Readonly<Record<BookSide, RecordedLevel>> | null;
};
export type RecordedEvent =
  | { readonly kind: "trade"; readonly at: number; readonly trade: MarketTrade }
  | { readonly kind: "change"; readonly at: number; readonly change: RecordedChange };

export type Recorded = {
  /**
   * The book of a stamp, or why the recording does not have it. It is valid until the next call. Cheap only
   * in the order of `lastUpdateId`.
   */
  bookAt(stamp: BookStamp): RecordedBook | string;
  /** An aggregate trade; null if the recording does not have it. */
  trade(aggregateId: number): MarketTrade | null;
  /**
   * Trades and changes of the book in the order of their arrival, as they concern a server that had a book.
   */
  eventsFor(stamp: BookStamp): Iterable<RecordedEvent>;
};

type Ticker = Readonly<Record<BookSide, RecordedLevel>>;
type Sides = Readonly<Record<BookSide, Map<Price, Quantity>>>;

/** Of one market. Throws if the recording has no book of it. */
export function recordedBooks({ lines: all, symbol }: Recording, market: StrategyType): Recorded {
  const lines = all.filter((line) => line.type === market);
  const steps = stitch(lines);
  if (steps.length === 0) throw new Error(`the recording has no ${market.toLowerCase()} book of ${symbol}`);
  const trades = new Trades(lines);
  const tickers = tickersIn(lines);
  const sides: Sides = { BID: new Map(), ASK: new Map() };
  let knownTo: Record<BookSide, Price | null> = { BID: null, ASK: null };
  /** By whether a tape was replayed. */
  const events = new Map<boolean, readonly RecordedEvent[]>();
  let next = 0;
  let lastUpdateId: number | null = null;
  /** The times that a server may have received with the last change. */
  let times: ReadonlySet<number> = new Set();

  function take(step: BookStep): void {
    if (step.kind === "lost") {
      lastUpdateId = null;
      return;
    }
    const { bids, asks, lastUpdateId: updateId } = step.kind === "load" ? step.snapshot : step.diff;
    if (step.kind === "load") {
      sides.BID.clear();
      sides.ASK.clear();
      knownTo = { BID: worstOf(bids), ASK: worstOf(asks) };
    }
    put(sides.BID, bids);
    put(sides.ASK, asks);
    lastUpdateId = updateId;
    times = timesOf(step, market);
  }

  function rewind(): void {
    next = 0;
    lastUpdateId = null;
  }

  return {
    trade: (aggregateId) => trades.find(aggregateId),
    eventsFor: ({ lastUpdateId: updateId, eventTime }) => {
      // A replayed tape gives changes of the book other times than they were recorded with.
      const isReplayed = !steps.some(
        (step) => updateIdOf(step) === updateId && recordedTimeOf(step) === eventTime,
      );
      const made = events.get(isReplayed) ?? eventsOf(lines, steps, { market, isReplayed });
      events.set(isReplayed, made);
      return made;
    },
    bookAt(stamp) {
      if (lastUpdateId !== null && lastUpdateId > stamp.lastUpdateId) rewind();
      for (let step = steps[next]; step !== undefined; step = steps[next]) {
        if (updateIdOf(step) > stamp.lastUpdateId) break;
        take(step);
        next += 1;
      }
      if (lastUpdateId !== stamp.lastUpdateId) {
        return `the recording has no book with the update id ${stamp.lastUpdateId}`;
      }
      if (!times.has(stamp.eventTime)) {
        const known = [...times].join(" or ");
        return `book.eventTime ${stamp.eventTime} is not that of the recording's update ${lastUpdateId} (${known}): a spot snapshot has none of its own`;
      }
      const { tickerUpdateId, lastTradeId, eventTime } = stamp;
      const ticker = tickerUpdateId === null ? null : tickers.get(tickerUpdateId);
      if (ticker === undefined) return `the recording has no ticker with the update id ${tickerUpdateId}`;
      const newer = trades.between(eventTime, lastTradeId);
      if (newer === null) return `the recording does not have the market's trade ${lastTradeId}`;
      return {
        displayed: (side) => displayed(side, sides[side], ticker, newer),
        knows: (side, price) => {
          const worst = knownTo[side];
          return (
            worst === null || (side === "BID" ? price >= worst : price <= worst) || sides[side].has(price)
          );
        },
      };
    },
  };
}

/** The rules of the effective book. */
function* displayed(
  side: BookSide,
  levels: ReadonlyMap<Price, Quantity>,
  ticker: Ticker | null,
  newer: readonly MarketTrade[],
): Generator<BookLevel> {
  const isBetter = (one: Price, other: Price) => (side === "BID" ? one > other : one < other);
  const best = ticker?.[side] ?? null;
  if (best !== null) {
    yield { price: best.price, displayed: best.quantity, fromTicker: true, newerTrades: ZERO };
  }
  const prices = [...levels.keys()].filter((price) => best === null || isBetter(best.price, price));
  prices.sort((one, other) => (isBetter(one, other) ? -1 : 1));
  for (const price of prices) {
    const quantity = levels.get(price) ?? ZERO;
    const newerTrades = newer
      .filter((trade) => trade.side === side && trade.price === price)
      .reduce((sum, trade) => add(sum, trade.quantity), ZERO as Quantity);
    const left = (quantity > newerTrades ? quantity - newerTrades : 0n) as Quantity;
    yield { price, displayed: left, fromTicker: false, newerTrades };
  }
}

/**
 * The aggregate trades as a server received them. A replayed tape of single trades numbers its aggregates
 * itself; a recording beside a live server has the exchange's.
 */
class Trades {
  readonly #lists: readonly (readonly MarketTrade[])[];

  constructor(lines: readonly TapeLine[]) {
    const made = createTapeTrades(lines);
    const replayed = lines.flatMap((line) =>
      made
        .toldBy(line)
        .flatMap((event) => (event.kind === "aggregate" ? [marketTrade(event.aggregate)] : [])),
    );
    const recorded = lines.flatMap((line) =>
      line.kind === "aggregate" ? [marketTrade(line.aggregate)] : [],
    );
    this.#lists = [recorded, replayed];
  }

  find(aggregateId: number): MarketTrade | null {
    return this.#listOf(aggregateId)?.find((trade) => trade.aggregateId === aggregateId) ?? null;
  }

  /** Those after a time and up to an id; null if that id is not known. */
  between(time: number, lastId: number | null): readonly MarketTrade[] | null {
    if (lastId === null) return [];
    const list = this.#listOf(lastId);
    if (list === null) return null;
    return list.filter((trade) => trade.time > time && trade.aggregateId <= lastId);
  }

  #listOf(aggregateId: number): readonly MarketTrade[] | null {
    const isIn = (list: readonly MarketTrade[]) =>
      (list[0]?.aggregateId ?? Infinity) <= aggregateId && aggregateId <= (list.at(-1)?.aggregateId ?? -1);
    return this.#lists.find(isIn) ?? null;
  }
}

function marketTrade(aggregate: {
  readonly id: number;
  readonly price: string;
  readonly quantity: string;
  readonly at: number;
  readonly isBuyerMaker: boolean;
}): MarketTrade {
  const { id, price, quantity, at, isBuyerMaker } = aggregate;
  return {
    aggregateId: id,
    price: decimal(price),
    quantity: decimal(quantity),
    side: isBuyerMaker ? "BID" : "ASK",
    time: at,
  };
}

/** By update id; of several with one id the first counts. */
function tickersIn(lines: readonly TapeLine[]): ReadonlyMap<number, Ticker> {
  const tickers = new Map<number, Ticker>();
  for (const line of lines) {
    if (line.kind !== "touch" || tickers.has(line.touch.updateId)) continue;
    const { updateId, bid, ask } = line.touch;
    tickers.set(updateId, { BID: levelOf(bid), ASK: levelOf(ask) });
  }
  return tickers;
}

/** In the order of arrival; of one instant trades come first where a tape was replayed. */
function eventsOf(
  lines: readonly TapeLine[],
  steps: readonly BookStep[],
  { market, isReplayed }: { readonly market: StrategyType; readonly isReplayed: boolean },
): readonly RecordedEvent[] {
  const touches = lines.filter((line) => line.kind === "touch");
  const tickerAt = (at: number, updateId: number): Ticker | null => {
    const touch = lastUntil(touches, at)?.touch;
    if (touch === undefined || touch.updateId <= updateId) return null;
    return { BID: levelOf(touch.bid), ASK: levelOf(touch.ask) };
  };
  const changes = steps.filter((step) => step.kind === "change");
  const sentAt = (at: number) => (isReplayed ? Math.ceil(at / SENT_EVERY_MS) * SENT_EVERY_MS : at);
  const groups = isReplayed
    ? [...Map.groupBy(changes, (step) => sentAt(step.at)).values()]
    : changes.map((step) => [step]);
  const changed = groups.flatMap((group): RecordedEvent[] => {
    const last = group.at(-1);
    if (last === undefined) return [];
    const at = sentAt(last.at);
    const { lastUpdateId: updateId, time: recorded = at } = last.diff;
    const replayed = market === "SPOT" ? at : last.at;
    const find = (side: BookSide, price: Price) => {
      const levels = group.flatMap(({ diff }) => (side === "BID" ? diff.bids : diff.asks));
      return levels.map(levelOf).findLast((level) => level.price === price)?.quantity ?? null;
    };
    const change = {
      ...{ updateId, time: isReplayed ? replayed : recorded, quantityAt: find },
      ticker: tickerAt(at, updateId),
    };
    return [{ kind: "change", at, change }];
  });
  const made = createTapeTrades(lines);
  const traded = lines.flatMap((line): RecordedEvent[] => {
    const aggregates = isReplayed
      ? made.toldBy(line).flatMap((event) => (event.kind === "aggregate" ? [event.aggregate] : []))
      : line.kind === "aggregate"
        ? [line.aggregate]
        : [];
    return aggregates.map((aggregate) => ({ kind: "trade", at: line.at, trade: marketTrade(aggregate) }));
  });
  return [...traded, ...changed].toSorted((one, other) => one.at - other.at);
}

function recordedTimeOf(step: BookStep): number | undefined {
  if (step.kind === "lost") return undefined;
  return step.kind === "change" ? step.diff.time : step.snapshot.time;
}

function timesOf(
  step: Exclude<BookStep, { readonly kind: "lost" }>,
  market: StrategyType,
): ReadonlySet<number> {
  const recorded = recordedTimeOf(step);
  const replayed =
    market === "FUTURES"
      ? step.at
      : step.kind === "change"
        ? Math.ceil(step.at / SENT_EVERY_MS) * SENT_EVERY_MS
        : undefined;
  return new Set([recorded, replayed].filter((time) => time !== undefined));
}

function updateIdOf(step: BookStep): number {
  if (step.kind === "lost") return -1;
  return step.kind === "load" ? step.snapshot.lastUpdateId : step.diff.lastUpdateId;
}

function put(side: Map<Price, Quantity>, levels: readonly Level[]): void {
  for (const level of levels) {
    const { price, quantity } = levelOf(level);
    if (quantity === 0n) side.delete(price);
    else side.set(price, quantity);
  }
}

function levelOf([price, quantity]: Level): RecordedLevel {
  return { price: decimal(price), quantity: decimal(quantity) };
}

function worstOf(levels: readonly Level[]): Price | null {
  const worst = levels.at(-1);
  return worst === undefined ? null : levelOf(worst).price;
}
