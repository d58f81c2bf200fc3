// Times below the chart: by the reader's clock, except that candles of a day and longer begin at midnight UTC and are named by that.
import { TickMarkType, type Time } from "lightweight-charts";
import { LOCALE } from "../../../ui/time.tsx";

type Labels = {
  /** At the crosshair. */
  readonly full: (time: Time) => string;
  /** At the axis. */
  readonly tick: (time: Time, type: TickMarkType) => string;
};

export function timeLabels(intervalMs: number): Labels {
  const isDaily = intervalMs >= 86_400_000;
  const zone = isDaily ? ({ timeZone: "UTC" } as const) : {};
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(LOCALE, { ...options, ...zone });
    return (time: Time) => formatter.format(Number(time) * 1_000);
  };
  const day = { day: "2-digit", month: "short" } as const;
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const full = format(isDaily ? { ...day, year: "numeric" } : { ...day, year: "numeric", ...clock });
  const ticks = {
    [TickMarkType.Year]: format({ year: "numeric" }),
    [TickMarkType.Month]: format({ month: "short" }),
    [TickMarkType.DayOfMonth]: format(day),
    [TickMarkType.Time]: format(clock),
    [TickMarkType.TimeWithSeconds]: format({ ...clock, second: "2-digit" }),
  };
  return { full, tick: (time, type) => ticks[type](time) };
}
