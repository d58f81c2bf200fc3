// The equity of a strategy over a span: what it owned at each point, and the prices that value it.
import type { Account, StrategyType } from "../domain/account.ts";
import type { Trade } from "../domain/order.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import { inverseDown, type Price } from "../money/decimal.ts";
import type { TradingStore } from "../store/ports/trading.ts";
import type { CandleCloses } from "./closes.ts";
import { futuresBook } from "./futures.ts";
import type { TradeHistory } from "./history.ts";
import { type Book, equityOf, ownedAt } from "./owned.ts";
import { Prices, presentPrice } from "./prices.ts";
import type { Limits, Span } from "./span.ts";
import { inverseOf, spotBook } from "./spot.ts";

/** Symbols that a report asks the market about; the others are valued at the strategy's own trades. */
const SYMBOLS_PER_REPORT_MAX = 50;

export type ReportsMarket = Pick<MarketFeed, "now" | "query" | "quote" | "lastPrice" | "markPrice">;

export type LookParts = {
  readonly store: Pick<TradingStore, "findOpeningTime">;
  readonly markets: { readonly [T in StrategyType]: ReportsMarket };
  readonly history: TradeHistory;
  readonly closes: CandleCloses;
};

export type LookOptions = {
  readonly tradesMax: number;
  readonly spanOf: (limits: Limits) => Span;
};

/** Evaluates an account in the state that was read. */
export async function lookAt(account: Account, options: LookOptions, parts: LookParts) {
  const { store, markets, history } = parts;
  const { strategyId, type, status } = account;
  // A strategy that is closed has come to its end: what it still holds is valued as of then.
  const to = status === "CLOSED" ? account.updatedAt : markets[type].now();
  const { trades, isWhole } = await history.trades(account, options.tradesMax);
  // `lyrebird seed` opens by the wall clock, which may be ahead of a tape's. Incomes follow a first trade.
  const openedAt = Math.min((await store.findOpeningTime(strategyId)) ?? to, trades[0]?.at ?? to, to);
  const earliest = isWhole ? openedAt : (trades[0]?.at ?? openedAt);
  const span = options.spanOf({ type, earliest, to });
  const isFromSeed = isWhole && span.from <= openedAt;
  const isIn = (at: number) => isFromSeed || at > span.from;
  const first = trades.findIndex(({ at }) => isIn(at));
  const start = first === -1 ? trades.length : first;

  const book = await bookOf(account, { trades, isIn, from: span.from }, history);
  const owned = ownedAt(book.walk(), span.times, trades, start);
  const end = owned.at(-1);
  if (end === undefined) throw new Error("a span has an end");
  const symbols = new Set([...owned.flatMap(({ held }) => [...held.keys()]), ...book.symbolsBeside(start)]);
  const prices = await pricesOf(account, { symbols: [...symbols], span, trades }, parts);
  return {
    span,
    equities: owned.map((each) => ({ at: each.at, equity: equityOf(each, prices.at) })),
    book,
    /** The index of the first trade after the beginning of the span. */
    start,
    /** Holdings at the end. */
    end,
    prices,
    /** False if history before the span belongs to it and was not read. */
    isWhole: isWhole || span.from > earliest,
  };
}

async function bookOf(
  account: Account,
  about: { readonly trades: readonly Trade[]; readonly isIn: (at: number) => boolean; readonly from: number },
  history: TradeHistory,
): Promise<Book> {
  const { trades, isIn, from } = about;
  if (account.type === "SPOT") return spotBook(account, trades);
  const incomes = await history.incomes(account, from, trades);
  const moved = incomes.filter((income) => income.type !== "TRANSFER" && isIn(income.at));
  return futuresBook(account, trades, moved);
}

type About = { readonly symbols: readonly string[]; readonly span: Span; readonly trades: readonly Trade[] };

/** Coins whose pair does not exist are valued by the one the other way round. */
async function pricesOf(account: Account, about: About, parts: LookParts): Promise<Prices> {
  const { symbols, span, trades } = about;
  const presentAt = span.to;
  const { closes, present, late } = await knownPrices(account, about, parts);
  const isKnown = (symbol: string) =>
    present.has(symbol) || closes.get(symbol)?.length || trades.some((trade) => trade.symbol === symbol);
  const unknown = account.type === "SPOT" ? symbols.filter((symbol) => !isKnown(symbol)) : [];
  if (unknown.length === 0) return new Prices({ closes, trades, present, presentAt, late });
  const inverse = await knownPrices(account, { ...about, symbols: unknown.map(inverseOf) }, parts);
  const allTrades = [...trades];
  for (const symbol of unknown) {
    const name = inverseOf(symbol);
    const price = inverse.present.get(name);
    if (price !== undefined) present.set(symbol, inverseDown(price));
    closes.set(symbol, (inverse.closes.get(name) ?? []).map(inverted));
    if (inverse.late.has(name)) late.add(symbol);
    const traded = trades.filter((trade) => trade.symbol === name);
    allTrades.push(...traded.map((trade) => ({ ...inverted(trade), symbol })));
  }
  return new Prices({ closes, trades: allTrades, present, presentAt, late });
}

function inverted<Priced extends { readonly price: Price }>(priced: Priced): Priced {
  return { ...priced, price: inverseDown(priced.price) };
}

async function knownPrices(
  { type, status }: Account,
  { symbols, span, trades }: About,
  { markets, closes }: LookParts,
) {
  const isLive = status !== "CLOSED";
  const present = new Map<string, Price>();
  for (const symbol of symbols) {
    // A remainder too small to sell keeps the value of its last price.
    const price = isLive
      ? presentPrice(type, symbol, markets[type])
      : (trades.findLast((trade) => trade.symbol === symbol)?.price ?? null);
    if (price !== null) present.set(symbol, price);
  }
  const asked = symbols.slice(0, SYMBOLS_PER_REPORT_MAX);
  const isNewestWanted = (symbol: string) => isLive && !present.has(symbol);
  const found = await closes.of(type, asked, span, isNewestWanted);
  for (const symbol of asked.filter(isNewestWanted)) {
    const newest = found.closes.get(symbol)?.at(-1);
    if (newest !== undefined && !found.late.has(symbol)) present.set(symbol, newest.price);
  }
  return { closes: new Map(found.closes), present, late: new Set(found.late) };
}
