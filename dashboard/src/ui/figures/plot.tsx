// A small chart of lines over time by uPlot: as wide as its place, in the theme's colors. Painted on a
// canvas, so its label says the same in words.
import "uplot/dist/uPlot.min.css";
import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import type uPlot from "uplot";
import { useIsDark } from "../theme.ts";
import { LOCALE, ZONE } from "./figures.tsx";

/** The color of a name in the theme's style sheet. */
export type PlotColours = (name: string) => string;

/** Of a second: the unit of a plot's times. */
const MS = 1_000;

type PlotProps = {
  /** What it shows, read out instead of the picture. */
  label: string;
  height: number;
  data: uPlot.AlignedData;
  /** Series and axes, in the colors of the present theme. */
  options: (colours: PlotColours) => Omit<uPlot.Options, "width" | "height">;
  /** Holds the painted chart, for code that moves its cursor. */
  plot?: RefObject<uPlot | null>;
};

export function Plot({ label, height, data, options, plot }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const own = useRef<uPlot | null>(null);
  const painted = plot ?? own;
  const isDark = useIsDark();
  const paint = useEffectEvent((Made: typeof uPlot, element: HTMLElement) => {
    const style = getComputedStyle(element);
    const colours: PlotColours = (name) => style.getPropertyValue(`--${name}`).trim();
    const inZone = { tzDate: (at: number) => Made.tzDate(new Date(at * MS), ZONE) };
    const sized = { ...inZone, ...options(colours), width: element.clientWidth, height };
    painted.current = new Made(sized, data, element);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colors.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isGone = false;
    void loadPlot().then((Made) => !isGone && paint(Made, element));
    const resized = new ResizeObserver(() => {
      painted.current?.setSize({ width: element.clientWidth, height });
    });
    resized.observe(element);
    return () => {
      isGone = true;
      resized.disconnect();
      painted.current?.destroy();
      painted.current = null;
    };
  }, [isDark, height]);
  useEffect(() => {
    painted.current?.setData(data);
  }, [data, painted]);
  return (
    <div ref={place} role="img" aria-label={label} className="min-w-0 overflow-hidden" style={{ height }} />
  );
}

// Loads the library that paints the curves. The library creates a number format of the browser's language on
// load. This fails if the browser rejects its own language, so our locale replaces it during the load.

export async function loadPlot(): Promise<typeof uPlot> {
  Object.defineProperty(navigator, "language", { value: LOCALE, configurable: true });
  try {
    return (await import("uplot")).default;
  } finally {
    Reflect.deleteProperty(navigator, "language");
  }
}
