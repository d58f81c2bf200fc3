// Disabling the second factor, with a code of it or a recovery code.

import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { FormDialog } from "../../ui/forms/dialog-form.tsx";
import { SecondFactorInput } from "../entrance/second-factor-input.tsx";

type DisableDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function DisableDialog({ isOpen, onClose, onChanged }: DisableDialogProps) {
  const { role } = usePerson();
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Disable the second factor?"
      action="Disable"
      kind="danger"
      first={{ code: "" }}
      send={({ code }) => call("POST /second-factor/disable", { code })}
      says="Second factor disabled"
      onDone={onChanged}
    >
      {({ direct }) => (
        <>
          <p>
            {role === "OPERATOR"
              ? "The operators’ pages close until you set one up again."
              : "Your password alone will sign you in. Keys keep working, but you can’t create or revoke one until you set a second factor up again."}{" "}
            Every other session of yours ends.
          </p>
          <SecondFactorInput {...direct("code")} autoFocus />
        </>
      )}
    </FormDialog>
  );
}
