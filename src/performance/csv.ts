// Tables as text that a spreadsheet opens: RFC 4180, a line of names first. No cell is taken for a formula: what begins like one
// and is no number begins with an apostrophe instead.

import type { Trade } from "../domain/order.ts";
import { formatBriefly } from "../money/decimal.ts";
import type { EquityPoint } from "./report.ts";

const LINE_END = "\r\n";
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;
const LIKE_A_FORMULA = /^[=+\-@\t\r\n]/;
const TO_BE_QUOTED = /[",\r\n]/;

/** The points of a curve. Times are UTC; drawdown is a negative amount in USDT. */
export function csvOfPoints(points: readonly EquityPoint[]): string {
  return csvOf(
    ["time", "equity", "drawdown", "drawdown rate"],
    points.map(({ at, equity, drawdown, drawdownRate }) => [
      timeOf(at),
      formatBriefly(equity),
      formatBriefly(drawdown),
      formatBriefly(drawdownRate),
    ]),
  );
}

/** Trades, a line each. `realised` is empty where the trade of a futures strategy has none, and on spot. */
export function csvOfTrades(trades: readonly Trade[]): string {
  return csvOf(
    [
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
    ],
    trades.map((trade) => [
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
    ]),
  );
}

function csvOf(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, ...rows].map((row) => row.map(cellOf).join(",") + LINE_END).join("");
}

function cellOf(text: string): string {
  const safe = LIKE_A_FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return TO_BE_QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
