// A recorded interval of the real market for the oracle: from the file alone, without the tape's code. It is
// a sequence of messages; after each of them a best bid and ask are in force.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { decimal, type Price } from "../../src/money/decimal.ts";

export const SHARED_DIR = process.env.SHARED_DIR ?? join(import.meta.dirname, "../../../shared");
export const FILE = join(SHARED_DIR, "data/tape/spot-btcusdt-2024-08-08T2354.ndjson.gz");
/** The same minutes of the contract. */
export const FUTURES_FILE = join(SHARED_DIR, "data/tape/usdm-btcusdt-2024-08-08T2354.ndjson.gz");
export const isHere = existsSync(FILE) && existsSync(FUTURES_FILE);
/** Suffix of the names of tests without data. */
export const SKIPPED = isHere ? "" : " (skipped: no recording in SHARED_DIR)";
export const SYMBOL = "BTCUSDT";

export type Quote = { readonly bid: Price; readonly ask: Price };

/** A ticker or a trade. */
export type Message = {
  /** Its arrival, market time in Unix ms. */
  readonly at: number;
  readonly stream: string;
  /** Its `data`, byte for byte. */
  readonly payload: string;
  /** The best prices in force after its arrival. */
  readonly quote: Quote;
  /** When the exchange traded, Unix ms, and at what price; null for a ticker. */
  readonly trade: { readonly at: number; readonly price: Price } | null;
};

export type Heard = { readonly atNs: bigint; readonly stream: string; readonly payload: string };

/**
 * All tickers and trades from the first ticker on. Market time is the time of receipt plus the largest amount
 * by which an event's own time lies ahead of its receipt, rounded up to ms.
 */
export function readMessages(file = FILE): readonly Message[] {
  const heard = linesOf(file).flatMap((line) => heardIn(line) ?? []);
  const aheadNs = aheadOf(heard);
  let quote: Quote | null = null;
  const messages: Message[] = [];
  for (const { atNs, stream, payload } of heard) {
    const at = Number((atNs + aheadNs + NS_IN_MS - 1n) / NS_IN_MS);
    const data = JSON.parse(payload);
    if (stream === "btcusdt@bookTicker") {
      quote = { bid: decimal(data.b), ask: decimal(data.a) };
      messages.push({ at, stream, payload, quote, trade: null });
    } else if (stream === "btcusdt@trade" && quote !== null) {
      messages.push({ at, stream, payload, quote, trade: { at: data.T, price: decimal(data.p) } });
    }
  }
  return messages;
}

export const NS_IN_MS = 1_000_000n;

export function linesOf(file: string): readonly string[] {
  return gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n");
}

/** The largest amount by which an event's own time lies ahead of its receipt, ns. */
export function aheadOf(heard: readonly Heard[]): bigint {
  return heard.reduce(
    (most, { atNs, payload }) => {
      const eventAt = /"E":(\d+)/.exec(payload)?.[1];
      const ahead = eventAt === undefined ? most : BigInt(eventAt) * NS_IN_MS - atNs;
      return ahead > most ? ahead : most;
    },
    -(10n ** 18n),
  );
}

export function heardIn(line: string): Heard | null {
  const [, received, stream, payload] = /^(\d+) \{"stream":"([^"]+)","data":(.*)\}$/.exec(line) ?? [];
  if (received === undefined || stream === undefined || payload === undefined) return null;
  return { atNs: BigInt(received), stream, payload };
}

/** The number of messages that have arrived by a market time. */
export function countUntil(messages: readonly Message[], at: number): number {
  const next = messages.findIndex((message) => message.at > at);
  return next === -1 ? messages.length : next;
}
