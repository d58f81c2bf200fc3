// The chart: live candles with the strategy's own fills, open orders, stops, take profits, entry and
// liquidation.
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { StrategyJson, SymbolJson } from "../../../../src/dashboard-api/schemas.ts";
import { useStrategy } from "../../api/strategy.ts";
import { useAddress } from "../../app/address.tsx";
import type { Search } from "../../app/search.ts";
import { useStaleSince } from "../../live/use-live.ts";
import { decimalsOfStep } from "../../markets/markets.ts";
import { NoSuchSymbol, PageSymbol, useSymbol } from "../../markets/symbol-chooser.tsx";
import { OrderLink } from "../../trading/links.tsx";
import { TradeTable } from "../../trading/trade-table.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Card, EmptyState, ErrorNote, Skeleton } from "../../ui/card.tsx";
import { percentOf, signOf, subtract } from "../../ui/figures/decimals.ts";
import { Price } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../ui/table.tsx";
import { INTERVAL_MS, INTERVALS, type Interval, intervalReaching, isInterval } from "./chart/candles.ts";
import type { PriceLine } from "./chart/overlays.ts";
import { PriceChart } from "./chart/price-chart.tsx";
import { useCandles, useOwn } from "./chart/use-candles.ts";

const INTERVAL_DEFAULT: Interval = "15m";
/** Fills in the table below; all of them are on the page of trades. */
const FILLS_SHOWN = 20;

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const choice = useSymbol(strategy, strategyId);
  const { search } = useAddress();
  const { symbol } = choice;
  const at = search.at !== undefined && /^\d{1,15}$/.test(search.at) ? Number(search.at) : null;
  const chosen = at === null ? INTERVAL_DEFAULT : intervalReaching(at, Date.now());
  const interval = isInterval(search.interval) ? search.interval : chosen;
  return (
    <Screen
      title="Chart"
      documentTitle={`Chart ${symbol?.symbol ?? ""}`}
      badge={<PageSymbol choice={choice} forgets="at" />}
      actions={<IntervalChoice interval={interval} />}
    >
      {choice.error !== null && <ErrorNote error={choice.error} onRetry={choice.retry} />}
      {symbol === null && <NoSuchSymbol choice={choice} />}
      {choice.error === null && (symbol === undefined || strategy === undefined) && <ChartSkeleton />}
      {symbol && strategy !== undefined && (
        <SymbolChart key={symbol.symbol} symbol={symbol} strategy={strategy} interval={interval} at={at} />
      )}
    </Screen>
  );
}

type SymbolChartProps = {
  symbol: SymbolJson;
  strategy: StrategyJson;
  interval: Interval;
  /** Where it opens, Unix ms; null is at the newest candle. */
  at: number | null;
};

function SymbolChart({ symbol: { symbol, tickSize }, strategy, interval, at }: SymbolChartProps) {
  const navigate = useNavigate();
  const { candles, error, retry, isFetching, loadOlder, topic } = useCandles(strategy.type, symbol, interval);
  const own = useOwn(strategy, symbol, candles);
  const staleSince = useStaleSince(topic);
  const last = candles?.at(-1)?.close;
  const { strategyId } = strategy;
  return (
    <div className="flex flex-col gap-5">
      <div>
        {error !== null && <ErrorNote error={error} onRetry={retry} isRetrying={isFetching} />}
        {own.error !== null && <ErrorNote error={own.error} />}
        {error === null && candles === undefined && <ChartSkeleton />}
        {candles !== undefined && (
          <Card isFlush>
            <PriceChart
              key={interval}
              symbol={symbol}
              candles={candles}
              markers={own.markers}
              lines={own.drawn}
              priceDecimals={decimalsOfStep(tickSize)}
              intervalMs={INTERVAL_MS[interval]}
              at={at}
              staleSince={staleSince}
              onOrder={(orderId) =>
                void navigate({
                  to: "/strategies/$strategyId/orders/$orderId",
                  params: { strategyId, orderId: String(orderId) },
                })
              }
              onNearlyAtStart={loadOlder}
            />
          </Card>
        )}
        <ChartNotes />
      </div>
      <Card title="Lines" isFlush>
        {own.drawn.length < own.lines.length && (
          <p className="px-4 pt-3 text-ink-soft text-sm">
            The chart has the first {own.drawn.length} of these {own.lines.length}.
          </p>
        )}
        <LineTable
          lines={own.lines}
          last={last}
          empty={
            <EmptyState title={`No open orders or positions in ${symbol}.`}>
              Open orders, stops, take profits, entry and liquidation prices are drawn as lines.
            </EmptyState>
          }
        />
      </Card>
      <Card title="Last fills" isFlush>
        <TradeTable
          caption={`Last fills in ${symbol}`}
          rows={own.trades?.slice(0, FILLS_SHOWN)}
          without={strategy.type === "SPOT" ? ["Symbol", "Realized"] : ["Symbol"]}
          empty={
            <EmptyState title={`No fills in ${symbol} yet.`}>
              Each fill becomes a marker on the chart as soon as it happens.
            </EmptyState>
          }
        />
      </Card>
    </div>
  );
}

function ChartNotes() {
  return (
    <p className="mt-2 flex flex-wrap justify-between gap-x-4 text-ink-soft text-xs">
      <span>
        Arrows are your fills: ↑ bought, ↓ sold, × of several orders. Click one for its order, drag for older
        candles.
      </span>
      <span>
        Chart by{" "}
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer" className={TEXT_LINK}>
          TradingView
        </a>
        , Lightweight Charts™
      </span>
    </p>
  );
}

/** As high as the chart, so that nothing jumps. */
function ChartSkeleton() {
  return (
    <Card>
      <div
        aria-busy="true"
        className="h-[max(22rem,calc(100dvh-23rem))] md:h-[max(20rem,calc(100dvh-17rem))]"
      >
        <Skeleton lines={1} />
        <p role="status" className="mt-3 text-ink-soft text-sm">
          Loading candles …
        </p>
      </div>
    </Card>
  );
}

/** How long a candle is: links, so that each has an address. */
function IntervalChoice({ interval }: { interval: Interval }) {
  return (
    <nav aria-label="Interval">
      <ul className="flex flex-wrap rounded-md border border-line-strong bg-surface">
        {INTERVALS.map((each) => (
          <li key={each}>
            <Link
              to="."
              search={(search: Search) => ({ ...search, interval: each, at: undefined })}
              replace
              resetScroll={false}
              aria-current={each === interval ? "true" : undefined}
              className={`flex min-h-8.5 min-w-9 items-center justify-center px-2 text-sm -outline-offset-2 ${
                each === interval
                  ? "bg-accent-soft font-semibold text-accent-ink"
                  : "text-ink-soft hover:bg-hover hover:text-ink"
              }`}
            >
              {each}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

// The lines of the chart as a list: what they are, and how far the price is from them.

type LineTableProps = { lines: readonly PriceLine[] | undefined; last: string | undefined; empty: ReactNode };

function LineTable({ lines, last, empty }: LineTableProps) {
  const columns: readonly Column<PriceLine>[] = [
    headColumn("Line", ({ says, orderId }) =>
      orderId === null ? says : <OrderLink orderId={orderId}>{says}</OrderLink>,
    ),
    numberColumn("Price", ({ price }) => <Price value={price} />),
    numberColumn("From the last price", ({ price }) => distance(price, last)),
  ];
  return (
    <Table
      caption="Lines of the chart"
      columns={columns}
      rows={lines}
      rowKey={({ id }) => id}
      empty={empty}
    />
  );
}

function distance(price: string, last: string | undefined): string | null {
  if (last === undefined) return null;
  const percent = percentOf(subtract(price, last), last);
  if (percent === null) return null;
  return `${signOf(percent) > 0 ? "+" : ""}${percent} %`;
}
