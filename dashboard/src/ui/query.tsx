// What a page shows of a query: why it failed, a placeholder while it is loaded, and then its answer.
import type { ReactNode } from "react";
import { Card } from "./card.tsx";
import { ErrorNote } from "./note.tsx";
import { Skeleton } from "./skeleton.tsx";

/** What is needed of a query's result. */
type Asked<Answer = unknown> = {
  readonly data: Answer | undefined;
  readonly error: unknown;
  readonly isFetching: boolean;
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

/** Why the query failed, with the way to ask again; or, until it has an answer, a placeholder of so many lines, if any. */
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

/** A list on a sheet, which stays if it can't be loaded again. */
export function Listed({ query, children }: { query: Asked; children: ReactNode }) {
  return (
    <>
      <QueryState of={query} />
      {(query.error === null || query.data !== undefined) && <Card isFlush>{children}</Card>}
    </>
  );
}

type ListCardProps = { query: Asked; title: string; aside?: ReactNode; children: ReactNode };

/** A list on a sheet with a title, which is there even if the list can't be loaded. */
export function ListCard({ query, title, aside, children }: ListCardProps) {
  return (
    <Card title={title} aside={aside} isFlush>
      <QueryState of={query} isInset />
      {(query.error === null || query.data !== undefined) && children}
    </Card>
  );
}
