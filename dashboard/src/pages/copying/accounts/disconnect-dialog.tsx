// Destroys the stored key of an account, after its label and a fresh code were entered.

import type { VenueAccountJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { usePerson } from "../../../api/session.ts";
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { ConfirmByTyping } from "../../../ui/forms/confirm-by-typing.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { ButtonLink } from "../../../ui/links.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";

/** Null: the dialog is closed. */
type DisconnectDialogProps = { account: VenueAccountJson | null; onClose: () => void };

export function DisconnectDialog({ account, onClose }: DisconnectDialogProps) {
  const person = usePerson();
  const isUsed = account !== null && account.copyId !== null;
  if (account === null || isUsed || !person.hasSecondFactor) {
    return (
      <Dialog isOpen={account !== null} onClose={onClose} title="Disconnect this account?">
        {isUsed ? (
          <>
            <p>
              A copy uses {account.label}. Stop that copy first, and choose whether it sells what it holds:
              once the key is destroyed, nothing can be sent.
            </p>
            <div>
              <ButtonLink to="/copies/$copyId" params={{ copyId: account.copyId ?? "" }}>
                Go to the copy
              </ButtonLink>
            </div>
          </>
        ) : (
          <MissingSteps person={person} before="Before you can disconnect" asking="disconnecting" />
        )}
      </Dialog>
    );
  }
  return <Confirm key={account.accountId} account={account} onClose={onClose} />;
}

function Confirm({ account, onClose }: { account: VenueAccountJson; onClose: () => void }) {
  const { accountId, label } = account;
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("DELETE /copying/accounts/:accountId", { accountId, code }),
    says: "Account disconnected",
    outdates: [accountsQuery.queryKey],
    onDone: onClose,
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title="Disconnect this account?"
      confirmation={label}
      action="Disconnect"
      form={form}
      more={<CodeInput {...form.direct("code")} />}
    >
      <ul className="list-disc pl-5">
        <li>Its key and secret are destroyed here. Delete the key at the exchange too.</li>
        <li>What the account holds at the exchange stays there as it is.</li>
        <li>The logs of its past copies stay.</li>
      </ul>
    </ConfirmByTyping>
  );
}
