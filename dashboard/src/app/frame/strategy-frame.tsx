// What all pages of one strategy share: where we are, what it is worth, its tabs, and that its changes come in live.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet } from "@tanstack/react-router";
import type { StrategyType } from "../../../../src/dashboard-api/schemas.ts";
import { isApiError } from "../../api/error.ts";
import { outdate } from "../../api/query-client.ts";
import { summaryQuery } from "../../api/strategy.ts";
import { useLive, useWatch } from "../../live/use-live.ts";
import { EquityContext, useEquityOf } from "../../strategies/use-equity.ts";
import { Instead } from "../../ui/page-header.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { EndNote, StrategyEquity } from "./strategy-head.tsx";
import { StrategySwitcher } from "./strategy-switcher.tsx";

const route = getRouteApi("/strategies/$strategyId");

export function StrategyFrame() {
  const { strategyId } = route.useParams();
  const { data: strategy, error } = useQuery(summaryQuery(strategyId));
  const equity = useEquityOf(strategyId, strategy);
  useWatch(strategyId);
  useLive("changed", (message) => {
    if (message.strategyId !== strategyId || !message.what.includes("status")) return;
    outdate(["strategies"], ["strategy", strategyId, "account"]);
  });
  if (isApiError(error, "NOT_FOUND")) {
    return (
      <Instead
        title="There is no such strategy"
        why="The address may be mistyped, or it belongs to somebody else."
        to="/strategies"
        action="Go to your strategies"
      />
    );
  }
  return (
    <EquityContext value={equity}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-x-6">
        <StrategySwitcher strategyId={strategyId} />
        <div className="flex min-h-8 items-center">
          {strategy === undefined || equity === null ? (
            <span aria-busy={error === null} className="w-56">
              {error === null && <Skeleton />}
            </span>
          ) : (
            <StrategyEquity strategy={strategy} live={equity} />
          )}
        </div>
      </div>
      <Tabs label="Strategy" tabs={tabsOf(strategyId, strategy?.type)} />
      {strategy !== undefined && <EndNote strategy={strategy} />}
      <Outlet />
    </EquityContext>
  );
}

function tabsOf(strategyId: string, type: StrategyType | undefined): readonly Tab[] {
  const params = { strategyId };
  return [
    { label: "Overview", to: "/strategies/$strategyId", params, isExact: true },
    { label: "Chart", to: "/strategies/$strategyId/chart", params },
    { label: "Orders", to: "/strategies/$strategyId/orders", params },
    { label: type === "SPOT" ? "Balances" : "Positions", to: "/strategies/$strategyId/positions", params },
    { label: "Depth", to: "/strategies/$strategyId/depth", params },
    { label: "Trades", to: "/strategies/$strategyId/trades", params },
    { label: "Signals", to: "/strategies/$strategyId/signals", params },
    { label: "Requests", to: "/strategies/$strategyId/requests", params },
    { label: "Copiers", to: "/strategies/$strategyId/copiers", params },
    { label: "Settings", to: "/strategies/$strategyId/settings", params },
  ];
}
