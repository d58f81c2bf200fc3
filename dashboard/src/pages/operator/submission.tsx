// One identity form: what was stated, who stated it, what they did before, and the decision.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { KycDetailJson, KycForm } from "../../../../src/dashboard-api/schemas.ts";
import { personQuery, submissionQuery } from "../../api/operator.ts";
import { inWords, StatusBadge } from "../../ui/badge.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { type Fact, Facts } from "../../ui/figures/facts.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Loaded } from "../../ui/query.tsx";
import { countryName } from "../identity/countries.ts";
import { AuditTable } from "./parts/audit-table.tsx";
import { SubmissionTable } from "./parts/submission-table.tsx";
import { Decision } from "./submission/decision.tsx";

const route = getRouteApi("/operator/identity/$submissionId");

export function Page() {
  const { submissionId } = route.useParams();
  const query = useQuery(submissionQuery(submissionId));
  return (
    <Screen
      title={query.data === undefined ? "Identity form" : `Identity of ${query.data.form.fullName}`}
      documentTitle="Identity form"
      lead="The audit log records that you opened this form."
      badge={query.data === undefined ? undefined : <StatusBadge status={query.data.status} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <div className="grid gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <Card title="Form">
                <Facts facts={statedFacts(detail.form)} />
              </Card>
              <Card title="Person">
                <Facts facts={personFacts(detail)} />
              </Card>
            </div>
            <Decision detail={detail} onChanged={() => void query.refetch()} />
            <History personId={detail.person.personId} submissionId={submissionId} />
            <Card title="Audit trail" isFlush>
              <AuditTable caption="What was done by and to this person" rows={detail.audit} />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

/** Other forms of the same person. */
function History({ personId, submissionId }: { personId: string; submissionId: string }) {
  const { data } = useQuery(personQuery(personId));
  const others = data?.submissions.filter((each) => each.submissionId !== submissionId);
  return (
    <Card title="Other forms of this person" isFlush>
      <SubmissionTable
        caption="Other forms of this person"
        rows={others}
        without={["E-mail", "Waiting for"]}
        empty="This is their first form."
      />
    </Card>
  );
}

function statedFacts(form: KycForm): readonly Fact[] {
  return [
    { label: "Full name", value: form.fullName },
    { label: "Date of birth", value: <span className="numeric">{form.birthDate}</span> },
    { label: "Country", value: `${countryName(form.country)} (${form.country})` },
    { label: "Address", value: <span className="whitespace-pre-line">{form.address}</span> },
    { label: "Document", value: inWords(form.documentKind) },
    { label: "Document number", value: <code className="break-all font-mono">{form.documentNumber}</code> },
  ];
}

function personFacts({ person, submittedAt }: KycDetailJson): readonly Fact[] {
  return [
    {
      label: "Account",
      value: (
        <Link
          to="/operator/people/$personId"
          params={{ personId: person.personId }}
          className={`break-all ${TEXT_LINK}`}
        >
          {person.email}
        </Link>
      ),
    },
    { label: "Display name", value: person.name || null },
    { label: "E-mail address", value: person.isEmailVerified ? "Verified" : "Not verified" },
    { label: "Second factor", value: person.hasSecondFactor ? "Enabled" : "Not enabled" },
    { label: "Account created", value: <Time at={person.createdAt} /> },
    { label: "Form submitted", value: <Time at={submittedAt} /> },
  ];
}
