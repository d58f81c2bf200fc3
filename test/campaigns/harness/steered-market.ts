// A market that the test controls: the pairs and contracts of the simulated exchange with their rules, at
// constant prices until the test moves them. All gateways started on it receive the same prices in the same
// order. Funding is settled only when the test settles it. A price is a step in time: it holds from one
// millisecond until the next step. Trades are printed at each step and on a grid of time, so that no symbol
// ever seems stale; their price is the best bid.
import type { Exchange } from "../../../src/market/exchange/open.ts";
import { openExchange } from "../../../src/market/exchange/open.ts";
import type {
  FeedEvent,
  FundingRow,
  FuturesSource,
  Source,
  Trade,
} from "../../../src/market/exchange/source.ts";
import { createSimulatedSources } from "../../../src/market/simulated/source.ts";
import { decimal, formatDecimal } from "../../../src/money/decimal.ts";
import { upstreamEnv } from "../../support/servers/gateway.ts";

/** Best bid, best ask, and of a contract the mark price. Decimal texts. */
export type ShownPrice = { readonly bid: string; readonly ask: string; readonly mark: string };

export type SteeredMarket = Awaited<ReturnType<typeof openSteeredMarket>>;

/**
 * Of one seed, since only the rules of the simulated exchange are used, and the prices of a moment to begin
 * with.
 */
const SEED = "1";
const BOOK_QUANTITY = "1000000.00000000";
const TRADE_QUANTITY = decimal("1");
const PRINT_EVERY_MS = 250;
/** How far off the next settlement is announced while none is planned, ms. */
const FAR_OFF_MS = 8 * 60 * 60_000;

export async function openSteeredMarket() {
  const { SPOT: spot, FUTURES: futures } = createSimulatedSources(SEED);
  const openedAt = Date.now();
  const steps = new Map(
    [...new Set([...spot.symbols, ...futures.symbols])].map((symbol) => {
      const source = spot.symbols.includes(symbol) ? spot : futures;
      const touch = source.touch(symbol, openedAt);
      if (touch === undefined) throw new Error(`a listed symbol has a price: ${symbol}`);
      const [bid, ask] = [touch.bid[0], touch.ask[0]];
      return [symbol, new Steps(openedAt, { bid, ask, mark: bid })] as const;
    }),
  );
  const of = (symbol: string): Steps => {
    const found = steps.get(symbol);
    if (found === undefined) throw new Error(`asked for a symbol that is not listed: ${symbol}`);
    return found;
  };
  const settlements: FundingRow[] = [];
  const exchange: Exchange = await openExchange({
    markets: { SPOT: steered(spot, of), FUTURES: steeredContracts(futures, of, settlements) },
    clock: { now: () => Date.now() },
  });
  return {
    /** Where a gateway finds it. */
    env: upstreamEnv(exchange),
    /** What the symbol's pair and its contract cost at present. */
    price: (symbol: string): ShownPrice => of(symbol).at(Date.now()).shown,
    /** All that they cost at some time with `from <= time < until`, Unix ms. */
    pricesBetween: (symbol: string, from: number, until: number): readonly ShownPrice[] =>
      of(symbol)
        .between(from, until)
        .map(({ shown }) => shown),
    /** From now on pair and contract cost this; the mark price is the bid unless said. */
    setPrice(symbol: string, { bid, ask, mark = bid }: Omit<ShownPrice, "mark"> & Partial<ShownPrice>): void {
      of(symbol).add(Date.now(), { bid, ask, mark });
      exchange.pump();
    },
    /**
     * Settles funding of a contract at a time, Unix ms: one in the past is published at once; one to come is
     * announced until then. Answers how it is published.
     */
    settle(symbol: string, at: number, rate: string): FundingRow {
      const row = { symbol, at, rate, markPrice: of(symbol).at(Date.now()).shown.mark };
      settlements.push(row);
      settlements.sort((one, other) => one.at - other.at);
      return row;
    },
    close: () => exchange.close(),
  };
}

function steered<Steered extends Source>(source: Steered, of: (symbol: string) => Steps): Steered {
  const tradesBetween = (symbol: string, from: number, until: number) =>
    of(symbol).prints(from, until).map(tradeOf);
  return {
    ...source,
    touch(symbol, at) {
      return touchOf(of(symbol), at);
    },
    book(symbol, at, levels) {
      const { bid, ask, ...touch } = touchOf(of(symbol), at);
      return { ...touch, bids: [bid].slice(0, levels), asks: [ask].slice(0, levels) };
    },
    lastTrade(symbol, at) {
      const last = of(symbol).lastPrint(at);
      return last && tradeOf(last);
    },
    trades(symbol, at, query) {
      const until = Math.min(at, query.endTime ?? at);
      const all = tradesBetween(symbol, query.startTime ?? 0, until);
      if (query.fromId !== undefined)
        return all.filter(({ id }) => id >= (query.fromId ?? 0)).slice(0, query.limit);
      return query.startTime === undefined ? all.slice(-query.limit) : all.slice(0, query.limit);
    },
    aggregateTrades(symbol, at, query) {
      return this.trades(symbol, at, query).map((trade) => ({
        id: trade.id,
        firstTradeId: trade.id,
        lastTradeId: trade.id,
        at: trade.at,
        price: trade.price,
        quantity: trade.quantity,
        isBuyerMaker: trade.isBuyerMaker,
      }));
    },
    statistics(symbol, from, until) {
      const trades = tradesBetween(symbol, from, until - 1);
      const [first] = trades;
      const last = trades.at(-1);
      if (first === undefined || last === undefined) return undefined;
      const prices = trades.map(({ price }) => decimal(price));
      const quoteVolume = text(prices.reduce((sum, price) => sum + price, 0n));
      const volume = text(TRADE_QUANTITY * BigInt(trades.length));
      return {
        ...{ open: first.price, close: last.price, ...extremes(prices) },
        ...{ volume, quoteVolume, takerBuyVolume: volume, takerBuyQuoteVolume: quoteVolume },
        ...{ tradeCount: trades.length, firstTradeId: first.id, lastTradeId: last.id },
      };
    },
    feed(symbol, from, until, kinds) {
      const events: FeedEvent[] = [];
      for (const print of of(symbol).prints(from + 1, until)) {
        const { at } = print;
        // A touch is known before the trade that was made at it.
        if (kinds.has("touch")) events.push({ kind: "touch", at, touch: touchOf(of(symbol), at) });
        if (kinds.has("trade")) events.push({ kind: "trade", at, trade: tradeOf(print) });
      }
      return events;
    },
  };
}

function steeredContracts(
  source: FuturesSource,
  of: (symbol: string) => Steps,
  settlements: readonly FundingRow[],
): FuturesSource {
  const markAt = (symbol: string, at: number) => of(symbol).at(at).shown.mark;
  return {
    ...steered(source, of),
    premium(symbol, at) {
      const mark = markAt(symbol, at);
      const coming = settlements.filter((row) => row.symbol === symbol && row.at > at).map((row) => row.at);
      return {
        ...{ ...source.premium(symbol, at), markPrice: mark, indexPrice: mark, estimatedSettlePrice: mark },
        nextFundingAt: Math.min(at + FAR_OFF_MS, ...coming),
      };
    },
    markStatistics(symbol, _kind, from, until) {
      const marks = of(symbol).between(from, until);
      const [first] = marks;
      const last = marks.at(-1);
      if (first === undefined || last === undefined) return undefined;
      const { high, low } = extremes(marks.map(({ shown }) => decimal(shown.mark)));
      return { open: first.shown.mark, close: last.shown.mark, high, low, count: marks.length };
    },
    fundingRates(symbol, at, { startTime = 0, endTime = at, limit }) {
      const until = Math.min(at, endTime);
      return settlements
        .filter((row) => row.symbol === symbol && row.at >= startTime && row.at <= until)
        .slice(0, limit);
    },
  };
}

function touchOf(steps: Steps, at: number) {
  const { shown, at: since } = steps.at(at);
  return {
    updateId: at,
    at: since,
    bid: [shown.bid, BOOK_QUANTITY],
    ask: [shown.ask, BOOK_QUANTITY],
  } as const;
}

function tradeOf({ id, at, price }: Print): Trade {
  const quantity = text(TRADE_QUANTITY);
  return { id, at, price, quantity, quoteQuantity: price, isBuyerMaker: true };
}

function extremes(prices: readonly bigint[]): { readonly high: string; readonly low: string } {
  const sorted = prices.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  return { high: text(sorted.at(-1) ?? 0n), low: text(sorted[0] ?? 0n) };
}

function text(units: bigint): string {
  return formatDecimal(units as Parameters<typeof formatDecimal>[0]);
}

type Step = { readonly at: number; readonly shown: ShownPrice };
type Print = { readonly id: number; readonly at: number; readonly price: string };

/**
 * The prices of a symbol, and the trades that are printed of it: numbered without gaps, and never changed
 * once they were asked for.
 */
class Steps {
  readonly #steps: Step[];
  readonly #prints: Print[] = [];
  #printedUntil: number;

  constructor(at: number, shown: ShownPrice) {
    this.#steps = [{ at, shown }];
    this.#printedUntil = at - 1;
  }

  /** From now on, Unix ms, or the first ms that nobody has asked about. */
  add(now: number, shown: ShownPrice): void {
    this.#steps.push({ at: Math.max(now, this.#printedUntil + 1), shown });
  }

  /** What holds at a time; the first step before all of them. */
  at(time: number): Step {
    const found = this.#steps.findLast(({ at }) => at <= time) ?? this.#steps[0];
    if (found === undefined) throw new Error("there is a first price");
    return found;
  }

  /** The steps that hold at some time with `from <= time < until`. */
  between(from: number, until: number): readonly Step[] {
    return this.#steps.filter(
      ({ at }, index) => at < until && (this.#steps[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from,
    );
  }

  /** What was printed with `from <= time <= until`, ascending. */
  prints(from: number, until: number): readonly Print[] {
    this.#printUntil(until);
    let first = this.#prints.length;
    while (first > 0 && (this.#prints[first - 1]?.at ?? 0) >= from) first -= 1;
    return this.#prints.slice(first).filter(({ at }) => at <= until);
  }

  lastPrint(until: number): Print | undefined {
    this.#printUntil(until);
    return this.#prints.findLast(({ at }) => at <= until);
  }

  #printUntil(until: number): void {
    const from = this.#printedUntil;
    if (until <= from) return;
    const times = this.#steps.map(({ at }) => at).filter((at) => at > from && at <= until);
    for (let at = (Math.floor(from / PRINT_EVERY_MS) + 1) * PRINT_EVERY_MS; at <= until; at += PRINT_EVERY_MS)
      times.push(at);
    for (const at of [...new Set(times)].sort((one, other) => one - other)) {
      this.#prints.push({ id: this.#prints.length + 1, at, price: this.at(at).shown.bid });
    }
    this.#printedUntil = until;
  }
}
