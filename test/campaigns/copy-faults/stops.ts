// No position of a copy lacks a stop for long while its strategy has one, or had one when it closed: checked
// exactly by the journals of both gateways. Time without a copier that may send does not count (claims.ts). A
// liquidation at the venue can leave a position on the other side than the strategy's, which can have no
// stop: it must be gone at the end, and its time is reported.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { CopyFault } from "./faults.ts";
import type { Histories } from "./targets.ts";

/** Unix ms. */
export type Span = { readonly from: number; readonly until: number };
type NakedSpan = Span & { readonly isOtherSide: boolean };

/** For how long a position may be without a stop, ms. */
export const NAKED_MS_MAX = 10_000;
/**
 * The same on a busy machine: it may take longer to find out that a request was lost, after 4.5 s and some
 * queries, before the stop behind it is placed. The short tests go by it; the campaign finds what exceeds the
 * other, and reports how much exceeds either.
 */
export const NAKED_BUSY_MS_MAX = 30_000;

type Change = { readonly at: number; readonly of: keyof Histories; readonly index: number };

/** The spans in which a copy's position of a symbol lacked the stop that its strategy had. */
export function nakedSpans(histories: Histories, symbol: string, until: number): readonly NakedSpan[] {
  const changes = (["lead", "copy"] as const)
    .flatMap((of) => histories[of].map(({ at }, index): Change => ({ at, of, index })))
    .sort((one, other) => one.at - other.at);
  const spans: NakedSpan[] = [];
  /** The side of the strategy's position that has a stop, or had one when it left; 0: none. */
  let stopped = 0;
  let wasFlat = true;
  let copy = { side: 0, hasStop: false };
  let began = null as Omit<NakedSpan, "until"> | null;
  for (const { at, of, index } of changes) {
    const moment = histories[of][index];
    if (moment === undefined) continue;
    const side = sideOf(moment.held.get(symbol) ?? 0n);
    const hasStop = moment.stops.has(symbol);
    if (of === "copy") copy = { side, hasStop };
    else {
      // A strategy that closes its position keeps its last stop state; its next position sets its own.
      if (side !== 0) stopped = hasStop ? side : 0;
      else if (wasFlat) stopped = 0;
      wasFlat = side === 0;
    }
    const isNaked = copy.side !== 0 && !copy.hasStop && stopped !== 0;
    const isOtherSide = copy.side !== stopped;
    if (isNaked && began?.isOtherSide === isOtherSide) continue;
    if (began !== null) spans.push({ ...began, until: at });
    began = isNaked ? { from: at, isOtherSide } : null;
  }
  return began === null ? spans : [...spans, { ...began, until }];
}

function sideOf(quantity: bigint): number {
  return quantity === 0n ? 0 : quantity > 0n ? 1 : -1;
}

/** How long a span is without the time in which nothing copied, ms. */
export function lengthOf({ from, until }: Span, down: readonly Span[]): number {
  let [lost, counted] = [0, from];
  for (const each of [...down].sort((one, other) => one.from - other.from)) {
    lost += Math.max(0, Math.min(until, each.until) - Math.max(counted, each.from));
    counted = Math.max(counted, each.until);
  }
  return until - from - lost;
}

export function stopFaults(
  { name, type }: { readonly name: string; readonly type: StrategyType },
  histories: Histories,
  {
    until,
    down,
    log = () => "",
  }: {
    readonly until: number;
    readonly down: readonly Span[];
    readonly log?: (symbol: string) => string;
  },
): CopyFault[] {
  const symbols = new Set(histories.copy.flatMap(({ held }) => [...held.keys()]));
  return [...symbols].flatMap((symbol) =>
    nakedSpans(histories, symbol, until)
      .map((span) => ({ span, ms: lengthOf(span, down) }))
      .filter(({ span, ms }) => !span.isOtherSide && ms > NAKED_MS_MAX)
      .map(({ span, ms }): CopyFault => {
        const when = `from ${span.from} to ${span.until}: ${log(symbol)}`;
        const what = `${name} had ${symbol} without a stop for ${ms} ms, ${when}`;
        return { kind: "NAKED", what, place: { from: span.from, until: span.until, type } };
      }),
  );
}
