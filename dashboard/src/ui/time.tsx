// Times: shown by the reader's clock, with UTC to the millisecond in a tooltip. The locale is always given: that of the
// environment may be one that the browser's own formats refuse.

export const LOCALE = "en-GB";

const FORMATS = {
  dateTime: {
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  },
  date: { day: "2-digit", month: "short", year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const FORMATTERS = new Map(
  Object.entries(FORMATS).map(([name, format]) => [name, new Intl.DateTimeFormat(LOCALE, format)]),
);

type TimeProps = {
  /** Unix ms; null is a dash. */
  at: number | null | undefined;
  format?: keyof typeof FORMATS;
};

export function Time({ at, format = "dateTime" }: TimeProps) {
  if (at === null || at === undefined) return <span className="text-ink-soft">–</span>;
  const utc = new Date(at).toISOString();
  return (
    <time dateTime={utc} title={utc} className="numeric">
      {formatTime(at, format)}
    </time>
  );
}

/** For charts and titles; by the reader's clock. */
export function formatTime(at: number, format: keyof typeof FORMATS = "dateTime"): string {
  return FORMATTERS.get(format)?.format(at) ?? "";
}
