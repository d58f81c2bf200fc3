// The candles of one symbol: loaded a page at a time, back into the past, and live from there on.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type {
  CandleJson,
  StrategyJson,
  StrategyType,
  TradeJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { type Answer, call } from "../../../api/call.ts";
import {
  legsQuery,
  olderTradesQuery,
  ordersQuery,
  positionsQuery,
  tradesQuery,
} from "../../../api/strategy.ts";
import { useFollow, useLive } from "../../../live/use-live.ts";
import { type Interval, leavesGap, merged, withLive } from "./candles.ts";
import { type KnownTrades, withNewest } from "./known-trades.ts";
import { fillMarkers, LINES_MAX, priceLines } from "./overlays.ts";

const PAGE_CANDLES = 500;
/** Further back a wider interval shows more. */
const PAGES_MAX = 12;
const LIVE_MAX = 500;

type Candles = Answer<"GET /markets/:family/candles">;

export function useCandles(type: StrategyType, symbol: string, interval: Interval) {
  const queries = useQueryClient();
  const queryKey = ["candles", type, symbol, interval];
  const topic = { kind: "candles", family: type, symbol, interval } as const;
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
        ...{ family: type, symbol, interval, limit: String(PAGE_CANDLES) },
        endTime: pageParam === null ? undefined : String(pageParam),
      }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ rows }: Candles, pages) => {
      const [first] = rows;
      return first === undefined || rows.length < PAGE_CANDLES || pages.length >= PAGES_MAX
        ? null
        : first.openTime - 1;
    },
  });
  const { data } = query;
  const mine = live.name === name ? live.candles : NONE;
  const candles = useMemo(() => merged(data?.pages.flatMap(({ rows }) => rows) ?? [], mine), [data, mine]);
  useFollow(topic);
  useLive("candle", (message) => {
    if (message.family !== type || message.symbol !== symbol || message.interval !== interval) return;
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

const NONE: readonly CandleJson[] = [];

// What of a strategy belongs on the chart of one symbol: its fills back to the oldest candle, and what waits
// or is held.

/** Of a hundred fills each; beyond it markers would cover the candles. */
const TRADE_PAGES_MAX = 10;

export function useOwn(
  { strategyId, type }: StrategyJson,
  symbol: string,
  candles: readonly CandleJson[] | undefined,
) {
  const isFutures = type === "FUTURES";
  const { trades, error } = useTrades(strategyId, symbol, candles?.[0]?.openTime);
  const orders = useQuery(ordersQuery(strategyId, { state: "open", symbol }));
  const legs = useQuery({ ...legsQuery(strategyId, { state: "open", symbol }), enabled: isFutures });
  const positions = useQuery({ ...positionsQuery(strategyId), enabled: isFutures });
  const markers = useMemo(() => fillMarkers(trades ?? [], candles ?? []), [trades, candles]);
  const lines = useMemo(
    () =>
      priceLines({
        positions: (positions.data?.rows ?? []).filter((position) => position.symbol === symbol),
        legs: legs.data?.rows ?? [],
        orders: orders.data?.rows ?? [],
      }),
    [positions.data, legs.data, orders.data, symbol],
  );
  const drawn = useMemo(() => lines.slice(0, LINES_MAX), [lines]);
  return { trades, markers, lines, drawn, error: error ?? orders.error ?? legs.error ?? positions.error };
}

/** The fills of a symbol, newest first, back to a time; undefined while the newest are loaded. */
function useTrades(strategyId: string, symbol: string, from: number | undefined) {
  const newest = useQuery(tradesQuery(strategyId, { symbol }));
  const [known, setKnown] = useState<KnownTrades | null>(null);
  useEffect(() => {
    if (newest.data !== undefined) setKnown((before) => withNewest(before, newest.data));
  }, [newest.data]);
  const older = known?.older ?? null;
  const isWanted = (rows: readonly TradeJson[]) => {
    const last = rows.at(-1);
    return last !== undefined && from !== undefined && last.at > from;
  };
  const past = useInfiniteQuery({
    ...olderTradesQuery(strategyId, symbol, older),
    enabled: older !== null && isWanted(known?.rows ?? []),
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = past;
  const trades = useMemo(
    () => (known === null ? undefined : [...known.rows, ...(data?.pages.flatMap(({ rows }) => rows) ?? [])]),
    [known, data],
  );
  const mayGoOn = hasNextPage && !isFetching && (data?.pages.length ?? 0) < TRADE_PAGES_MAX;
  const goesOn = mayGoOn && isWanted(trades ?? []);
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return { trades, error: newest.error ?? past.error };
}
