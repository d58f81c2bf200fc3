import { signOf, subtract } from "../../ui/figures/decimals.ts";
import { sparklinePoints } from "./sparkline-path.ts";

const SIZE = { width: 96, height: 24 };

/** The recent course of equity. It is hidden from screen readers, which read the figures beside it. */
export function Sparkline({ equity }: { equity: readonly string[] | undefined }) {
  const points = equity === undefined ? null : sparklinePoints(equity, SIZE);
  const [first = "0"] = equity ?? [];
  const direction = signOf(subtract(equity?.at(-1) ?? "0", first));
  const look = direction === 0 ? "text-ink-soft" : direction > 0 ? "text-gain" : "text-loss";
  return (
    <svg
      {...SIZE}
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      aria-hidden="true"
      className={`inline ${look}`}
    >
      {points !== null && <polyline points={points} fill="none" stroke="currentColor" strokeWidth={1.5} />}
    </svg>
  );
}
