import type { ReactNode } from "react";
import { Time } from "./time.tsx";

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
