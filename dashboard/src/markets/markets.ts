// The market that the server runs, which symbols it has, and how fine their prices are.
import { useQuery } from "@tanstack/react-query";
import type { SessionJson, StrategyType } from "../../../src/dashboard-api/schemas.ts";
import { endpointQuery } from "../api/call.ts";
import { decimalsOf, trimZeros } from "../ui/figures/decimals.ts";

/** What kind of market orders are filled by: every text about it is from here. */
export const MARKET_KINDS: Readonly<
  Record<SessionJson["server"]["market"], { readonly name: string; readonly prices: string }>
> = {
  sim: { name: "simulated market", prices: "at the prices of a simulated market" },
  live: { name: "live market", prices: "at the live prices of the exchange" },
  tape: { name: "recorded market", prices: "at the prices of a recorded market" },
};

const SYMBOLS_STALE_MS = 600_000;

function symbolsQuery(type: StrategyType) {
  return {
    ...endpointQuery(["symbols", type], "GET /markets/:family/symbols", { family: type }),
    staleTime: SYMBOLS_STALE_MS,
  };
}

/** Undefined while they are loaded, and while the type is not known. */
export function useSymbols(type: StrategyType | undefined) {
  return useQuery({ ...symbolsQuery(type ?? "SPOT"), enabled: type !== undefined });
}

/** How many decimals a price or a quantity has whose smallest step is this: 2 of "0.01", 0 of "5". */
export function decimalsOfStep(step: string): number {
  return decimalsOf(trimZeros(step));
}
