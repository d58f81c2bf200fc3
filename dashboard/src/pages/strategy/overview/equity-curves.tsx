// The curves as a component: the values at the pointed-at moment are shown above them, and a slider below
// moves through them without a mouse.

import { useId, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";
import type { PerformanceJson } from "../../../../../src/dashboard-api/schemas.ts";
import { signOf } from "../../../ui/figures/decimals.ts";
import { Amount, LOCALE, Percent, Time, ZONE } from "../../../ui/figures/figures.tsx";
import { Plot, type PlotColours } from "../../../ui/figures/plot.tsx";
import { curveInWords, decimalsOfStep, pointInWords, seriesOf } from "./curve.ts";

const EQUITY_HEIGHT = 240;
const DRAWDOWN_HEIGHT = 110;
/** Outside of the picture: nothing is pointed at. */
const NOWHERE = { left: -10, top: -10 };

type EquityCurvesProps = {
  performance: Pick<PerformanceJson, "points"> & {
    readonly statistics: Pick<PerformanceJson["statistics"], "maximumDrawdown" | "maximumDrawdownRate">;
  };
};

/** Of two points at least. */
export function EquityCurves({ performance }: EquityCurvesProps) {
  const { points } = performance;
  const equityPlot = useRef<uPlot | null>(null);
  const drawdownPlot = useRef<uPlot | null>(null);
  const cursorsTogether = useId();
  const [hovered, setHovered] = useState<number | null>(null);
  const { times, equity, drawdown } = useMemo(() => seriesOf(points), [points]);
  const equityData = useMemo((): uPlot.AlignedData => [times, equity], [times, equity]);
  const drawdownData = useMemo((): uPlot.AlignedData => [times, drawdown], [times, drawdown]);
  const last = points.length - 1;
  const index = hovered === null ? last : Math.min(hovered, last);
  const point = points[index];
  if (point === undefined) return null;
  const options = { cursorsTogether, onHover: setHovered };
  const pointAt = (chosen: number | null) => {
    setHovered(chosen);
    for (const { current: plot } of [equityPlot, drawdownPlot]) {
      const at = chosen === null ? undefined : times[chosen];
      plot?.setCursor(at === undefined ? NOWHERE : { left: plot.valToPos(at, "x"), top: 1 }, false);
    }
  };
  return (
    <div>
      <p className="sr-only">{curveInWords(performance)}</p>
      <div className="flex min-h-9 flex-wrap items-center gap-x-5 gap-y-0.5 px-4 pt-2 text-sm">
        <Time at={point.at} />
        <span>
          <span className="text-ink-soft">Equity </span>
          <Amount value={point.equity} decimals={2} asset="USDT" />
        </span>
        <span className={signOf(point.drawdown) < 0 ? "text-loss" : ""}>
          <span className="text-ink-soft">Drawdown </span>
          <Amount value={point.drawdown} decimals={2} /> (<Percent rate={point.drawdownRate} />)
        </span>
      </div>
      <Plot
        label="Equity curve"
        height={EQUITY_HEIGHT}
        data={equityData}
        options={(colours) => equityOptions(colours, options)}
        plot={equityPlot}
      />
      <p className="px-4 text-ink-soft text-xs">Drawdown</p>
      <Plot
        label="Drawdown"
        height={DRAWDOWN_HEIGHT}
        data={drawdownData}
        options={(colours) => drawdownOptions(colours, options)}
        plot={drawdownPlot}
      />
      <div className="pr-3 pb-2 pl-16">
        <input
          type="range"
          aria-label="Moment of the curve"
          aria-valuetext={pointInWords(point)}
          min={0}
          max={last}
          value={index}
          onChange={({ target }) => pointAt(target.valueAsNumber)}
          onBlur={() => pointAt(null)}
          className="block w-full accent-line-strong"
        />
      </div>
    </div>
  );
}

// How the equity curve and, below it, the drawdown are painted. Their cursors move together. No gestures: the
// slider below them does what a mouse does.

type Options = Omit<uPlot.Options, "width" | "height">;

type CurveOptions = {
  /** The same for both. */
  readonly cursorsTogether: string;
  /** With the place of the point that is pointed at; null where none is. */
  readonly onHover: (index: number | null) => void;
};

const VALUE_AXIS_WIDTH = 64;
const DAY_SECONDS = 86_400;
/** So that what hardly moved looks like it: the room above and below as a share of the equity, at least. */
const ROOM_SHARE_MIN = 0.0001;
const DRAWDOWN_PERCENT_MIN = -0.1;
const FONT = "11px system-ui, sans-serif";

const labels = (format: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(LOCALE, { ...format, timeZone: ZONE });
const CLOCK = labels({ hour: "2-digit", minute: "2-digit" });
const SECONDS = labels({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = labels({ day: "2-digit", month: "short" });

function equityOptions(colours: PlotColours, parts: CurveOptions): Options {
  return {
    ...shared(parts),
    scales: { x: { time: true }, y: { range: (_plot, lowest, highest) => withRoom(lowest, highest) } },
    series: [
      {},
      {
        ...LINE,
        stroke: colours("accent"),
        fill: colours("accent-soft"),
        fillTo: (plot) => plot.scales.y?.min ?? 0,
      },
    ],
    padding: [8, 12, 8, 0],
    axes: [{ show: false }, valueAxis(colours, "")],
  };
}

function drawdownOptions(colours: PlotColours, parts: CurveOptions): Options {
  return {
    ...shared(parts),
    scales: {
      x: { time: true },
      y: { range: (_plot, lowest) => [Math.min(lowest * 1.1, DRAWDOWN_PERCENT_MIN), 0] },
    },
    series: [{}, { ...LINE, stroke: colours("loss"), fill: colours("loss-soft"), fillTo: 0 }],
    axes: [
      {
        ...axisLook(colours),
        size: 28,
        values: (_plot, splits, _axis, _space, step) => splits.map((at) => timeLabel(at, step)),
      },
      valueAxis(colours, " %"),
    ],
  };
}

const LINE = { width: 1.5, points: { show: false } } as const satisfies uPlot.Series;

function shared({ cursorsTogether, onHover }: CurveOptions): Omit<Options, "series"> {
  return {
    legend: { show: false },
    padding: [8, 12, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: cursorsTogether } },
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? null)] },
  };
}

function valueAxis(colours: PlotColours, unit: string): uPlot.Axis {
  return {
    ...axisLook(colours),
    size: VALUE_AXIS_WIDTH,
    space: 36,
    values: (_plot, splits, _axis, _space, step) => splits.map((value) => valueLabel(value, step, unit)),
  };
}

function axisLook(colours: PlotColours): uPlot.Axis {
  return {
    font: FONT,
    stroke: colours("ink-soft"),
    grid: { stroke: colours("line"), width: 1 },
    ticks: { stroke: colours("line"), width: 1, size: 4 },
  };
}

function withRoom(lowest: number, highest: number): [number, number] {
  const room = Math.max((highest - lowest) * 0.1, Math.abs(highest) * ROOM_SHARE_MIN, Number.EPSILON);
  return [lowest - room, highest + room];
}

/** A day by its date, where the marks are hours its midnight as well. */
function timeLabel(at: number, step: number): string {
  const date = new Date(at * 1_000);
  if (step < 60) return SECONDS.format(date);
  const isMidnight = date.getUTCHours() === 0 && date.getUTCMinutes() === 0;
  return step >= DAY_SECONDS || isMidnight ? DAY.format(date) : CLOCK.format(date);
}

function valueLabel(value: number, step: number, unit: string): string {
  const decimals = decimalsOfStep(step);
  const number = value.toLocaleString(LOCALE, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return `${number}${unit}`;
}
