// Binds a free key to a strategy whose own was revoked, with a fresh code.

import { useQuery } from "@tanstack/react-query";
import type { KeyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { usePerson } from "../../../api/session.ts";
import { isFreeKey, keysQuery } from "../../../api/strategy.ts";
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { SubmitForm } from "../../../ui/forms/submit-form.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { ButtonLink } from "../../../ui/links.tsx";
import { Note } from "../../../ui/note.tsx";
import { QueryState } from "../../../ui/query.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";

export function BindKey({ strategyId }: { strategyId: string }) {
  const person = usePerson();
  const query = useQuery(keysQuery);
  const free = query.data?.rows.filter(isFreeKey);
  const isReady = person.kyc === "APPROVED" && person.hasSecondFactor;
  return (
    <div className="flex flex-col gap-4">
      <Note tone="warn" title="No key is bound.">
        No bot can trade on this strategy. Its open orders stay and can still be filled.
      </Note>
      {!isReady && <MissingSteps person={person} />}
      <QueryState of={query} {...(isReady ? { lines: 4 } : {})} isBare />
      {isReady && free?.length === 0 && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p>You have no free key.</p>
          <ButtonLink to="/keys">Create a key</ButtonLink>
        </div>
      )}
      {isReady && free !== undefined && free.length > 0 && <BindForm strategyId={strategyId} keys={free} />}
    </div>
  );
}

function BindForm({ strategyId, keys }: { strategyId: string; keys: readonly KeyJson[] }) {
  const form = useForm({
    first: { keyId: keys.length === 1 ? (keys[0]?.keyId ?? "") : "", code: "" },
    send: (values) => call("PUT /strategies/:strategyId/key", { strategyId, ...values }),
    says: "Key bound",
    outdates: [["keys"], ["strategies"], ["strategy", strategyId]],
  });
  return (
    <SubmitForm form={form} action="Bind the key">
      <Select
        label="API key"
        hint="The list has your live keys that are not bound to a strategy."
        required
        placeholder="Choose a key"
        options={keys.map((key) => ({ value: key.keyId, label: `${key.label} · …${key.apiKey.slice(-8)}` }))}
        {...form.control("keyId")}
      />
      <CodeInput {...form.direct("code")} />
    </SubmitForm>
  );
}
