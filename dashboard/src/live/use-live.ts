// The live connection as hooks. Each asks for something while its component is shown, and no longer.
import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import type { PriceJson, ServerMessages, StrategyType, Topic } from "../../../src/dashboard-api/schemas.ts";
import {
  type Connection,
  connection,
  follow,
  listen,
  onConnection,
  silence,
  type Watched,
  watch,
} from "./connection.ts";

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, connection);
}

/** Since when the server has sent nothing, Unix ms, if that is too long; null while what is shown is live. */
export function useSilentSince(): number | null {
  return useSyncExternalStore(silence.onChange, silence.since);
}

/** Calls the handler, as it is at the last render, with each message of the name. */
export function useLive<Name extends keyof ServerMessages>(
  name: Name,
  handler: (message: ServerMessages[Name]) => void,
): void {
  const latest = useEffectEvent(handler);
  useEffect(() => listen(name, (message) => latest(message)), [name]);
}

/**
 * Keeps loaded data of strategies or copies up to date: queries whose key begins
 * ["strategy", strategyId, what] or ["copy", copyId], and the list of copies.
 */
export function useWatch(kind: Watched, ids: readonly string[]): void {
  const names = JSON.stringify(ids);
  useEffect(() => {
    const ends = (JSON.parse(names) as string[]).map((id) => watch(kind, id));
    return () => {
      for (const end of ends) end();
    };
  }, [kind, names]);
}

/** Has the server send a topic's messages; listen to them with `useLive`. Null follows nothing. */
export function useFollow(topic: Topic | null): void {
  const name = topic === null ? null : JSON.stringify(topic);
  useEffect(() => (name === null ? undefined : follow(JSON.parse(name))), [name]);
}

/** When the last message of the topic arrived, Unix ms; null while it is fresh. For a StaleBadge. */
export function useStaleSince(topic: Topic): number | null {
  const [since, setSince] = useState<number | null>(null);
  useLive("stale", (message) => {
    if (isSameTopic(message.topic, topic)) setSince(message.since);
  });
  const refresh = (kind: Topic["kind"], message: { family: string; symbol: string; interval?: string }) => {
    if (isSameTopic({ ...message, kind } as Topic, topic)) setSince(null);
  };
  useLive("candle", (message) => refresh("candles", message));
  useLive("book", (message) => refresh("depth", message));
  useLive("price", (message) => refresh("prices", message));
  return since;
}

function isSameTopic(one: Topic, other: Topic): boolean {
  if (one.kind !== other.kind || one.family !== other.family || one.symbol !== other.symbol) return false;
  return one.kind !== "candles" || (other.kind === "candles" && one.interval === other.interval);
}

// Changes of strategies, throttled for data that is too costly to reload after each change.

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

// The newest prices of one symbol.

export type HeardPrice = {
  readonly price: PriceJson;
  /** By this browser's clock, Unix ms. */
  readonly heardAt: number;
};

/** The last price of what something else on the page follows; null until the first has arrived. */
export function useHeardPrice(type: StrategyType, symbol: string): HeardPrice | null {
  const [heard, setHeard] = useState<HeardPrice | null>(null);
  useLive("price", (price) => {
    if (price.family === type && price.symbol === symbol) setHeard({ price, heardAt: Date.now() });
  });
  return heard !== null && heard.price.symbol === symbol && heard.price.family === type ? heard : null;
}
