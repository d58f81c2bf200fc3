// What the candle under the crosshair says, to the digit; without a crosshair the newest one.
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Amount, Price } from "../../../ui/figures/amounts.tsx";
import { compare, percentOf, subtract, trimZeros } from "../../../ui/figures/decimals.ts";
import { Time } from "../../../ui/figures/time.tsx";

type LegendProps = { candle: CandleJson | undefined; isNewest: boolean; priceDecimals: number };

export function Legend({ candle, isNewest, priceDecimals }: LegendProps) {
  if (candle === undefined) return <p className="min-h-5 text-ink-soft text-sm">No candles.</p>;
  const { openTime, open, high, low, close, volume } = candle;
  const change = percentOf(subtract(close, open), open);
  const direction = compare(close, open);
  const values = [
    ["O", "Open", open],
    ["H", "High", high],
    ["L", "Low", low],
    ["C", "Close", close],
  ] as const;
  return (
    <dl className="numeric flex min-h-5 flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs">
      <div>
        <dt className="sr-only">Candle</dt>
        <dd className="text-ink-soft">
          <Time at={openTime} />
          <span className="sr-only">{isNewest ? ", the newest" : ""}</span>
        </dd>
      </div>
      {values.map(([letter, name, value]) => (
        <div key={letter} className="flex gap-1">
          <dt className="text-ink-soft">
            <abbr title={name} className="no-underline">
              {letter}
            </abbr>
          </dt>
          <dd className={direction < 0 ? "text-loss" : "text-gain"}>
            <Price value={value} decimals={priceDecimals} />
          </dd>
        </div>
      ))}
      <div className="flex gap-1">
        <dt className="text-ink-soft">
          <abbr title="Volume" className="no-underline">
            V
          </abbr>
        </dt>
        <dd>
          <Amount value={trimZeros(volume)} />
        </dd>
      </div>
      {change !== null && (
        <div>
          <dt className="sr-only">Change</dt>
          <dd className={direction < 0 ? "text-loss" : "text-gain"}>
            {direction >= 0 ? "+" : ""}
            {change} %
          </dd>
        </div>
      )}
    </dl>
  );
}
