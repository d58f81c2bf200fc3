// Gives an exchange account another key, which is checked before it takes the place of the old one.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { AccountCheckShape, VenueAccountShape } from "../../../../../src/dashboard/shapes.ts";
import { call } from "../../../api/call.ts";
import { accountPath, accountsQuery } from "../../../api/copying.ts";
import { fieldsOf } from "../../../api/error.ts";
import { usePerson } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Note } from "../../../ui/note.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";
import { CheckResult } from "./check-result.tsx";
import { CredentialFields, NO_CREDENTIALS } from "./credential-fields.tsx";

/** Null: the dialog is closed. */
type ReplaceDialogProps = { account: VenueAccountShape | null; onClose: () => void };

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

function Replacing({ account, onClose }: { account: VenueAccountShape; onClose: () => void }) {
  const queries = useQueryClient();
  const [credentials, setCredentials] = useState(NO_CREDENTIALS);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      call<AccountCheckShape>("PUT", accountPath(account.accountId, "/credentials"), credentials),
    onSuccess: () => {
      setCredentials(NO_CREDENTIALS);
      void queries.invalidateQueries({ queryKey: accountsQuery.queryKey });
      void queries.invalidateQueries({ queryKey: ["copy"] });
      void queries.invalidateQueries({ queryKey: ["copies"] });
    },
    onError: () => setCredentials((typed) => ({ ...typed, code: "" })),
    gcTime: 0,
  });
  if (data !== undefined) {
    return (
      <>
        <CheckResult check={data} />
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
    <DialogForm
      action="Check and replace"
      onSubmit={mutate}
      onCancel={onClose}
      isBusy={isPending}
      error={error}
    >
      <p>
        It has to be a key of the same account at the exchange: the copy continues with its holdings there.
        The old key is destroyed here; delete it at the exchange too.
      </p>
      <CredentialFields
        value={credentials}
        onChange={(changes) => setCredentials((typed) => ({ ...typed, ...changes }))}
        errors={fieldsOf(error)}
      />
    </DialogForm>
  );
}
