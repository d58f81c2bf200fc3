// The market's own data: which symbols there are, and how fine their prices are.
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { StrategyType, SymbolShape } from "../../../src/dashboard/shapes.ts";
import { call } from "../api/call.ts";
import { decimalsOf, trimZeros } from "../ui/decimals.ts";

const SYMBOLS_STALE_MS = 600_000;

function symbolsQuery(family: StrategyType) {
  return queryOptions({
    queryKey: ["symbols", family],
    queryFn: () => call<{ readonly rows: readonly SymbolShape[] }>("GET", `/markets/${family}/symbols`),
    staleTime: SYMBOLS_STALE_MS,
  });
}

/** Undefined while they are loaded, and while the family is not known. */
export function useSymbols(family: StrategyType | undefined) {
  return useQuery({ ...symbolsQuery(family ?? "SPOT"), enabled: family !== undefined });
}

/** How many decimals a price or a quantity has whose smallest step is this: 2 of "0.01", 0 of "5". */
export function decimalsOfStep(step: string): number {
  return decimalsOf(trimZeros(step));
}
