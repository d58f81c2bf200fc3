// The curves as a component: the values at the pointed-at moment are shown above them, and a slider below
// moves through them without a mouse.

import { useId, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";
import type { PerformanceJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Amount, Percent } from "../../../ui/figures/amounts.tsx";
import { signOf } from "../../../ui/figures/decimals.ts";
import { Plot } from "../../../ui/figures/plot.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { curveInWords, pointInWords, seriesOf } from "./curve.ts";
import { drawdownOptions, equityOptions } from "./curve-options.ts";

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
