// What is published about a contract besides exchangeInfo: its risk brackets and its rates. The numbers of a
// bracket are JSON numbers, as nowhere else.
// Source: reference exchange, sections 11.5 to 11.7 and 15.13.
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { Bracket, ContractTerms } from "../../domain/symbol.ts";
import { notionalMaxAt } from "../../engine/futures/margin.ts";
import { formatBriefly } from "../../money/decimal.ts";

const bracketRows = new WeakMap<readonly Bracket[], readonly object[]>();

/** The brackets of a contract; made once, since the table of all is long and seldom changes. */
export function presentBrackets(symbol: string, { brackets }: ContractTerms) {
  const rows = bracketRows.get(brackets) ?? brackets.map(presentBracket);
  bracketRows.set(brackets, rows);
  return { symbol, brackets: rows };
}

export function presentCommission(symbol: string, { makerFee, takerFee }: FillProfile) {
  return {
    symbol,
    makerCommissionRate: formatBriefly(makerFee),
    takerCommissionRate: formatBriefly(takerFee),
  };
}

/** The leverage of a symbol and the largest position that goes with it. */
export function presentLeverage(symbol: string, leverage: number, terms: ContractTerms) {
  return { leverage, maxNotionalValue: formatBriefly(notionalMaxAt(leverage, terms)), symbol };
}

/** The settings of a contract: all but its leverage are fixed. */
export function presentSymbolConfig(contract: {
  readonly symbol: string;
  readonly leverage: number;
  readonly terms: ContractTerms;
}) {
  const { symbol, leverage, maxNotionalValue } = presentLeverage(
    contract.symbol,
    contract.leverage,
    contract.terms,
  );
  return { symbol, marginType: "ISOLATED", isAutoAddMargin: false, leverage, maxNotionalValue };
}

function presentBracket({ bracket, initialLeverage, notionalCap, notionalFloor, ...rest }: Bracket) {
  return {
    bracket,
    initialLeverage,
    notionalCap: numberOf(notionalCap),
    notionalFloor: numberOf(notionalFloor),
    maintMarginRatio: numberOf(rest.maintenanceRate),
    cum: numberOf(rest.cum),
  };
}

function numberOf(value: bigint): number {
  return Number(formatBriefly(value));
}
