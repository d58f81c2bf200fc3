// The strategy that a page is about: its id out of the address, its name and type as the frame around all of its pages has them.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { summaryQuery } from "./strategy.ts";

const route = getRouteApi("/strategies/$strategyId");

export function useStrategyId(): string {
  return route.useParams().strategyId;
}

/** `strategy` is undefined while it is loaded. */
export function useStrategy(): { readonly strategyId: string; readonly strategy: StrategyJson | undefined } {
  const strategyId = useStrategyId();
  return { strategyId, strategy: useQuery(summaryQuery(strategyId)).data };
}
