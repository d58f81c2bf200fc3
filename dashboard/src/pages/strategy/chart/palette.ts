// The theme's colors for what is painted on a canvas, which knows no CSS.
import type { LineKind } from "./overlays.ts";

export type Palette = {
  readonly ground: string;
  readonly text: string;
  readonly grid: string;
  readonly edge: string;
  readonly crosshairLabel: string;
  readonly rise: string;
  readonly fall: string;
  readonly riseVolume: string;
  readonly fallVolume: string;
  readonly buy: string;
  readonly sell: string;
  /** Of what is written on a line's color. */
  readonly onLine: string;
  readonly lines: Readonly<Record<LineKind, string>>;
};

/** As they are now; to be read again when the theme changes. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const [gain, loss, accent, warn] = [colour("gain"), colour("loss"), colour("accent"), colour("warn")];
  return {
    ground: colour("surface"),
    text: colour("ink-soft"),
    grid: colour("line"),
    edge: colour("line-strong"),
    crosshairLabel: colour("accent-fill"),
    rise: gain,
    fall: loss,
    riseVolume: colour("gain-soft"),
    fallVolume: colour("loss-soft"),
    buy: accent,
    sell: warn,
    onLine: colour("surface"),
    lines: {
      entry: colour("ink"),
      liquidation: loss,
      "take-profit": gain,
      "stop-loss": loss,
      buy: accent,
      sell: warn,
      stop: colour("ink-soft"),
    },
  };
}
