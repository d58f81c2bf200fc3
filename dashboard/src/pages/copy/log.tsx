// The mirror log: every line shows how an order was copied, or why it was not.

import { useQuery } from "@tanstack/react-query";
import type { MirrorEntryJson } from "../../../../src/dashboard-api/schemas.ts";
import { type EntriesListed, entriesQuery } from "../../api/copying.ts";
import { useCopy } from "../../api/use-copy.ts";
import { AddressSelect } from "../../app/address-select.tsx";
import { useAddress } from "../../app/use-address.ts";
import { ENTRY_STATUSES } from "../../copying/words.ts";
import { SymbolFilter } from "../../trading/list-filter.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Listed } from "../../ui/query.tsx";
import { EntryDialog } from "./log/entry-dialog.tsx";
import { EntryTable } from "./log/entry-table.tsx";

const STATUSES = [
  { value: "", label: "All" },
  ...Object.entries(ENTRY_STATUSES).map(([value, label]) => ({ value, label })),
];

export function Page() {
  const { copyId, copy } = useCopy();
  const { search, change } = useAddress();
  const { before, status, symbol } = search;
  // The server rejects any other status that the address may have.
  const listed = { before, status: status as EntriesListed["status"], symbol };
  const query = useQuery(entriesQuery(copyId, listed));
  const { data } = query;
  const newest = useQuery(entriesQuery(copyId, {})).data?.rows;
  const opened = useOpened(copyId, search.entry, data?.rows);
  const isFiltered = status !== undefined || symbol !== undefined;
  return (
    <Screen
      title="Mirror log"
      documentTitle={`Mirror log, ${copy?.strategyName ?? "copy"}`}
      actions={
        <>
          <SymbolFilter own={symbolsOf(newest)} />
          <AddressSelect name="status" label="Status" value={status ?? ""} options={STATUSES} width="w-48" />
        </>
      }
    >
      <Listed query={query}>
        <EntryTable
          copyId={copyId}
          rows={data?.rows}
          empty={
            isFiltered && typeof data?.next === "string" ? (
              <EmptyState title="No match among the newer lines.">
                Continue with older lines, or choose another status or symbol.
              </EmptyState>
            ) : isFiltered ? (
              <EmptyState title="No matching lines.">Choose another status or symbol.</EmptyState>
            ) : (
              <EmptyState title="Nothing has been copied or skipped yet.">
                The log starts with the strategy’s next action: an order, a cancel, a take profit or a stop
                loss.
              </EmptyState>
            )
          }
        />
        <Pager what="lines" before={before} next={data?.next} />
      </Listed>
      <EntryDialog
        entry={opened}
        strategyName={copy?.strategyName}
        onClose={() => change({ entry: undefined })}
      />
    </Screen>
  );
}

/** The line that the address names; null if it names none, undefined if there is none of that number. */
function useOpened(
  copyId: string,
  entry: string | undefined,
  rows: readonly MirrorEntryJson[] | undefined,
): MirrorEntryJson | null | undefined {
  const isId = entry !== undefined && /^\d{1,15}$/.test(entry);
  const shown = rows?.find(({ entryId }) => String(entryId) === entry);
  // One that is on no page that is shown is the first of those before the next.
  const alone = useQuery({
    ...entriesQuery(copyId, { before: String(Number(isId ? entry : 0) + 1) }),
    enabled: isId && rows !== undefined && shown === undefined,
  });
  if (entry === undefined) return null;
  if (shown !== undefined) return shown;
  if (isId && (rows === undefined || alone.isPending)) return null;
  return alone.data?.rows.find(({ entryId }) => String(entryId) === entry);
}

function symbolsOf(rows: readonly MirrorEntryJson[] | undefined): readonly string[] {
  const symbols = new Set(rows?.flatMap(({ symbol }) => (symbol === null ? [] : [symbol])));
  return [...symbols].sort();
}
