// A small tape of BTCUSDT that a test writes: in every second of each type best prices, one trade and, of
// futures if wanted, a mark price. Prices stand still unless said.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { StrategyType } from "../../src/domain/account.ts";
import { newDirectory } from "./servers/gateway.ts";

const SYMBOL = "BTCUSDT";
const SECOND_MS = 1_000;
/** The middle of a minute, hours before funding is due. */
const STARTS_AT = Date.UTC(2025, 4, 25, 12, 0, 30);
const NEXT_FUNDING_AT = Date.UTC(2025, 4, 25, 16);

export type WrittenTape = {
  readonly types: readonly StrategyType[];
  /** How long it is. */
  readonly seconds: number;
  readonly hasMarkPrices: boolean;
  /** The bid in a second, a whole number; the ask and the trade are one above it. 50000 unless said. */
  readonly bidAt?: (second: number) => number;
};

/** Writes it in a directory of its own and answers the file. */
export function writeTape({ types, seconds, hasMarkPrices, bidAt = () => 50_000 }: WrittenTape): string {
  const lines = Array.from({ length: seconds }, (_, second) => {
    const at = STARTS_AT + second * SECOND_MS;
    const id = second + 1;
    const bid = bidAt(second);
    return types.flatMap((type) => {
      const quote = { s: SYMBOL, b: `${bid}.0`, B: "5", a: `${bid + 1}.0`, A: "5", u: id };
      const trade = { E: at, T: at, s: SYMBOL, p: `${bid + 1}.0`, q: "0.5", m: false };
      if (type === "SPOT") {
        return [
          streamed(at, "bookTicker", quote),
          streamed(at, "trade", { e: "trade", t: id, ...trade, M: true }),
        ];
      }
      const mark = { e: "markPriceUpdate", E: at, s: SYMBOL, p: `${bid}.5`, i: `${bid}.5`, r: "0.0001" };
      return [
        streamed(at, "bookTicker", { e: "bookTicker", E: at, T: at, ...quote }),
        streamed(at, "aggTrade", { e: "aggTrade", a: id, f: id, l: id, ...trade }),
        ...(hasMarkPrices ? [streamed(at, "markPrice@1s", { ...mark, T: NEXT_FUNDING_AT })] : []),
      ];
    });
  });
  const file = join(newDirectory(), "written.ndjson.gz");
  writeFileSync(file, gzipSync(lines.flat().join("")));
  return file;
}

function streamed(at: number, channel: string, data: object): string {
  return `${at}000000 ${JSON.stringify({ stream: `${SYMBOL.toLowerCase()}@${channel}`, data })}\n`;
}
