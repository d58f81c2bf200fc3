// The performance of a strategy, computed forward from the postings of the journal's events and from the
// positions that they leave. It shares nothing with the reports but the definitions of the specification.
import type { DomainEvent } from "../../src/domain/event.ts";
import type { JournalEntry } from "../../src/domain/strategy.ts";
import { floor } from "../support/exact.ts";

const UNIT = 10n ** 8n;
const OWN = ["free", "locked", "isolated"];

/** Exact fractions, for averages. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

type Dated = { readonly at: number; readonly event: DomainEvent };

/** Null where there is none. */
export type PriceOf = (symbol: string, at: number) => bigint | null;

/** The events in the order of their time; funding is dated by its settlement. */
function dated(entries: readonly JournalEntry[]): Dated[] {
  return entries
    .flatMap(({ events }) => events)
    .map((event) => ({ at: event.type === "FundingSettled" ? event.fundingTime : event.at, event }));
}

function flow(event: DomainEvent, asset: string): bigint {
  let sum = 0n;
  for (const posting of event.postings) {
    if (posting.asset !== asset) continue;
    if (OWN.includes(posting.to)) sum += posting.amount;
    if (OWN.includes(posting.from)) sum -= posting.amount;
  }
  return sum;
}

/** What a strategy was worth at a time; null where a price is missing. */
export function equityAt(entries: readonly JournalEntry[], at: number, priceOf: PriceOf): bigint | null {
  const past = dated(entries).filter((each) => each.at <= at);
  const assets = new Set(past.flatMap(({ event }) => event.postings.map(({ asset }) => asset)));
  let equity = 0n;
  for (const asset of assets) {
    const owned = past.reduce((sum, { event }) => sum + flow(event, asset), 0n);
    if (asset === "USDT") equity += owned;
    if (asset === "USDT" || owned === 0n) continue;
    const price = priceOf(`${asset}USDT`, at);
    if (price === null) return null;
    equity += floor(owned * price, UNIT);
  }
  for (const [symbol, { quantity, entryValue }] of positionsAt(past)) {
    const price = priceOf(symbol, at);
    if (price === null) return null;
    const value = price * (quantity < 0n ? -quantity : quantity);
    equity += floor(quantity > 0n ? value - entryValue : entryValue - value, UNIT);
  }
  return equity;
}

function positionsAt(past: readonly Dated[]): Map<string, { quantity: bigint; entryValue: bigint }> {
  const positions = new Map<string, { quantity: bigint; entryValue: bigint }>();
  for (const { event } of past) {
    if (event.type !== "OrderFilled" || event.position === undefined) continue;
    if (event.position === null) positions.delete(event.trade.symbol);
    else positions.set(event.trade.symbol, event.position);
  }
  return positions;
}

export type Recomputed = {
  readonly trades: number;
  readonly closing: number;
  readonly wins: number;
  readonly losses: number;
  /** Own money gained, by what closes: exact on futures, fractions of a unit on spot. */
  readonly realised: Fraction;
  readonly fees: Fraction;
  readonly funding: bigint;
};

/** The figures of the time after `from`; with null, of everything. */
export function figuresOf(entries: readonly JournalEntry[], from: number | null): Recomputed {
  const all = dated(entries);
  const isFutures = all.some(({ event }) => event.type === "OrderFilled" && event.position !== undefined);
  return isFutures ? futuresFigures(all, from) : spotFigures(all, from);
}

/** The price of the last trade in a symbol; null if there was none. */
export function lastPaid(entries: readonly JournalEntry[], symbol: string): bigint | null {
  const trades = entries.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : [])),
  );
  return trades.findLast((trade) => trade.symbol === symbol)?.price ?? null;
}

function futuresFigures(all: readonly Dated[], from: number | null): Recomputed {
  const held = new Map<string, bigint>();
  let [trades, closing, wins, losses] = [0, 0, 0, 0];
  let [realised, fees, funding] = [0n, 0n, 0n];
  for (const { at, event } of all) {
    const counts = from === null || at > from;
    if (event.type === "FundingSettled" && counts) funding += flow(event, event.asset);
    if (event.type !== "OrderFilled") continue;
    const { symbol, side } = event.trade;
    const before = held.get(symbol) ?? 0n;
    held.set(symbol, event.position?.quantity ?? 0n);
    if (!counts) continue;
    trades += 1;
    const gained = event.trade.realizedPnl ?? 0n;
    if (before !== 0n && before > 0n === (side === "SELL")) {
      closing += 1;
      if (gained > 0n) wins += 1;
      if (gained < 0n) losses += 1;
    }
    // What reached the account of the trade besides its gain and its fee came from, or went to, the insurance
    // fund.
    const insured = flow(event, "USDT") - gained + event.trade.fee;
    realised += gained + (insured > 0n ? insured : 0n);
    fees += event.trade.fee + (insured < 0n ? -insured : 0n);
  }
  return { trades, closing, wins, losses, realised: whole(realised), fees: whole(fees), funding };
}

/** Average cost in fractions that are never rounded. */
function spotFigures(all: readonly Dated[], from: number | null): Recomputed {
  const costs = new Map<string, Fraction>();
  const held = new Map<string, bigint>();
  let [trades, closing, wins, losses] = [0, 0, 0, 0];
  let realised = whole(0n);
  let fees = whole(0n);
  for (const { at, event } of all) {
    if (event.type !== "OrderFilled") continue;
    const { symbol, side, quantity, quoteQuantity, fee } = event.trade;
    const base = symbol.replace(/USDT$/, "");
    const counts = from === null || at > from;
    const before = held.get(base) ?? 0n;
    const cost = costs.get(base) ?? whole(0n);
    held.set(base, before + flow(event, base));
    const paid = side === "BUY" ? fraction(quoteQuantity * fee, quantity) : whole(fee);
    if (side === "BUY") costs.set(base, minus(plus(cost, whole(quoteQuantity)), paid));
    const share = fraction(cost.numerator * quantity, cost.denominator * before);
    if (side === "SELL") costs.set(base, minus(cost, share));
    if (!counts) continue;
    trades += 1;
    fees = plus(fees, paid);
    if (side === "BUY") continue;
    const gained = minus(whole(quoteQuantity), share);
    realised = plus(realised, gained);
    closing += 1;
    if (gained.numerator > 0n) wins += 1;
    if (gained.numerator < 0n) losses += 1;
  }
  return { trades, closing, wins, losses, realised, fees, funding: 0n };
}

/** Whether a figure is within so many units of the eighth digit of the exact one. */
export function isNear(found: bigint, exact: Fraction, units: number): boolean {
  const { numerator, denominator } = minus(whole(found), exact);
  const distance = numerator < 0n ? -numerator : numerator;
  return distance <= BigInt(units) * denominator;
}

function whole(value: bigint): Fraction {
  return { numerator: value, denominator: 1n };
}

function plus(one: Fraction, other: Fraction): Fraction {
  return fraction(
    one.numerator * other.denominator + other.numerator * one.denominator,
    one.denominator * other.denominator,
  );
}

function minus(one: Fraction, other: Fraction): Fraction {
  return plus(one, { numerator: -other.numerator, denominator: other.denominator });
}

function fraction(numerator: bigint, denominator: bigint): Fraction {
  if (denominator === 0n) return whole(0n);
  let [greater, lesser] = [numerator < 0n ? -numerator : numerator, denominator];
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser];
  return greater === 0n ? whole(0n) : { numerator: numerator / greater, denominator: denominator / greater };
}
