// The last requests of a key, newest first. Each opens; of a refused one it is said at once that its reason
// is known.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { DiagnosisJson, RequestJson } from "../../../../../src/dashboard-api/schemas.ts";
import type { Search } from "../../../app/search.ts";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Copyable } from "../../../ui/copy-button.tsx";
import { latencyInWords } from "../../../ui/figures/duration.ts";
import { Facts, fact, Time } from "../../../ui/figures/figures.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";
import { CHECKS, clockInWords } from "./diagnosis-words.ts";

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
  timeColumn("Time", ({ at }) => at),
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

// One request in full; of a refused one why, and what to change.

type RequestDialogProps = {
  /** Null: none is open; undefined: the one that was asked for is not remembered any more. */
  request: RequestJson | null | undefined;
  onClose: () => void;
};

export function RequestDialog({ request, onClose }: RequestDialogProps) {
  return (
    <Dialog
      isOpen={request !== null}
      onClose={onClose}
      title={request ? `${request.method} ${request.path}` : "Request"}
    >
      {request === undefined && (
        <p>
          This request is no longer available. The server keeps the last 100 requests of a key until it
          restarts.
        </p>
      )}
      {request && <Detail request={request} />}
    </Dialog>
  );
}

function Detail({ request }: { request: RequestJson }) {
  const { diagnosis } = request;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <Outcome request={request} />
        {request.message !== null && <span className="min-w-0">{request.message}</span>}
        {request.isReplay && <span className="min-w-0">{REPLAY}</span>}
      </div>
      {diagnosis !== null && <Diagnosis diagnosis={diagnosis} />}
      <Facts
        facts={[
          fact("Received", <Time at={request.at} />),
          fact("Answered in", latencyInWords(request.latencyMs)),
          fact("Weight", request.weight),
          fact("Address", <span className="break-all font-mono text-xs">{request.address}</span>),
          fact(
            "Client",
            <span className="break-all font-mono text-xs">{request.userAgent || "unknown"}</span>,
          ),
        ]}
      />
    </>
  );
}

function Diagnosis({ diagnosis }: { diagnosis: DiagnosisJson }) {
  const { check, messageSha256, clockOffsetMs, hints } = diagnosis;
  const { name, means } = CHECKS[check];
  return (
    <section
      aria-label="Diagnosis"
      className="flex flex-col gap-3 rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3"
    >
      <div>
        <h3 className="font-medium">It failed the check: {name}</h3>
        <p className="mt-0.5">{means}</p>
      </div>
      {hints.length > 0 && (
        <div>
          <h4 className="font-medium">What to change</h4>
          <ul className="mt-0.5 flex list-disc flex-col gap-1 pl-5">
            {hints.map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </div>
      )}
      {clockOffsetMs !== null && <p>{clockInWords(clockOffsetMs)}</p>}
      {messageSha256 !== null && (
        <div>
          <h4 className="font-medium">SHA-256 of the message as it was received</h4>
          <p className="mt-0.5 mb-1.5 text-sm">
            Hash what your client signs: if it differs, your client did not sign what it sent.
          </p>
          <Copyable value={messageSha256} label="SHA-256 of the message" />
        </div>
      )}
    </section>
  );
}
