/**
 * A recording on a loopback port: `--market tape`. Its messages show which types it holds; the other one
 * lists no symbols.
 * Market time begins at the tape's first message when it is opened and runs `speed` times as fast as the wall
 * clock, also past the end, after which the market is silent. With `manual` it advances only by `advanceTo`.
 */
import type { StrategyType } from "../../domain/account.ts";
import { type Clock, type Exchange, openExchange } from "../exchange/open.ts";
import { createTapeFutures } from "./futures.ts";
import { readRecording } from "./recording.ts";
import { tapeRules } from "./rules.ts";
import { createTapeSource, symbolsOf } from "./source.ts";

export type TapeOptions = {
  readonly file: string;
  /** 1, the default, or faster. */
  readonly speed?: number | undefined;
  /** The system's by default. */
  readonly wallClock?: Clock | undefined;
  /** By type, `exchangeInfo` as the exchange answers it; without it the simulated listing's rules apply. */
  readonly rules?: { readonly [T in StrategyType]?: unknown } | undefined;
  readonly port?: number | undefined;
  readonly manual?: boolean | undefined;
};

export type Tape = Exchange & {
  /** Market time. */
  readonly clock: Clock;
  readonly symbol: string;
  /** The types that it holds. */
  readonly types: readonly StrategyType[];
  /** Whether contracts can be traded: orders on them are decided by the mark price. */
  readonly hasMarkPrices: boolean;
  /** Market times of the first and the last message. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** The distinct market times of the messages, ascending. */
  instants(): readonly number[];
  /** Moves a manual tape's time forward and sends what falls due. */
  advanceTo(at: number): void;
};

/** Throws, naming the file and the line, when the tape cannot be read. */
export async function openTape(options: TapeOptions): Promise<Tape> {
  const { file, speed = 1, wallClock = { now: () => Date.now() }, port, manual = false } = options;
  if (!(speed >= 1)) throw new Error(`a tape's speed is 1 or more, not ${speed}`);
  const recording = readRecording(file);
  const { symbol, lines, startsAt, endsAt } = recording;
  const spotRules = tapeRules("SPOT", symbolsOf(recording, "SPOT"), options.rules?.SPOT);
  const futuresRules = tapeRules("FUTURES", symbolsOf(recording, "FUTURES"), options.rules?.FUTURES);
  const markets = {
    SPOT: createTapeSource(recording, "SPOT", spotRules),
    FUTURES: createTapeFutures(recording, futuresRules),
  };

  const openedAt = wallClock.now();
  let heldAt = startsAt;
  const clock: Clock = manual
    ? { now: () => heldAt }
    : { now: () => startsAt + Math.floor((wallClock.now() - openedAt) * speed) };
  // However fast the tape runs, nothing of it is left out.
  const catchUpMsMax = endsAt - startsAt + 1_000;
  const exchange = await openExchange({ markets, clock, port, manual, catchUpMsMax });

  return {
    ...exchange,
    clock,
    symbol,
    types: (["SPOT", "FUTURES"] as const).filter((type) => symbolsOf(recording, type).length > 0),
    hasMarkPrices: lines.some(({ kind }) => kind === "mark"),
    startsAt,
    endsAt,
    instants: () => [...new Set(lines.map((line) => line.at))],
    advanceTo(at) {
      if (!manual) throw new Error("a tape that runs by itself cannot be advanced");
      heldAt = Math.max(heldAt, at);
      exchange.pump();
    },
  };
}
