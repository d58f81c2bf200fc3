// The figures of the range in a grid. What each means is in its tooltip, and for touch screens in a list below.
import type { StatisticsJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Card } from "../../../ui/card.tsx";
import { Amount, Percent, SignedAmount } from "../../../ui/figures/amounts.tsx";
import { Tooltip } from "../../../ui/overlays/tooltip.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { shownStatistics } from "./curve.ts";
import { FIGURES, type Figure } from "./statistic-words.ts";

export function Statistics({ statistics }: { statistics: StatisticsJson | undefined }) {
  const shown = statistics === undefined ? undefined : shownStatistics(statistics);
  return (
    <Card title="Statistics" isFlush>
      <dl
        aria-busy={statistics === undefined}
        className="grid grid-cols-2 gap-px overflow-hidden bg-line sm:grid-cols-3"
      >
        {FIGURES.map((figure) => (
          <div key={figure.label} className="min-h-21 bg-surface px-4 py-2.5 last:odd:max-sm:col-span-2">
            <dt className="text-sm">
              <Tooltip text={figure.means}>
                <button
                  type="button"
                  className="cursor-help text-left text-ink-soft underline decoration-dotted decoration-line-strong underline-offset-4"
                >
                  {figure.label}
                </button>
              </Tooltip>
            </dt>
            <dd className="mt-0.5">
              {shown === undefined ? <Skeleton /> : <Value figure={figure} statistics={shown} />}
            </dd>
          </div>
        ))}
      </dl>
      <details className="border-line border-t px-4 py-2 text-sm">
        <summary className="py-1 text-ink-soft hover:text-ink">What these figures mean</summary>
        <dl className="grid gap-x-4 gap-y-2 py-2 sm:grid-cols-[auto_1fr]">
          {FIGURES.map(({ label, means }) => (
            <div key={label} className="sm:contents">
              <dt className="font-medium">{label}</dt>
              <dd className="text-ink-soft">{means}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Card>
  );
}

function Value({ figure, statistics }: { figure: Figure; statistics: StatisticsJson }) {
  const { kind, why, beside } = figure;
  const value = figure.value(statistics);
  const second = beside?.(statistics);
  return (
    <>
      <span className="block font-medium text-lg">
        {kind === "signed" && <SignedAmount value={value} decimals={2} />}
        {kind === "amount" && <Amount value={value} decimals={2} />}
        {kind === "rate" && <Percent rate={value} decimals={1} />}
        {kind === "factor" && <Amount value={value} decimals={2} />}
        {kind === "count" && <Amount value={value} />}
      </span>
      {value === null && <span className="block text-ink-soft text-xs">{why}</span>}
      {value !== null && second !== undefined && (
        <span className="block text-ink-soft text-xs">
          {typeof second === "string" ? (
            second
          ) : (
            <Percent rate={second.rate} decimals={2} isSigned={second.isSigned} />
          )}
        </span>
      )}
    </>
  );
}
