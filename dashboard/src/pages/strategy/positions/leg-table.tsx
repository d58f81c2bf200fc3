// Take profits and stop losses and how they stand, with the way to cancel each.
import type { LegJson } from "../../../../../src/dashboard-api/schemas.ts";
import { ChartLink, OrderLink } from "../../../trading/links.tsx";
import { inWords, Side, StatusBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Price } from "../../../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";

type LegTableProps = {
  caption: string;
  rows: readonly LegJson[];
  /** Absent where nothing can be canceled any more. */
  onCancel: ((leg: LegJson) => void) | undefined;
  hasSymbol?: boolean;
};

export function LegTable({ caption, rows, onCancel, hasSymbol = false }: LegTableProps) {
  const cancel: Column<LegJson> = numberColumn("Action", (leg) => (
    <Button size="small" onClick={() => onCancel?.(leg)} aria-label={`Cancel: ${legInWords(leg)}`}>
      Cancel
    </Button>
  ));
  return (
    <Table
      caption={caption}
      columns={onCancel === undefined ? COLUMNS : [...COLUMNS, cancel]}
      without={hasSymbol ? [] : ["Symbol"]}
      rows={rows}
      rowKey={({ legId }) => legId}
    />
  );
}

/** "Stop loss of BTCUSDT at 58000". */
export function legInWords({ kind, symbol, triggerPrice }: LegJson): string {
  return `${inWords(kind)} of ${symbol} at ${triggerPrice}`;
}

/** Why a leg ended without being reached; the status says whether it was canceled or has expired. */
const END_REASONS: Readonly<Record<string, string>> = {
  REQUESTED: "on request",
  OTHER_LEG_FIRED: "the other one was reached",
  ENTRY_CANCELED: "with its order",
  LIQUIDATION: "by the liquidation",
  STRATEGY_CLOSED: "with the strategy",
  POSITION_CLOSED: "the position is gone",
  ENTRY_EXPIRED: "its order expired",
  ENTRY_ONLY_REDUCED: "its order only reduced a position",
  LEG_EXISTS: "another one of its kind closes the position",
};

function LegStatus({ leg: { status, entryId, endReason } }: { leg: LegJson }) {
  if (status === "PENDING" && entryId !== null) {
    return (
      <>
        <StatusBadge status={status} label="Waits for order" /> <OrderLink orderId={entryId} />
      </>
    );
  }
  const reason = endReason === null ? undefined : END_REASONS[endReason];
  return (
    <>
      {status === "NEW" ? <StatusBadge status={status} label="Waiting" /> : <StatusBadge status={status} />}
      {reason !== undefined && <span className="text-ink-soft text-xs"> {reason}</span>}
    </>
  );
}

const COLUMNS: readonly Column<LegJson>[] = [
  headColumn("Kind", ({ kind }) => inWords(kind)),
  column("Symbol", ({ symbol }) => <ChartLink symbol={symbol} />),
  column("Side", ({ side }) => <Side side={side} />),
  numberColumn("Trigger", ({ triggerPrice, triggeredBy }) => (
    <>
      <Price value={triggerPrice} />{" "}
      <span className="text-ink-soft text-xs">{triggeredBy === "LAST" ? "last" : "mark"}</span>
    </>
  )),
  column("Status", (leg) => <LegStatus leg={leg} />),
  timeColumn("Placed", ({ placedAt }) => placedAt),
];
