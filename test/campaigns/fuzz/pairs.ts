// The pairs and contracts that a run trades, as the gateway publishes them, and where their markets stand.
import type { StrategyType } from "../../../src/domain/account.ts";
import { units } from "../../support/exact.ts";
import type { Wire } from "./wire.ts";

export type Pair = ReturnType<typeof pairOf>;

/** Enough for every kind of tick and step, and few enough for one strategy to meet itself again. */
const PAIRS_OF_DOLLARS = 12;
const PAIRS_OF_BITCOIN = 2;
const CONTRACTS = 8;
/** Quotes that are older than this are read again, ms. */
const QUOTES_OLD_MS = 500;
/** The run's own address: it asks a few times a second, which no budget minds for a minute, so it changes. */
const QUESTIONS_PER_ADDRESS = 100;

type ListedSymbol = {
  readonly symbol: string;
  readonly baseAsset: string;
  readonly quoteAsset: string;
  readonly filters: readonly { filterType: string; tickSize?: string; stepSize?: string }[];
};

export class Pairs {
  /** What is traded on purpose, by type. */
  readonly all: { readonly [T in StrategyType]: readonly Pair[] };
  /** The assets of every pair that is listed. */
  readonly assets: ReadonlyMap<string, Pick<Pair, "base" | "quote">>;
  readonly #wire: Wire;
  #readAt = 0;
  #asked = 0;

  private constructor(wire: Wire, listed: readonly ListedSymbol[], all: Pairs["all"]) {
    this.#wire = wire;
    this.all = all;
    this.assets = new Map(
      listed.map(({ symbol, baseAsset, quoteAsset }) => [symbol, { base: baseAsset, quote: quoteAsset }]),
    );
  }

  /** Reads the listing and the quotes. */
  static async read(wire: Wire): Promise<Pairs> {
    const { symbols } = (await ask(wire, "/api/v3/exchangeInfo", "11.0.0.0")) as { symbols: ListedSymbol[] };
    const of = (quoteAsset: string) => symbols.filter((listed) => listed.quoteAsset === quoteAsset);
    const chosen = [...of("USDT").slice(0, PAIRS_OF_DOLLARS), ...of("BTC").slice(0, PAIRS_OF_BITCOIN)];
    const { symbols: contracts } = (await ask(wire, "/fapi/v1/exchangeInfo", "11.0.0.0")) as {
      symbols: ListedSymbol[];
    };
    const pairs = new Pairs(wire, symbols, {
      SPOT: chosen.map(pairOf),
      FUTURES: contracts.slice(0, CONTRACTS).map(pairOf),
    });
    await pairs.#readQuotes();
    return pairs;
  }

  /** Reads the quotes again if they are old; if they cannot be read, old ones will do. */
  async refresh(): Promise<void> {
    if (Date.now() - this.#readAt < QUOTES_OLD_MS) return;
    await this.#readQuotes().catch(() => {});
  }

  async #readQuotes(): Promise<void> {
    this.#readAt = Date.now();
    this.#asked += 1;
    const symbols = encodeURIComponent(JSON.stringify(this.all.SPOT.map(({ symbol }) => symbol)));
    await this.#readQuotesOf("SPOT", `/api/v3/ticker/bookTicker?symbols=${symbols}`);
    await this.#readQuotesOf("FUTURES", "/fapi/v1/ticker/bookTicker");
  }

  async #readQuotesOf(type: StrategyType, target: string): Promise<void> {
    const address = `11.0.1.${Math.floor(this.#asked / QUESTIONS_PER_ADDRESS) % 256}`;
    const rows = (await ask(this.#wire, target, address)) as {
      symbol: string;
      bidPrice: string;
      askPrice: string;
    }[];
    for (const { symbol, bidPrice, askPrice } of rows) {
      const pair = this.all[type].find((each) => each.symbol === symbol);
      if (pair === undefined) continue;
      pair.bid = units(bidPrice);
      pair.ask = units(askPrice);
    }
  }
}

function pairOf({ symbol, baseAsset, quoteAsset, filters }: ListedSymbol) {
  const tick = filters.find(({ filterType }) => filterType === "PRICE_FILTER")?.tickSize;
  const step = filters.find(({ filterType }) => filterType === "LOT_SIZE")?.stepSize;
  if (tick === undefined || step === undefined) throw new Error(`${symbol} has a tick and a step`);
  return {
    symbol,
    base: baseAsset,
    quote: quoteAsset,
    /** All in units of 1e-8. */
    tick: units(tick),
    step: units(step),
    bid: 0n,
    ask: 0n,
  };
}

async function ask(wire: Wire, target: string, address: string): Promise<unknown> {
  const sent = { method: "GET", target, body: null, headers: { "x-forwarded-for": address } };
  const { status, text } = await wire.send(sent);
  if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`);
  return JSON.parse(text);
}
