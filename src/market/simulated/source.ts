/** The simulated exchange as its server sees it: integers turned into the wire's decimals. */
import type {
  AggregateTrade,
  FeedEvent,
  FuturesSource,
  Source,
  Statistics,
  Trade,
  TradeQuery,
} from "../exchange/source.ts";
import { createBook, priceText, quantityText, type SimulatedBook } from "./book.ts";
import { perpetualExchangeInfo, spotExchangeInfo } from "./exchange-info.ts";
import { type Listing, perpetualListings, spotListings } from "./listing.ts";
import { createMarket, type SimulatedMarket, type Totals } from "./market.ts";
import { createPath, type Path } from "./path.ts";
import { createPerpetual, type Perpetual } from "./perpetual.ts";
import { decimalText } from "./text.ts";
import type { SimulatedTrade } from "./trades.ts";

type Stall = { readonly market: SimulatedMarket; readonly path: Path; readonly book: SimulatedBook };

/** Both markets of the simulated exchange for one seed. The same seed is the same market, always. */
export function createSimulatedSources(seed: string): { SPOT: Source; FUTURES: FuturesSource } {
  const spotStalls = new Map(
    spotListings.map((listing) => [listing.symbol, createStall(seed, listing, createPath(seed, listing))]),
  );
  const perpetualStalls = new Map<string, Stall>();
  const perpetuals = new Map<string, Perpetual>();
  for (const listing of perpetualListings) {
    const { market, path } = known(spotStalls.get(listing.symbol), listing.symbol);
    const perpetual = createPerpetual(seed, listing, { listing: market.listing, path });
    perpetuals.set(listing.symbol, perpetual);
    perpetualStalls.set(listing.symbol, createStall(seed, listing, perpetual.path));
  }
  const perpetualOf = (symbol: string) => known(perpetuals.get(symbol), symbol);

  return {
    SPOT: { ...sourceOf("SPOT", spotStalls), exchangeInfo: spotExchangeInfo },
    FUTURES: {
      ...sourceOf("FUTURES", perpetualStalls),
      exchangeInfo: perpetualExchangeInfo,
      premium: (symbol, at) => perpetualOf(symbol).premium(at),
      markStatistics: (symbol, kind, from, until) => perpetualOf(symbol).markStatistics(kind, from, until),
      fundingTerms: (symbol) => perpetualOf(symbol).fundingTerms,
      fundingRates: (symbol, at, query) => perpetualOf(symbol).fundingRates(at, query),
      openInterest: (symbol, at) => perpetualOf(symbol).openInterest(at),
    },
  };
}

function createStall(seed: string, listing: Listing, path: Path): Stall {
  const market = createMarket(seed, listing, path);
  return { market, path, book: createBook(seed, market) };
}

function sourceOf(type: Source["type"], stalls: ReadonlyMap<string, Stall>): Omit<Source, "exchangeInfo"> {
  const stallOf = (symbol: string) => known(stalls.get(symbol), symbol);
  const marketOf = (symbol: string) => stallOf(symbol).market;

  return {
    type,
    symbols: [...stalls.keys()],
    endsAt: Infinity,
    listedAt: (symbol) => marketOf(symbol).listedAt,
    touch: (symbol, at) => stallOf(symbol).book.touch(at),
    book: (symbol, at, levels) => stallOf(symbol).book.book(at, levels),
    bookChange: (symbol, from, until) => stallOf(symbol).book.change(from, until),
    lastTrade(symbol, at) {
      const { market } = stallOf(symbol);
      const trade = market.lastTrade(at);
      return trade && wireTrade(market.listing, trade);
    },
    trades(symbol, at, query) {
      const { market } = stallOf(symbol);
      return selectTrades(market, at, query).map((trade) => wireTrade(market.listing, trade));
    },
    aggregateTrades(symbol, at, query) {
      const { market } = stallOf(symbol);
      return selectTrades(market, at, query).map((trade) => wireAggregate(market.listing, trade));
    },
    statistics(symbol, from, until) {
      const { market } = stallOf(symbol);
      const totals = market.totals(from, until);
      return totals && wireStatistics(market.listing, totals);
    },
    feed(symbol, from, until, kinds) {
      const { market, book } = stallOf(symbol);
      const events: FeedEvent[] = [];
      for (const trade of market.tradesBetween(from, until)) {
        const at = trade.at;
        // A touch is known before the trade that made it, as on the reference exchange.
        if (kinds.has("touch")) events.push({ kind: "touch", at, touch: book.touchAfter(trade) });
        if (kinds.has("trade")) events.push({ kind: "trade", at, trade: wireTrade(market.listing, trade) });
        if (kinds.has("aggregate")) {
          events.push({ kind: "aggregate", at, aggregate: wireAggregate(market.listing, trade) });
        }
      }
      return events;
    },
  };
}

function known<Value>(value: Value | undefined, symbol: string): Value {
  if (!value) throw new Error(`asked for a symbol that is not listed: ${symbol}`);
  return value;
}

// From an id or a start onwards, or the newest up to the end.
function selectTrades(market: SimulatedMarket, at: number, query: TradeQuery): readonly SimulatedTrade[] {
  const newest = market.lastTrade(Math.min(at, query.endTime ?? at));
  if (!newest) return [];
  const isForwards = query.fromId !== undefined || query.startTime !== undefined;
  const firstId = !isForwards
    ? newest.id - query.limit + 1
    : Math.max(query.fromId ?? 1, query.startTime === undefined ? 1 : market.firstTrade(query.startTime).id);
  const lastId = Math.min(newest.id, Math.max(1, firstId) + query.limit - 1);
  const first = market.trade(Math.max(1, firstId));
  const last = market.trade(lastId);
  if (!first || !last || firstId > lastId) return [];
  return market
    .tradesBetween(first.at - 1, last.at)
    .filter((trade) => trade.id >= firstId && trade.id <= lastId);
}

function wireTrade(listing: Listing, trade: SimulatedTrade): Trade {
  const { id, at, isBuyerMaker } = trade;
  return {
    id,
    at,
    price: priceText(listing, trade.price),
    quantity: quantityText(listing, trade.quantity),
    quoteQuantity: productText(listing, trade.price * trade.quantity),
    isBuyerMaker,
  };
}

// Each simulated trade is an aggregate of its own.
function wireAggregate(listing: Listing, trade: SimulatedTrade): AggregateTrade {
  const { id, at, isBuyerMaker } = trade;
  return {
    id,
    firstTradeId: id,
    lastTradeId: id,
    at,
    price: priceText(listing, trade.price),
    quantity: quantityText(listing, trade.quantity),
    isBuyerMaker,
  };
}

function wireStatistics(listing: Listing, totals: Totals): Statistics {
  const quoteText = (units: number) => decimalText(units, listing.quoteDecimals, listing.quoteDigits);
  return {
    open: priceText(listing, totals.open),
    high: priceText(listing, totals.high),
    low: priceText(listing, totals.low),
    close: priceText(listing, totals.close),
    volume: quantityText(listing, totals.volume),
    quoteVolume: quoteText(totals.quoteVolume),
    takerBuyVolume: quantityText(listing, totals.takerBuyVolume),
    takerBuyQuoteVolume: quoteText(totals.takerBuyQuoteVolume),
    tradeCount: totals.tradeCount,
    firstTradeId: totals.firstTradeId,
    lastTradeId: totals.firstTradeId + totals.tradeCount - 1,
  };
}

// Price in ticks × quantity in lots as a quote amount; digits that are not shown are rounded.
function productText(listing: Listing, product: number): string {
  const decimals = listing.tickDecimals + listing.stepDecimals;
  const excess = Math.max(0, decimals - listing.quoteDigits);
  return decimalText(Math.round(product / 10 ** excess), decimals - excess, listing.quoteDigits);
}
