// The recorded stretch of the contract with mark prices, of which it has none: at each whole second the
// middle of the best prices then, as text of eight decimals. They are made up, and only so that orders can be
// decided at all.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { formatDecimal } from "../../src/money/decimal.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import {
  aheadOf,
  FUTURES_FILE,
  heardIn,
  linesOf,
  type Message,
  NS_IN_MS,
  SHARED_DIR,
  SYMBOL,
} from "./recorded.ts";

const SECOND_MS = 1_000;
const NEXT_FUNDING_AT = Date.UTC(2024, 7, 9);
const EXCHANGE_INFO = join(SHARED_DIR, "data/exchange-info/fapi-v1-exchangeInfo-2024-10-02.json.gz");

/** Writes the tape in a directory; beside it the exchange's own rules of about that time. */
export function writeMarkedTape(messages: readonly Message[]): { file: string; rules: { FUTURES: unknown } } {
  const recorded = linesOf(FUTURES_FILE);
  const aheadNs = aheadOf(recorded.flatMap((line) => heardIn(line) ?? []));
  const lines = recorded.map((text) => ({ atNs: BigInt(text.slice(0, text.indexOf(" "))), text }));
  const directory = newDirectory();
  const file = join(directory, "marked.ndjson.gz");
  const all = [...lines, ...marksOf(messages, aheadNs)].sort((one, other) => Number(one.atNs - other.atNs));
  writeFileSync(file, gzipSync(all.map(({ text }) => `${text}\n`).join(""), { level: 1 }));
  return { file, rules: { FUTURES: JSON.parse(gunzipSync(readFileSync(EXCHANGE_INFO)).toString()) } };
}

function marksOf(messages: readonly Message[], aheadNs: bigint) {
  const marks: { atNs: bigint; text: string }[] = [];
  let second = 0;
  for (const [index, { at }] of messages.entries()) {
    const next = Math.floor(at / SECOND_MS) * SECOND_MS;
    const quote = messages[index - 1]?.quote;
    if (next === second || quote === undefined) continue;
    second = next;
    // Published within the last millisecond before its second, so that it is received neither before nor
    // after it.
    const data = {
      e: "markPriceUpdate",
      E: second - 1,
      s: SYMBOL,
      p: formatDecimal((quote.bid + quote.ask) / 2n),
      i: formatDecimal((quote.bid + quote.ask) / 2n),
      r: "0.0001",
      T: NEXT_FUNDING_AT,
    };
    const atNs = BigInt(second) * NS_IN_MS - aheadNs - NS_IN_MS / 2n;
    const stream = `${SYMBOL.toLowerCase()}@markPrice@1s`;
    marks.push({ atNs, text: `${atNs} ${JSON.stringify({ stream, data })}` });
  }
  return marks;
}
