// The last few lines of the mirror log.

import { useQuery } from "@tanstack/react-query";
import { entriesQuery } from "../../../api/copying.ts";
import { ButtonLink } from "../../../ui/links.tsx";
import { EmptyState } from "../../../ui/note.tsx";
import { ListCard } from "../../../ui/query.tsx";
import { EntryTable } from "../log/entry-table.tsx";

const SHOWN = 5;

export function NewestEntries({ copyId }: { copyId: string }) {
  const query = useQuery(entriesQuery(copyId, {}));
  return (
    <ListCard
      query={query}
      title="Latest log entries"
      aside={
        <ButtonLink to="/copies/$copyId/log" params={{ copyId }} kind="quiet" size="small">
          All entries
        </ButtonLink>
      }
    >
      <EntryTable
        copyId={copyId}
        rows={query.data?.rows.slice(0, SHOWN)}
        empty={
          <EmptyState title="Nothing yet.">
            The strategy’s next order appears here moments after it is placed.
          </EmptyState>
        }
      />
    </ListCard>
  );
}
