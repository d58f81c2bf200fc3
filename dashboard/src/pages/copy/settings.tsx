// What can be changed about a copy: how much of the balance it uses, and its bounds, with a preview of what
// that would do.

import { type FormEvent, useState } from "react";
import type { CopyJson } from "../../../../src/dashboard-api/schemas.ts";
import { fieldsOf, outdate } from "../../api/call.ts";
import { useCopy, useCopyMutation } from "../../api/copying.ts";
import { PreviewCard } from "../../copying/preview.tsx";
import { errorsOf, formOf, settingsInWords, settingsOf } from "../../copying/settings.ts";
import { SettingsFields } from "../../copying/settings-fields.tsx";
import { hostOf, TYPE_NAMES } from "../../copying/words.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { Card, Placeholder } from "../../ui/card.tsx";
import { Facts, fact } from "../../ui/figures/figures.tsx";
import { SubmitForm } from "../../ui/forms/form.tsx";
import { Screen } from "../../ui/page-header.tsx";

export function Page() {
  const { copy } = useCopy();
  return (
    <Screen title="Settings" documentTitle={`Settings, ${copy?.strategyName ?? "copy"}`}>
      {copy === undefined ? (
        <Placeholder lines={8} />
      ) : (
        <>
          {copy.status === "STOPPED" ? (
            <Card title="Settings">
              <p>The copy has ended. It used {settingsInWords(copy.settings)}.</p>
            </Card>
          ) : (
            <SettingsForm copy={copy} />
          )}
          <AccountCard copy={copy} />
        </>
      )}
    </Screen>
  );
}

function SettingsForm({ copy }: { copy: CopyJson }) {
  const { copyId, strategyId, account } = copy;
  const [form, setForm] = useState(() => formOf(copy.settings));
  const save = useCopyMutation(copyId, "PUT /copies/:copyId/settings", {
    says: "Settings saved",
    onDone: () => outdate(["copying", "preview"]),
  });
  const read = settingsOf(form);
  const settings = "settings" in read ? read.settings : null;
  const isChanged =
    settings !== null && JSON.stringify(formOf(settings)) !== JSON.stringify(formOf(copy.settings));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (settings !== null) save.mutate(settings);
  };
  return (
    <>
      <Card title="Share and limits">
        <SubmitForm
          form={{ onSubmit: submit, isBusy: save.isPending, error: save.error }}
          action="Save"
          isDisabled={!isChanged}
          noValidate
          className="max-w-3xl gap-5"
        >
          <SettingsFields
            isRunning
            type={copy.family}
            form={form}
            onChange={(changes) => setForm((before) => ({ ...before, ...changes }))}
            errors={"errors" in read ? read.errors : errorsOf(fieldsOf(save.error))}
          />
          <p className="text-ink-soft text-sm">
            Sizes and limits apply from the next order on and sell nothing: Drift shows what is then too much.{" "}
            <strong>
              A stop loss or take profit applies at once: if it is reached already, everything is closed.
            </strong>{" "}
            So does the time after which missed exits are closed.
          </p>
        </SubmitForm>
      </Card>
      {copy.strategyStatus === "LIVE" && account.status === "CONNECTED" && (
        <PreviewCard
          isRunning
          asked={settings === null ? null : { strategyId, accountId: account.accountId, settings }}
        />
      )}
    </>
  );
}

function AccountCard({ copy: { account, family: type } }: { copy: CopyJson }) {
  return (
    <Card title="Exchange account">
      <Facts
        facts={[
          fact("Account", account.label),
          fact("Exchange", hostOf(account.venue)),
          fact("Kind", TYPE_NAMES[type]),
          fact("API key", <code className="font-mono text-xs">{account.keyHint}…</code>),
          fact("Status", <StatusBadge status={account.status} />),
        ]}
      />
      <p className="mt-3 text-sm">
        <TextLink to="/copying/accounts">Check it or replace its key</TextLink>
      </p>
    </Card>
  );
}
