// Callers' requests to one REST host: in order of arrival once many are in flight, and within a budget of
// their own, so that the feed's requests to the same host are answered.
// Bounds: `requestsInFlightMax` requests in flight, `questionsWaitingMax` queued, each until its deadline.
import { Semaphore } from "../../../concurrency/semaphore.ts";
import type { Clock, Timers } from "../../../concurrency/time.ts";
import { type Rest, requestsInFlightMax, type UpstreamAnswer, unavailable } from "./rest.ts";
import type { CallersBudget } from "./upstream-weight.ts";

/** The largest answer to a caller's question that is read; the exchange's own have a few MiB at most. */
export const callersAnswerBytesMax = 8 * 1_024 * 1_024;
/** More than the questions that the budget of one caller allows it in a minute. */
export const questionsWaitingMax = 1_024;

export type CallersRestOptions = {
  readonly rest: Rest;
  /** Null when upstream counts no weight. */
  readonly budget: CallersBudget | null;
  readonly wallClock: Clock;
  readonly timers: Timers;
};

export function createCallersRest({
  rest,
  budget,
  wallClock,
  timers,
}: CallersRestOptions): Pick<Rest, "ask" | "close"> {
  const slots = new Semaphore<null>({ permits: requestsInFlightMax, queueMax: questionsWaitingMax });

  async function ask(path: string, search: string, deadlineMs: number): Promise<UpstreamAnswer> {
    const wantedAt = wallClock.now();
    if (slots.isFull(null)) return unavailable("too many questions wait");
    if (!(await slots.acquire(null, { timers, waitMs: deadlineMs })))
      return unavailable(`no turn within ${deadlineMs} ms`);
    try {
      const leftMs = deadlineMs - (wallClock.now() - wantedAt);
      return await askInTurn(path, search, leftMs);
    } finally {
      slots.release(null);
    }
  }

  async function askInTurn(path: string, search: string, deadlineMs: number): Promise<UpstreamAnswer> {
    // A question that upstream does not get costs nothing.
    if (rest.pausedUntil() === 0 && budget?.take(path, search) === false)
      return unavailable("callers have used up their share of the upstream budget");
    return rest.ask(path, search, deadlineMs);
  }

  return {
    ask,
    close() {
      rest.close();
      slots.close();
    },
  };
}
