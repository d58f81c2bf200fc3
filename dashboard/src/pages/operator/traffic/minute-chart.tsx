// Requests and errors by minute, of the last hour.
import { useMemo } from "react";
import type { TrafficJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Plot, type PlotColours } from "../../../ui/figures/plot.tsx";
import { clockTime, ZONE } from "../../../ui/figures/time.tsx";

const HEIGHT = 160;
const MS = 1_000;
const HOUR_SECONDS = 3_600;

export function MinuteChart({ minutes }: { minutes: TrafficJson["perMinute"] }) {
  const data = useMemo<[number[], number[], number[]]>(
    () => [
      minutes.map(({ at }) => at / MS),
      minutes.map(({ count }) => count),
      minutes.map(({ errors }) => errors),
    ],
    [minutes],
  );
  return <Plot label={inWords(minutes)} height={HEIGHT} data={data} options={optionsIn} />;
}

function inWords(minutes: TrafficJson["perMinute"]): string {
  const total = minutes.reduce((sum, { count }) => sum + count, 0);
  const errors = minutes.reduce((sum, minute) => sum + minute.errors, 0);
  const most = Math.max(0, ...minutes.map(({ count }) => count));
  return `In the last ${minutes.length} minutes ${total} requests, at most ${most} a minute, ${errors} errors. Times are in ${ZONE}.`;
}

function optionsIn(colours: PlotColours) {
  const line = { width: 1.5, points: { show: true, size: 3 } };
  const axis = {
    stroke: colours("ink-soft"),
    grid: { stroke: colours("line"), width: 1 },
    ticks: { stroke: colours("line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  return {
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // The whole hour, also while the server has not run for one.
      x: {
        range: (_plot: unknown, _least: number, last: number): [number, number] => [
          last - HOUR_SECONDS,
          last,
        ],
      },
      y: {
        range: (_plot: unknown, _least: number, most: number): [number, number] => [
          0,
          Math.max(5, most * 1.1),
        ],
      },
    },
    axes: [
      {
        ...axis,
        values: (_plot: unknown, times: number[]) =>
          times.map((at) => clockTime(at * MS, "time").slice(0, 5)),
      },
      { ...axis, size: 46 },
    ],
    series: [
      {},
      {
        label: "Requests",
        stroke: colours("accent"),
        fill: colours("accent-soft"),
        ...line,
      },
      { label: "Errors", stroke: colours("loss"), ...line },
    ],
  };
}
