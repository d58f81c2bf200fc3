// Identity verification: the form, and its status.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { KycForm, KycJson } from "../../../src/dashboard-api/schemas.ts";
import { call, endpointQuery } from "../api/call.ts";
import { refreshSession, usePerson, useSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { StatusBadge } from "../ui/badge.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Card, Note, QueryState } from "../ui/card.tsx";
import { Time } from "../ui/figures/figures.tsx";
import { CONTROL_LOOK, Field, Select, TextInput } from "../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../ui/forms/form.tsx";
import { toast } from "../ui/overlays/toast.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { COUNTRY_OPTIONS } from "./identity/countries.ts";

const KYC_KEY = ["kyc"];

export function Page() {
  const queries = useQueryClient();
  const query = useQuery({
    ...endpointQuery(KYC_KEY, "GET /kyc"),
    // An operator decides at any time: the status is loaded whenever the page is opened.
    staleTime: 0,
  });
  const { data, refetch, isFetching } = query;
  const refresh = async () => {
    await Promise.all([refetch(), refreshSession()]);
  };
  const taken = (kyc: KycJson) => {
    queries.setQueryData(KYC_KEY, kyc);
    void refreshSession();
    toast("Identity submitted");
    focusHeading();
  };
  return (
    <>
      <PageHeader
        title="Identity"
        lead="Operators verify the identity of everybody who trades or copies here. The API is available once they have approved yours."
        badge={
          data === undefined ? undefined : <StatusBadge status={data.status} label={LABELS[data.status]} />
        }
      />
      <div className="max-w-2xl">
        <QueryState of={query} lines={6} />
        {data !== undefined && (
          <State kyc={data} onTaken={taken} onRefresh={() => void refresh()} isRefreshing={isFetching} />
        )}
      </div>
    </>
  );
}

const LABELS: Readonly<Record<KycJson["status"], string>> = {
  NONE: "Not submitted",
  PENDING: "In review",
  APPROVED: "Approved",
  REJECTED: "Rejected",
};

type StateProps = {
  kyc: KycJson;
  onTaken: (kyc: KycJson) => void;
  onRefresh: () => void;
  isRefreshing: boolean;
};

function State({ kyc, onTaken, onRefresh, isRefreshing }: StateProps) {
  switch (kyc.status) {
    case "NONE":
      return <IdentityForm onTaken={onTaken} />;
    case "PENDING":
      return <Pending kyc={kyc} onRefresh={onRefresh} isRefreshing={isRefreshing} />;
    case "REJECTED":
      return <Rejected kyc={kyc} onTaken={onTaken} />;
    case "APPROVED":
      return <Approved kyc={kyc} />;
  }
}

function Pending({ kyc, onRefresh, isRefreshing }: Omit<StateProps, "onTaken">) {
  const { server } = useSession();
  const { hasSecondFactor } = usePerson();
  return (
    <Card title="An operator reviews it">
      <div className="flex flex-col items-start gap-4">
        <p>
          Submitted <Time at={kyc.submittedAt} />. There is nothing for you to do here now.{" "}
          {server.sendsMail
            ? "You get a mail with the decision."
            : "Check back later: this server sends no mail."}
        </p>
        {!hasSecondFactor && <p>In the meantime you can set up your second factor: API keys need it too.</p>}
        <div className="flex flex-wrap gap-2">
          <Button onClick={onRefresh} isBusy={isRefreshing}>
            Refresh
          </Button>
          {!hasSecondFactor && (
            <ButtonLink to="/security" hash="second-factor" kind="quiet">
              Set up the second factor
            </ButtonLink>
          )}
        </div>
      </div>
    </Card>
  );
}

function Rejected({ kyc, onTaken }: Pick<StateProps, "kyc" | "onTaken">) {
  const [isAgain, setAgain] = useState(false);
  return (
    <div className="flex flex-col gap-5">
      <Note tone="warn" title="Your identity could not be approved">
        <p className="mt-1">
          An operator wrote (<Time at={kyc.decidedAt} />
          ):
        </p>
        <blockquote className="mt-2 whitespace-pre-line border-line-strong border-l-2 pl-3">
          {kyc.reason ?? "No reason was given."}
        </blockquote>
      </Note>
      {isAgain ? (
        <IdentityForm onTaken={onTaken} hasFocus />
      ) : (
        <div>
          <Button kind="primary" onClick={() => setAgain(true)}>
            Fill in the form again
          </Button>
        </div>
      )}
    </div>
  );
}

function Approved({ kyc }: { kyc: KycJson }) {
  const { profile } = usePerson();
  return (
    <Card title="You are approved">
      <div className="flex flex-col items-start gap-4">
        <p>
          {kyc.decidedAt === null ? (
            "Your identity is approved."
          ) : (
            <>
              Since <Time at={kyc.decidedAt} />.
            </>
          )}{" "}
          {profile === "TRADER"
            ? "With a second factor you can create API keys, and strategies with them."
            : "To run a bot of your own, switch to the Trader profile."}
        </p>
        <ButtonLink to="/welcome">See the next step</ButtonLink>
      </div>
    </Card>
  );
}

// The identity form, for an operator to compare with a document.

const DOCUMENTS = [
  { value: "PASSPORT", label: "Passport" },
  { value: "IDENTITY_CARD", label: "Identity card" },
  { value: "DRIVING_LICENCE", label: "Driver’s license" },
] as const satisfies readonly { value: KycForm["documentKind"]; label: string }[];

/** While it is filled in, selects may be empty. */
type Draft = { readonly [F in keyof KycForm]: string };
const EMPTY: Draft = {
  fullName: "",
  birthDate: "",
  country: "",
  address: "",
  documentKind: "",
  documentNumber: "",
};

type IdentityFormProps = {
  onTaken: (kyc: KycJson) => void;
  /** Where a button was pressed for it: its first field has the focus. */
  hasFocus?: boolean;
};

function IdentityForm({ onTaken, hasFocus = false }: IdentityFormProps) {
  const form = useForm({
    first: EMPTY,
    send: (draft) => call("POST /kyc", draft as KycForm),
    onDone: onTaken,
  });
  const { control } = form;
  const { error: addressError, ...address } = control("address");
  return (
    <Card title="About you">
      <SubmitForm form={form} action="Submit for approval">
        <TextInput
          label="Full name"
          hint="As on your document."
          autoComplete="name"
          maxLength={200}
          autoFocus={hasFocus}
          required
          {...control("fullName")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextInput
            label="Date of birth"
            type="date"
            autoComplete="bday"
            required
            {...control("birthDate")}
          />
          <Select
            label="Country"
            placeholder="Choose"
            options={COUNTRY_OPTIONS}
            autoComplete="country"
            required
            {...control("country")}
          />
        </div>
        <Field label="Address" hint="Street, postal code and town." error={addressError}>
          {(tied) => (
            <textarea
              required
              {...address}
              {...tied}
              rows={3}
              maxLength={500}
              autoComplete="street-address"
              className={CONTROL_LOOK}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label="Document"
            placeholder="Choose"
            options={DOCUMENTS}
            required
            {...control("documentKind")}
          />
          <TextInput
            label="Document number"
            autoComplete="off"
            isMonospace
            maxLength={50}
            required
            {...control("documentNumber")}
          />
        </div>
        <p className="text-ink-soft text-sm">
          The form is stored encrypted. Only operators can open it, and you see each time they do under
          Security.
        </p>
      </SubmitForm>
    </Card>
  );
}
