// The last requests of a key, newest first. Each opens; of a refused one it is said at once that its reason is known.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RequestJson } from "../../../../../src/dashboard-api/schemas.ts";
import type { Search } from "../../../app/search.ts";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { latencyInWords } from "../../../ui/figures/duration.ts";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";
import { CHECKS } from "./diagnosis-words.ts";

export const REFUSED_FROM = 400;

export function RequestTable({
  rows,
  empty,
}: {
  rows: readonly RequestJson[] | undefined;
  empty: ReactNode;
}) {
  return (
    <Table
      caption="Requests"
      phone="scroll"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ requestId }) => requestId}
      empty={empty}
    />
  );
}

/** Its status, and the exchange's code where it has one. */
export function Outcome({ request: { status, code } }: { request: RequestJson }) {
  return (
    <Badge tone={toneOf(status)}>
      <span className="numeric">
        {status}
        {code !== null && ` · ${code}`}
      </span>
      <span className="sr-only">{status < REFUSED_FROM ? "answered" : "refused"}</span>
    </Badge>
  );
}

/** What is said of a placement that placed nothing. */
export const REPLAY = "Replay: its id had been used before, nothing was placed";

function toneOf(status: number): Tone {
  if (status < REFUSED_FROM) return "gain";
  return status === 429 || status === 418 || status >= 500 ? "warn" : "loss";
}

const COLUMNS: readonly Column<RequestJson>[] = [
  timeColumn("Time", ({ at }) => at, "time"),
  headColumn("Request", ({ requestId, method, path }) => (
    <Link
      to="."
      search={(search: Search) => ({ ...search, request: requestId })}
      resetScroll={false}
      className="group flex gap-2 font-mono text-accent-ink text-xs"
    >
      <span className="min-w-9 font-semibold">{method} </span>
      <span className="underline decoration-line-strong underline-offset-2 group-hover:decoration-current">
        {path}
      </span>
    </Link>
  )),
  column("Status", (request) => <Outcome request={request} />),
  numberColumn("Latency", ({ latencyMs }) => latencyInWords(latencyMs)),
  numberColumn("Weight", ({ weight }) => weight),
  column("Why", ({ message, diagnosis, isReplay }) =>
    message === null ? (
      isReplay && REPLAY
    ) : (
      <span className="flex min-w-44 flex-col">
        <span>{message}</span>
        {diagnosis !== null && (
          <span className="text-ink-soft text-xs">
            Check: {CHECKS[diagnosis.check].name}
            {diagnosis.hints.length > 0 && ` · ${hintCount(diagnosis.hints.length)}`}
          </span>
        )}
      </span>
    ),
  ),
  column("Address", ({ address }) => <span className="whitespace-nowrap font-mono text-xs">{address}</span>),
  column("Client", ({ userAgent }) => (
    <span className="block max-w-28 truncate text-xs" title={userAgent}>
      {userAgent || "–"}
    </span>
  )),
];

function hintCount(count: number): string {
  return count === 1 ? "1 hint" : `${count} hints`;
}
