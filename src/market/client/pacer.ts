// Lets tasks begin one after another at a measured pace, so that many of them do not use up what all share.
import type { Cancel, Clock, Timers } from "./time.ts";

export type Pacer = {
  /** The task's answer; undefined when too many wait already or the pacer is closed. The task must not reject. */
  run<Answer>(task: () => Promise<Answer>): Promise<Answer | undefined>;
  /** Begins nothing any more. */
  close(): void;
};

export type PacerOptions = {
  /** Between the beginnings of two tasks. */
  readonly intervalMs: number;
  readonly atATimeMax: number;
  readonly waitingMax: number;
  readonly wallClock: Clock;
  readonly timers: Timers;
};

export function createPacer(options: PacerOptions): Pacer {
  const { intervalMs, atATimeMax, waitingMax, wallClock, timers } = options;
  /** Told whether they may begin, in the order in which they came. */
  const waiting: ((mayBegin: boolean) => void)[] = [];
  let underWay = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: Cancel | null = null;
  let isClosed = false;

  function pump(): void {
    const now = wallClock.now();
    if (waiting.length === 0 || underWay >= atATimeMax || cancelTimer !== null) return;
    if (now >= nextAt) {
      nextAt = now + intervalMs;
      underWay += 1;
      waiting.shift()?.(true);
    }
    cancelTimer = timers.after(nextAt - now, () => {
      cancelTimer = null;
      pump();
    });
  }

  return {
    async run(task) {
      if (isClosed || waiting.length >= waitingMax) return undefined;
      const turn = Promise.withResolvers<boolean>();
      waiting.push(turn.resolve);
      pump();
      if (!(await turn.promise)) return undefined;
      const answer = await task();
      underWay -= 1;
      pump();
      return answer;
    },
    close() {
      isClosed = true;
      cancelTimer?.();
      cancelTimer = null;
      for (const turn of waiting.splice(0)) turn(false);
    },
  };
}
