// Times below the chart, in UTC: candles of a day and longer begin at midnight UTC.
import { TickMarkType, type Time } from "lightweight-charts";
import { LOCALE, ZONE } from "../../../ui/figures/time.tsx";

type Labels = {
  /** At the crosshair. */
  readonly full: (time: Time) => string;
  /** At the axis. */
  readonly tick: (time: Time, type: TickMarkType) => string;
};

export function timeLabels(intervalMs: number): Labels {
  const isDaily = intervalMs >= 86_400_000;
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: ZONE });
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
  return {
    full: isDaily ? full : (time) => `${full(time)} ${ZONE}`,
    tick: (time, type) => ticks[type](time),
  };
}
