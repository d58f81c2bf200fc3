// What all pages of one strategy share: where we are, its tabs, and that its changes come in live.
import { getRouteApi, Outlet } from "@tanstack/react-router";
import { useWatch } from "../live/use-live.ts";
import { type Tab, Tabs } from "../ui/tabs.tsx";
import { StrategySwitcher } from "./strategy-switcher.tsx";

const route = getRouteApi("/strategies/$strategyId");

export function StrategyFrame() {
  const { strategyId } = route.useParams();
  useWatch(strategyId);
  return (
    <>
      <StrategySwitcher strategyId={strategyId} />
      <Tabs label="Strategy" tabs={tabsOf(strategyId)} />
      <Outlet />
    </>
  );
}

function tabsOf(strategyId: string): readonly Tab[] {
  const params = { strategyId };
  return [
    { label: "Overview", to: "/strategies/$strategyId", params, isExact: true },
    { label: "Chart", to: "/strategies/$strategyId/chart", params },
    { label: "Orders", to: "/strategies/$strategyId/orders", params },
    { label: "Positions", to: "/strategies/$strategyId/positions", params },
    { label: "Depth", to: "/strategies/$strategyId/depth", params },
    { label: "Trades", to: "/strategies/$strategyId/trades", params },
    { label: "Signals", to: "/strategies/$strategyId/signals", params },
    { label: "Requests", to: "/strategies/$strategyId/requests", params },
    { label: "Settings", to: "/strategies/$strategyId/settings", params },
  ];
}
