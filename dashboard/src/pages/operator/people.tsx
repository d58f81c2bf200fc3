// Everybody who signed up: searched by name or address, filtered by the status of their identity check.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { peopleQuery } from "../../api/operator.ts";
import { useAddress } from "../../app/address.tsx";
import { Badge, inWords, StatusBadge } from "../../ui/badge.tsx";
import { Button, TEXT_LINK } from "../../ui/button.tsx";
import { EmptyState, Listed } from "../../ui/card.tsx";
import { SearchForm, Select } from "../../ui/forms/field.tsx";
import { PageHeader, Pager } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../../ui/table.tsx";

const SEARCH_LENGTH_MAX = 254;
const STATUSES = [
  { value: "", label: "Any" },
  { value: "NONE", label: "Not submitted" },
  { value: "PENDING", label: "Pending" },
  { value: "APPROVED", label: "Approved" },
  { value: "REJECTED", label: "Rejected" },
] as const;

export function Page() {
  const { search, change } = useAddress();
  const { before, search: searched, kyc } = search;
  const query = useQuery(
    // The server rejects any other status that the address may have.
    peopleQuery({ search: searched, kyc: kyc as PersonJson["kyc"] | undefined, before }),
  );
  const isFiltered = searched !== undefined || kyc !== undefined;
  return (
    <>
      <PageHeader title="People" lead="Everybody with an account here, newest first." />
      <div className="mb-5 flex flex-wrap items-end gap-x-4 gap-y-3">
        <SearchForm
          key={searched ?? ""}
          label="Name or e-mail address"
          maxLength={SEARCH_LENGTH_MAX}
          searched={searched ?? ""}
          onSearch={(text) => change({ search: text, before: undefined })}
        />
        <div className="w-44">
          <Select
            label="Identity"
            value={kyc ?? ""}
            onChange={({ target }) => change({ kyc: target.value || undefined, before: undefined })}
            options={STATUSES}
          />
        </div>
      </div>
      <Listed query={query}>
        <Table
          caption="People"
          columns={COLUMNS}
          rows={query.data?.rows}
          rowKey={({ personId }) => personId}
          empty={
            isFiltered ? (
              <EmptyState
                title="No match."
                action={
                  <Button onClick={() => change({ search: undefined, kyc: undefined, before: undefined })}>
                    Show everybody
                  </Button>
                }
              />
            ) : (
              <EmptyState title="Nobody has signed up yet." />
            )
          }
        />
        <Pager what="accounts" before={before} next={query.data?.next} />
      </Listed>
    </>
  );
}

const COLUMNS: readonly Column<PersonJson>[] = [
  headColumn("E-mail", ({ personId, email }) => (
    <Link to="/operator/people/$personId" params={{ personId }} className={`break-all ${TEXT_LINK}`}>
      {email}
    </Link>
  )),
  column("Name", ({ name }) => name || null),
  column("Role", ({ role, profile }) =>
    role === "OPERATOR" ? <Badge tone="accent">Operator</Badge> : inWords(profile),
  ),
  column("Identity", ({ kyc }) => (
    <StatusBadge status={kyc} {...(kyc === "NONE" ? { label: "Not submitted" } : {})} />
  )),
  column("E-mail verified", ({ isEmailVerified }) => (isEmailVerified ? "Yes" : "No")),
  column("Second factor", ({ hasSecondFactor }) => (hasSecondFactor ? "Yes" : "No")),
  timeColumn("Since", ({ createdAt }) => createdAt, "date"),
];
