// The mark price of one contract and the rules by which a message may change it.
//
// It is told every second. One that is older than `markOldAfterMs` is none: legs and liquidations go by it.
//
// - Stale: a mark whose time is not above the last one's is dropped. A contract that fell silent holds no time against
//   anyone, and neither does one whose connection was replaced.
// - Doubtful: a mark far from what else is known of the contract is dropped (`plausibility.ts`).
// - A mark that was asked for by REST is taken only while none has been streamed since the question.
import { type Price, parseDecimal } from "../../../money/decimal.ts";
import { silentAfterMs } from "./book.ts";

export const markOldAfterMs = 10_000;

export type Mark = {
  /** Null while none is known. */
  price: Price | null;
  /** When the next settlement of funding is due, as last told, Unix ms of market time; null while unknown. */
  nextFundingAt: number | null;
  /** Of when the newest one is, Unix ms of the wall clock: its arrival less its age; -Infinity before. */
  newsAt: number;
  /** The exchange's own time of the last streamed one. */
  eventAt: number;
  /** How many came by stream, so that a slower answer by REST can tell that it was overtaken. */
  streamedCount: number;
};

/** What became of a message about a mark price. */
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

/** A `<symbol>@markPrice@1s` payload: `{ e, E, s, p, i, P, r, T, … }`. Source: reference exchange, section 17.2. */
export function takeMark(mark: Mark, data: unknown, at: number, isPlausible = believed): MarkVerdict {
  if (!isObject(data) || !isTime(data.E)) return "malformed";
  const price = priceOf(data.p);
  if (price === null) return "malformed";
  if (at - mark.newsAt >= silentAfterMs) forgetEventTime(mark);
  if (data.E <= mark.eventAt) return "stale";
  if (!isPlausible(price, priceOf(data.i))) return "doubtful";
  mark.eventAt = data.E;
  mark.streamedCount += 1;
  return hold(mark, { price, nextFundingAt: data.T, at });
}

/** A row of REST `premiumIndex`: `{ symbol, markPrice, nextFundingTime, … }`. Source: reference exchange, section 9. */
export function takeRestMark(
  mark: Mark,
  row: Readonly<Record<string, unknown>>,
  at: number,
  isPlausible = believed,
): MarkVerdict {
  const price = priceOf(row.markPrice);
  if (price === null) return "malformed";
  if (!isPlausible(price, priceOf(row.indexPrice))) return "doubtful";
  return hold(mark, { price, nextFundingAt: row.nextFundingTime, at });
}

function hold(
  mark: Mark,
  told: { readonly price: Price; readonly nextFundingAt: unknown; readonly at: number },
): MarkVerdict {
  mark.price = told.price;
  mark.newsAt = Math.max(mark.newsAt, told.at);
  // A contract without funding says zero.
  if (isTime(told.nextFundingAt)) mark.nextFundingAt = told.nextFundingAt === 0 ? null : told.nextFundingAt;
  return "accepted";
}

/** Null when it is no price, and zero is none. */
function priceOf(text: unknown): Price | null {
  const value = typeof text === "string" ? parseDecimal(text) : 0n;
  return typeof value === "string" || value === 0n ? null : (value as Price);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
