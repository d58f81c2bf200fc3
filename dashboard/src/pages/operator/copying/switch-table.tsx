// The kill switches that are set, by any person.
import type { KillSwitchJson } from "../../../../../src/dashboard-api/schemas.ts";
import { SWITCH_NAMES } from "../../../copying/words.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/note.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../../../ui/table.tsx";

type SwitchTableProps = {
  rows: readonly KillSwitchJson[];
  onClear: (cleared: KillSwitchJson) => void;
  /** The one that is being cleared. */
  cleared: Pick<KillSwitchJson, "kind" | "id"> | undefined;
};

export function SwitchTable({ rows, onClear, cleared }: SwitchTableProps) {
  const action: Column<KillSwitchJson> = column("Action", (row) => (
    <Button
      size="small"
      onClick={() => onClear(row)}
      isBusy={cleared?.kind === row.kind && cleared.id === row.id}
      aria-label={`Clear the switch of ${row.name}`}
    >
      Clear
    </Button>
  ));
  return (
    <Table
      caption="Kill switches"
      columns={[...COLUMNS, action]}
      rows={rows}
      rowKey={({ kind, id }) => `${kind} ${id}`}
      empty={
        <EmptyState title="Nothing is halted.">
          A kill switch stops all orders for a copier, a strategy or an exchange, until it is cleared.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<KillSwitchJson>[] = [
  headColumn("Halted", ({ kind, name }) => (
    <span>
      <span className="whitespace-normal break-all">{name}</span>
      <span className="block font-normal text-ink-soft text-xs">{SWITCH_NAMES[kind]}</span>
    </span>
  )),
  column({ header: "Reason", width: "w-[36%]" }, ({ reason }) => (
    <span className="break-words">{reason}</span>
  )),
  column("Set by", ({ setBy }) => <span className="break-all">{setBy}</span>),
  timeColumn("Since", ({ setAt }) => setAt),
];
