// One identity form: what was stated, who stated it, what they did before, and the decision.

import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { KycDetailJson, KycForm } from "../../../../src/dashboard-api/schemas.ts";
import { ApiError, asApiError, call, outdate } from "../../api/call.ts";
import { personQuery, submissionQuery } from "../../api/operator.ts";
import { usePerson } from "../../api/session.ts";
import { focusHeading } from "../../app/focus.ts";
import { inWords, StatusBadge } from "../../ui/badge.tsx";
import { Button, TEXT_LINK } from "../../ui/button.tsx";
import { Card, ErrorNote, Loaded, Note } from "../../ui/card.tsx";
import { type Fact, Facts, fact, Time } from "../../ui/figures/figures.tsx";
import { CONTROL_LOOK, Field } from "../../ui/forms/field.tsx";
import { useForm } from "../../ui/forms/form.tsx";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { countryName } from "../identity/countries.ts";
import { AuditTable } from "./parts/audit-table.tsx";
import { SubmissionTable } from "./parts/submission-table.tsx";

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
    fact("Full name", form.fullName),
    fact("Date of birth", <span className="numeric">{form.birthDate}</span>),
    fact("Country", `${countryName(form.country)} (${form.country})`),
    fact("Address", <span className="whitespace-pre-line">{form.address}</span>),
    fact("Document", inWords(form.documentKind)),
    fact("Document number", <code className="break-all font-mono">{form.documentNumber}</code>),
  ];
}

function personFacts({ person, submittedAt }: KycDetailJson): readonly Fact[] {
  return [
    fact(
      "Account",
      <Link
        to="/operator/people/$personId"
        params={{ personId: person.personId }}
        className={`break-all ${TEXT_LINK}`}
      >
        {person.email}
      </Link>,
    ),
    fact("Display name", person.name || null),
    fact("E-mail address", person.isEmailVerified ? "Verified" : "Not verified"),
    fact("Second factor", person.hasSecondFactor ? "Enabled" : "Not enabled"),
    fact("Account created", <Time at={person.createdAt} />),
    fact("Form submitted", <Time at={submittedAt} />),
  ];
}

// The decision about an identity form: approve, or reject with a reason that the person reads. If another
// operator has decided first, it shows that decision.

const REASON_LENGTH_MAX = 1_000;

type Decided =
  | { readonly status: "APPROVED"; readonly reason: null }
  | { readonly status: "REJECTED"; readonly reason: string };
type DecisionProps = { detail: KycDetailJson; onChanged: () => void };

function Decision({ detail, onChanged }: DecisionProps) {
  const { submissionId, status, person } = detail;
  const { personId } = usePerson();
  const [isRejecting, setRejecting] = useState(false);
  const [late, setLate] = useState<Decided["status"] | null>(null);
  const decide = useMutation({
    mutationFn: (decided: Decided) =>
      call("POST /operator/kyc/:submissionId/decision", { submissionId, ...decided }),
    onSuccess: (_entry, decided) => {
      toast(decided.status === "APPROVED" ? "Identity approved" : "Identity rejected");
      changed();
    },
    onError: (error, { status: decided }) => {
      if (asApiError(error).code !== "STATE_CHANGED") return;
      setLate(decided);
      changed();
    },
  });
  const changed = () => {
    setRejecting(false);
    onChanged();
    outdate(personQuery(person.personId).queryKey);
    focusHeading();
  };
  if (status !== "PENDING") return <DecisionNote detail={detail} late={late} />;
  if (person.personId === personId) {
    return <Note title="This form is your own">Another operator has to decide it.</Note>;
  }
  const isLateError = decide.error !== null && asApiError(decide.error).code === "STATE_CHANGED";
  return (
    <Card title="Decision">
      <div className="flex flex-col items-start gap-4">
        <p className="max-w-prose">
          Compare what is stated with what you know of the person. An approval lets them create API keys; a
          rejection asks them to submit again.
        </p>
        {decide.error !== null && !isLateError && !isRejecting && <ErrorNote error={decide.error} />}
        <div className="flex flex-wrap gap-2">
          <Button
            kind="primary"
            isBusy={decide.isPending && !isRejecting}
            onClick={() => decide.mutate({ status: "APPROVED", reason: null })}
          >
            Approve
          </Button>
          <Button
            onClick={() => {
              decide.reset();
              setRejecting(true);
            }}
          >
            Reject
          </Button>
        </div>
      </div>
      <RejectDialog
        isOpen={isRejecting}
        onClose={() => setRejecting(false)}
        onReject={(reason) => decide.mutateAsync({ status: "REJECTED", reason })}
      />
    </Card>
  );
}

type DecisionNoteProps = {
  detail: KycDetailJson;
  /** What was decided here when it had been decided already. */
  late: Decided["status"] | null;
};

function DecisionNote({ detail, late }: DecisionNoteProps) {
  const { status, decidedAt, decidedBy, reason } = detail;
  const { email } = usePerson();
  const isOwn = decidedBy === email;
  // If it is the same decision and one's own, its first answer was lost.
  const isNotTaken = late !== null && !(isOwn && late === status);
  const already = isOwn ? "You had already decided" : "Another operator has already decided";
  return (
    <Note
      tone={status === "APPROVED" ? "gain" : "warn"}
      title={isNotTaken ? already : status === "APPROVED" ? "Approved" : "Rejected"}
    >
      <p className="mt-1">
        {status === "APPROVED" ? "Approved" : "Rejected"} by {decidedBy ?? "an operator"},{" "}
        <Time at={decidedAt} />.{isNotTaken && " What you decided now was not taken."}
      </p>
      {reason !== null && (
        <blockquote className="mt-2 whitespace-pre-line border-line-strong border-l-2 pl-3">
          {reason}
        </blockquote>
      )}
    </Note>
  );
}

type RejectDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  onReject: (reason: string) => Promise<unknown>;
};

const NO_REASON = new ApiError({
  status: 0,
  code: "NO_REASON",
  message: "There is no reason.",
  fields: { reason: "Write a reason: the person sees it." },
});

function RejectDialog({ isOpen, onClose, onReject }: RejectDialogProps) {
  const form = useForm({
    first: { reason: "" },
    send: async ({ reason }) => {
      if (reason.trim() === "") throw NO_REASON;
      return await onReject(reason.trim());
    },
  });
  const { error: fieldError, ...reason } = form.control("reason");
  const close = () => {
    form.reset();
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title="Reject this form">
      <form noValidate className="flex flex-col gap-4" onSubmit={form.onSubmit}>
        <Field
          label="Reason"
          hint="The person sees exactly this text. Say what is wrong and what to submit instead."
          error={fieldError}
        >
          {(control) => (
            <textarea
              {...control}
              {...reason}
              required
              rows={4}
              maxLength={REASON_LENGTH_MAX}
              className={CONTROL_LOOK}
            />
          )}
        </Field>
        {form.error !== null && fieldError === undefined && <ErrorNote error={form.error} />}
        <DialogActions>
          <Button onClick={close}>Keep it pending</Button>
          <Button kind="danger" type="submit" isBusy={form.isBusy}>
            Reject with this reason
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
