import type { KycEntryJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Age, StatusBadge } from "../../../ui/badge.tsx";
import { TextLink } from "../../../ui/button.tsx";
import {
  type Column,
  column,
  headColumn,
  numberColumn,
  Table,
  type TableProps,
  timeColumn,
} from "../../../ui/table.tsx";

type SubmissionTableProps = Pick<TableProps<KycEntryJson>, "caption" | "rows" | "empty" | "without">;

export function SubmissionTable(table: SubmissionTableProps) {
  return <Table {...table} columns={COLUMNS} rowKey={({ submissionId }) => submissionId} />;
}

const COLUMNS: readonly Column<KycEntryJson>[] = [
  headColumn("Form", ({ submissionId, person, submittedAt }) => (
    <TextLink to="/operator/identity/$submissionId" params={{ submissionId }}>
      {person.name === "" ? person.email : person.name}
      <span className="sr-only">, submitted {new Date(submittedAt).toISOString()}</span>
    </TextLink>
  )),
  column("E-mail", ({ person }) => <span className="break-all">{person.email}</span>),
  column("Status", ({ status }) => <StatusBadge status={status} />),
  timeColumn("Submitted", ({ submittedAt }) => submittedAt),
  numberColumn("Waiting for", ({ submittedAt }) => <Age since={submittedAt} />),
  timeColumn("Decided", ({ decidedAt }) => decidedAt),
  column("By", ({ decidedBy }) => decidedBy && <span className="break-all">{decidedBy}</span>),
  column(
    "Reason",
    ({ reason }) => reason && <span className="whitespace-pre-line break-words">{reason}</span>,
  ),
];
