// Changes of strategies, throttled for data that is too costly to reload after each change.
import { useEffect, useEffectEvent, useRef } from "react";
import type { ServerMessages } from "../../../src/dashboard-api/schemas.ts";
import { watch } from "./connection.ts";
import { useLive } from "./use-live.ts";

/** Has the server tell of all of these, while the component is shown. */
export function useWatches(strategyIds: readonly string[]): void {
  const names = JSON.stringify(strategyIds);
  useEffect(() => {
    const ends = (JSON.parse(names) as string[]).map((strategyId) => watch(strategyId));
    return () => {
      for (const end of ends) end();
    };
  }, [names]);
}

/** Calls the handler after changes that concern it, the last included, at most once in so long. */
export function useChanges(
  everyMs: number,
  isConcerned: (message: ServerMessages["changed"]) => boolean,
  handler: () => void,
): void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const lastAt = useRef(0);
  const latest = useEffectEvent(handler);
  useLive("changed", (message) => {
    if (timer.current !== null || !isConcerned(message)) return;
    const wait = Math.max(0, lastAt.current + everyMs - Date.now());
    timer.current = setTimeout(() => {
      timer.current = null;
      lastAt.current = Date.now();
      latest();
    }, wait);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
}
