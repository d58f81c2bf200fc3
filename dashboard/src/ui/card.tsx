import type { ReactNode } from "react";
import { asApiError } from "../api/call.ts";
import { Button } from "./button.tsx";
import { Wait } from "./figures/figures.tsx";

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

/**
 * A sheet of the page, with a heading or without. No landmark: a page of cards would have too many of them.
 */
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
 * What went wrong: a plain sentence, what to do, the code to tell an operator, and a way to try again. A form
 * that has errors of its own has no code: its fields say what is wrong.
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

/** A grey line where text will be; what holds it says aria-busy. */
export function Skeleton({ lines = 1 }: { lines?: number }) {
  return (
    <span aria-hidden="true" className="flex flex-col gap-2">
      {Array.from({ length: lines }, (_none, line) => line).map((line) => (
        <span
          key={line}
          className={`h-3.5 rounded-sm bg-hover motion-safe:animate-pulse ${line > 0 && line === lines - 1 ? "w-2/3" : "w-full"}`}
        />
      ))}
    </span>
  );
}

// What a page shows of a query: why it failed, a placeholder while it is loaded, and then its answer.

/** What is needed of a query's result. */
type Asked<Answer = unknown> = {
  readonly data: Answer | undefined;
  readonly error: unknown;
  readonly isFetching: boolean;
  /** Whether the answer is that to other filters, until the one to these has come. */
  readonly isPlaceholderData?: boolean;
  readonly refetch: () => unknown;
};

/** Several queries as one: it has an answer when all of them have one. */
export function together(...queries: readonly Asked[]): Asked<true> {
  return {
    data: queries.every(({ data }) => data !== undefined) ? true : undefined,
    error: queries.find(({ error }) => error !== null)?.error ?? null,
    isFetching: queries.some(({ isFetching }) => isFetching),
    refetch: () => Promise.all(queries.map(({ refetch }) => refetch())),
  };
}

type PlaceholderProps = {
  lines: number;
  /** Of the card that it is on. */
  title?: string | undefined;
  /** Within a card that has a padding: it needs no card of its own. */
  isBare?: boolean | undefined;
};

/** Where something is loaded: gray lines, on a card. */
export function Placeholder({ lines, title, isBare = false }: PlaceholderProps) {
  const skeleton = <Skeleton lines={lines} />;
  return (
    <div aria-busy="true">
      {isBare ? skeleton : <Card {...(title === undefined ? {} : { title })}>{skeleton}</Card>}
    </div>
  );
}

type QueryStateProps = Partial<PlaceholderProps> & {
  of: Asked;
  /** Within a card without a padding. */
  isInset?: boolean;
};

/**
 * Why the query failed, with the way to ask again; or, until it has an answer, a placeholder of so many
 * lines, if any.
 */
export function QueryState({ of, lines, isInset = false, ...place }: QueryStateProps) {
  const { data, error, refetch, isFetching } = of;
  if (error !== null) {
    const note = <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
    return isInset ? <div className="p-4">{note}</div> : note;
  }
  if (lines === undefined || data !== undefined) return null;
  return <Placeholder lines={lines} {...place} />;
}

type LoadedProps<Answer> = { query: Asked<Answer>; children: (answer: Answer) => ReactNode };

/** The answer as it is shown; also beside the reason why it could not be loaded again. */
export function Loaded<Answer>({ query, children }: LoadedProps<Answer>) {
  return (
    <>
      <QueryState of={query} lines={8} />
      {query.data !== undefined && children(query.data)}
    </>
  );
}

/** Dims what is shown while it is of other filters or settings than those that are chosen. */
export function Dimmed({ isOld, children }: { isOld: boolean; children: ReactNode }) {
  return (
    <div aria-busy={isOld} className={isOld ? "opacity-60" : ""}>
      {children}
    </div>
  );
}

/** A list on a sheet, which stays if it can't be loaded again. */
export function Listed({ query, children }: { query: Asked; children: ReactNode }) {
  return (
    <>
      <QueryState of={query} />
      {(query.error === null || query.data !== undefined) && (
        <Card isFlush>
          <Dimmed isOld={query.isPlaceholderData === true}>{children}</Dimmed>
        </Card>
      )}
    </>
  );
}

type ListCardProps = {
  query: Asked;
  title: string;
  aside?: ReactNode;
  /** Below the list, also if it can't be loaded: the way to its other pages. */
  footer?: ReactNode;
  children: ReactNode;
};

/** A list on a sheet with a title, which is there even if the list can't be loaded. */
export function ListCard({ query, title, aside, footer, children }: ListCardProps) {
  return (
    <Card title={title} aside={aside} isFlush>
      <QueryState of={query} isInset />
      {(query.error === null || query.data !== undefined) && (
        <Dimmed isOld={query.isPlaceholderData === true}>{children}</Dimmed>
      )}
      {footer}
    </Card>
  );
}
