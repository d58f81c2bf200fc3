// Which symbol a screen is about: the one of the address, else the one that the strategy has to do with most lately.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { StrategyJson, SymbolJson } from "../../../src/dashboard-api/schemas.ts";
import { legsQuery, ordersQuery, positionsQuery, tradesQuery } from "../api/strategy.ts";
import { useAddress } from "../app/use-address.ts";
import { useSymbols } from "./markets.ts";
import { ownSymbolsOf } from "./own-symbols.ts";

export type SymbolChoice = {
  /** Undefined while it is not known yet; null if the market has no symbol of that name. */
  readonly symbol: SymbolJson | null | undefined;
  /** What the address asks for, if it does. */
  readonly asked: string | undefined;
  /** Those that the strategy has to do with, first of all. */
  readonly own: readonly string[];
  readonly all: readonly SymbolJson[] | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
};

/** What a chart shows of a strategy that has not traded yet, where the market has it. */
const FIRST_SYMBOL = "BTCUSDT";

export function useSymbol(strategy: StrategyJson | undefined, strategyId: string): SymbolChoice {
  const { search } = useAddress();
  const { data, error, refetch } = useSymbols(strategy?.type);
  const own = useOwnSymbols(strategyId, strategy?.type === "FUTURES");
  const all = data?.rows;
  const asked = search.symbol;
  const first = useFirst(own?.[0]);
  const wanted = asked ?? (own === undefined ? undefined : (first ?? FIRST_SYMBOL));
  const found = all?.find(({ symbol }) => symbol === wanted);
  const fallback =
    asked === undefined ? (all?.find(({ symbol }) => symbol === FIRST_SYMBOL) ?? all?.[0]) : null;
  const isKnown = all !== undefined && wanted !== undefined;
  return {
    symbol: isKnown ? (found ?? fallback ?? null) : undefined,
    asked,
    own: own ?? [],
    all,
    error,
    retry: () => void refetch(),
  };
}

/** The first that was known, for as long as the page is open: a page doesn't turn to another symbol because its bot trades there. */
function useFirst(symbol: string | undefined): string | undefined {
  const [first, setFirst] = useState(symbol);
  useEffect(() => setFirst((before) => before ?? symbol), [symbol]);
  return first ?? symbol;
}

/** The symbols of a strategy's positions, orders and trades, newest first; undefined while they are loaded. */
export function useOwnSymbols(strategyId: string, isFutures: boolean): readonly string[] | undefined {
  const positions = useQuery({ ...positionsQuery(strategyId), enabled: isFutures });
  const legs = useQuery({ ...legsQuery(strategyId, { state: "open" }), enabled: isFutures });
  const open = useQuery(ordersQuery(strategyId, { state: "open" }));
  const trades = useQuery(tradesQuery(strategyId, {}));
  const lists = [positions, open, legs, trades];
  if (lists.some(({ isLoading }) => isLoading)) return undefined;
  return ownSymbolsOf(lists.map(({ data }) => data?.rows ?? []));
}
