// Times: shown in UTC, as the API has them, and labeled so; with milliseconds and the reader's own time in a tooltip. The locale is
// always given: that of the environment may be one that the browser's own formats refuse.
import { createContext, useContext, useEffect, useState } from "react";
import { Missing } from "../badge.tsx";
import { useNow } from "../hooks.ts";
import { durationInWords } from "./duration.ts";

export const LOCALE = "en-GB";
export const ZONE = "UTC";

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
  Object.entries(FORMATS).map(([name, format]) => [
    name,
    new Intl.DateTimeFormat(LOCALE, { ...format, timeZone: ZONE }),
  ]),
);
const LOCAL = new Intl.DateTimeFormat(LOCALE, { ...FORMATS.dateTime, timeZoneName: "short" });

/** A date and a time, in which the year is left out if it is the present one; a date with its year; a time of today. */
type Format = "dateTime" | "date" | "time";

export type TimeProps = {
  /** Unix ms; null is a dash. */
  at: number | null | undefined;
  format?: Format;
};

/** Whether the zone is named beside the time already: in the header of a table's column. */
export const IsZoneShown = createContext(false);

export function Time({ at, format = "dateTime" }: TimeProps) {
  const isZoneShown = useContext(IsZoneShown);
  if (at === null || at === undefined) return <Missing />;
  const utc = new Date(at).toISOString();
  return (
    <time dateTime={utc} title={`${utc} (here ${LOCAL.format(at)})`} className="numeric">
      {isZoneShown ? clockTime(at, format) : formatTime(at, format)}
    </time>
  );
}

/** For charts and titles: "09 Mar, 04:05:06 UTC". */
export function formatTime(at: number, format: Format = "dateTime", now = Date.now()): string {
  return `${clockTime(at, format, now)} ${ZONE}`;
}

/** Without its zone: where that is shown once for several. */
export function clockTime(at: number, format: Format = "dateTime", now = Date.now()): string {
  const isThisYear = new Date(at).getUTCFullYear() === new Date(now).getUTCFullYear();
  return FORMATTERS.get(format === "dateTime" && isThisYear ? "dayTime" : format)?.format(at) ?? "";
}

/** What is left until a time, Unix ms by this browser's clock, counting down. */
export function Countdown({ until, over = "now" }: { until: number; over?: string }) {
  const now = useNow();
  return (
    <span className="numeric" role="timer" aria-live="off">
      {now >= until ? over : durationInWords(Math.ceil((until - now) / 1_000))}
    </span>
  );
}

// A wait that runs down.

const TICK_MS = 1000;

/** What is left of a wait that began when this was shown first. */
export function Wait({ seconds, then }: { seconds: number; then: string }) {
  const [until] = useState(() => Date.now() + seconds * 1000);
  const [now, setNow] = useState(() => Date.now());
  const isOver = now >= until;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  return (
    <p className="numeric mt-1 font-medium" role="timer" aria-live="off">
      {isOver ? then : `Wait ${durationInWords(Math.ceil((until - now) / 1000))}.`}
    </p>
  );
}
