import type { ReactNode } from "react";
import { Missing } from "../badge.tsx";

/** A value of null is not known, or there is none. */
export type Fact = { readonly label: string; readonly value: ReactNode };

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
