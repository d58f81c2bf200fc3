import type { ReactNode } from "react";

type CardProps = {
  title?: string;
  /** Of the heading; 2 below a page's title. */
  level?: 2 | 3;
  /** At the right end of its head: a small button, a badge. */
  aside?: ReactNode;
  /** For tables and charts, which bring their own edges. */
  isFlush?: boolean;
  children: ReactNode;
};

/** A sheet of the page, with a heading or without. No landmark: a page of cards would have too many of them. */
export function Card({ title, level = 2, aside, isFlush = false, children }: CardProps) {
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface">
      {(title !== undefined || aside !== undefined) && (
        <header className="flex min-h-10 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-line border-b px-4 py-1.5">
          {title !== undefined && <Heading className="font-semibold text-base">{title}</Heading>}
          {aside}
        </header>
      )}
      <div className={isFlush ? "" : "p-4"}>{children}</div>
    </section>
  );
}
