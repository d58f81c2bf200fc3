// The identity form, for an operator to compare with a document.

import type { KycForm, KycJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { Card } from "../../ui/card.tsx";
import { CONTROL_LOOK, Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { SubmitForm } from "../../ui/forms/submit-form.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { COUNTRY_OPTIONS } from "./countries.ts";

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

export function IdentityForm({ onTaken, hasFocus = false }: IdentityFormProps) {
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
        <Field label="Address" hint="Street, postcode and town." error={addressError}>
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
