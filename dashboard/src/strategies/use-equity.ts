// What a strategy is worth, as prices and fills come in. The frame of a strategy's pages computes it once, so
// that every figure on them is of the same prices.
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useState } from "react";
import type { PriceJson, StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { balancesQuery, positionsQuery } from "../api/strategy.ts";
import { follow } from "../live/connection.ts";
import { useLive } from "../live/use-live.ts";
import { equityAt, FOLLOWED_MAX, holdingsPolledEveryMs, symbolsOf } from "./equity.ts";

export type LiveEquity = {
  /** In USDT. */
  readonly equity: string;
  /** Since when one of its prices is stale, Unix ms; null while all are fresh. */
  readonly staleSince: number | null;
  /** By symbol, the prices that it is computed with, as far as they are newer than the server's. */
  readonly prices: ReadonlyMap<string, PriceJson>;
};

/** Null until the strategy is loaded. */
export const EquityContext = createContext<LiveEquity | null>(null);

/** On a strategy's pages. */
export function useEquity(): LiveEquity | null {
  return useContext(EquityContext);
}

/** For the frame. */
export function useEquityOf(strategyId: string, strategy: StrategyJson | undefined): LiveEquity | null {
  const type = strategy?.type ?? "SPOT";
  const balances = useQuery(balancesQuery(strategyId));
  const positions = useQuery({ ...positionsQuery(strategyId), enabled: type === "FUTURES" });
  const hasPositions = type === "SPOT" || positions.data !== undefined;
  const holdings =
    strategy === undefined || balances.data === undefined || !hasPositions
      ? null
      : { type, balances: balances.data.rows, positions: positions.data?.rows ?? [] };
  const symbols = holdings === null || strategy?.status === "CLOSED" ? [] : symbolsOf(holdings);
  const { prices, staleSince } = usePrices(type, symbols);
  const polled = { refetchInterval: holdingsPolledEveryMs(symbols.length) };
  useQuery({ ...balancesQuery(strategyId), ...polled });
  useQuery({ ...positionsQuery(strategyId), ...polled, enabled: type === "FUTURES" });
  // Balances and positions come in one after the other; between them they do not belong together.
  const isSettled = holdings !== null && !balances.isFetching && !positions.isFetching;
  const newest = isSettled ? equityAt(holdings, prices) : null;
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (newest !== null) setShown(newest);
  }, [newest]);
  if (strategy === undefined) return null;
  return { equity: newest ?? shown ?? strategy.equity, staleSince, prices };
}

/**
 * The newest prices of these, by symbol, and since when one of them is stale. The first of them are followed;
 * of the others come only prices that something else on the page follows.
 */
function usePrices(type: StrategyJson["type"], symbols: readonly string[]) {
  const [prices, setPrices] = useState<ReadonlyMap<string, PriceJson>>(new Map());
  const [stale, setStale] = useState<ReadonlyMap<string, number>>(new Map());
  const names = symbols.join(" ");
  useEffect(() => {
    const followed = names === "" ? [] : names.split(" ").slice(0, FOLLOWED_MAX);
    const ends = followed.map((symbol) => follow({ kind: "prices", family: type, symbol }));
    // What is followed no longer has no price that is kept up to date.
    setPrices((before) => only(before, followed));
    setStale((before) => only(before, followed));
    return () => {
      for (const end of ends) end();
    };
  }, [names, type]);
  useLive("price", (price) => {
    if (price.family !== type || !symbols.includes(price.symbol)) return;
    setPrices((before) => new Map(before).set(price.symbol, price));
    setStale((before) =>
      before.has(price.symbol) ? new Map([...before].filter(([name]) => name !== price.symbol)) : before,
    );
  });
  useLive("stale", ({ topic, since }) => {
    if (topic.kind !== "prices" || topic.family !== type || !symbols.includes(topic.symbol)) return;
    setStale((before) => new Map(before).set(topic.symbol, since));
  });
  const times = symbols.flatMap((symbol) => stale.get(symbol) ?? []);
  return { prices, staleSince: times.length === 0 ? null : Math.min(...times) };
}

/** The entries of these symbols. */
function only<Value>(
  entries: ReadonlyMap<string, Value>,
  symbols: readonly string[],
): ReadonlyMap<string, Value> {
  return new Map([...entries].filter(([symbol]) => symbols.includes(symbol)));
}
