import type { StatisticsJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Card, Skeleton } from "../../../ui/card.tsx";
import { Amount, Meanings, Percent, SignedAmount } from "../../../ui/figures/figures.tsx";
import { Tooltip } from "../../../ui/overlays/tooltip.tsx";
import { shownStatistics } from "./curve.ts";

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
      <Meanings
        title="What these figures mean"
        words={FIGURES.map(({ label, means }) => [label, means])}
        className="border-line border-t px-4 py-2"
      />
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

// The figures of a report: what each is called, what it means, and why there may be none.

type Figure = {
  readonly label: string;
  readonly means: string;
  readonly value: (statistics: StatisticsJson) => string | null;
  /** How it is written: a gain or loss, an amount, a share of one, a factor, a number of things. */
  readonly kind: "signed" | "amount" | "rate" | "factor" | "count";
  /** A second figure in small, below it. */
  readonly beside?: (
    statistics: StatisticsJson,
  ) => { readonly rate: string; readonly isSigned: boolean } | string;
  /** Why there is none. */
  readonly why?: string;
};

const FIGURES: readonly Figure[] = [
  {
    label: "Profit",
    means: "Equity at the end of the range minus equity at its start, also as a share of the start.",
    value: ({ profit }) => profit,
    kind: "signed",
    beside: ({ profitRate }) => ({ rate: profitRate, isSigned: true }),
  },
  {
    label: "Realized",
    means: "What closing trades gained and lost, before fees. On spot against the average cost.",
    value: ({ realised }) => realised,
    kind: "signed",
  },
  {
    label: "Unrealized",
    means: "What is still held would gain or lose at the price at the end of the range.",
    value: ({ unrealised }) => unrealised,
    kind: "signed",
  },
  {
    label: "Fees",
    means: "What trades cost, in USDT.",
    value: ({ fees }) => fees,
    kind: "amount",
  },
  {
    label: "Funding",
    means: "Funding received minus funding paid. Futures only.",
    value: ({ funding }) => funding,
    kind: "signed",
  },
  {
    label: "Trades",
    means: "Fills in the range; those that close something are counted below.",
    value: ({ trades }) => String(trades),
    kind: "count",
    beside: ({ closingTrades }) => `${closingTrades} closing`,
  },
  {
    label: "Win rate",
    means: "Closing trades with a gain, as a share of all closing trades.",
    value: ({ winRate }) => winRate,
    kind: "rate",
    beside: ({ wins, losses }) => `${wins} won, ${losses} lost`,
    why: "No trade has closed anything in this range.",
  },
  {
    label: "Profit factor",
    means: "Gains of winning trades divided by losses of losing trades. Above 1 is a profit before fees.",
    value: ({ profitFactor }) => profitFactor,
    kind: "factor",
    why: "No trade has lost anything in this range.",
  },
  {
    label: "Maximum drawdown",
    means: "Largest fall of equity below its previous high in the range.",
    value: ({ maximumDrawdown }) => maximumDrawdown,
    kind: "amount",
    beside: ({ maximumDrawdownRate }) => ({ rate: maximumDrawdownRate, isSigned: false }),
  },
];
