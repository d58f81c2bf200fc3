// Revokes a key, with a fresh code. Also used where a strategy shows its key.

import type { KeyJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { CodeInput } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { MissingSteps } from "./missing-steps.tsx";

type Revoked = Pick<KeyJson, "keyId" | "label" | "apiKey">;
/** Null: the dialog is closed. */
type RevokeKeyDialogProps = { revoked: Revoked | null; onClose: () => void };

export function RevokeKeyDialog({ revoked, onClose }: RevokeKeyDialogProps) {
  const person = usePerson();
  const dialog = {
    isOpen: revoked !== null,
    onClose,
    title: "Revoke this key?",
    description: revoked !== null && (
      <>
        <span className="font-medium text-ink">{revoked.label}</span>{" "}
        <code className="break-all font-mono text-sm">{revoked.apiKey}</code>
      </>
    ),
  };
  if (!person.hasSecondFactor) {
    return (
      <Dialog {...dialog}>
        {WHAT_HAPPENS}
        <MissingSteps person={person} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      {...dialog}
      action="Revoke the key"
      kind="danger"
      first={{ code: "" }}
      send={({ code }) => call("POST /keys/:keyId/revoke", { keyId: revoked?.keyId ?? "", code })}
      says="API key revoked"
      outdates={[["keys"], ["strategies"], ["strategy"]]}
    >
      {({ direct }) => (
        <>
          {WHAT_HAPPENS}
          <CodeInput {...direct("code")} autoFocus />
        </>
      )}
    </FormDialog>
  );
}

const WHAT_HAPPENS = (
  <ul className="list-disc pl-5">
    <li>Its next request is refused; this can’t be undone.</li>
    <li>The strategy, its open orders and its history stay as they are.</li>
    <li>You can bind another key to the strategy afterwards.</li>
  </ul>
);
