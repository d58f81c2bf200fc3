// Starts tasks one after another at a measured pace, so that many of them do not use up a shared resource.
import type { Cancel, Clock, Timers } from "./time.ts";

export type PacerOptions = {
  readonly atATimeMax: number;
  readonly waitingMax: number;
  /** Unused pauses are saved up to this many ms in all; tasks then start at once. */
  readonly burstMs?: number;
  readonly wallClock: Clock;
  readonly timers: Pick<Timers, "after">;
};

export type Pacer = ReturnType<typeof createPacer>;

export function createPacer(options: PacerOptions) {
  const { atATimeMax, waitingMax, burstMs = 0, wallClock, timers } = options;
  /** Callbacks of waiting tasks, in order of arrival. */
  const waiting: { readonly tell: (mayBegin: boolean) => void; readonly pauseMs: number }[] = [];
  let underWay = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: Cancel | null = null;
  let isClosed = false;

  function pump(): void {
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      if (underWay >= atATimeMax || cancelTimer !== null) return;
      const now = wallClock.now();
      if (now < nextAt) {
        cancelTimer = timers.after(nextAt - now, () => {
          cancelTimer = null;
          pump();
        });
        return;
      }
      nextAt = Math.max(nextAt, now - burstMs) + first.pauseMs;
      underWay += 1;
      waiting.shift();
      first.tell(true);
    }
  }

  return {
    /**
     * The task's answer; undefined when too many wait already or the pacer is closed. The next task begins
     * `pauseMs` after the beginning of this one, unless pauses have been saved. The task must not reject.
     */
    async run<Answer>(task: () => Promise<Answer>, pauseMs: number): Promise<Answer | undefined> {
      if (isClosed || waiting.length >= waitingMax) return undefined;
      const turn = Promise.withResolvers<boolean>();
      waiting.push({ tell: turn.resolve, pauseMs });
      pump();
      if (!(await turn.promise)) return undefined;
      const answer = await task();
      underWay -= 1;
      pump();
      return answer;
    },
    /** Begins nothing any more. */
    close() {
      isClosed = true;
      cancelTimer?.();
      cancelTimer = null;
      for (const { tell } of waiting.splice(0)) tell(false);
    },
  };
}
