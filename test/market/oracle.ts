// What must become of an order, by the rules of docs/fidelity.md and what was recorded. It knows nothing of
// the program.
import type { Price } from "../../src/money/decimal.ts";
import type { Message, Quote } from "./recorded.ts";

export type Terms = {
  readonly side: "BUY" | "SELL";
  /** Null for an order that takes the market's price. */
  readonly limit: Price | null;
  /** Null for an order that waits for no trigger, or not any more. */
  readonly stop: Price | null;
};

export type Fill = { readonly price: Price; readonly isMaker: boolean };

/**
 * What a stretch of the market does to an order that waits: nothing, a trigger, a fill, or one after the
 * other.
 */
export type Fate = { readonly isTriggered: boolean; readonly fill: Fill | null };

/** The same where every message arrives, with the index of the message. */
export type HeardFate = {
  readonly triggeredBy: number | null;
  readonly filledBy: number | null;
  readonly fill: Fill | null;
};

export const UNTOUCHED: Fate = { isTriggered: false, fill: null };

/** The price at which the market trades with an order of this side. */
export function oppositeOf(side: Terms["side"], { bid, ask }: Quote): Price {
  return side === "BUY" ? ask : bid;
}

export function isMet({ side, limit }: Terms, opposite: Price): boolean {
  if (limit === null) return true;
  return side === "BUY" ? opposite <= limit : opposite >= limit;
}

export function isTriggeredBy({ side, stop }: Terms, price: Price): boolean {
  return stop !== null && (side === "BUY" ? price >= stop : price <= stop);
}

/** The fate of an order that is open from message `from` on until before `until`, all of which arrive. */
export function fateHeard(
  terms: Terms,
  messages: readonly Message[],
  from: number,
  until: number,
): HeardFate {
  let triggeredBy: number | null = null;
  for (let index = from; index < until; index += 1) {
    const message = messages[index];
    if (message === undefined) break;
    const opposite = oppositeOf(terms.side, message.quote);
    if (terms.stop !== null && triggeredBy === null) {
      if (message.trade === null || !isTriggeredBy(terms, message.trade.price)) continue;
      triggeredBy = index;
      if (isMet(terms, opposite)) {
        return { triggeredBy, filledBy: index, fill: { price: opposite, isMaker: false } };
      }
    } else if (terms.limit !== null && isMet(terms, opposite)) {
      return { triggeredBy, filledBy: index, fill: { price: terms.limit, isMaker: true } };
    }
  }
  return { triggeredBy, filledBy: null, fill: null };
}

/** Trades of a stretch of time, market time in Unix ms. */
export type Stretch = { readonly from: number; readonly lowest: Price; readonly highest: Price };

const MINUTE_MS = 60_000;
/** A gap up to this long is filled by its single trades. */
const TRADES_ONLY_MS_MAX = 2 * MINUTE_MS;

/**
 * The history of a gap: whole minutes inside it, and single trades at its edges, to the end of the minute of
 * the youngest order (placed at `youngestAt`), or if it is short.
 */
export function stretchesOf(
  messages: readonly Message[],
  from: number,
  to: number,
  youngestAt: number,
): readonly Stretch[] {
  const firstMinute = Math.ceil(Math.max(from, youngestAt) / MINUTE_MS) * MINUTE_MS;
  const minutesEnd = Math.floor((to + 1) / MINUTE_MS) * MINUTE_MS;
  const stretches = new Map<number, Stretch>();
  for (const { trade } of messages) {
    if (trade === null || trade.at < from || trade.at > to) continue;
    const { at, price } = trade;
    const isInMinute = to - from > TRADES_ONLY_MS_MAX && at >= firstMinute && at < minutesEnd;
    const start = isInMinute ? Math.floor(at / MINUTE_MS) * MINUTE_MS : at;
    const known = stretches.get(start) ?? { from: start, lowest: price, highest: price };
    const lowest = price < known.lowest ? price : known.lowest;
    const highest = price > known.highest ? price : known.highest;
    stretches.set(start, { from: start, lowest, highest });
  }
  return [...stretches.values()].sort((one, other) => one.from - other.from);
}

/** The fate of an order created at a market time, by the spans of a gap and the prices at its end. */
export function fateInGap(terms: Terms, since: number, stretches: readonly Stretch[], present: Quote): Fate {
  const known = stretches.filter(({ from }) => from >= since);
  const first = terms.stop === null ? -1 : known.findIndex((each) => isTouched(terms, each));
  if (terms.stop !== null && first === -1) return UNTOUCHED;
  const isTriggered = terms.stop !== null;
  const opposite = oppositeOf(terms.side, present);
  // The stop is executed at the present price, since its price at that time is unknown.
  if (isTriggered && isMet(terms, opposite)) {
    return { isTriggered, fill: { price: opposite, isMaker: false } };
  }
  const { limit } = terms;
  if (limit === null) return UNTOUCHED;
  const isThrough = known.slice(first + 1).some((each) => goesThrough(terms.side, limit, each));
  if (isThrough || isMet(terms, opposite)) return { isTriggered, fill: { price: limit, isMaker: true } };
  return { isTriggered, fill: null };
}

function isTouched(terms: Terms, { lowest, highest }: Stretch): boolean {
  return isTriggeredBy(terms, terms.side === "BUY" ? highest : lowest);
}

function goesThrough(side: Terms["side"], limit: Price, { lowest, highest }: Stretch): boolean {
  return side === "BUY" ? lowest < limit : highest > limit;
}
