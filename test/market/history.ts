// A month of a contract as a tape, made from tables: minutes of trades, settled funding, and the mark prices
// at the settlements. Also the payments of a holder, by independent arithmetic on the tables' texts.
// Of each minute the tape has three messages: in its last second one trade of the minute's whole volume at
// its close, with the best prices a tick apart there, and at its end a mark price. That is the table's at a
// settlement and the close at any other minute, for which there is no table. Each names the next settlement
// and its rate.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { decimalText, signedUnits } from "../support/exact.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { SHARED_DIR, SYMBOL } from "./recorded.ts";

const SPAN = "2025-05-25_2025-06-24";
const KLINES = join(SHARED_DIR, `data/klines/usdm-BTCUSDT-1m-${SPAN}.csv.gz`);
const FUNDING = join(SHARED_DIR, `data/funding/usdm-BTCUSDT-funding-${SPAN}.csv.gz`);
const MARKS = join(SHARED_DIR, `data/mark/usdm-BTCUSDT-mark-8h-${SPAN}.csv.gz`);
const isHistoryHere = [KLINES, FUNDING, MARKS].every((file) => existsSync(file));
/** Suffix of the names of tests without data. */
export const WITHOUT_HISTORY = isHistoryHere ? "" : " (skipped: no tables in SHARED_DIR)";

export const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** A settlement as the tables have it. Times are Unix ms. */
export type TableSettlement = {
  readonly fundingTime: number;
  /** Without the milliseconds that the exchange was late. */
  readonly dueAt: number;
  readonly rate: string;
  readonly mark: string;
};

export type HistoryTape = {
  /** How long after its time a settlement is published, ms. */
  readonly publishedAfterMs: number;
  /** The minutes of the tape, Unix ms; all of the tables' unless said. */
  readonly from?: number;
  readonly to?: number;
};

/** The rows of a table, without its header. */
function rowsOf(file: string): readonly (readonly string[])[] {
  const lines = gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n").slice(1);
  return lines.map((line) => line.split(","));
}

export function readSettlements(): readonly TableSettlement[] {
  const marks = new Map(rowsOf(MARKS).map(([openTime, open]) => [Number(openTime), open ?? ""]));
  return rowsOf(FUNDING).map(([time, rate = ""]) => {
    const fundingTime = Number(time);
    const dueAt = fundingTime - (fundingTime % MINUTE_MS);
    const mark = marks.get(dueAt);
    if (mark === undefined) throw new Error(`the table has no mark price of ${time}`);
    return { fundingTime, dueAt, rate, mark };
  });
}

/** The messages of a tape in a minute, by market time, Unix ms. */
export type TableMinute = {
  /** When it trades, and the best ask from then on. */
  readonly tradedAt: number;
  readonly close: string;
  readonly volume: string;
  /** Publication of the mark price. */
  readonly markedAt: number;
  readonly mark: string;
};

/** The minutes of the tables. */
export function readMinutes(): readonly TableMinute[] {
  const settled = new Map(readSettlements().map(({ dueAt, mark }) => [dueAt, mark]));
  return rowsOf(KLINES).map(([openTime, , , , close = "", volume = ""]) => {
    const markedAt = Number(openTime) + MINUTE_MS;
    return { tradedAt: markedAt - SECOND_MS, close, volume, markedAt, mark: settled.get(markedAt) ?? close };
  });
}

/** Writes a tape in a directory of its own and returns the file. */
export function writeHistoryTape(options: HistoryTape): string {
  const { publishedAfterMs, from = 0, to = Infinity } = options;
  const settlements = readSettlements();
  const lines: { readonly at: number; readonly message: object }[] = [];
  let next = 0;
  for (const [index, { tradedAt, close, volume, markedAt, mark }] of readMinutes().entries()) {
    while ((settlements[next]?.dueAt ?? Infinity) <= markedAt) next += 1;
    if (markedAt <= from || markedAt > to) continue;
    lines.push({ at: tradedAt, message: bestPrices(tradedAt, index + 1, close) });
    lines.push({ at: tradedAt, message: trade(tradedAt, index + 1, close, volume) });
    lines.push({ at: markedAt, message: markPrice(markedAt, mark, settlements[next]) });
  }
  for (const settlement of settlements) {
    if (settlement.dueAt <= from || settlement.dueAt > to) continue;
    lines.push({ at: settlement.fundingTime + publishedAfterMs, message: [settledRow(settlement)] });
  }
  const file = join(newDirectory(), "history.ndjson.gz");
  const inOrder = lines.toSorted((one, other) => one.at - other.at);
  // A line of rows has no time of its sending: it is received when it is published.
  const text = inOrder.map(({ at, message }) => `${at}000000 ${JSON.stringify(message)}\n`).join("");
  writeFileSync(file, gzipSync(text, { level: 1 }));
  return file;
}

function streamed(channel: string, data: object): object {
  return {
    stream: `${SYMBOL.toLowerCase()}@${channel}`,
    data: { e: channel.split("@")[0], s: SYMBOL, ...data },
  };
}

function bestPrices(at: number, id: number, close: string): object {
  const bid = decimalText(signedUnits(close) - signedUnits("0.1"));
  return streamed("bookTicker", { u: id, b: bid, B: "1.000", a: close, A: "1.000", T: at, E: at });
}

function trade(at: number, id: number, close: string, volume: string): object {
  return streamed("aggTrade", { E: at, a: id, p: close, q: volume, f: id, l: id, T: at, m: false });
}

function markPrice(at: number, price: string, next: TableSettlement | undefined): object {
  // Zero is the rate of a contract without funding; after the last row the next settlement is unknown.
  const funding = { r: next?.rate ?? "0", T: next?.dueAt ?? 0 };
  return streamed("markPrice@1s", { e: "markPriceUpdate", E: at, p: price, i: price, P: price, ...funding });
}

function settledRow({ fundingTime, rate, mark }: TableSettlement): object {
  return { symbol: SYMBOL, fundingTime, fundingRate: rate, markPrice: mark };
}

/**
 * A holder's gain of a signed quantity by a settlement, in units of 1e-8: payments are rounded up, receipts
 * down.
 */
export function fundingOf(quantity: string, { rate, mark }: TableSettlement): bigint {
  const exact = signedUnits(quantity) * signedUnits(mark) * signedUnits(rate);
  const paid = exact > 0n ? (exact + UNITS * UNITS - 1n) / (UNITS * UNITS) : exact / (UNITS * UNITS);
  return -paid;
}

/** Of one. */
export const UNITS = 10n ** 8n;
