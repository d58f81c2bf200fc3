// The candles of one symbol: loaded a page at a time, back into the past, and live from there on.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { CandleJson, StrategyType } from "../../../../../src/dashboard-api/schemas.ts";
import { type Answer, call } from "../../../api/call.ts";
import { useFollow, useLive } from "../../../live/use-live.ts";
import { type Interval, leavesGap, merged, withLive } from "./candles.ts";

const PAGE_CANDLES = 500;
/** Further back a wider interval shows more. */
const PAGES_MAX = 12;
const LIVE_MAX = 500;

type Candles = Answer<"GET /markets/:family/candles">;

export function useCandles(family: StrategyType, symbol: string, interval: Interval) {
  const queries = useQueryClient();
  const queryKey = ["candles", family, symbol, interval];
  const topic = { kind: "candles", family, symbol, interval } as const;
  const name = JSON.stringify(topic);
  const [live, setLive] = useState<{ readonly name: string; readonly candles: readonly CandleJson[] }>({
    name,
    candles: [],
  });
  const mended = useRef(0);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }): Promise<Candles> =>
      call("GET /markets/:family/candles", {
        ...{ family, symbol, interval, limit: String(PAGE_CANDLES) },
        endTime: pageParam === null ? undefined : String(pageParam),
      }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ rows }: Candles, pages) => {
      const [first] = rows;
      return first === undefined || rows.length < PAGE_CANDLES || pages.length >= PAGES_MAX
        ? null
        : first.openTime - 1;
    },
    // Candles of another symbol or interval say nothing about this one.
    placeholderData: noPlaceholder,
  });
  const { data } = query;
  const mine = live.name === name ? live.candles : NONE;
  const candles = useMemo(() => merged(data?.pages.flatMap(({ rows }) => rows) ?? [], mine), [data, mine]);
  useFollow(topic);
  useLive("candle", (message) => {
    if (message.family !== family || message.symbol !== symbol || message.interval !== interval) return;
    const { candle } = message;
    // What was missed is loaded, once for each candle that shows it.
    if (data !== undefined && leavesGap(candles, candle, interval) && mended.current !== candle.openTime) {
      mended.current = candle.openTime;
      void queries.invalidateQueries({ queryKey });
    }
    setLive({ name, candles: withLive(mine, candle, LIVE_MAX) });
  });
  return {
    /** Oldest first; undefined until there are any to show. */
    candles: data === undefined ? undefined : candles,
    error: query.error,
    retry: () => void query.refetch(),
    isFetching: query.isFetching,
    /** Loads older ones, if there are and none are being loaded. */
    loadOlder: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
    topic,
  };
}

function noPlaceholder(): undefined {}

const NONE: readonly CandleJson[] = [];
