// What is asked for about a strategy as a whole: its line of the list, how it has done, and what closing it would do.
import { queryOptions } from "@tanstack/react-query";
import type {
  ClosePreviewShape,
  PerformanceShape,
  Range,
  SparklineShape,
  StrategyShape,
} from "../../../src/dashboard/shapes.ts";
import { call } from "./call.ts";
import { pathOf } from "./trading.ts";

/** Small pictures of the newest equity, one a strategy. */
export const sparklinesQuery = queryOptions({
  queryKey: ["sparklines"],
  queryFn: () => call<{ readonly rows: readonly SparklineShape[] }>("GET", "/strategies/sparklines"),
});

export function summaryQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "account", "summary"],
    queryFn: () => call<StrategyShape>("GET", `/strategies/${encodeURIComponent(strategyId)}`),
  });
}

/** Its key names no part that the server tells of: a report is too costly to be made anew at each fill. */
export function performanceQuery(strategyId: string, range: Range) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "performance", range],
    queryFn: () => call<PerformanceShape>("GET", pathOf(strategyId, "performance", { range })),
    // Nobody says that it is out of date while it is not shown.
    staleTime: 0,
  });
}

/** Asked for anew whenever it is shown again, since the market moves what it says. */
export function closePreviewQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "account", "close-preview"],
    queryFn: () => call<ClosePreviewShape>("GET", pathOf(strategyId, "close-preview")),
    staleTime: 0,
    gcTime: 0,
  });
}
