// Lines of the mirror log; each opens in full.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { MirrorEntryJson } from "../../../../../src/dashboard-api/schemas.ts";
import type { Search } from "../../../app/search.ts";
import { Bps } from "../../../copying/bps.tsx";
import { ENTRY_STATUSES, KIND_NAMES } from "../../../copying/words.ts";
import { inWords, Side, StatusBadge } from "../../../ui/badge.tsx";
import { TEXT_LINK } from "../../../ui/button.tsx";
import { ExactPrice, Price } from "../../../ui/figures/amounts.tsx";
import { latencyInWords } from "../../../ui/figures/duration.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { sentQuantityOf } from "./entry-words.ts";

type EntryTableProps = {
  copyId: string;
  rows: readonly MirrorEntryJson[] | undefined;
  empty: ReactNode;
};

export function EntryTable({ copyId, rows, empty }: EntryTableProps) {
  const what: Column<MirrorEntryJson> = {
    key: "what",
    header: "What",
    isRowHeader: true,
    cell: (entry) => (
      <span className="flex flex-col items-start">
        <Link
          to="/copies/$copyId/log"
          params={{ copyId }}
          search={(search: Search) => ({ ...search, entry: String(entry.entryId) })}
          resetScroll={false}
          className={TEXT_LINK}
        >
          {KIND_NAMES[entry.kind]}
          {entry.symbol === null ? "" : ` ${entry.symbol}`}
          <span className="sr-only">, line {entry.entryId}</span>
        </Link>
        {entry.side !== null && (
          <span className="font-normal text-xs">
            <Side side={entry.side} />{" "}
            {entry.orderType !== null && (
              <span className="text-ink-soft">{inWords(entry.orderType).toLowerCase()}</span>
            )}
          </span>
        )}
      </span>
    ),
  };
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

const AT: Column<MirrorEntryJson> = {
  key: "at",
  header: "Time",
  isTime: true,
  width: "whitespace-nowrap",
  cell: ({ leadAt }) => <Time at={leadAt} />,
};
const STATUS: Column<MirrorEntryJson> = {
  key: "status",
  header: "Outcome",
  width: "w-[34%]",
  cell: ({ status, skip }) => (
    <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
      <StatusBadge status={status} label={ENTRY_STATUSES[status]} />
      {skip !== null && <span className="whitespace-normal text-sm">{skip.words}</span>}
    </span>
  ),
};
const LEAD: Column<MirrorEntryJson> = {
  key: "lead",
  header: "Strategy",
  align: "right",
  cell: ({ leadQuantity }) => (leadQuantity === null ? null : <Price value={leadQuantity} />),
};
const SENT: Column<MirrorEntryJson> = {
  key: "sent",
  header: "You",
  align: "right",
  cell: (entry) => {
    const sent = sentQuantityOf(entry);
    return sent === null ? null : <Price value={sent} />;
  },
};
const FILLED: Column<MirrorEntryJson> = {
  key: "filled",
  header: "Filled at",
  align: "right",
  cell: ({ executedPrice }) => (executedPrice === null ? null : <ExactPrice value={executedPrice} />),
};
const SLIPPAGE: Column<MirrorEntryJson> = {
  key: "slippage",
  header: "Slippage",
  align: "right",
  cell: ({ slippageBps }) => (slippageBps === null ? null : <Bps value={slippageBps} />),
};
const DELAY: Column<MirrorEntryJson> = {
  key: "delay",
  header: "Delay",
  align: "right",
  cell: ({ delayMs }) => (delayMs === null ? null : latencyInWords(delayMs)),
};
