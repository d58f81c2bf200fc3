/** Symbol rules of a tape: from a file in `exchangeInfo` shape, else those of the simulated listing. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { spotExchangeInfo, spotSymbolOf } from "../simulated/exchange-info.ts";
import type { TapeRules } from "./source.ts";

const exchangeInfoFile = z.looseObject({ symbols: z.array(z.looseObject({ symbol: z.string() })) });

/** Throws when neither the file nor the listing knows the symbol. */
export function tapeRules(symbol: string, rulesFile: string | undefined): TapeRules {
  if (rulesFile === undefined) {
    if (!spotSymbolOf(symbol)) {
      throw new Error(`no rules are known for ${symbol}: give a file in exchangeInfo shape with the tape`);
    }
    return (at) => spotExchangeInfo(at, [symbol]);
  }
  const body = readRules(rulesFile);
  const symbols = body.symbols.filter((row) => row.symbol === symbol);
  if (symbols.length === 0) throw new Error(`the rules file ${rulesFile} does not list ${symbol}`);
  return (at) => ({ ...body, serverTime: at, symbols });
}

function readRules(file: string): z.infer<typeof exchangeInfoFile> {
  try {
    return exchangeInfoFile.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot read the rules file ${file}: ${reason}`, { cause: error });
  }
}
