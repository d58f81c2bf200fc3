// Reads a file of leverage brackets in the format of the exchange's `leverageBracket`: a list of symbols with
// their brackets, or one such symbol. A table with an error is refused as a whole, with the symbol and the
// row, since margin computed from it would be silently wrong. Unknown keys are ignored, `notionalCoef`
// included. JSON numbers are read as the digits that JavaScript prints, exact up to fifteen digits; only the
// cap that means "none" has more. Digits as text are accepted too. Source: reference exchange, sections 11.5
// and 15.1.
import type { Bracket } from "../../domain/symbol.ts";
import {
  type Amount,
  formatBriefly,
  magnitude,
  parseDecimal,
  type Rate,
  SCALE,
  subtract,
} from "../../money/decimal.ts";
import { type BracketTable, following } from "./table.ts";

/** A table that cannot be used; the message is for the person who provided it. */
export class BracketFault extends Error {}

/** A published `cum` is rounded to the cent at worst. */
const cumRoundingMax = (SCALE / 100n) as Amount;
/** No exchange lends more. */
const leverageMax = 1_000;

const HOW = "give it as GET /fapi/v1/leverageBracket answers";

/** Throws BracketFault, with the symbol and the row, when the text is no such table. */
export function readBrackets(text: string): BracketTable {
  const body = parse(text);
  const symbols = Array.isArray(body) ? (body as readonly unknown[]) : [body];
  if (symbols.length === 0) throw new BracketFault(`it lists no symbol: ${HOW}`);
  const table = new Map<string, readonly Bracket[]>();
  for (const [index, item] of symbols.entries()) {
    if (!isObject(item) || typeof item.symbol !== "string" || item.symbol === "")
      throw new BracketFault(`entry ${index + 1} names no symbol: ${HOW}`);
    const { symbol, brackets } = item;
    if (table.has(symbol)) throw new BracketFault(`${symbol} is listed twice: leave one of them out`);
    if (!Array.isArray(brackets) || brackets.length === 0)
      throw new BracketFault(`${symbol} has no list of brackets: ${HOW}`);
    table.set(symbol, readRows(symbol, brackets));
  }
  return table;
}

function readRows(symbol: string, rows: readonly unknown[]): readonly Bracket[] {
  const brackets: Bracket[] = [];
  for (const [index, row] of rows.entries()) {
    const fault = (what: string) => new BracketFault(`${symbol}, row ${index + 1}: ${what}; ${HOW}`);
    if (!isObject(row)) throw fault("it is no object");
    const decimalIn = (key: string): bigint => {
      const value = decimalOf(row[key]);
      if (value === null) throw fault(`${key} is no decimal of at most eight digits after the point`);
      return value;
    };
    const before = brackets.at(-1) ?? null;
    const { initialLeverage } = row;
    if (!isLeverage(initialLeverage))
      throw fault(`initialLeverage is no whole number from 1 to ${leverageMax}`);
    const maintenanceRate = decimalIn("maintMarginRatio") as Rate;
    const expected = following(before, {
      initialLeverage,
      maintenanceRate,
      notionalCap: decimalIn("notionalCap") as Amount,
    });
    const cum = decimalIn("cum") as Amount;
    if (row.bracket !== expected.bracket) throw fault(`bracket is not ${expected.bracket}`);
    if (decimalIn("notionalFloor") !== expected.notionalFloor)
      throw fault(
        `notionalFloor is not ${formatBriefly(expected.notionalFloor)}, where the one before it ends`,
      );
    if (expected.notionalCap <= expected.notionalFloor) throw fault("notionalCap is not above notionalFloor");
    if (before !== null && initialLeverage >= before.initialLeverage)
      throw fault("initialLeverage is not below that of the row before it");
    if (maintenanceRate <= (before?.maintenanceRate ?? 0n) || maintenanceRate >= SCALE)
      throw fault("maintMarginRatio is not above that of the row before it, and below 1");
    if (magnitude(subtract(cum, expected.cum)) > cumRoundingMax)
      throw fault(`cum is not ${formatBriefly(expected.cum)}, which follows from the rows before it`);
    brackets.push({ ...expected, cum });
  }
  return brackets;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BracketFault(`it is no JSON: ${HOW}`);
  }
}

/** Null for what is no decimal; a sign and an exponent are none. */
function decimalOf(value: unknown): bigint | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  const read = parseDecimal(String(value));
  return typeof read === "string" ? null : read;
}

function isLeverage(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= leverageMax;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
