// Closes the own account: says what ends with it, and asks for password and code.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AccountContents } from "../../account/contents.tsx";
import { call, endpointQuery } from "../../api/call.ts";
import { takeSession, usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { ConfirmByTyping } from "../../ui/forms/confirm-by-typing.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { QueryState } from "../../ui/query.tsx";

export function CloseAccountCard() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title="Close your account"
      aside={
        <Button size="small" kind="danger" onClick={() => setOpen(true)}>
          Close…
        </Button>
      }
    >
      <p>
        Closing is for good: it ends your keys, strategies and copies, and erases who you are. To sell what a
        copy holds, stop the copy first.
      </p>
      <CloseDialog isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
}

function CloseDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { email, hasSecondFactor } = usePerson();
  const contents = useQuery({
    ...endpointQuery(["account"], "GET /account"),
    enabled: isOpen,
    staleTime: 0,
  });
  const form = useForm({
    first: { password: "", code: "" },
    send: ({ password, code }) =>
      call("POST /account/close", { password, ...(hasSecondFactor ? { code } : {}) }),
    onDone: takeSession,
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title="Close your account for good?"
      confirmation={email}
      action="Close my account"
      form={{ ...form, onSubmit: () => contents.data !== undefined && form.onSubmit() }}
      more={
        <>
          <PasswordInput {...form.control("password")} />
          {hasSecondFactor && <CodeInput {...form.direct("code")} />}
        </>
      }
    >
      <QueryState of={contents} lines={5} isBare />
      {contents.data !== undefined && <AccountContents contents={contents.data} />}
    </ConfirmByTyping>
  );
}
