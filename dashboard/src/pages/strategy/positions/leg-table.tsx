// Take profits and stop losses that wait, with the way to cancel each.
import type { LegShape } from "../../../../../src/dashboard/shapes.ts";
import { ChartLink } from "../../../trading/links.tsx";
import { Price } from "../../../ui/amounts.tsx";
import { inWords, StatusBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Side } from "../../../ui/side.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";

type LegTableProps = {
  caption: string;
  rows: readonly LegShape[];
  /** Absent where nothing can be canceled any more. */
  onCancel: ((leg: LegShape) => void) | undefined;
  hasSymbol?: boolean;
};

export function LegTable({ caption, rows, onCancel, hasSymbol = false }: LegTableProps) {
  const cancel: Column<LegShape> = {
    key: "cancel",
    header: "Action",
    align: "right",
    cell: (leg) => (
      <Button size="small" onClick={() => onCancel?.(leg)} aria-label={`Cancel: ${legInWords(leg)}`}>
        Cancel
      </Button>
    ),
  };
  const columns = COLUMNS.filter(({ key }) => hasSymbol || key !== "symbol");
  return (
    <Table
      caption={caption}
      columns={onCancel === undefined ? columns : [...columns, cancel]}
      rows={rows}
      rowKey={({ legId }) => legId}
      empty="None."
    />
  );
}

/** "Stop loss of BTCUSDT at 58000". */
export function legInWords({ kind, symbol, triggerPrice }: LegShape): string {
  return `${inWords(kind)} of ${symbol} at ${triggerPrice}`;
}

const COLUMNS: readonly Column<LegShape>[] = [
  { key: "kind", header: "Kind", isRowHeader: true, cell: ({ kind }) => inWords(kind) },
  { key: "symbol", header: "Symbol", cell: ({ symbol }) => <ChartLink symbol={symbol} /> },
  { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> },
  {
    key: "trigger",
    header: "Trigger (mark)",
    align: "right",
    cell: ({ triggerPrice }) => <Price value={triggerPrice} />,
  },
  { key: "status", header: "Status", cell: ({ status }) => <StatusBadge status={status} label="Waiting" /> },
  { key: "placed", header: "Placed", isTime: true, cell: ({ placedAt }) => <Time at={placedAt} /> },
];
