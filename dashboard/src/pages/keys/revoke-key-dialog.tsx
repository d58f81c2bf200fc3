// Revokes a key, with a fresh code. Also used where a strategy shows its key.

import { useQueryClient } from "@tanstack/react-query";
import type { KeyJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { MissingSteps } from "./missing-steps.tsx";

type Revoked = Pick<KeyJson, "keyId" | "label" | "apiKey">;
/** Null: the dialog is closed. */
type RevokeKeyDialogProps = { revoked: Revoked | null; onClose: () => void };

export function RevokeKeyDialog({ revoked, onClose }: RevokeKeyDialogProps) {
  const person = usePerson();
  return (
    <Dialog
      isOpen={revoked !== null}
      onClose={onClose}
      title="Revoke this key?"
      description={
        revoked !== null && (
          <>
            <span className="font-medium text-ink">{revoked.label}</span>{" "}
            <code className="break-all font-mono text-sm">{revoked.apiKey}</code>
          </>
        )
      }
    >
      <ul className="list-disc pl-5">
        <li>Its next request is refused; this can’t be undone.</li>
        <li>The strategy, its open orders and its history stay as they are.</li>
        <li>You can bind another key to the strategy afterwards.</li>
      </ul>
      {person.hasSecondFactor ? (
        revoked !== null && <RevokeForm revoked={revoked} onClose={onClose} />
      ) : (
        <MissingSteps person={person} />
      )}
    </Dialog>
  );
}

function RevokeForm({ revoked, onClose }: { revoked: Revoked; onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /keys/:keyId/revoke", { keyId: revoked.keyId, code }),
    onDone: () => {
      toast("API key revoked");
      void queries.invalidateQueries({ queryKey: ["keys"] });
      void queries.invalidateQueries({ queryKey: ["strategies"] });
      void queries.invalidateQueries({ queryKey: ["strategy"] });
      onClose();
    },
  });
  return (
    <DialogForm action="Revoke the key" kind="danger" form={form} onCancel={onClose}>
      <CodeInput {...form.direct("code")} autoFocus />
    </DialogForm>
  );
}
