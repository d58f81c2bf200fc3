// Removing the second factor, against a code of it or a recovery code.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import { asApiError } from "../../api/error.ts";
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.tsx";
import { SecondFactorInput } from "../entrance/second-factor-input.tsx";

type DisableDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function DisableDialog({ isOpen, onClose, onChanged }: DisableDialogProps) {
  const { role } = usePerson();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Disable the second factor?">
      <p>
        {role === "OPERATOR"
          ? "The operators’ pages close until you set one up again."
          : "Your password alone will sign you in. Keys go on working, but you can’t create or revoke one until you set a second factor up again."}
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <SecondFactorInput
        value={code}
        onChange={setCode}
        autoFocus
        error={error === null ? undefined : asApiError(error).fields.code}
      />
      {error !== null && <ErrorNote error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="danger" isBusy={isPending}>
          Disable
        </Button>
      </DialogActions>
    </form>
  );
}
