// Numbers of money. They are exact decimal strings from the server and are never made floats; a fixed number
// of decimals pads and rounds to the nearest, except of what may be spent. Gains and losses have a sign and
// an arrow, not a color alone. Null is a dash.

import { Missing } from "../badge.tsx";
import { cut, decimalsOf, grouped, isDecimal, perCent, rounded, signOf, trimZeros } from "./decimals.ts";

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
