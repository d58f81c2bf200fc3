// The last few lines of the mirror log.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { entriesQuery } from "../../../api/copying.ts";
import { buttonLook } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState, ErrorNote } from "../../../ui/note.tsx";
import { EntryTable } from "../log/entry-table.tsx";

const SHOWN = 5;

export function NewestEntries({ copyId }: { copyId: string }) {
  const { data, error, refetch, isFetching } = useQuery(entriesQuery(copyId, {}));
  return (
    <Card
      title="Latest log entries"
      isFlush
      aside={
        <Link to="/copies/$copyId/log" params={{ copyId }} className={buttonLook("quiet", "small")}>
          All entries
        </Link>
      }
    >
      {error !== null && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        </div>
      )}
      {(error === null || data !== undefined) && (
        <EntryTable
          copyId={copyId}
          rows={data?.rows.slice(0, SHOWN)}
          empty={
            <EmptyState title="Nothing yet.">
              The strategy’s next order appears here moments after it is placed.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
