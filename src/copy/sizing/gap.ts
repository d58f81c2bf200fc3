// Slippage: prices of copies at the venue against the strategy's prices here, in basis points of the
// strategy's price. Positive is worse for the copier: a buyer paid more, a seller got less.
// Basis points are decimals in units of 1e-8, with two digits after the point; finer values are rounded up,
// so no order looks better than it was.
import type { Side } from "../../domain/order.ts";
import { type Amount, decimal, divideUp, type Price, type Quantity, SCALE } from "../../money/decimal.ts";
import type { ExecutedEntry } from "../../store/ports/copies.ts";

const LEG_KINDS: readonly ExecutedEntry["kind"][] = ["PLACE_LEG", "FIRE_LEG"];

export type Gap = {
  /** Orders of copies. */
  readonly orders: number;
  readonly medianBps: bigint;
  readonly worstBps: bigint;
  /** From the strategy's commit to the venue's acknowledgement. */
  readonly meanDelayMs: number;
};
/** An order, or a leg, of a strategy, over the copies of it. */
export type OrderGap = Gap &
  Pick<ExecutedEntry, "strategyId" | "collectiveId" | "symbol" | "side" | "leadQuantity" | "leadPrice"> & {
    readonly at: number;
    readonly isLeg: boolean;
    /** Copies that executed something of it. */
    readonly copies: number;
  };
type Measured = { readonly entry: ExecutedEntry; readonly bps: bigint; readonly delayMs: number };
export type GapSummary = {
  /** By name. */
  readonly bySymbol: readonly (Gap & { readonly symbol: string })[];
  /** By notional, in the quote asset, below `upTo`; null: all above. Classes without orders are left out. */
  readonly bySize: readonly (Gap & { readonly upTo: Amount | null })[];
  /** In the order of the first of their entries. */
  readonly byOrder: readonly OrderGap[];
};

const SIZE_CLASSES = [...["10", "100", "1000", "10000"].map((upTo) => decimal<Amount>(upTo)), null];
const BASIS_POINTS_IN_ONE = 10_000n;
/** Steps of a hundredth of a basis point. */
const STEPS_IN_BASIS_POINT = 100n;

/**
 * The slippage of a copy's order against the strategy's own price, in basis points; null if it executed
 * nothing, or there is no price.
 */
export function slippageBps({
  side,
  executedQuantity,
  executedQuote,
  leadPrice,
}: {
  readonly side: Side;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  readonly leadPrice: Price;
}): bigint | null {
  if (executedQuantity <= 0n || leadPrice <= 0n) return null;
  const expected = leadPrice * executedQuantity;
  const excess = executedQuote * SCALE - expected;
  const worse = side === "BUY" ? excess : -excess;
  const steps = divideUp(worse * BASIS_POINTS_IN_ONE * STEPS_IN_BASIS_POINT, expected);
  return steps * (SCALE / STEPS_IN_BASIS_POINT);
}

export function gapOf(entries: readonly ExecutedEntry[]): GapSummary {
  const orders = entries.flatMap((entry): Measured[] => {
    const bps = slippageBps(entry);
    return bps === null ? [] : [{ entry, bps, delayMs: delayOf(entry) }];
  });
  const ofSymbols = Map.groupBy(orders, ({ entry }) => entry.symbol);
  const ofSizes = Map.groupBy(orders, ({ entry }) => sizeClassOf(entry.executedQuote));
  return {
    bySymbol: [...ofSymbols.keys()].sort().map((symbol) => ({ symbol, ...sum(ofSymbols.get(symbol) ?? []) })),
    bySize: SIZE_CLASSES.filter((upTo) => ofSizes.has(upTo)).map((upTo) => ({
      upTo,
      ...sum(ofSizes.get(upTo) ?? []),
    })),
    byOrder: ordersOf(orders),
  };
}

/**
 * From the strategy's commit to the venue's acknowledgement. The strategy's time is the market's, which may
 * run a little ahead.
 */
export function delayOf({
  leadAt,
  acknowledgedAt,
}: Pick<ExecutedEntry, "leadAt" | "acknowledgedAt">): number {
  return Math.max(0, acknowledgedAt - leadAt);
}

function ordersOf(all: readonly Measured[]): readonly OrderGap[] {
  const orders = Map.groupBy(all, ({ entry }) => entry.collectiveId);
  return [...orders.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const { strategyId, collectiveId, symbol, side, leadQuantity, leadPrice, leadAt, kind } = first.entry;
    return [
      {
        ...{ strategyId, collectiveId, symbol, side, leadQuantity, leadPrice, at: leadAt },
        isLeg: LEG_KINDS.includes(kind),
        copies: new Set(of.map(({ entry }) => entry.copyId)).size,
        ...sum(of),
      },
    ];
  });
}

function sizeClassOf(notional: Amount): Amount | null {
  return SIZE_CLASSES.find((upTo) => upTo !== null && notional < upTo) ?? null;
}

/** Of at least one order. */
function sum(orders: readonly Measured[]): Gap {
  const bps = orders.map((order) => order.bps).sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const delays = orders.reduce((total, { delayMs }) => total + delayMs, 0);
  return {
    orders: orders.length,
    medianBps: middleOf(bps),
    worstBps: bps.at(-1) ?? 0n,
    meanDelayMs: Math.round(delays / orders.length),
  };
}

/**
 * The middle of sorted values; of an even number of them the mean of the two in the middle, on the same
 * steps, rounded up.
 */
function middleOf(sorted: readonly bigint[]): bigint {
  const upper = sorted[sorted.length >> 1] ?? 0n;
  if (sorted.length % 2 === 1) return upper;
  const lower = sorted[(sorted.length >> 1) - 1] ?? upper;
  const step = SCALE / STEPS_IN_BASIS_POINT;
  return divideUp(lower + upper, 2n * step) * step;
}
