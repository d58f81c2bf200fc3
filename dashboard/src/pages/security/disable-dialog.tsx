// Removing the second factor, against a code of it or a recovery code.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { usePerson } from "../../api/session.ts";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { SecondFactorInput } from "../entrance/second-factor-input.tsx";

type DisableDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function DisableDialog({ isOpen, onClose, onChanged }: DisableDialogProps) {
  const { role } = usePerson();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Disable the second factor?">
      <p>
        {role === "OPERATOR"
          ? "The operators’ pages close until you set one up again."
          : "Your password alone will sign you in. Keys keep working, but you can’t create or revoke one until you set a second factor up again."}{" "}
        Every other session of yours ends.
      </p>
      <DisableForm onClose={onClose} onChanged={onChanged} />
    </Dialog>
  );
}

function DisableForm({ onClose, onChanged }: Omit<DisableDialogProps, "isOpen">) {
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call("POST", "/second-factor/disable", { code }),
    onSuccess: () => {
      toast("Second factor disabled");
      onChanged();
      onClose();
    },
    onError: () => setCode(""),
    gcTime: 0,
  });
  return (
    <DialogForm
      action="Disable"
      kind="danger"
      onSubmit={mutate}
      onCancel={onClose}
      isBusy={isPending}
      error={error}
    >
      <SecondFactorInput value={code} onChange={setCode} autoFocus error={fieldsOf(error).code} />
    </DialogForm>
  );
}
