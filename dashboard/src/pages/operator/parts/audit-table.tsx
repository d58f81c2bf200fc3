// Records of the audit log, with links to the people they are about.
import { Link } from "@tanstack/react-router";
import type { AuditJson } from "../../../../../src/dashboard-api/schemas.ts";
import { auditWords, detailsInWords } from "../../../audit/words.ts";
import { inWords } from "../../../ui/badge.tsx";
import { TEXT_LINK } from "../../../ui/button.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { type Column, Table } from "../../../ui/table.tsx";

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

const POSITION: Column<AuditJson> = {
  key: "position",
  header: "No.",
  align: "right",
  cell: ({ position }) => position,
};
const COLUMNS: readonly Column<AuditJson>[] = [
  { key: "what", header: "What", isRowHeader: true, cell: ({ what }) => auditWords(what) },
  { key: "at", header: "When", isTime: true, cell: ({ at }) => <Time at={at} /> },
  {
    key: "who",
    header: "Who",
    cell: ({ who }) => <span className="inline-block min-w-36 break-words">{who}</span>,
  },
  {
    key: "details",
    header: "Details",
    cell: (record) => (Object.keys(record.details).length === 0 ? null : <Details {...record} />),
  },
];
const SUBJECT: Column<AuditJson> = { key: "about", header: "About", cell: Subject };
const HASH: Column<AuditJson> = {
  key: "hash",
  header: "Hash",
  cell: ({ hash }) => (
    <code className="font-mono text-xs" title={hash}>
      {hash.slice(0, 8)}…
    </code>
  ),
};

function Details({ details: { submissionId, ...details } }: AuditJson) {
  return (
    <span className="break-words text-ink-soft">
      {detailsInWords(details)}{" "}
      {submissionId !== undefined && (
        <Link to="/operator/identity/$submissionId" params={{ submissionId }} className={TEXT_LINK}>
          Form
        </Link>
      )}
    </span>
  );
}

function Subject({ about }: AuditJson) {
  if (about.kind === "PERSON") {
    return (
      <Link to="/operator/people/$personId" params={{ personId: about.id }} className={TEXT_LINK}>
        Person
      </Link>
    );
  }
  return (
    <span>
      {inWords(about.kind)} <code className="break-all font-mono text-xs">{about.id}</code>
    </span>
  );
}
