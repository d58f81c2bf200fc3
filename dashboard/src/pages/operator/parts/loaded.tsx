// What every operators' page does with a question: a refusal, the placeholder, or the answer.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Card } from "../../../ui/card.tsx";
import { ErrorNote } from "../../../ui/note.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";

type LoadedProps<Answer> = { query: UseQueryResult<Answer>; children: (answer: Answer) => ReactNode };

export function Loaded<Answer>({ query, children }: LoadedProps<Answer>) {
  const { data, error, refetch, isFetching } = query;
  return (
    <div className="flex flex-col gap-5">
      <Failed error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data !== undefined && children(data)}
      {data === undefined && error === null && (
        <div aria-busy="true">
          <Card>
            <Skeleton lines={8} />
          </Card>
        </div>
      )}
    </div>
  );
}

type FailedProps = { error: unknown; onRetry: () => void; isRetrying: boolean };

/** Nothing where nothing failed. */
export function Failed({ error, onRetry, isRetrying }: FailedProps) {
  if (error === null) return null;
  return <ErrorNote error={error} onRetry={onRetry} isRetrying={isRetrying} />;
}
