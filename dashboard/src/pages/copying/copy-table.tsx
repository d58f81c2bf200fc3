// A person's copies, one a row; at phone width one a card.
import { Link } from "@tanstack/react-router";
import type { CopyJson } from "../../../../src/dashboard-api/schemas.ts";
import { CopyStatus } from "../../copying/copy-status.tsx";
import { Result } from "../../copying/result.tsx";
import { FAMILY_NAMES, hostOf } from "../../copying/words.ts";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Amount } from "../../ui/figures/amounts.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../ui/table.tsx";
import { DriftHint } from "./drift-hint.tsx";

export function CopyTable({ rows }: { rows: readonly CopyJson[] | undefined }) {
  return (
    <Table
      caption="Copies"
      columns={[NAME, STATUS, EQUITY, RESULT, COUNTS, DRIFT]}
      rows={rows}
      rowKey={({ copyId }) => copyId}
      empty={
        <EmptyState title="Nothing is copied now.">
          Choose a strategy to copy. Your ended copies are below.
        </EmptyState>
      }
    />
  );
}

export function EndedTable({ rows }: { rows: readonly CopyJson[] }) {
  return (
    <Table
      caption="Ended copies"
      columns={[NAME, STATUS, EQUITY, RESULT, COUNTS, ENDED]}
      rows={rows}
      rowKey={({ copyId }) => copyId}
    />
  );
}

const NAME: Column<CopyJson> = headColumn(
  { header: "Strategy", width: "w-[24%]" },
  ({ copyId, strategyName, family, account }) => (
    <span className="flex max-w-72 flex-col items-start">
      <Link
        to="/copies/$copyId"
        params={{ copyId }}
        title={strategyName}
        className={`max-w-full truncate ${TEXT_LINK}`}
      >
        {strategyName}
      </Link>
      <span
        title={`${account.label} at ${hostOf(account.venue)}`}
        className="max-w-full truncate font-normal text-ink-soft text-xs"
      >
        {FAMILY_NAMES[family]}, {account.label} at {hostOf(account.venue)}
      </span>
    </span>
  ),
);
const STATUS: Column<CopyJson> = column({ header: "Status", width: "w-[16%]" }, (copy) => (
  <CopyStatus copy={copy} />
));
const EQUITY: Column<CopyJson> = numberColumn({ header: "Equity", width: "w-[14%]" }, ({ equity, asset }) =>
  equity === null ? null : <Amount value={equity} decimals={2} asset={asset} />,
);
const RESULT: Column<CopyJson> = numberColumn({ header: "Result", width: "w-[14%]" }, (copy) =>
  copy.equity === null || copy.startEquity === null ? null : <Result copy={copy} />,
);
const COUNTS: Column<CopyJson> = numberColumn(
  { header: "Placed, skipped, failed", width: "w-[18%]" },
  ({ copyId, counts: { placed, skipped, failed } }) => (
    <Link to="/copies/$copyId/log" params={{ copyId }} className="hover:underline">
      {placed}
      <span className="sr-only"> placed</span> ·{" "}
      <span className={skipped > 0 ? "text-warn" : ""}>{skipped}</span>
      <span className="sr-only"> skipped</span> ·{" "}
      <span className={failed > 0 ? "text-loss" : ""}>{failed}</span>
      <span className="sr-only"> failed</span>
    </Link>
  ),
);
const DRIFT: Column<CopyJson> = column({ header: "Drift", width: "w-[14%]" }, ({ copyId }) => (
  <DriftHint copyId={copyId} />
));
const ENDED: Column<CopyJson> = column({ header: "Ended", width: "w-[14%]", isTime: true }, ({ endedAt }) =>
  endedAt === null ? null : <Time at={endedAt} />,
);
