// A new password, with the current one and a code where there is a second factor.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
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
  const form = useForm({
    first: { current: "", password: "", code: "" },
    send: ({ code, ...passwords }) =>
      call("POST /password", { ...passwords, ...(hasSecondFactor ? { code } : {}) }),
    onDone: () => {
      toast("Password changed; other sessions ended");
      void queries.invalidateQueries({ queryKey: ["sessions"] });
      void queries.invalidateQueries({ queryKey: ["activity"] });
      onDone();
    },
  });
  return (
    <DialogForm action="Change the password" form={form} onCancel={onDone}>
      <PasswordInput label="Current password" {...form.control("current")} />
      <PasswordInput label="New password" isNew {...form.control("password")} />
      {hasSecondFactor && <CodeInput {...form.direct("code")} />}
    </DialogForm>
  );
}
