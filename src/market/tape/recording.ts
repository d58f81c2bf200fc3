/**
 * A recorded day of one spot symbol, read into memory.
 *
 * The file is gzipped lines of `<receive time in ns> <raw combined-stream message>`; the line without `stream` is the
 * REST depth snapshot. Market time is the exchange's: receive time plus one constant, the largest amount by which an
 * event time lay ahead of its receive time, rounded up to a millisecond. The recorder's clock ran behind, and with the
 * largest amount no message is ever sent before the moment it tells of; most arrive a few milliseconds after it.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { Level, Touch, Trade } from "../exchange/source.ts";

/** `at` is market time in Unix ms; `verbatim` the payload as it was received. */
type TapeTouch = { readonly at: number; readonly touch: Touch; readonly verbatim: string };
export type TapeTrade = {
  readonly at: number;
  readonly trade: Omit<Trade, "quoteQuantity">;
  readonly verbatim: string;
};
export type TapeDiff = {
  readonly at: number;
  readonly firstUpdateId: number;
  readonly lastUpdateId: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};
export type TapeSnapshot = Omit<TapeDiff, "firstUpdateId">;

export type TapeLine =
  | ({ readonly kind: "touch" } & TapeTouch)
  | ({ readonly kind: "trade" } & TapeTrade)
  | ({ readonly kind: "diff" } & TapeDiff)
  | ({ readonly kind: "snapshot" } & TapeSnapshot);

export type Recording = {
  readonly symbol: string;
  /** In file order, `at` never goes back. */
  readonly lines: readonly TapeLine[];
  readonly startsAt: number;
  readonly endsAt: number;
};

const decimal = z.string().regex(/^\d+(\.\d+)?$/);
const level = z.tuple([decimal, decimal]);
const whole = z.int().nonnegative();
const bookTicker = z.object({ u: whole, s: z.string(), b: decimal, B: decimal, a: decimal, A: decimal });
const trade = z.object({
  e: z.literal("trade"),
  E: whole,
  s: z.string(),
  t: whole,
  p: decimal,
  q: decimal,
  T: whole,
  m: z.boolean(),
});
const depthUpdate = z.object({
  e: z.literal("depthUpdate"),
  E: whole,
  s: z.string(),
  U: whole,
  u: whole,
  b: z.array(level),
  a: z.array(level),
});
const snapshot = z.object({ lastUpdateId: whole, bids: z.array(level), asks: z.array(level) });

type Parsed = { readonly symbol?: string; readonly eventAt?: number; readonly line: TapeLine };

/** Reads a whole recording. Throws with the file's name, and the line's number, when it cannot. */
export function readRecording(file: string): Recording {
  const lines: TapeLine[] = [];
  let symbol: string | undefined;
  let aheadMs = -Infinity;
  let lineNumber = 0;
  for (const text of unpack(file).split("\n")) {
    lineNumber += 1;
    if (text === "") continue;
    try {
      const parsed = parseLine(text);
      symbol ??= parsed.symbol;
      if (parsed.symbol !== undefined && parsed.symbol !== symbol) {
        throw new Error(`${parsed.symbol} on a tape of ${symbol}`);
      }
      if (parsed.eventAt !== undefined) aheadMs = Math.max(aheadMs, parsed.eventAt - parsed.line.at);
      lines.push(parsed.line);
    } catch (error) {
      throw new Error(`cannot read the tape ${file}, line ${lineNumber}: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }
  if (symbol === undefined) throw new Error(`cannot read the tape ${file}: it holds no stream messages`);
  const stamped = inMarketTime(lines, Number.isFinite(aheadMs) ? aheadMs : 0);
  return { symbol, lines: stamped, startsAt: stamped[0]?.at ?? 0, endsAt: stamped.at(-1)?.at ?? 0 };
}

function unpack(file: string): string {
  try {
    return gunzipSync(readFileSync(file)).toString("utf8");
  } catch (error) {
    throw new Error(`cannot read the tape ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

// `at` is the receive time here, in ms with a fraction.
function parseLine(text: string): Parsed {
  const [, milliseconds, nanoseconds, raw = ""] = /^(\d+)(\d{6}) (.*)$/.exec(text) ?? [];
  if (milliseconds === undefined) throw new Error("it does not begin with a receive time in ns");
  const at = Number(milliseconds) + Number(nanoseconds) / 1e6;
  const message: unknown = JSON.parse(raw);
  const [, stream, verbatim = ""] = /^\{"stream":"([^"]+)","data":(.*)\}$/.exec(raw) ?? [];
  if (stream === undefined) {
    const { lastUpdateId, bids, asks } = snapshot.parse(message);
    return { line: { kind: "snapshot", at, lastUpdateId, bids, asks } };
  }
  const { data } = message as { data: unknown };
  const channel = stream.slice(stream.indexOf("@") + 1);
  if (channel === "bookTicker") {
    const { u, s, b, B, a, A } = bookTicker.parse(data);
    const touch: Touch = { updateId: u, at: 0, bid: [b, B], ask: [a, A] };
    return { symbol: s, line: { kind: "touch", at, touch, verbatim } };
  }
  if (channel === "trade") {
    const { E, s, t, p, q, T, m } = trade.parse(data);
    const known = { id: t, at: T, price: p, quantity: q, isBuyerMaker: m };
    return { symbol: s, eventAt: E, line: { kind: "trade", at, trade: known, verbatim } };
  }
  if (channel.startsWith("depth")) {
    const { E, s, U, u, b, a } = depthUpdate.parse(data);
    const line: TapeLine = { kind: "diff", at, firstUpdateId: U, lastUpdateId: u, bids: b, asks: a };
    return { symbol: s, eventAt: E, line };
  }
  throw new Error(`a stream that a tape does not hold: ${stream}`);
}

function inMarketTime(lines: readonly TapeLine[], aheadMs: number): TapeLine[] {
  let latest = 0;
  return lines.map((line) => {
    latest = Math.max(latest, Math.ceil(line.at + aheadMs));
    if (line.kind === "touch") return { ...line, at: latest, touch: { ...line.touch, at: latest } };
    return { ...line, at: latest };
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error).replaceAll("\n", " ");
  return error instanceof Error ? error.message : String(error);
}
