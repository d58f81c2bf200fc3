/** Symbol rules of a tape: from a file in `exchangeInfo` shape, else those of the simulated listing. */
import { readFileSync } from "node:fs";
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

/**
 * Those of the symbols that a tape holds of a family. Throws when neither the file nor the listing knows one.
 */
export function tapeRules(
  family: Family,
  symbols: readonly string[],
  rulesFile: string | undefined,
): TapeRules {
  const body = rulesFile === undefined ? listed[family](0, symbols) : readRules(rulesFile);
  const rows = exchangeInfoBody.parse(body).symbols.filter((row) => symbols.includes(row.symbol));
  if (rows.length < symbols.length) {
    throw new Error(
      rulesFile === undefined
        ? `no ${family} rules are known for ${symbols}: give a file in exchangeInfo shape with the tape`
        : `the rules file ${rulesFile} does not list ${symbols}`,
    );
  }
  return (at) => ({ ...body, serverTime: at, symbols: rows });
}

function readRules(file: string): z.infer<typeof exchangeInfoBody> {
  try {
    return exchangeInfoBody.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot read the rules file ${file}: ${reason}`, { cause: error });
  }
}
