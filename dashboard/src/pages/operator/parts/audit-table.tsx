import type { AuditJson } from "../../../../../src/dashboard-api/schemas.ts";
import { auditWords, detailsInWords } from "../../../audit/words.ts";
import { Badge, inWords } from "../../../ui/badge.tsx";
import { TextLink } from "../../../ui/button.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";

type AuditTableProps = {
  caption: string;
  rows: readonly AuditJson[] | undefined;
  /** Of the whole log: position, subject and hash too. */
  isWhole?: boolean;
};

export function AuditTable({ caption, rows, isWhole = false }: AuditTableProps) {
  return (
    <Table
      caption={caption}
      columns={isWhole ? [POSITION, ...COLUMNS, SUBJECT, HASH] : COLUMNS}
      rows={rows}
      rowKey={({ position }) => position}
      empty="Nothing has been recorded yet."
    />
  );
}

const POSITION: Column<AuditJson> = numberColumn("No.", ({ position }) => position);
const COLUMNS: readonly Column<AuditJson>[] = [
  headColumn("What", ({ what }) => auditWords(what)),
  timeColumn("When", ({ at }) => at),
  column("Who", ({ who }) => <span className="inline-block min-w-36 break-words">{who}</span>),
  column("Details", (record) => (Object.keys(record.details).length === 0 ? null : <Details {...record} />)),
];
const SUBJECT: Column<AuditJson> = column("About", Subject);
const HASH: Column<AuditJson> = column("Hash", ({ hash }) => (
  <code className="font-mono text-xs" title={hash}>
    {hash.slice(0, 8)}…
  </code>
));

function Details({ details: { submissionId, ...details } }: AuditJson) {
  return (
    <span className="break-words text-ink-soft">
      {detailsInWords(details)}{" "}
      {submissionId !== undefined && (
        <TextLink to="/operator/identity/$submissionId" params={{ submissionId }}>
          Form
        </TextLink>
      )}
    </span>
  );
}

function Subject({ about }: AuditJson) {
  if (about.kind === "PERSON") {
    return (
      <TextLink to="/operator/people/$personId" params={{ personId: about.id }}>
        Person
      </TextLink>
    );
  }
  return (
    <span>
      {inWords(about.kind)} <code className="break-all font-mono text-xs">{about.id}</code>
    </span>
  );
}

// Whether the audit log's chain of hashes holds, and what to do if it does not.

/** Nothing until it is known. */
export function ChainBadge({ isWhole }: { isWhole: boolean | undefined }) {
  if (isWhole === undefined) return null;
  return (
    <Badge tone={isWhole ? "gain" : "loss"}>
      <span aria-hidden="true">{isWhole ? "✓" : "✕"}</span>
      {isWhole ? "Chain whole" : "Chain broken"}
    </Badge>
  );
}

export function ChainBroken() {
  return (
    <div role="alert" className="rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3">
      <p className="font-medium">A record of the audit log was changed, removed or inserted.</p>
      <p className="mt-1">
        Run <code className="font-mono">lyrebird audit --verify</code> on the server: it names the first
        position that does not match. Keep a copy of the database as it is, then compare it with a backup.
      </p>
    </div>
  );
}
