import type { ReactNode } from "react";
import type { MirrorEntryJson } from "../../../../../src/dashboard-api/schemas.ts";
import type { Search } from "../../../app/search.ts";
import { Bps } from "../../../copying/gap.tsx";
import { ENTRY_STATUSES, KIND_NAMES } from "../../../copying/words.ts";
import { inWords, Side, StatusBadge } from "../../../ui/badge.tsx";
import { TextLink } from "../../../ui/button.tsx";
import { latencyInWords } from "../../../ui/figures/duration.ts";
import { ExactPrice, Price } from "../../../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";
import { sentQuantityOf } from "./entry-words.ts";

type EntryTableProps = {
  copyId: string;
  rows: readonly MirrorEntryJson[] | undefined;
  empty: ReactNode;
};

export function EntryTable({ copyId, rows, empty }: EntryTableProps) {
  const what: Column<MirrorEntryJson> = headColumn("What", (entry) => (
    <span className="flex flex-col items-start">
      <TextLink
        to="/copies/$copyId/log"
        params={{ copyId }}
        search={(search: Search) => ({ ...search, entry: String(entry.entryId) })}
        resetScroll={false}
      >
        {KIND_NAMES[entry.kind]}
        {entry.symbol === null ? "" : ` ${entry.symbol}`}
        <span className="sr-only">, line {entry.entryId}</span>
      </TextLink>
      {entry.side !== null && (
        <span className="font-normal text-xs">
          <Side side={entry.side} />{" "}
          {entry.orderType !== null && (
            <span className="text-ink-soft">{inWords(entry.orderType).toLowerCase()}</span>
          )}
        </span>
      )}
    </span>
  ));
  return (
    <Table
      caption="Mirror log"
      columns={[AT, what, STATUS, LEAD, SENT, FILLED, SLIPPAGE, DELAY]}
      rows={rows}
      rowKey={({ entryId }) => entryId}
      empty={empty}
    />
  );
}

const AT: Column<MirrorEntryJson> = timeColumn(
  { header: "Time", width: "whitespace-nowrap" },
  ({ leadAt }) => leadAt,
);
const STATUS: Column<MirrorEntryJson> = column(
  { header: "Outcome", width: "w-[34%]" },
  ({ status, skip }) => (
    <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
      <StatusBadge status={status} label={ENTRY_STATUSES[status]} />
      {skip !== null && <span className="whitespace-normal text-sm">{skip.words}</span>}
    </span>
  ),
);
const LEAD: Column<MirrorEntryJson> = numberColumn("Strategy", ({ leadQuantity }) =>
  leadQuantity === null ? null : <Price value={leadQuantity} />,
);
const SENT: Column<MirrorEntryJson> = numberColumn("You", (entry) => {
  const sent = sentQuantityOf(entry);
  return sent === null ? null : <Price value={sent} />;
});
const FILLED: Column<MirrorEntryJson> = numberColumn("Filled at", ({ executedPrice }) =>
  executedPrice === null ? null : <ExactPrice value={executedPrice} />,
);
const SLIPPAGE: Column<MirrorEntryJson> = numberColumn("Slippage", ({ slippageBps }) =>
  slippageBps === null ? null : <Bps value={slippageBps} />,
);
const DELAY: Column<MirrorEntryJson> = numberColumn("Delay", ({ delayMs }) =>
  delayMs === null ? null : latencyInWords(delayMs),
);
