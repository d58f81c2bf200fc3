// What of a strategy belongs on the chart of one symbol: its fills back to the oldest candle, and what waits or is held.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { CandleJson, StrategyJson, TradeJson } from "../../../../../src/dashboard-api/schemas.ts";
import {
  legsQuery,
  olderTradesQuery,
  ordersQuery,
  positionsQuery,
  tradesQuery,
} from "../../../api/strategy.ts";
import { type KnownTrades, withNewest } from "./known-trades.ts";
import { fillMarkers, priceLines } from "./overlays.ts";

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
  return { trades, markers, lines, error: error ?? orders.error ?? legs.error ?? positions.error };
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
  const { data, hasNextPage, isFetching, fetchNextPage, isPlaceholderData } = past;
  const trades = useMemo(
    () =>
      known === null
        ? undefined
        : [...known.rows, ...(isPlaceholderData ? [] : (data?.pages.flatMap(({ rows }) => rows) ?? []))],
    [known, data, isPlaceholderData],
  );
  const mayGoOn = hasNextPage && !isFetching && (data?.pages.length ?? 0) < TRADE_PAGES_MAX;
  const goesOn = mayGoOn && isWanted(trades ?? []);
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return { trades, error: newest.error ?? past.error };
}
