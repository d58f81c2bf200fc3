// The exchanges that may be used, and how their accounts fare.
import type { OperatorCopyingShape } from "../../../../../src/dashboard/shapes.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { type Column, Table } from "../../../ui/table.tsx";

type Venue = OperatorCopyingShape["venues"][number];
type VenueTableProps = { rows: readonly Venue[]; onHalt: (origin: string) => void };

export function VenueTable({ rows, onHalt }: VenueTableProps) {
  const action: Column<Venue> = {
    key: "action",
    header: "Action",
    cell: ({ origin, isHalted }) =>
      isHalted ? null : (
        <Button size="small" onClick={() => onHalt(origin)} aria-label={`Halt ${origin}`}>
          Halt
        </Button>
      ),
  };
  return (
    <Table
      caption="Exchanges"
      columns={[...COLUMNS, action]}
      rows={rows}
      rowKey={({ origin }) => origin}
      empty="None."
    />
  );
}

const COLUMNS: readonly Column<Venue>[] = [
  {
    key: "origin",
    header: "Exchange",
    width: "w-[40%]",
    isRowHeader: true,
    cell: ({ origin }) => <span className="whitespace-normal break-all">{origin}</span>,
  },
  {
    key: "accounts",
    header: "Accounts",
    align: "right",
    cell: ({ accounts }) => accounts.toLocaleString("en-GB"),
  },
  {
    key: "failed",
    header: "Keys refused",
    align: "right",
    cell: ({ failed }) => (
      <span className={failed > 0 ? "text-loss" : ""}>{failed.toLocaleString("en-GB")}</span>
    ),
  },
  {
    key: "state",
    header: "State",
    cell: ({ isHalted }) =>
      isHalted ? (
        <Badge tone="loss">
          <span aria-hidden="true">■</span>Halted
        </Badge>
      ) : (
        <Badge tone="gain">
          <span aria-hidden="true">✓</span>In use
        </Badge>
      ),
  },
];
