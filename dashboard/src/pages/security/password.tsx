// A new password, against the one that is and a code where there is a second factor.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import { asApiError } from "../../api/error.ts";
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/code-input.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { PasswordInput } from "../../ui/password-input.tsx";
import { toast } from "../../ui/toast.tsx";
import { PASSWORD_HINT, PASSWORD_LENGTH } from "../entrance/words.ts";

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
        It is kept so that nobody can read it, operators neither. Your bots don’t use it: they have API keys.
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
  const fields = error === null ? {} : asApiError(error).fields;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <PasswordInput
        label="Present password"
        name="current"
        required
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
        error={fields.current}
      />
      <PasswordInput
        label="New password"
        isNew
        name="password"
        hint={PASSWORD_HINT}
        required
        {...PASSWORD_LENGTH}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={fields.password}
      />
      {hasSecondFactor && <CodeInput value={code} onChange={setCode} error={fields.code} />}
      {error !== null && <ErrorNote error={error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={isPending}>
          Change the password
        </Button>
      </DialogActions>
    </form>
  );
}
