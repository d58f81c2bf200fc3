import { useEffect, useState } from "react";
import { Badge } from "./badge.tsx";
import { durationInWords } from "./duration.ts";

const TICK_MS = 1000;

type StaleBadgeProps = {
  /** Since when nothing was heard, Unix ms by this browser's clock; null while it is fresh, and then nothing shows. */
  since: number | null;
};

/** "Stale for 12 s", counting. */
export function StaleBadge({ since }: StaleBadgeProps) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (since === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  return (
    <Badge tone="warn">
      <span aria-hidden="true">◌</span>
      <span>
        stale for <span className="numeric">{durationInWords((now - since) / 1_000)}</span>
      </span>
    </Badge>
  );
}
