// A new password, against the one that is and a code where there is a second factor.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";

export function PasswordCard() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <Card
      title="Password"
      aside={
        <Button size="small" onClick={() => setOpen(true)}>
          Change
        </Button>
      }
    >
      <p>
        It is stored as a hash that nobody can read, not even operators. Bots don’t use it: they use API keys.
      </p>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title="Change your password"
        description="Every other session of yours ends."
      >
        <PasswordForm onDone={close} />
      </Dialog>
    </Card>
  );
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const { hasSecondFactor } = usePerson();
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call("POST", "/password", { current, password, ...(hasSecondFactor ? { code } : {}) }),
    onSuccess: () => {
      toast("Password changed; other sessions ended");
      void queries.invalidateQueries({ queryKey: ["sessions"] });
      void queries.invalidateQueries({ queryKey: ["activity"] });
      onDone();
    },
    // The code may have been used up.
    onError: () => setCode(""),
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  return (
    <DialogForm
      action="Change the password"
      onSubmit={mutate}
      onCancel={onDone}
      isBusy={isPending}
      error={error}
    >
      <PasswordInput
        label="Current password"
        name="current"
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
        error={fields.current}
      />
      <PasswordInput
        label="New password"
        isNew
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={fields.password}
      />
      {hasSecondFactor && <CodeInput value={code} onChange={setCode} error={fields.code} />}
    </DialogForm>
  );
}
