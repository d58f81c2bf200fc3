import type { ReactNode } from "react";

type EmptyStateProps = {
  /** What is not there: "No orders yet." */
  title: string;
  /** Why, or how it comes. */
  children?: ReactNode;
  /** What to do next. */
  action?: ReactNode;
};

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-start gap-1.5 px-4 py-6">
      <span aria-hidden="true" className="mb-1 h-0.5 w-8 bg-accent" />
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-ink-soft">{children}</div>}
      {action !== undefined && <div className="mt-2 flex flex-wrap gap-2">{action}</div>}
    </div>
  );
}
