// How the equity curve and, below it, the drawdown are painted. Their cursors move together. No gestures: the slider below them
// does what a mouse does.
import type uPlot from "uplot";
import type { PlotColours } from "../../../ui/figures/plot.tsx";
import { LOCALE, ZONE } from "../../../ui/figures/time.tsx";
import { decimalsOfStep } from "./curve.ts";

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

export function equityOptions(colours: PlotColours, parts: CurveOptions): Options {
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

export function drawdownOptions(colours: PlotColours, parts: CurveOptions): Options {
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
