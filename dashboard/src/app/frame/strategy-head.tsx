// What every page of a strategy says of it first: what it is worth now, and whether it still trades.
import { Link } from "@tanstack/react-router";
import type { StrategyJson } from "../../../../src/dashboard-api/schemas.ts";
import { shownResult } from "../../strategies/equity.ts";
import type { LiveEquity } from "../../strategies/use-equity.ts";
import { StaleBadge } from "../../ui/badge.tsx";
import { SignedAmount } from "../../ui/figures/amounts.tsx";
import { grouped } from "../../ui/figures/decimals.ts";
import { Note } from "../../ui/note.tsx";

type StrategyEquityProps = { strategy: StrategyJson; live: LiveEquity };

export function StrategyEquity({
  strategy: { seed },
  live: { equity: exact, staleSince },
}: StrategyEquityProps) {
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
export function EndNote({ strategy: { strategyId, status } }: { strategy: StrategyJson }) {
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
