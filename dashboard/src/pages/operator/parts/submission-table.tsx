// Identity forms that were submitted: who, how long ago, and what became of them.
import { Link } from "@tanstack/react-router";
import type { KycEntryJson } from "../../../../../src/dashboard-api/schemas.ts";
import { StatusBadge } from "../../../ui/badge.tsx";
import { TEXT_LINK } from "../../../ui/button.tsx";
import { durationInWords } from "../../../ui/figures/duration.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { useNow } from "../../../ui/hooks.ts";
import { type Column, Table, type TableProps } from "../../../ui/table.tsx";

type Part = "person" | "age" | "status" | "decided";

type SubmissionTableProps = Pick<TableProps<KycEntryJson>, "caption" | "rows" | "empty"> & {
  without: readonly Part[];
};

export function SubmissionTable({ without, ...table }: SubmissionTableProps) {
  const columns = COLUMNS.filter(({ part }) => part === null || !without.includes(part));
  return <Table {...table} columns={columns} rowKey={({ submissionId }) => submissionId} />;
}

const COLUMNS: readonly (Column<KycEntryJson> & { readonly part: Part | null })[] = [
  {
    part: null,
    key: "form",
    header: "Form",
    isRowHeader: true,
    cell: ({ submissionId, person, submittedAt }) => (
      <Link to="/operator/identity/$submissionId" params={{ submissionId }} className={TEXT_LINK}>
        {person.name === "" ? person.email : person.name}
        <span className="sr-only">, submitted {new Date(submittedAt).toISOString()}</span>
      </Link>
    ),
  },
  {
    part: "person",
    key: "email",
    header: "E-mail",
    cell: ({ person }) => <span className="break-all">{person.email}</span>,
  },
  {
    part: "status",
    key: "status",
    header: "Status",
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    part: null,
    key: "submitted",
    header: "Submitted",
    isTime: true,
    cell: ({ submittedAt }) => <Time at={submittedAt} />,
  },
  {
    part: "age",
    key: "age",
    header: "Waiting for",
    align: "right",
    cell: ({ submittedAt }) => <Age since={submittedAt} />,
  },
  {
    part: "decided",
    key: "decided",
    header: "Decided",
    isTime: true,
    cell: ({ decidedAt }) => <Time at={decidedAt} />,
  },
  {
    part: "decided",
    key: "by",
    header: "By",
    cell: ({ decidedBy }) => decidedBy && <span className="break-all">{decidedBy}</span>,
  },
  {
    part: "decided",
    key: "reason",
    header: "Reason",
    cell: ({ reason }) => reason && <span className="whitespace-pre-line break-words">{reason}</span>,
  },
];

/** How long ago, counting. */
export function Age({ since }: { since: number }) {
  const now = useNow();
  return <span className="numeric">{durationInWords((now - since) / 1_000)}</span>;
}
