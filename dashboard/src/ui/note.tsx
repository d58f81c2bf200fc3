import type { ReactNode } from "react";
import { asApiError } from "../api/error.ts";
import { Button } from "./button.tsx";
import { Wait } from "./figures/time.tsx";

type NoteProps = { tone?: "accent" | "warn" | "gain"; title?: string; children?: ReactNode };

const TONES = {
  accent: "border-accent bg-accent-soft",
  warn: "border-warn bg-warn-soft",
  gain: "border-gain bg-gain-soft",
} as const;

/** Something to know that is no error. */
export function Note({ tone = "accent", title, children }: NoteProps) {
  return (
    <div className={`rounded-md border border-l-4 px-4 py-3 ${TONES[tone]}`}>
      {title !== undefined && <p className="font-semibold">{title}</p>}
      {children}
    </div>
  );
}

type ErrorNoteProps = {
  /** Whatever was thrown; an ApiError brings its own words. */
  error: unknown;
  onRetry?: () => void;
  isRetrying?: boolean;
};

/**
 * What went wrong: a plain sentence, what to do, the code to tell an operator, and a way to try again. A form that has errors of
 * its own has no code: its fields say what is wrong.
 */
export function ErrorNote({ error, onRetry, isRetrying = false }: ErrorNoteProps) {
  const { message, action, code, fields, retryAfterSeconds } = asApiError(error);
  return (
    <div role="alert" className="rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3">
      <p className="font-medium">{message}</p>
      {action !== undefined && <p className="mt-1">{action}</p>}
      {retryAfterSeconds !== undefined && (
        <Wait
          key={`${code} ${retryAfterSeconds}`}
          seconds={retryAfterSeconds}
          then="You can try again now."
        />
      )}
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        {onRetry !== undefined && (
          <Button size="small" onClick={onRetry} isBusy={isRetrying}>
            Try again
          </Button>
        )}
        {Object.keys(fields).length === 0 && <span className="font-mono text-ink text-xs">{code}</span>}
      </div>
    </div>
  );
}

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
