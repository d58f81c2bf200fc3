// The painted chart as a component, with its legend and the buttons that move it, so that no mouse is needed.
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import { StaleBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { compare, percentOf, subtract, trimZeros } from "../../../ui/figures/decimals.ts";
import { Amount, Price, Time } from "../../../ui/figures/figures.tsx";
import { useIsDark } from "../../../ui/theme.ts";
import { placeAt } from "./candles.ts";
import type { FillMarker, PriceLine } from "./overlays.ts";
import { type PaintedChart, paintChart } from "./painted-chart.ts";
import { readPalette } from "./palette.ts";

type PriceChartProps = {
  symbol: string;
  candles: readonly CandleJson[];
  markers: readonly FillMarker[];
  lines: readonly PriceLine[];
  priceDecimals: number;
  intervalMs: number;
  /** Opens there instead of at the newest candle, Unix ms. */
  at: number | null;
  /** Since when the market data is stale, Unix ms. */
  staleSince: number | null;
  onOrder: (orderId: number) => void;
  onNearlyAtStart: () => void;
};

export function PriceChart(props: PriceChartProps) {
  const { symbol, candles, markers, lines } = props;
  const box = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [isFit, setIsFit] = useState(false);
  const chart = usePaintedChart(box, props, setHovered);
  useEffect(() => chart.current?.fitLines(isFit), [chart, isFit]);
  const shown = hovered === null ? candles.at(-1) : candles[placeAt(candles, hovered) ?? 0];
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-2 pb-1">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Legend candle={shown} isNewest={hovered === null} priceDecimals={props.priceDecimals} />
          <StaleBadge since={props.staleSince} />
        </div>
        <fieldset className="flex gap-1 border-0 p-0">
          <legend className="sr-only">Move the chart</legend>
          <Button size="small" onClick={() => setIsFit(!isFit)}>
            {isFit ? "Fit candles" : "Fit lines"}
          </Button>
          {MOVES.map(({ name, sign, move }) => (
            <Button
              key={name}
              size="small"
              aria-label={name}
              title={name}
              onClick={() => move(chart.current)}
            >
              <span aria-hidden="true">{sign}</span>
            </Button>
          ))}
        </fieldset>
      </div>
      <div
        ref={box}
        role="img"
        aria-label={`Candles of ${symbol} with ${markers.length} markers of own fills and ${lines.length} lines. The tables below say the same.`}
        data-markers={markers.length}
        data-lines={lines.length}
        data-candles={candles.length}
        className="h-[max(20rem,calc(100dvh-25rem))] w-full md:h-[max(20rem,calc(100dvh-17.5rem))]"
      />
    </div>
  );
}

const MOVES = [
  { name: "Older", sign: "←", move: (chart: PaintedChart | null) => chart?.move(-0.5) },
  { name: "Newer", sign: "→", move: (chart: PaintedChart | null) => chart?.move(0.5) },
  { name: "Zoom out", sign: "−", move: (chart: PaintedChart | null) => chart?.zoom(1.5) },
  { name: "Zoom in", sign: "+", move: (chart: PaintedChart | null) => chart?.zoom(1 / 1.5) },
  { name: "Newest", sign: "⇥", move: (chart: PaintedChart | null) => chart?.showNewest() },
] as const;

function usePaintedChart(
  box: RefObject<HTMLDivElement | null>,
  { candles, markers, lines, priceDecimals, intervalMs, at, onOrder, onNearlyAtStart }: PriceChartProps,
  onHover: (openTime: number | null) => void,
): RefObject<PaintedChart | null> {
  const chart = useRef<PaintedChart | null>(null);
  const isDark = useIsDark();
  const hover = useEffectEvent(onHover);
  const openOrder = useEffectEvent(onOrder);
  const askOlder = useEffectEvent(onNearlyAtStart);
  useEffect(() => {
    if (box.current === null) return;
    chart.current = paintChart(box.current, {
      onHover: (openTime) => hover(openTime),
      onOrder: (orderId) => openOrder(orderId),
      onNearlyAtStart: () => askOlder(),
    });
    return () => {
      chart.current?.remove();
      chart.current = null;
    };
  }, [box]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the palette is another one in the other theme.
  useEffect(() => {
    chart.current?.setLook(readPalette(), priceDecimals, intervalMs);
  }, [priceDecimals, intervalMs, isDark]);
  useEffect(() => {
    chart.current?.setCandles(candles);
  }, [candles]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: their colors are others in the other theme.
  useEffect(() => {
    chart.current?.setMarkers(markers);
  }, [markers, isDark]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: their colors are others in the other theme.
  useEffect(() => {
    chart.current?.setLines(lines);
  }, [lines, isDark]);
  const place = at === null ? null : placeAt(candles, at);
  const hasCandles = candles.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens there once; where it is moved to then, it stays.
  useEffect(() => {
    if (place !== null && hasCandles) chart.current?.showAt(place);
  }, [at, hasCandles]);
  return chart;
}

// What the candle under the crosshair says, to the digit; without a crosshair the newest one.

type LegendProps = { candle: CandleJson | undefined; isNewest: boolean; priceDecimals: number };

function Legend({ candle, isNewest, priceDecimals }: LegendProps) {
  if (candle === undefined) return <p className="min-h-5 text-ink-soft text-sm">No candles.</p>;
  const { openTime, open, high, low, close, volume } = candle;
  const change = percentOf(subtract(close, open), open);
  const direction = compare(close, open);
  const values = [
    ["O", "Open", open],
    ["H", "High", high],
    ["L", "Low", low],
    ["C", "Close", close],
  ] as const;
  return (
    <dl className="numeric flex min-h-5 flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs">
      <div>
        <dt className="sr-only">Candle</dt>
        <dd className="text-ink-soft">
          <Time at={openTime} />
          <span className="sr-only">{isNewest ? ", the newest" : ""}</span>
        </dd>
      </div>
      {values.map(([letter, name, value]) => (
        <div key={letter} className="flex gap-1">
          <dt className="text-ink-soft">
            <abbr title={name} className="no-underline">
              {letter}
            </abbr>
          </dt>
          <dd className={direction < 0 ? "text-loss" : "text-gain"}>
            <Price value={value} decimals={priceDecimals} />
          </dd>
        </div>
      ))}
      <div className="flex gap-1">
        <dt className="text-ink-soft">
          <abbr title="Volume" className="no-underline">
            V
          </abbr>
        </dt>
        <dd>
          <Amount value={trimZeros(volume)} />
        </dd>
      </div>
      {change !== null && (
        <div>
          <dt className="sr-only">Change</dt>
          <dd className={direction < 0 ? "text-loss" : "text-gain"}>
            {direction >= 0 ? "+" : ""}
            {change} %
          </dd>
        </div>
      )}
    </dl>
  );
}
