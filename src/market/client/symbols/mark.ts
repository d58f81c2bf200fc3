// The mark price of one contract, by which legs and liquidations decide. It is published every second; one
// older than `markOldAfterMs` counts as none.
// - Stale: a mark price whose time is not above the last one's is dropped. Silence or a new connection resets
//   the time.
// - Doubtful: a mark price far from the contract's other prices is dropped (`plausibility.ts`).
// - A REST answer is used only if no mark price has been streamed since the request.
import type { Price } from "../../../money/decimal.ts";
import { silentAfterMs } from "./book.ts";
import { isObject, isWhole, priceIn } from "./values.ts";

export const markOldAfterMs = 10_000;

export type Mark = {
  /** Null while none is known. */
  price: Price | null;
  /** Published time of the next settlement of funding, Unix ms of market time; null while unknown. */
  nextFundingAt: number | null;
  /** Time of the newest one, Unix ms of the wall clock: its arrival less its age; -Infinity before. */
  newsAt: number;
  /** The exchange's own time of the last streamed one. */
  eventAt: number;
  /** Number of streamed mark prices, by which a slower REST answer detects that it is outdated. */
  streamedCount: number;
};

/** Outcome of a message about a mark price. */
export type MarkVerdict = "accepted" | "stale" | "late" | "doubtful" | "malformed";

/** Whether a new mark price may be believed, given the index price of the same message. */
export type MarkJudge = (price: Price, index: Price | null) => boolean;
const believed: MarkJudge = () => true;

const noTime = -1;

export function createMark(): Mark {
  return {
    price: null,
    nextFundingAt: null,
    newsAt: Number.NEGATIVE_INFINITY,
    eventAt: noTime,
    streamedCount: 0,
  };
}

/** Null while none is known or the last one is old. */
export function presentMark(mark: Mark, at: number): Price | null {
  return at - mark.newsAt >= markOldAfterMs ? null : mark.price;
}

/** Believes the next one, whatever its time. */
export function forgetEventTime(mark: Mark): void {
  mark.eventAt = noTime;
}

/**
 * A `<symbol>@markPrice@1s` payload: `{ e, E, s, p, i, P, r, T, … }`. Source: reference exchange, section
 * 17.2.
 */
export function takeMark(mark: Mark, data: unknown, at: number, isPlausible = believed): MarkVerdict {
  if (!isObject(data) || !isWhole(data.E)) return "malformed";
  const price = priceIn(data.p);
  if (price === null) return "malformed";
  if (at - mark.newsAt >= silentAfterMs) forgetEventTime(mark);
  if (data.E <= mark.eventAt) return "stale";
  if (!isPlausible(price, priceIn(data.i))) return "doubtful";
  mark.eventAt = data.E;
  mark.streamedCount += 1;
  return hold(mark, { price, nextFundingAt: data.T, at });
}

/**
 * A row of REST `premiumIndex`: `{ symbol, markPrice, nextFundingTime, … }`. Source: reference exchange,
 * section 9.
 */
export function takeRestMark(
  mark: Mark,
  row: Readonly<Record<string, unknown>>,
  at: number,
  isPlausible = believed,
): MarkVerdict {
  const price = priceIn(row.markPrice);
  if (price === null) return "malformed";
  if (!isPlausible(price, priceIn(row.indexPrice))) return "doubtful";
  return hold(mark, { price, nextFundingAt: row.nextFundingTime, at });
}

function hold(
  mark: Mark,
  told: { readonly price: Price; readonly nextFundingAt: unknown; readonly at: number },
): MarkVerdict {
  mark.price = told.price;
  mark.newsAt = Math.max(mark.newsAt, told.at);
  // A contract without funding has a zero here.
  if (isWhole(told.nextFundingAt)) mark.nextFundingAt = told.nextFundingAt === 0 ? null : told.nextFundingAt;
  return "accepted";
}
