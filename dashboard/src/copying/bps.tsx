// Basis points against the strategy's own price. Plus is worse for the copier, so its color is that of a
// loss.

import { Missing } from "../ui/badge.tsx";
import { grouped, rounded, signOf } from "../ui/figures/decimals.ts";

const DECIMALS = 2;

export function Bps({ value }: { value: string | null }) {
  if (value === null) return <Missing />;
  const sign = signOf(value);
  const look = sign > 0 ? "text-loss" : sign < 0 ? "text-gain" : "";
  return (
    <span className={`numeric ${look}`}>
      {sign > 0 ? "+" : ""}
      {grouped(rounded(value, DECIMALS))}
      <span className="ml-1 text-[0.9em] text-ink-soft">bps</span>
      {sign !== 0 && <span className="sr-only">{sign > 0 ? ", worse" : ", better"}</span>}
    </span>
  );
}
