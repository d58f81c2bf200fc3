// Published and recorded examples of the exchange. They are not part of the project: where they are absent,
// tests that read them are skipped, with the reason in their names.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readBrackets } from "../../market/brackets/read.ts";
import type { BracketTable } from "../../market/brackets/table.ts";

const DATA = join(process.env.SHARED_DIR ?? join(import.meta.dirname, "../../../../shared"), "data");
export const isHere = existsSync(DATA);
export const SKIPPED = isHere ? "" : " (skipped: no recordings in SHARED_DIR)";

/** The JSON of a file below the recordings' folder. */
export function recorded(file: string): unknown {
  const bytes = readFileSync(join(DATA, file));
  return JSON.parse((file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
}

type Recorded = { readonly info: Readonly<Record<"bracket" | "initialLeverage", number | string>> };

/** Every recorded table of leverage brackets, by the day it is of. */
export function recordedBrackets(): ReadonlyMap<string, BracketTable> {
  const days = ["2024-08-08", "2025-10-23", "2026-07-02"];
  return new Map(
    days.map((day) => {
      const file = `brackets/binance-usdm-leverage-tiers-${day}.json.gz`;
      const rowsBySymbol = recorded(file) as Readonly<Record<string, readonly Recorded[]>>;
      const body = Object.entries(rowsBySymbol).map(([symbol, rows]) => ({
        symbol,
        // The older recordings have texts for numbers; decimals are read from either.
        brackets: rows.map(({ info }) => ({
          ...info,
          bracket: wholeOf(info.bracket),
          initialLeverage: wholeOf(info.initialLeverage),
        })),
      }));
      return [day, readBrackets(JSON.stringify(body))];
    }),
  );
}

function wholeOf(value: number | string): number {
  return Number.parseInt(`${value}`, 10);
}
