// Where we are, and the way to another strategy. The names come out of the list that the strategies' page shows.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { StrategyJson } from "../../../../src/dashboard-api/schemas.ts";
import { strategiesQuery } from "../../api/strategy.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Menu, MenuLink } from "../../ui/overlays/menu.tsx";

export function StrategySwitcher({ strategyId }: { strategyId: string }) {
  const { data } = useQuery(strategiesQuery);
  const strategies = data?.rows ?? [];
  const current = strategies.find((strategy) => strategy.strategyId === strategyId);
  return (
    <nav
      aria-label="You are here"
      className="wrap-anywhere flex min-h-8 min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-sm"
    >
      <Link to="/strategies" className="text-ink-soft hover:text-ink hover:underline">
        Strategies
      </Link>
      <span aria-hidden="true" className="text-line-strong">
        /
      </span>
      <Switch strategies={strategies} label={current?.name ?? strategyId} />
      {current !== undefined && <span className="text-ink-soft">{current.type.toLowerCase()}</span>}
      {current !== undefined && <StatusBadge status={current.status} />}
    </nav>
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
