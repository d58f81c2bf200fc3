import type { ReactNode } from "react";

/** What may be wider than the screen scrolls in itself, also by keyboard, and says what it is. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls a region by focusing it.
      tabIndex={0}
      className="relative max-h-[calc(100dvh-9rem)] overflow-auto -outline-offset-2"
    >
      {children}
    </section>
  );
}
