import { durationInWords } from "./duration.ts";
import { useNow } from "./use-now.ts";

/** What is left until a time, Unix ms by this browser's clock, counting down. */
export function Countdown({ until, over = "now" }: { until: number; over?: string }) {
  const now = useNow();
  return (
    <span className="numeric" role="timer" aria-live="off">
      {now >= until ? over : durationInWords(Math.ceil((until - now) / 1_000))}
    </span>
  );
}
