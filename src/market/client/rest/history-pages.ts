// Pages of history (candles, trades, settlements), at a pace that leaves most of the upstream budget to
// others. A more expensive page is followed by a longer pause, so that even gaps of all symbols together use
// at most `weightPerMinute`, plus `burstWeight` once after a quiet time, since triggers wait for these pages.
// REST knows streamed data a moment later, so a request waits until `lagMsMax` after the end of its interval.
import { createPacer } from "../../../concurrency/pacer.ts";
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";
import { type Price, parseDecimal } from "../../../money/decimal.ts";
import type { Log } from "../log.ts";
import { bodyOf, faultOf, type Rest } from "./rest.ts";
import { upstreamWeightOf } from "./upstream-weight.ts";

export const lagMsMax = 1_000;
/** Ten pages of a contract's trades; filling one gap of a contract takes one to four. */
const burstWeight = 200;
const pagesAtATimeMax = 2;
const pagesWaitingMax = 1_000;
const pageDeadlineMs = 5_000;
const minuteMs = 60_000;

export type HistoryPagesOptions = {
  readonly rest: Rest;
  /** The pages' share of the upstream budget. */
  readonly weightPerMinute: number;
  /** Whether upstream counts requests; if not, pages follow each other without pauses. */
  readonly isMetered: boolean;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

/** A row that cannot be understood, or a page that did not come: the whole answer is void. */
export class NoAnswer extends Error {}

export type HistoryPages = ReturnType<typeof createHistoryPages>;

export function createHistoryPages(options: HistoryPagesOptions) {
  const { rest, weightPerMinute, isMetered, clock, wallClock, timers, log } = options;
  /** Cancels the waits in progress. */
  const waits = new Set<Cancel>();
  const pacer = createPacer({
    atATimeMax: pagesAtATimeMax,
    waitingMax: pagesWaitingMax,
    burstMs: (burstWeight * minuteMs) / weightPerMinute,
    wallClock,
    timers,
  });

  return {
    /** Resolves when REST must have everything until a market time, Unix ms. */
    async untilKnown(to: number): Promise<void> {
      // A time to come is that of a clock that was set back since.
      const waitMs = Math.min(to + lagMsMax - clock.now(), lagMsMax);
      if (waitMs <= 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = timers.after(waitMs, resolve);
      waits.add(resolve);
      await promise;
      cancel();
      waits.delete(resolve);
    },
    /** The rows of one page. Throws NoAnswer when there are none to be had now. */
    async page(path: string, parameters: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
      const search = new URLSearchParams(parameters).toString();
      const weight = isMetered ? upstreamWeightOf(path, search) : 0;
      const pauseMs = Math.ceil((weight * minuteMs) / weightPerMinute);
      const answer = await pacer.run(() => rest.ask(path, search, pageDeadlineMs), pauseMs);
      if (answer === undefined) throw new NoAnswer("too much is asked for already");
      const body = bodyOf(answer);
      if (!Array.isArray(body)) throw new NoAnswer(faultOf(answer));
      return body;
    },
    /** The result of `read`; null when it throws NoAnswer, which is logged with `what`. */
    async answer<Answer>(what: string, about: object, read: () => Promise<Answer>): Promise<Answer | null> {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        log.warn({ ...about, reason: error.message }, `${what} cannot be had`);
        return null;
      }
    },
    /** Ends all waits; pages are not available any more. */
    close() {
      pacer.close();
      for (const end of waits) end();
    },
  };
}

export function priceOf(text: unknown): Price {
  const value = typeof text === "string" ? parseDecimal(text) : "NOT_A_DECIMAL";
  if (typeof value === "string") throw new NoAnswer(`a price that is ${value}`);
  return value as Price;
}

export function wholeOf(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new NoAnswer("a number that is not whole");
  return value as number;
}
