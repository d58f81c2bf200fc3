/**
 * One line of a recording: `<receive time in ns> <raw combined-stream message>`. Two kinds of line are REST
 * answers without a `stream`: the depth snapshot, an object, and settled funding, the list from
 * `fundingRate`.
 * A message's keys show its type: futures have keys that spot lacks. Other keys are ignored. Source:
 * reference exchange, sections 9, 17.1 and 17.2.
 */
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import type { AggregateTrade, FundingRow, Level, Premium, Touch, Trade } from "../exchange/source.ts";

/** `at` is market time in Unix ms; `verbatim` the payload as it was received. */
export type TapeTouch = { readonly touch: Touch; readonly verbatim: string };
export type TapeTrade = { readonly trade: Omit<Trade, "quoteQuantity">; readonly verbatim: string };
export type TapeAggregate = { readonly aggregate: AggregateTrade; readonly verbatim: string };
/** `previousUpdateId` is the last one before the change. */
export type TapeDiff = {
  readonly previousUpdateId: number;
  readonly lastUpdateId: number;
  /** The exchange's time of it, Unix ms; of a spot snapshot undefined. */
  readonly time?: number | undefined;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};
export type TapeSnapshot = Omit<TapeDiff, "previousUpdateId">;
/** The data of a mark-price message; its time is the line's. */
export type TapeMark = { readonly mark: Omit<Premium, "at" | "interestRate"> };
export type TapeFunding = { readonly rows: readonly FundingRow[] };

export type TapeLine = { readonly type: StrategyType; readonly at: number } & (
  | ({ readonly kind: "touch" } & TapeTouch)
  | ({ readonly kind: "trade" } & TapeTrade)
  | ({ readonly kind: "aggregate" } & TapeAggregate)
  | ({ readonly kind: "diff" } & TapeDiff)
  | ({ readonly kind: "snapshot" } & TapeSnapshot)
  | ({ readonly kind: "mark" } & TapeMark)
  | ({ readonly kind: "funding" } & TapeFunding)
);

/** `symbols` are those it names; `eventAt` is the exchange's own time of it, Unix ms, where it has one. */
export type ParsedLine = {
  readonly symbols: readonly string[];
  readonly eventAt?: number | undefined;
  readonly line: TapeLine;
};

const decimal = z.string().regex(/^\d+(\.\d+)?$/);
const signedDecimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const level = z.tuple([decimal, decimal]);
const levels = z.array(level);
const whole = z.int().nonnegative();

const bookTicker = z.object({
  e: z.literal("bookTicker").optional(),
  E: whole.optional(),
  T: whole.optional(),
  u: whole,
  s: z.string(),
  b: decimal,
  B: decimal,
  a: decimal,
  A: decimal,
});
const trade = z.object({
  e: z.literal("trade"),
  E: whole,
  s: z.string(),
  t: whole,
  p: decimal,
  q: decimal,
  T: whole,
  m: z.boolean(),
  M: z.boolean().optional(),
});
const aggregate = z.object({
  e: z.literal("aggTrade"),
  E: whole,
  s: z.string(),
  a: whole,
  p: decimal,
  q: decimal,
  f: whole,
  l: whole,
  T: whole,
  m: z.boolean(),
  M: z.boolean().optional(),
});
const depthUpdate = z.object({
  e: z.literal("depthUpdate"),
  E: whole,
  s: z.string(),
  U: whole,
  u: whole,
  pu: whole.optional(),
  T: whole.optional(),
  b: levels,
  a: levels,
});
const markPriceUpdate = z.object({
  e: z.literal("markPriceUpdate"),
  E: whole,
  s: z.string(),
  p: decimal,
  i: decimal,
  P: decimal.optional(),
  r: signedDecimal,
  T: whole,
});
const snapshot = z.object({
  lastUpdateId: whole,
  E: whole.optional(),
  T: whole.optional(),
  bids: levels,
  asks: levels,
});
const fundingRow = z.object({
  symbol: z.string(),
  fundingTime: whole,
  fundingRate: signedDecimal,
  markPrice: decimal,
});

/**
 * Parses a line; `at` is the receive time, ms with a fraction. Throws an error that says what is wrong with
 * it.
 */
export function parseLine(text: string): ParsedLine {
  const [, milliseconds, nanoseconds, raw = ""] = /^(\d+)(\d{6}) (.*)$/.exec(text) ?? [];
  if (milliseconds === undefined) throw new Error("it does not begin with a receive time in ns");
  const at = Number(milliseconds) + Number(nanoseconds) / 1e6;
  const message: unknown = JSON.parse(raw);
  const [, stream, verbatim = ""] = /^\{"stream":"([^"]+)","data":(.*)\}$/.exec(raw) ?? [];
  if (stream === undefined)
    return Array.isArray(message) ? parseFunding(at, message) : parseSnapshot(at, message);
  const { data } = message as { data: unknown };
  const [, channel = ""] = stream.split("@");
  const parse = parsers.find(([name]) => name.test(channel))?.[1];
  if (parse === undefined) throw new Error(`a stream that a tape does not hold: ${stream}`);
  return parse(at, data, verbatim);
}

type Parse = (at: number, data: unknown, verbatim: string) => ParsedLine;

const parsers: readonly (readonly [channel: RegExp, parse: Parse])[] = [
  [/^bookTicker$/, parseTouch],
  [/^trade$/, parseTrade],
  [/^aggTrade$/, parseAggregate],
  [/^depth/, parseDiff],
  [/^markPrice$/, parseMark],
];

function parseTouch(at: number, data: unknown, verbatim: string): ParsedLine {
  const { e, E, T, u, s, b, B, a, A } = bookTicker.parse(data);
  const type = e === undefined ? "SPOT" : "FUTURES";
  const touch: Touch = { updateId: u, at: T ?? 0, bid: [b, B], ask: [a, A] };
  return { symbols: [s], eventAt: E, line: { kind: "touch", type, at, touch, verbatim } };
}

function parseTrade(at: number, data: unknown, verbatim: string): ParsedLine {
  const { E, s, t, p, q, T, m, M } = trade.parse(data);
  const known = { id: t, at: T, price: p, quantity: q, isBuyerMaker: m };
  return { symbols: [s], eventAt: E, line: { kind: "trade", type: byM(M), at, trade: known, verbatim } };
}

function parseAggregate(at: number, data: unknown, verbatim: string): ParsedLine {
  const { E, s, a, p, q, f, l, T, m, M } = aggregate.parse(data);
  const known = {
    id: a,
    firstTradeId: f,
    lastTradeId: l,
    at: T,
    price: p,
    quantity: q,
    isBuyerMaker: m,
  };
  return {
    symbols: [s],
    eventAt: E,
    line: { kind: "aggregate", type: byM(M), at, aggregate: known, verbatim },
  };
}

function parseDiff(at: number, data: unknown): ParsedLine {
  const { E, T, s, U, u, pu, b, a } = depthUpdate.parse(data);
  const type = pu === undefined ? "SPOT" : "FUTURES";
  const diff = { previousUpdateId: pu ?? U - 1, lastUpdateId: u, time: T ?? E, bids: b, asks: a };
  return { symbols: [s], eventAt: E, line: { kind: "diff", type, at, ...diff } };
}

function parseMark(at: number, data: unknown): ParsedLine {
  const { E, s, p, i, P, r, T } = markPriceUpdate.parse(data);
  const mark = {
    markPrice: p,
    indexPrice: i,
    estimatedSettlePrice: P ?? i,
    fundingRate: r,
    nextFundingAt: T,
  };
  return { symbols: [s], eventAt: E, line: { kind: "mark", type: "FUTURES", at, mark } };
}

function parseSnapshot(at: number, message: unknown): ParsedLine {
  const { lastUpdateId, E, T, bids, asks } = snapshot.parse(message);
  const type = E === undefined ? "SPOT" : "FUTURES";
  const line = { kind: "snapshot", type, at, lastUpdateId, time: T, bids, asks } as const;
  return { symbols: [], eventAt: E, line };
}

// Published as soon as it is known, so never before the latest of its settlements.
function parseFunding(at: number, message: unknown): ParsedLine {
  const rows = z
    .array(fundingRow)
    .parse(message)
    .map(({ symbol, fundingTime, fundingRate, markPrice }) => {
      return { symbol, at: fundingTime, rate: fundingRate, markPrice };
    });
  const eventAt = rows.length === 0 ? undefined : Math.max(...rows.map((row) => row.at));
  const symbols = rows.map(({ symbol }) => symbol);
  return { symbols, eventAt, line: { kind: "funding", type: "FUTURES", at, rows } };
}

// Spot's trades end with a flag that means nothing, and that futures' do not have.
function byM(flag: boolean | undefined): StrategyType {
  return flag === undefined ? "FUTURES" : "SPOT";
}
