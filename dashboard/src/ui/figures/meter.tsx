// How much of something is used or left, as a bar with its numbers beside it. What its color says, a word
// says too.
import type { ReactNode } from "react";

type MeterProps = {
  /** What is measured. */
  label: string;
  /** Of the bar, 0 to 1. */
  filled: number;
  /** In words, beside the label: "120 of 6,000". */
  value: string;
  tone?: "accent" | "warn" | "loss";
  /** Below the bar. */
  children?: ReactNode;
};

const FILLS = { accent: "bg-accent", warn: "bg-warn", loss: "bg-loss" } as const;

export function Meter({ label, filled, value, tone = "accent", children }: MeterProps) {
  const percent = Math.min(100, Math.max(0, filled * 100));
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
        <span>{label}</span>
        <span className="numeric">{value}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the browser's own can't be given the colours of the theme. */}
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(percent)}
        aria-valuetext={value}
        className="mt-1 h-1.5 overflow-hidden rounded-sm bg-hover"
      >
        <div className={`h-full ${FILLS[tone]}`} style={{ width: `${percent}%` }} />
      </div>
      {children}
    </div>
  );
}
