// Amounts, times, facts and timelines. Amounts are exact decimal strings from the server and are never made
// floats; a fixed number of decimals pads and rounds to the nearest, except of what may be spent. Gains and
// losses have a sign and an arrow, not a color alone. Null is a dash.

import { createContext, type ReactNode, useContext, useState } from "react";
import { Missing } from "../badge.tsx";
import { useNow } from "../hooks.ts";
import { cut, decimalsOf, grouped, isDecimal, perCent, rounded, signOf, trimZeros } from "./decimals.ts";
import { durationInWords } from "./duration.ts";

type Value = string | null | undefined;
type NumberProps = {
  value: Value;
  /** Exactly so many; all that were given otherwise. */
  decimals?: number;
};

export function Amount({ value, decimals, asset }: NumberProps & { asset?: string }) {
  return <Digits text={shown(value, decimals)} unit={asset} />;
}

/** What may be spent: cut, since an order for an amount that was rounded up would be refused. */
export function AvailableAmount({
  value,
  decimals,
  asset,
}: {
  value: string;
  decimals: number;
  asset: string;
}) {
  return <Digits text={cut(value, decimals)} unit={asset} />;
}

/** A gain or a loss. */
export function SignedAmount({ value, decimals, asset }: NumberProps & { asset?: string }) {
  return <Signed text={shown(value, decimals)} unit={asset} />;
}

/** Without the zeros that the wire has after the last digit that says something, but for two. */
export function Price({ value, decimals }: NumberProps) {
  const trimmed = typeof value === "string" && isDecimal(value) ? trimZeros(value, 2) : value;
  return <Digits text={shown(decimals === undefined ? trimmed : value, decimals)} unit={undefined} />;
}

/** All of its digits, and two decimals at least: for prices that have none of their wire's zeros. */
export function ExactPrice({ value }: { value: string }) {
  return <Digits text={shown(value, Math.max(2, decimalsOf(value)))} unit={undefined} />;
}

type PercentProps = {
  /** A fraction, as the server gives rates: "0.0125" is 1.25 %. */
  rate: Value;
  decimals?: number;
  /** With sign and arrow, as a gain or a loss. */
  isSigned?: boolean;
};

export function Percent({ rate, decimals = 2, isSigned = false }: PercentProps) {
  const value = typeof rate === "string" && isDecimal(rate) ? perCent(rate) : rate;
  const Figure = isSigned ? Signed : Digits;
  return <Figure text={shown(value, decimals)} unit="%" />;
}

function Digits({ text, unit }: { text: string | null; unit: string | undefined }) {
  if (text === null) return <Missing />;
  return (
    <span className="numeric">
      {grouped(text)}
      <Unit unit={unit} />
    </span>
  );
}

function Signed({ text, unit }: { text: string | null; unit: string | undefined }) {
  if (text === null) return <Missing />;
  const sign = signOf(text);
  if (sign === 0) return <Digits text={text} unit={unit} />;
  return (
    <span className={`numeric ${sign > 0 ? "text-gain" : "text-loss"}`}>
      <span aria-hidden="true" className="mr-1 text-[0.75em]">
        {sign > 0 ? "▲" : "▼"}
      </span>
      {sign > 0 ? "+" : ""}
      {grouped(text)}
      <Unit unit={unit} />
    </span>
  );
}

function Unit({ unit }: { unit: string | undefined }) {
  return unit === undefined ? null : <span className="ml-1 text-[0.9em] text-ink-soft">{unit}</span>;
}

function shown(value: Value, decimals: number | undefined): string | null {
  if (value === null || value === undefined || !isDecimal(value)) return null;
  return decimals === undefined ? value : rounded(value, decimals);
}

/** A value of null is not known, or there is none. */
export type Fact = { readonly label: string; readonly value: ReactNode };

export function fact(label: string, value: ReactNode): Fact {
  return { label, value };
}

/** Labels and values of one thing: in columns on a wide screen, one below the other on a phone. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-[repeat(auto-fill,minmax(10rem,1fr))]">
      {facts.map(({ label, value }) => (
        <div key={label} className="min-w-0">
          <dt className="text-ink-soft text-xs">{label}</dt>
          <dd className="mt-0.5 min-w-0 break-words [&_time]:whitespace-normal">{value ?? <Missing />}</dd>
        </div>
      ))}
    </dl>
  );
}

// Times: shown in UTC, as the API has them, and labeled so; with milliseconds and the reader's own time in a
// tooltip. The locale is always given: that of the environment may be one that the browser's own formats
// refuse.

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
  milliseconds: { ...DAY, ...CLOCK, fractionalSecondDigits: 3 },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const FORMATTERS = new Map(
  Object.entries(FORMATS).map(([name, format]) => [
    name,
    new Intl.DateTimeFormat(LOCALE, { ...format, timeZone: ZONE }),
  ]),
);
const LOCAL = new Intl.DateTimeFormat(LOCALE, { ...FORMATS.dateTime, timeZoneName: "short" });

/**
 * A date and a time, in which the year is left out if it is the present one; a date with its year; a time of
 * today; a day and a time with its milliseconds.
 */
type Format = "dateTime" | "date" | "time" | "milliseconds";

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

/** What is left of a wait that began when this was shown first. */
export function Wait({ seconds, then }: { seconds: number; then: string }) {
  const [until] = useState(() => Date.now() + seconds * 1000);
  const now = useNow();
  return (
    <p className="numeric mt-1 font-medium" role="timer" aria-live="off">
      {now >= until ? then : `Wait ${durationInWords(Math.ceil((until - now) / 1000))}.`}
    </p>
  );
}

export type TimelineEntry = { readonly at: number | null; readonly says: ReactNode };

/** What happened to one thing, oldest first. A time that is null is still to come. */
export function Timeline({ label, entries }: { label: string; entries: readonly TimelineEntry[] }) {
  return (
    <ol aria-label={label} className="flex flex-col">
      {entries.map(({ at, says }, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added at the end, and may say the same.
          key={index}
          className="relative border-line-strong border-l pb-4 pl-5 last:border-transparent last:pb-0"
        >
          <span
            aria-hidden="true"
            className={`absolute top-1.5 -left-[4.5px] size-2 rounded-full ${at === null ? "border border-line-strong bg-surface" : "bg-accent"}`}
          />
          <p>{says}</p>
          <p className="text-ink-soft text-xs">{at === null ? "Still to come" : <Time at={at} />}</p>
        </li>
      ))}
    </ol>
  );
}

type MeaningsProps = {
  /** What opens the list. */
  title: string;
  /** Names and what each means. */
  words: readonly (readonly [name: string, means: string])[];
  className?: string;
};

/** What names on a page mean, in a list that can be opened. */
export function Meanings({ title, words, className = "" }: MeaningsProps) {
  return (
    <details className={`text-sm ${className}`}>
      <summary className="py-1 text-ink-soft hover:text-ink">{title}</summary>
      <dl className="grid gap-x-4 gap-y-2 py-2 sm:grid-cols-[auto_1fr]">
        {words.map(([name, means]) => (
          <div key={name} className="sm:contents">
            <dt className="font-medium">{name}</dt>
            <dd className="text-ink-soft">{means}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
