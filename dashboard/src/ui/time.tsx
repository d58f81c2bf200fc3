// Times: shown by the reader's clock, with UTC to the millisecond in a tooltip. The locale is always given: that of the
// environment may be one that the browser's own formats refuse.

import { Missing } from "./missing.tsx";

export const LOCALE = "en-GB";

const DAY = { day: "2-digit", month: "short" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const FORMATS = {
  dateTime: { ...DAY, year: "numeric", ...CLOCK },
  /** Of this year, which then goes without saying. */
  dayTime: { ...DAY, ...CLOCK },
  date: { ...DAY, year: "numeric" },
  time: CLOCK,
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const FORMATTERS = new Map(
  Object.entries(FORMATS).map(([name, format]) => [name, new Intl.DateTimeFormat(LOCALE, format)]),
);

/** A date and a time, in which the year is left out if it is the present one; a date with its year; a time of today. */
type Format = "dateTime" | "date" | "time";

type TimeProps = {
  /** Unix ms; null is a dash. */
  at: number | null | undefined;
  format?: Format;
};

export function Time({ at, format = "dateTime" }: TimeProps) {
  if (at === null || at === undefined) return <Missing />;
  const utc = new Date(at).toISOString();
  return (
    <time dateTime={utc} title={utc} className="numeric">
      {formatTime(at, format)}
    </time>
  );
}

/** For charts and titles; by the reader's clock. */
export function formatTime(at: number, format: Format = "dateTime", now = Date.now()): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return FORMATTERS.get(format === "dateTime" && isThisYear ? "dayTime" : format)?.format(at) ?? "";
}

/** "14:03:22 UTC". */
export function formatUtc(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)} UTC`;
}
