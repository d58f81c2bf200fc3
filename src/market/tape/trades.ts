/**
 * The trades of one type of a tape, by their own times, and statistics of spans of time.
 * Recorded single trades are aggregated by instant, price and side, and numbered from 1. Recorded aggregates
 * are passed on, and each counts as one trade in the lists.
 */
import { decimal, formatDecimal } from "../../money/decimal.ts";
import type { AggregateTrade, FeedEvent, Statistics, Trade, TradeQuery } from "../exchange/source.ts";
import type { TapeLine } from "./line.ts";

type Line<Kind extends TapeLine["kind"]> = Extract<TapeLine, { readonly kind: Kind }>;
type Gathered = {
  readonly trades: readonly Trade[];
  readonly aggregates: readonly AggregateTrade[];
  readonly told: ReadonlyMap<TapeLine, readonly FeedEvent[]>;
};

// A trade's part of a span: `quote` in units of 1e-16, `count` the number of trades it represents.
type Part = {
  readonly at: number;
  readonly text: string;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly quote: bigint;
  readonly isBuyerMaker: boolean;
  readonly firstTradeId: number;
  readonly lastTradeId: number;
};

const quoteUnits = 100_000_000n;
/** A stream of the day's ticker adds up a day each second, so parts are added up once in blocks. */
const partsPerBlock = 512;

/** Of the lines of one type. */
export function createTapeTrades(lines: readonly TapeLine[]) {
  const single = lines.filter((line) => line.kind === "trade");
  const { trades, aggregates, told } =
    single.length > 0
      ? fromSingle(single)
      : fromAggregates(lines.filter((line) => line.kind === "aggregate"));
  const parts = single.length > 0 ? trades.map(partOfTrade) : aggregates.map(partOfAggregate);

  const sums = createSums(parts);

  return {
    /** Unix ms; undefined without trades. */
    firstAt: trades[0]?.at,
    /** The trade messages of a line; an aggregate that was put together is sent with its last trade. */
    toldBy: (line: TapeLine): readonly FeedEvent[] => told.get(line) ?? [],
    lastTrade: (at: number): Trade | undefined => lastUntil(trades, at),
    trades: (at: number, query: TradeQuery): readonly Trade[] => select(trades, at, query),
    aggregateTrades: (at: number, query: TradeQuery): readonly AggregateTrade[] =>
      select(aggregates, at, query),
    /** Trades with `from <= time < until`; undefined when there are none. */
    statistics: (from: number, until: number): Statistics | undefined =>
      sums(countUntil(parts, from - 1), countUntil(parts, until - 1)),
  };
}

function fromSingle(lines: readonly Line<"trade">[]): Gathered {
  const trades = lines.map(({ trade }) => ({ ...trade, quoteQuantity: quoteOf(trade) }));
  const aggregates: AggregateTrade[] = [];
  const told = new Map<TapeLine, FeedEvent[]>();
  let group: Trade[] = [];
  for (const [index, line] of lines.entries()) {
    const trade = trades[index];
    if (!trade) continue;
    const { at, verbatim } = line;
    const events: FeedEvent[] = [{ kind: "trade", at, trade, verbatim }];
    told.set(line, events);
    group.push(trade);
    const following = trades[index + 1];
    if (following && isSameTake(trade, following)) continue;
    const aggregate = aggregateOf(group, aggregates.length + 1);
    aggregates.push(aggregate);
    events.push({ kind: "aggregate", at, aggregate });
    group = [];
  }
  return { trades, aggregates, told };
}

function fromAggregates(lines: readonly Line<"aggregate">[]): Gathered {
  const aggregates = lines.map(({ aggregate }) => aggregate);
  return {
    aggregates,
    trades: aggregates.map(({ at, price, quantity, isBuyerMaker, lastTradeId }) => {
      return {
        id: lastTradeId,
        at,
        price,
        quantity,
        isBuyerMaker,
        quoteQuantity: quoteOf({ price, quantity }),
      };
    }),
    told: new Map(
      lines.map((line) => [
        line,
        [{ kind: "aggregate", at: line.at, aggregate: line.aggregate, verbatim: line.verbatim }],
      ]),
    ),
  };
}

function isSameTake(a: Trade, b: Trade): boolean {
  return a.at === b.at && a.price === b.price && a.isBuyerMaker === b.isBuyerMaker;
}

function aggregateOf(group: readonly Trade[], id: number): AggregateTrade {
  const [first] = group;
  const last = group.at(-1);
  if (!first || !last) throw new Error("an aggregate of no trades");
  const quantity = group.reduce((total, trade) => total + decimal(trade.quantity), 0n);
  const { at, price, isBuyerMaker } = first;
  return {
    id,
    firstTradeId: first.id,
    lastTradeId: last.id,
    at,
    price,
    quantity: formatDecimal(quantity),
    isBuyerMaker,
  };
}

// From an id or a start onwards, or the newest up to the end.
function select<Row extends { readonly id: number; readonly at: number }>(
  rows: readonly Row[],
  at: number,
  query: TradeQuery,
): readonly Row[] {
  const { fromId = 0, startTime = -Infinity, endTime = at, limit } = query;
  const known = rows.slice(countUntil(rows, startTime - 1), countUntil(rows, Math.min(at, endTime)));
  if (query.fromId === undefined && query.startTime === undefined) return known.slice(-limit);
  return known.filter((row) => row.id >= fromId).slice(0, limit);
}

// The parts of a span added up; quote amounts are kept in full and cut at the end.
type Sum = {
  readonly openText: string;
  closeText: string;
  high: bigint;
  low: bigint;
  volume: bigint;
  quote: bigint;
  buyVolume: bigint;
  buyQuote: bigint;
  tradeCount: number;
  readonly firstTradeId: number;
  lastTradeId: number;
};

/** Sums of parts from one index up to another, in steps of whole blocks where they fit. */
function createSums(parts: readonly Part[]): (from: number, until: number) => Statistics | undefined {
  const blocks = new Map<number, Sum>();

  function blockAt(from: number): Sum | undefined {
    const known = blocks.get(from);
    if (known) return known;
    const sum = parts
      .slice(from, from + partsPerBlock)
      .reduce<Sum | undefined>((total, part) => joined(total, sumOfPart(part)), undefined);
    if (sum) blocks.set(from, sum);
    return sum;
  }

  return (from, until) => {
    let total: Sum | undefined;
    for (let index = from; index < until; ) {
      const isWhole = index % partsPerBlock === 0 && index + partsPerBlock <= until;
      const part = parts[index];
      const next = isWhole ? blockAt(index) : part && sumOfPart(part);
      if (next) total = joined(total, next);
      index += isWhole ? partsPerBlock : 1;
    }
    return total && statisticsOf(total);
  };
}

function sumOfPart(part: Part): Sum {
  const { price, text, quantity, quote, isBuyerMaker, firstTradeId, lastTradeId } = part;
  return {
    openText: text,
    closeText: text,
    high: price,
    low: price,
    volume: quantity,
    quote,
    buyVolume: isBuyerMaker ? 0n : quantity,
    buyQuote: isBuyerMaker ? 0n : quote,
    tradeCount: lastTradeId - firstTradeId + 1,
    firstTradeId,
    lastTradeId,
  };
}

/** Adds a later sum to a total, which it changes and returns. */
function joined(total: Sum | undefined, later: Sum): Sum {
  if (!total) return { ...later };
  if (later.high > total.high) total.high = later.high;
  if (later.low < total.low) total.low = later.low;
  total.closeText = later.closeText;
  total.volume += later.volume;
  total.quote += later.quote;
  total.buyVolume += later.buyVolume;
  total.buyQuote += later.buyQuote;
  total.tradeCount += later.tradeCount;
  total.lastTradeId = later.lastTradeId;
  return total;
}

function statisticsOf(sum: Sum): Statistics {
  return {
    open: sum.openText,
    high: formatDecimal(sum.high),
    low: formatDecimal(sum.low),
    close: sum.closeText,
    volume: formatDecimal(sum.volume),
    quoteVolume: formatDecimal(sum.quote / quoteUnits),
    takerBuyVolume: formatDecimal(sum.buyVolume),
    takerBuyQuoteVolume: formatDecimal(sum.buyQuote / quoteUnits),
    tradeCount: sum.tradeCount,
    firstTradeId: sum.firstTradeId,
    lastTradeId: sum.lastTradeId,
  };
}

function partOfTrade(trade: Trade): Part {
  return partOfAggregate({ ...trade, firstTradeId: trade.id, lastTradeId: trade.id });
}

function partOfAggregate(aggregate: AggregateTrade): Part {
  const { at, price: text, isBuyerMaker, firstTradeId, lastTradeId } = aggregate;
  const price = decimal(text);
  const quantity = decimal(aggregate.quantity);
  return { at, text, price, quantity, quote: price * quantity, isBuyerMaker, firstTradeId, lastTradeId };
}

function quoteOf({ price, quantity }: { readonly price: string; readonly quantity: string }): string {
  return formatDecimal((decimal(price) * decimal(quantity)) / quoteUnits);
}

/** Searches rows that ascend in time. */

/** How many of the rows lie at or before a time. */
export function countUntil(rows: readonly { readonly at: number }[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.at ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last row at or before a time. */
export function lastUntil<Row extends { readonly at: number }>(
  rows: readonly Row[],
  at: number,
): Row | undefined {
  return rows[countUntil(rows, at) - 1];
}
