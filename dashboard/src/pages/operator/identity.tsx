// The queue of identity forms: those that wait, oldest first, and what became of the others.
import { useQuery } from "@tanstack/react-query";
import type { KycEntryJson } from "../../../../src/dashboard-api/schemas.ts";
import { submissionsQuery } from "../../api/operator.ts";
import { useAddress } from "../../app/address.tsx";
import { EmptyState, Listed } from "../../ui/card.tsx";
import { PageHeader, Pager, Tabs } from "../../ui/page-header.tsx";
import { Refreshed } from "./parts/refreshed.tsx";
import { SubmissionTable } from "./parts/submission-table.tsx";

type Status = KycEntryJson["status"];

const TABS = [
  { label: "Pending", to: "/operator/identity", search: { status: undefined } },
  { label: "Approved", to: "/operator/identity", search: { status: "APPROVED" } },
  { label: "Rejected", to: "/operator/identity", search: { status: "REJECTED" } },
] as const;

const EMPTY: Readonly<Record<Status, string>> = {
  PENDING: "No form is pending.",
  APPROVED: "Nobody has been approved yet.",
  REJECTED: "Nobody has been rejected.",
};

export function Page() {
  const { search } = useAddress();
  const { before } = search;
  const status = statusOf(search.status);
  const query = useQuery(submissionsQuery({ status, before }));
  const isPending = status === "PENDING";
  return (
    <>
      <PageHeader
        title="Identity checks"
        lead="People can't use the API until you approve them. A rejected person sees your reason and can submit again."
        actions={<Refreshed query={query} />}
      />
      <Tabs label="Identity forms by status" tabs={TABS} />
      <Listed query={query}>
        <SubmissionTable
          caption={
            isPending ? "Pending identity forms, oldest first" : "Identity forms, newest decision first"
          }
          rows={query.data?.rows}
          without={isPending ? ["Status", "Decided", "By", "Reason"] : ["Status", "Waiting for"]}
          empty={
            <EmptyState title={EMPTY[status]}>
              {isPending && "New forms appear here, oldest first. Refresh to check for them."}
            </EmptyState>
          }
        />
        <Pager
          what="forms"
          before={before}
          next={query.data?.next}
          {...(isPending ? { words: { first: "Oldest", further: "Newer", last: "newest" } } : {})}
        />
      </Listed>
    </>
  );
}

function statusOf(text: string | undefined): Status {
  return text === "APPROVED" || text === "REJECTED" ? text : "PENDING";
}
