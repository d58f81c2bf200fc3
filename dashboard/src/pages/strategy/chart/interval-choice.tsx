import { Link } from "@tanstack/react-router";
import type { Search } from "../../../app/search.ts";
import { INTERVALS, type Interval } from "./candles.ts";

/** How long a candle is: links, so that each has an address. */
export function IntervalChoice({ interval }: { interval: Interval }) {
  return (
    <nav aria-label="Interval">
      <ul className="flex flex-wrap rounded-md border border-line-strong bg-surface">
        {INTERVALS.map((each) => (
          <li key={each}>
            <Link
              to="."
              search={(search: Search) => ({ ...search, interval: each, at: undefined })}
              replace
              resetScroll={false}
              aria-current={each === interval ? "true" : undefined}
              className={`flex min-h-8.5 min-w-9 items-center justify-center px-2 text-sm -outline-offset-2 ${
                each === interval
                  ? "bg-accent-soft font-semibold text-accent-ink"
                  : "text-ink-soft hover:bg-hover hover:text-ink"
              }`}
            >
              {each}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
