import type { ReactNode } from "react";
import type { DriftRowJson } from "../../../../../src/dashboard-api/schemas.ts";
import { isOff } from "../../../copying/drift.ts";
import { CAUSE_NAMES } from "../../../copying/words.ts";
import { Badge, Side } from "../../../ui/badge.tsx";
import { Amount, Price } from "../../../ui/figures/amounts.tsx";
import { magnitude, signOf } from "../../../ui/figures/decimals.ts";
import { TextLink } from "../../../ui/links.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

type DriftTableProps = {
  copyId: string;
  rows: readonly DriftRowJson[] | undefined;
  empty: ReactNode;
};

export function DriftTable({ copyId, rows, empty }: DriftTableProps) {
  const cause: Column<DriftRowJson> = column({ header: "Why", width: "w-[34%]" }, (row) => (
    <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
      <Badge tone={isOff(row) ? "warn" : "gain"}>
        <span aria-hidden="true">{isOff(row) ? "≠" : "="}</span>
        {CAUSE_NAMES[row.cause]}
      </Badge>
      <span className="whitespace-normal text-sm">
        {row.words} <Line copyId={copyId} entryId={row.entryId} />
      </span>
      {row.parts.length > 1 && (
        <ul aria-label={`Causes of the difference in ${row.symbol}`} className="text-ink-soft text-xs">
          {row.parts.map(({ cause, quantity, entryId }) => (
            <li key={cause}>
              <Price value={quantity} /> {row.asset}: {CAUSE_NAMES[cause]}{" "}
              <Line copyId={copyId} entryId={entryId} />
            </li>
          ))}
        </ul>
      )}
    </span>
  ));
  return (
    <Table
      caption="Drift"
      columns={[SYMBOL, LEAD, TARGET, OWN, ACTUAL, OFF_BY, cause, REPAIR]}
      rows={rows}
      rowKey={({ symbol }) => symbol}
      empty={empty}
    />
  );
}

/** The line of the log that explains it. */
function Line({ copyId, entryId }: { copyId: string; entryId: number | null }) {
  if (entryId === null) return null;
  return (
    <TextLink to="/copies/$copyId/log" params={{ copyId }} search={{ entry: String(entryId) }}>
      Line {entryId}
    </TextLink>
  );
}

const SYMBOL: Column<DriftRowJson> = headColumn("Symbol", ({ symbol, asset }) => (
  <span>
    {symbol}
    <span className="block font-normal text-ink-soft text-xs">in {asset}</span>
  </span>
));
const LEAD = quantity("Strategy", ({ lead }) => lead);
const TARGET = quantity("Target", ({ target }) => target);
const OWN = quantity("Copy", ({ own }) => own);
const ACTUAL = quantity("Account", ({ actual }) => actual);
const OFF_BY: Column<DriftRowJson> = numberColumn("Off by", ({ difference, value }) => (
  <span className="inline-flex flex-col items-end">
    <span>
      {signOf(difference) > 0 ? "+" : ""}
      <Price value={difference} />
    </span>
    {value !== null && signOf(value) !== 0 && (
      <span className="text-ink-soft text-xs">
        <Amount value={magnitude(value)} decimals={2} asset="USDT" />
      </span>
    )}
  </span>
));
const REPAIR: Column<DriftRowJson> = column("Repair", ({ repair }) =>
  repair === null ? null : (
    <span>
      <Side side={repair.side} /> <Price value={repair.quantity} />
      {repair.increases && <span className="block text-ink-soft text-xs">opens or increases</span>}
    </span>
  ),
);

function quantity(header: string, of: (row: DriftRowJson) => string): Column<DriftRowJson> {
  return numberColumn(header, (row) => <Price value={of(row)} />);
}
