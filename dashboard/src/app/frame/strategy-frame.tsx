// What all pages of one strategy share: where we are, what it is worth, its tabs, and that its changes come
// in live.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import type { StrategyJson, StrategyType } from "../../../../src/dashboard-api/schemas.ts";
import { isApiError, outdate } from "../../api/call.ts";
import { strategiesQuery, summaryQuery } from "../../api/strategy.ts";
import { useLive, useWatch } from "../../live/use-live.ts";
import { shownResult } from "../../strategies/equity.ts";
import { ProfileBadge } from "../../strategies/fill-profile.tsx";
import { EquityContext, type LiveEquity, useEquityOf } from "../../strategies/use-equity.ts";
import { StaleBadge, StatusBadge } from "../../ui/badge.tsx";
import { Note, Skeleton } from "../../ui/card.tsx";
import { grouped } from "../../ui/figures/decimals.ts";
import { SignedAmount } from "../../ui/figures/figures.tsx";
import { Menu, MenuLink } from "../../ui/overlays/menu.tsx";
import { Instead, type Tab, Tabs, Where } from "../../ui/page-header.tsx";

const route = getRouteApi("/strategies/$strategyId");

export function StrategyFrame() {
  const { strategyId } = route.useParams();
  const { data: strategy, error } = useQuery(summaryQuery(strategyId));
  const equity = useEquityOf(strategyId, strategy);
  useWatch("strategy", [strategyId]);
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

// Where we are, and the way to another strategy. The names come out of the list that the strategies' page
// shows.

function StrategySwitcher({ strategyId }: { strategyId: string }) {
  const { data } = useQuery(strategiesQuery);
  const strategies = data?.rows ?? [];
  // Of very many closed ones the list has only the newest.
  const own = useQuery(summaryQuery(strategyId)).data;
  const current = strategies.find((strategy) => strategy.strategyId === strategyId) ?? own;
  return (
    <Where of="/strategies" title="Strategies">
      <Switch strategies={strategies} label={current?.name ?? strategyId} />
      {current !== undefined && <span className="text-ink-soft">{current.type.toLowerCase()}</span>}
      {current !== undefined && <StatusBadge status={current.status} />}
      {current !== undefined && <ProfileBadge profile={current.fillProfile} />}
    </Where>
  );
}

function Switch({ strategies, label }: { strategies: readonly StrategyJson[]; label: string }) {
  if (strategies.length < 2) return <span className="font-medium">{label}</span>;
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="-mx-1.5 flex min-h-7 min-w-0 items-center gap-1.5 rounded-md px-1.5 text-left font-medium hover:bg-hover"
        >
          {label}
          <span aria-hidden="true" className="text-ink-soft text-xs">
            ▾
          </span>
          <span className="sr-only">, switch to another strategy</span>
        </button>
      }
    >
      {strategies.map(({ strategyId, name }) => (
        <MenuLink key={strategyId}>
          <Link to="/strategies/$strategyId" params={{ strategyId }}>
            {name}
          </Link>
        </MenuLink>
      ))}
    </Menu>
  );
}

// What every page of a strategy says of it first: what it is worth now, and whether it still trades.

type StrategyEquityProps = { strategy: StrategyJson; live: LiveEquity };

function StrategyEquity({ strategy: { seed }, live: { equity: exact, staleSince } }: StrategyEquityProps) {
  const { equity, profit, percent } = shownResult({ equity: exact, seed });
  return (
    <dl className="flex flex-wrap items-baseline gap-x-4 text-sm">
      <div className="flex items-baseline gap-x-1.5">
        <dt className="text-ink-soft">Equity</dt>
        <dd className="numeric font-semibold text-lg">
          {grouped(equity)}
          <span className="ml-1 font-normal text-ink-soft text-sm">USDT</span>
        </dd>
        {staleSince !== null && (
          <dd>
            <StaleBadge since={staleSince} />
          </dd>
        )}
      </div>
      <div>
        <dt className="sr-only">Profit since it began</dt>
        <dd className="flex gap-x-2">
          <SignedAmount value={profit} decimals={2} />
          {percent !== null && <span className="numeric text-ink-soft">({percent} %)</span>}
        </dd>
      </div>
    </dl>
  );
}

/** Nothing while it is live. */
function EndNote({ strategy: { strategyId, status } }: { strategy: StrategyJson }) {
  if (status === "LIVE") return null;
  return (
    <div className="mb-4">
      {status === "CLOSED" ? (
        <Note title="This strategy is closed.">It no longer trades. These pages show its history.</Note>
      ) : (
        <Note tone="warn" title="This strategy is being closed.">
          New orders are rejected. What is left to be sold is under{" "}
          <Link
            to="/strategies/$strategyId/settings"
            params={{ strategyId }}
            className="font-medium underline underline-offset-2"
          >
            Settings
          </Link>
          .
        </Note>
      )}
    </div>
  );
}
