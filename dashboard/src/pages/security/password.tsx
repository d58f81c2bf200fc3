// A new password, with the current one and a code where there is a second factor.

import { useState } from "react";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { FormDialog } from "../../ui/forms/dialog-form.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";

export function PasswordCard() {
  const [isOpen, setOpen] = useState(false);
  const { hasSecondFactor } = usePerson();
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
      <FormDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Change your password"
        description="Every other session of yours ends."
        action="Change the password"
        first={{ current: "", password: "", code: "" }}
        send={({ code, ...passwords }) =>
          call("POST /password", { ...passwords, ...(hasSecondFactor ? { code } : {}) })
        }
        says="Password changed; other sessions ended"
        outdates={[["sessions"], ["activity"]]}
      >
        {({ control, direct }) => (
          <>
            <PasswordInput label="Current password" {...control("current")} />
            <PasswordInput label="New password" isNew {...control("password")} />
            {hasSecondFactor && <CodeInput {...direct("code")} />}
          </>
        )}
      </FormDialog>
    </Card>
  );
}
