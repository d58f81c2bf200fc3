/**
 * Recorded market data of one name, spot, futures or both, read into memory.
 * The file is gzipped lines (`line.ts`). Market time is the exchange's: receive time plus one constant, the
 * largest amount by which an event time was ahead of its receive time, rounded up to a millisecond. A
 * recorder's clock may be behind, and with the largest amount no message is ever sent before its own event;
 * most arrive a few milliseconds after it.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { parseLine, type TapeLine } from "./line.ts";

export type Recording = {
  readonly symbol: string;
  /** In file order, `at` never goes back. */
  readonly lines: readonly TapeLine[];
  readonly startsAt: number;
  readonly endsAt: number;
};

/** Reads a whole recording. Throws with the file's name, and the line's number, when it cannot. */
export function readRecording(file: string): Recording {
  const lines: TapeLine[] = [];
  let symbol: string | undefined;
  let aheadMs = -Infinity;
  let lineNumber = 0;
  for (const text of unpack(file).split("\n")) {
    lineNumber += 1;
    if (text === "") continue;
    try {
      const { symbols, eventAt, line } = parseLine(text);
      symbol ??= symbols[0];
      const other = symbols.find((name) => name !== symbol);
      if (other !== undefined) throw new Error(`${other} on a tape of ${symbol}`);
      if (eventAt !== undefined) aheadMs = Math.max(aheadMs, eventAt - line.at);
      lines.push(line);
    } catch (error) {
      throw new Error(`cannot read the tape ${file}, line ${lineNumber}: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }
  if (symbol === undefined) throw new Error(`cannot read the tape ${file}: it holds no stream messages`);
  const stamped = inMarketTime(lines, Number.isFinite(aheadMs) ? aheadMs : 0);
  return { symbol, lines: stamped, startsAt: stamped[0]?.at ?? 0, endsAt: stamped.at(-1)?.at ?? 0 };
}

function unpack(file: string): string {
  try {
    return gunzipSync(readFileSync(file)).toString("utf8");
  } catch (error) {
    throw new Error(`cannot read the tape ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

function inMarketTime(lines: readonly TapeLine[], aheadMs: number): TapeLine[] {
  let latest = 0;
  return lines.map((line) => {
    latest = Math.max(latest, Math.ceil(line.at + aheadMs));
    // Spot's best prices have no time of their own.
    const hasNoTime = line.kind === "touch" && line.type === "SPOT";
    if (hasNoTime) return { ...line, at: latest, touch: { ...line.touch, at: latest } };
    return { ...line, at: latest };
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error).replaceAll("\n", " ");
  return error instanceof Error ? error.message : String(error);
}
