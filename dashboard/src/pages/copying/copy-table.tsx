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
import { type Column, Table } from "../../ui/table.tsx";
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
      empty="None."
    />
  );
}

const NAME: Column<CopyJson> = {
  key: "name",
  header: "Strategy",
  width: "w-[24%]",
  isRowHeader: true,
  cell: ({ copyId, strategyName, family, account }) => (
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
};
const STATUS: Column<CopyJson> = {
  key: "status",
  header: "Status",
  width: "w-[16%]",
  cell: (copy) => <CopyStatus copy={copy} />,
};
const EQUITY: Column<CopyJson> = {
  key: "equity",
  header: "Equity",
  width: "w-[14%]",
  align: "right",
  cell: ({ equity, asset }) =>
    equity === null ? null : <Amount value={equity} decimals={2} asset={asset} />,
};
const RESULT: Column<CopyJson> = {
  key: "result",
  header: "Result",
  width: "w-[14%]",
  align: "right",
  cell: (copy) => (copy.equity === null || copy.startEquity === null ? null : <Result copy={copy} />),
};
const COUNTS: Column<CopyJson> = {
  key: "counts",
  header: "Placed, skipped, failed",
  width: "w-[18%]",
  align: "right",
  cell: ({ copyId, counts: { placed, skipped, failed } }) => (
    <Link to="/copies/$copyId/log" params={{ copyId }} className="hover:underline">
      {placed}
      <span className="sr-only"> placed</span> ·{" "}
      <span className={skipped > 0 ? "text-warn" : ""}>{skipped}</span>
      <span className="sr-only"> skipped</span> ·{" "}
      <span className={failed > 0 ? "text-loss" : ""}>{failed}</span>
      <span className="sr-only"> failed</span>
    </Link>
  ),
};
const DRIFT: Column<CopyJson> = {
  key: "drift",
  header: "Drift",
  width: "w-[14%]",
  cell: ({ copyId }) => <DriftHint copyId={copyId} />,
};
const ENDED: Column<CopyJson> = {
  key: "ended",
  header: "Ended",
  isTime: true,
  width: "w-[14%]",
  cell: ({ endedAt }) => (endedAt === null ? null : <Time at={endedAt} />),
};
