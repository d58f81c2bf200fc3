// The ranges as links, so that each has an address.
import { Link } from "@tanstack/react-router";
import type { Range } from "../../../../../src/dashboard-api/schemas.ts";
import { RANGE_CHOICES } from "./ranges.ts";

export function RangeSwitch({ shown }: { shown: Range }) {
  return (
    <nav aria-label="Range" className="flex rounded-md border border-line-strong">
      {RANGE_CHOICES.map(({ range, label }) => (
        <Link
          key={range}
          to="."
          search={{ range }}
          replace
          resetScroll={false}
          aria-current={range === shown ? "true" : undefined}
          className="numeric flex min-h-8 items-center border-line-strong px-3 font-medium text-ink-soft text-sm not-first:border-l -outline-offset-2 hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-accent-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
