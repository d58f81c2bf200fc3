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
import { createFunding, type Funding } from "./funding.ts";
import { type Listing, perpetualListings, spotListings } from "./listing.ts";
import { createMarket, type SimulatedMarket, type Totals } from "./market.ts";
import { decimalText } from "./text.ts";
import type { SimulatedTrade } from "./trades.ts";

type Stall = { readonly market: SimulatedMarket; readonly book: SimulatedBook };

/** Both families of the simulated exchange for one seed. The same seed is the same market, always. */
export function createSimulatedSources(seed: string): { spot: Source; futures: FuturesSource } {
  const spotStalls = stallsOf(seed, spotListings);
  const perpetualStalls = stallsOf(seed, perpetualListings, spotStalls);
  const fundings = new Map<string, Funding>();
  for (const [symbol, { market }] of perpetualStalls) {
    fundings.set(symbol, createFunding(seed, market, spotStalls.get(symbol)?.market));
  }
  const fundingOf = (symbol: string) => known(fundings.get(symbol), symbol);

  return {
    spot: { ...sourceOf("spot", spotStalls), exchangeInfo: spotExchangeInfo },
    futures: {
      ...sourceOf("futures", perpetualStalls),
      exchangeInfo: perpetualExchangeInfo,
      premium: (symbol, at) => fundingOf(symbol).premium(at),
      fundingRates(symbol, at, { startTime, endTime, limit }) {
        const until = Math.min(at, endTime ?? at);
        // Without a start the newest are wanted: three a day reach back far enough.
        const from = startTime ?? until - Math.ceil(limit / 3 + 1) * 24 * 60 * 60 * 1_000;
        const rows = fundingOf(symbol).settlements({
          from,
          until,
          limit: startTime === undefined ? Infinity : limit,
        });
        return startTime === undefined ? rows.slice(-limit) : rows;
      },
    },
  };
}

// A perpetual follows the spot pair of its name.
function stallsOf(
  seed: string,
  listings: readonly Listing[],
  leaders: ReadonlyMap<string, Stall> = new Map(),
): ReadonlyMap<string, Stall> {
  return new Map(
    listings.map((listing) => {
      const market = createMarket(seed, listing, leaders.get(listing.symbol)?.market);
      return [listing.symbol, { market, book: createBook(seed, market) }];
    }),
  );
}

function sourceOf(
  family: Source["family"],
  stalls: ReadonlyMap<string, Stall>,
): Omit<Source, "exchangeInfo"> {
  const stallOf = (symbol: string) => known(stalls.get(symbol), symbol);
  const marketOf = (symbol: string) => stallOf(symbol).market;

  return {
    family,
    symbols: [...stalls.keys()],
    endsAt: Infinity,
    listedAt: (symbol) => marketOf(symbol).listedAt,
    touch: (symbol, at) => stallOf(symbol).book.touch(at),
    book: (symbol, at, levels) => stallOf(symbol).book.book(at, levels),
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
