export type Palette = ReturnType<typeof readPalette>;

/** As they are now; to be read again when the theme changes. */
export function readPalette() {
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
    /** Of what is written on a line's color. */
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
