// Tables as text that a spreadsheet opens: RFC 4180, a line of names first. No cell is taken for a formula:
// what begins like one and is no number begins with an apostrophe instead.
import { setImmediate } from "node:timers/promises";
import type { Trade } from "../domain/order.ts";
import { formatBriefly } from "../money/decimal.ts";
import type { EquityPoint } from "./report.ts";

/** Lines written without a pause; other work runs after them. */
export const LINES_PER_TURN = 1_000;

const LINE_END = "\r\n";
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;
const LIKE_A_FORMULA = /^[=+\-@\t\r\n]/;
const TO_BE_QUOTED = /[",\r\n]/;

/** The points of a curve. Times are UTC; drawdown is a negative amount in USDT. */
export function csvOfPoints(points: readonly EquityPoint[]): string {
  const rows = points.map(({ at, equity, drawdown, drawdownRate }) => [
    timeOf(at),
    formatBriefly(equity),
    formatBriefly(drawdown),
    formatBriefly(drawdownRate),
  ]);
  return [["time", "equity", "drawdown", "drawdown rate"], ...rows].map(lineOf).join("");
}

/**
 * Trades, a line each. `realised` is empty where the trade of a futures strategy has none, and on spot. There
 * may be very many: they are written with room for others between.
 */
export async function csvOfTrades(trades: readonly Trade[]): Promise<string> {
  const pages = [lineOf(TRADE_NAMES)];
  for (let first = 0; first < trades.length; first += LINES_PER_TURN) {
    const page = trades.slice(first, first + LINES_PER_TURN);
    pages.push(page.map((trade) => lineOf(cellsOf(trade))).join(""));
    await setImmediate();
  }
  return pages.join("");
}

const TRADE_NAMES = [
  "time",
  "trade",
  "order",
  "symbol",
  "side",
  "price",
  "quantity",
  "quote quantity",
  "fee",
  "fee asset",
  "maker",
  "realised",
] as const;

function cellsOf(trade: Trade): readonly string[] {
  return [
    timeOf(trade.at),
    `${trade.tradeId}`,
    `${trade.orderId}`,
    trade.symbol,
    trade.side,
    formatBriefly(trade.price),
    formatBriefly(trade.quantity),
    formatBriefly(trade.quoteQuantity),
    formatBriefly(trade.fee),
    trade.feeAsset,
    trade.isMaker ? "yes" : "no",
    trade.realizedPnl === undefined ? "" : formatBriefly(trade.realizedPnl),
  ];
}

function lineOf(cells: readonly string[]): string {
  return cells.map(cellOf).join(",") + LINE_END;
}

function cellOf(text: string): string {
  const safe = LIKE_A_FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return TO_BE_QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
