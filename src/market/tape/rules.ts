/** Symbol rules of a tape: given in `exchangeInfo` shape, else those of the simulated listing. */
import { z } from "zod";
import type { Family, Source } from "../exchange/source.ts";
import { perpetualExchangeInfo, spotExchangeInfo } from "../simulated/exchange-info.ts";

/** Answers `exchangeInfo`, as `Source.exchangeInfo` does. */
export type TapeRules = Source["exchangeInfo"];

const exchangeInfoBody = z.looseObject({ symbols: z.array(z.looseObject({ symbol: z.string() })) });

const listed: Readonly<Record<Family, TapeRules>> = {
  spot: spotExchangeInfo,
  futures: perpetualExchangeInfo,
};

/** Those of the symbols that a tape holds of a family. Throws when one of them has no rules. */
export function tapeRules(family: Family, symbols: readonly string[], given: unknown): TapeRules {
  const body = exchangeInfoBody.parse(given ?? listed[family](0, symbols));
  const rows = body.symbols.filter((row) => symbols.includes(row.symbol));
  if (rows.length < symbols.length) throw new Error(`no ${family} rules are known for ${symbols}`);
  return (at) => ({ ...body, serverTime: at, symbols: rows });
}
