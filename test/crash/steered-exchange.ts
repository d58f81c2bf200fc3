// A simulated exchange in the test's own process, whose mark prices and settlements of funding are in the test's hands. All
// else (books, trades, spot) goes its simulated way; so do the marks of the past.

import { type Exchange, openExchange } from "../../src/market/exchange/open.ts";
import type { FundingRow, FuturesSource } from "../../src/market/exchange/source.ts";
import { createSimulatedSources } from "../../src/market/simulated/source.ts";

export type SteeredExchange = {
  /** Where a gateway finds it. */
  readonly env: Readonly<Record<string, string>>;
  /** The present mark price as its simulation has it. */
  markOf(symbol: string): number;
  /** From now on this is the symbol's mark price. */
  setMark(symbol: string, price: number): void;
  /**
   * Settles funding at a time, Unix ms: one in the past is published at once; one to come is announced until then. Answers
   * how it is published.
   */
  settle(symbol: string, at: number, rate: string): FundingRow;
  close(): Promise<void>;
};

const DECIMALS = 8;
/** How far off a settlement is announced while none is planned, ms. */
const FAR_OFF_MS = 8 * 60 * 60_000;

export async function openSteeredExchange(seed: string): Promise<SteeredExchange> {
  const { spot, futures } = createSimulatedSources(seed);
  const marks = new Map<string, string>();
  const settlements: FundingRow[] = [];
  const markText = (symbol: string, at: number) => marks.get(symbol) ?? futures.premium(symbol, at).markPrice;

  const steered: FuturesSource = {
    ...futures,
    premium(symbol, at) {
      const coming = settlements.filter((row) => row.symbol === symbol && row.at > at);
      return {
        ...futures.premium(symbol, at),
        markPrice: markText(symbol, at),
        nextFundingAt: Math.min(at + FAR_OFF_MS, ...coming.map((row) => row.at)),
      };
    },
    fundingRates(symbol, at, { startTime = 0, endTime = at, limit }) {
      const until = Math.min(at, endTime);
      return settlements
        .filter((row) => row.symbol === symbol && row.at >= startTime && row.at <= until)
        .slice(0, limit);
    },
  };
  const exchange: Exchange = await openExchange({
    markets: { spot, futures: steered },
    clock: { now: () => Date.now() },
  });
  return {
    env: {
      UPSTREAM_SPOT_REST_URL: exchange.spotRestUrl,
      UPSTREAM_SPOT_WS_URL: exchange.spotWsUrl,
      UPSTREAM_FUTURES_REST_URL: exchange.futuresRestUrl,
      UPSTREAM_FUTURES_WS_URL: exchange.futuresWsUrl,
    },
    markOf: (symbol) => Number(markText(symbol, Date.now())),
    setMark: (symbol, price) => void marks.set(symbol, price.toFixed(DECIMALS)),
    settle(symbol, at, rate) {
      const row = { symbol, at, rate, markPrice: markText(symbol, at) };
      settlements.push(row);
      settlements.sort((one, other) => one.at - other.at);
      return row;
    },
    close: () => exchange.close(),
  };
}
