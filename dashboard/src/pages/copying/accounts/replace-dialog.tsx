// Replaces the key of an exchange account; the new one is checked first.

import type { VenueAccountJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { usePerson } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { Note } from "../../../ui/note.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";
import { CheckResult } from "./check-result.tsx";
import { CredentialFields, NO_CREDENTIALS } from "./credential-fields.tsx";

/** Null: the dialog is closed. */
type ReplaceDialogProps = { account: VenueAccountJson | null; onClose: () => void };

export function ReplaceDialog({ account, onClose }: ReplaceDialogProps) {
  const person = usePerson();
  return (
    <Dialog
      isOpen={account !== null}
      onClose={onClose}
      title="Replace the API key"
      description={account?.label ?? ""}
    >
      {account !== null && person.hasSecondFactor && (
        <Replacing key={account.accountId} account={account} onClose={onClose} />
      )}
      {!person.hasSecondFactor && (
        <MissingSteps person={person} before="Before you can replace a key" asking="another key" />
      )}
    </Dialog>
  );
}

function Replacing({ account, onClose }: { account: VenueAccountJson; onClose: () => void }) {
  const form = useForm({
    first: NO_CREDENTIALS,
    send: (values) =>
      call("PUT /copying/accounts/:accountId/credentials", { accountId: account.accountId, ...values }),
    outdates: [accountsQuery.queryKey, ["copy"], ["copies"]],
    onDone: () => {
      form.set(NO_CREDENTIALS);
    },
  });
  if (form.answer !== undefined) {
    return (
      <>
        <CheckResult check={form.answer} />
        {account.status === "FAILED" && account.copyId !== null && (
          <Note title="The copy that uses it is still paused">
            <p>Resume it on its page when you are ready.</p>
          </Note>
        )}
        <DialogActions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </>
    );
  }
  return (
    <DialogForm action="Check and replace" form={form} onCancel={onClose}>
      <p>
        It has to be a key of the same account at the exchange: the copy continues with its holdings there.
        The old key is destroyed here; delete it at the exchange too.
      </p>
      <CredentialFields form={form} />
    </DialogForm>
  );
}
