// A wait that runs down.
import { useEffect, useState } from "react";
import { durationInWords } from "./duration.ts";

const TICK_MS = 1000;

/** What is left of a wait that began when this was shown first. */
export function Wait({ seconds, then }: { seconds: number; then: string }) {
  const [until] = useState(() => Date.now() + seconds * 1000);
  const [now, setNow] = useState(() => Date.now());
  const isOver = now >= until;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  return (
    <p className="numeric mt-1 font-medium" role="timer" aria-live="off">
      {isOver ? then : `Wait ${durationInWords(Math.ceil((until - now) / 1000))}.`}
    </p>
  );
}
