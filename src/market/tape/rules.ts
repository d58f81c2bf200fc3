/** Symbol rules of a tape: given in `exchangeInfo` shape, else those of the simulated listing. */
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import type { Source } from "../exchange/source.ts";
import { perpetualExchangeInfo, spotExchangeInfo } from "../simulated/exchange-info.ts";

/** Answers `exchangeInfo`, as `Source.exchangeInfo` does. */
export type TapeRules = Source["exchangeInfo"];

const exchangeInfoBody = z.looseObject({ symbols: z.array(z.looseObject({ symbol: z.string() })) });

const listed: Readonly<Record<StrategyType, TapeRules>> = {
  SPOT: spotExchangeInfo,
  FUTURES: perpetualExchangeInfo,
};

/** Those of the symbols that a tape holds of a type. Throws when one of them has no rules. */
export function tapeRules(type: StrategyType, symbols: readonly string[], given: unknown): TapeRules {
  const body = exchangeInfoBody.parse(given ?? listed[type](0, symbols));
  const rows = body.symbols.filter((row) => symbols.includes(row.symbol));
  if (rows.length < symbols.length)
    throw new Error(`no ${type.toLowerCase()} rules are known for ${symbols}`);
  return (at) => ({ ...body, serverTime: at, symbols: rows });
}
