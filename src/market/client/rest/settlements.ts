// The settlements of funding that the exchange has published. Source: reference exchange, sections 9 and
// 15.10.
// A settlement is published a moment after its time, so callers that wait for one repeat the request. A
// request covers one contract; requests have a pool of their own upstream, half of which is for callers.
import type { Settlement } from "../../../domain/market.ts";
import { parseDecimal, type Rate } from "../../../money/decimal.ts";
import type { HistoryProtocol } from "../streams/protocol.ts";
import { type HistoryPages, NoAnswer, priceOf, wholeOf } from "./history-pages.ts";

/** As many as the exchange gives at once. */
export const settlementsPerPage = 1_000;

/**
 * Returns the settlements of a contract between two market times (Unix ms), both included, ascending; none
 * where there is no funding. Null when upstream could not provide all of them: try again later.
 */
export type Settlements = (symbol: string, from: number, to: number) => Promise<readonly Settlement[] | null>;

export type SettlementsOptions = { readonly pages: HistoryPages; readonly protocol: HistoryProtocol };

export function createSettlements({ pages, protocol }: SettlementsOptions): Settlements {
  const { settlementsPath: path } = protocol;

  async function read(path: string, symbol: string, from: number, to: number): Promise<Settlement[]> {
    const settlements: Settlement[] = [];
    for (let start = from; start <= to; ) {
      const range = { startTime: `${start}`, endTime: `${to}`, limit: `${settlementsPerPage}` };
      const rows = await pages.page(path, { symbol, ...range });
      for (const row of rows) {
        const settlement = readSettlement(row);
        const { symbol: ofSymbol, fundingTime } = settlement;
        if (ofSymbol !== symbol || fundingTime < start || fundingTime > to)
          throw new NoAnswer("a settlement that was not asked for");
        start = fundingTime + 1;
        settlements.push(settlement);
      }
      if (rows.length < settlementsPerPage) break;
    }
    return settlements;
  }

  return async (symbol, from, to) => {
    if (path === null) return [];
    return pages.answer("settlements of funding", { symbol, from, to }, () => read(path, symbol, from, to));
  };
}

/** `{ symbol, fundingTime, fundingRate, markPrice, … }`. */
function readSettlement(row: unknown): Settlement {
  if (typeof row !== "object" || row === null) throw new NoAnswer("a settlement that is no object");
  const { symbol, fundingTime, fundingRate, markPrice } = row as Readonly<Record<string, unknown>>;
  if (typeof symbol !== "string") throw new NoAnswer("a settlement without a symbol");
  return {
    symbol,
    fundingTime: wholeOf(fundingTime),
    rate: rateOf(fundingRate),
    markPrice: priceOf(markPrice),
  };
}

/** The only decimal of the exchange's that may be negative. */
function rateOf(text: unknown): Rate {
  const isNegative = typeof text === "string" && text.startsWith("-");
  const size = typeof text === "string" ? parseDecimal(isNegative ? text.slice(1) : text) : "NOT_A_DECIMAL";
  if (typeof size === "string") throw new NoAnswer(`a rate that is ${size}`);
  return (isNegative ? -size : size) as Rate;
}
