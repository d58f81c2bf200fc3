// The end of the account, by its owner: says what ends with it, and asks for password and code.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AccountContentsShape, SessionShape } from "../../../../src/dashboard/shapes.ts";
import { AccountContents } from "../../account/contents.tsx";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { takeSession, usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { ConfirmByTyping } from "../../ui/forms/confirm-by-typing.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

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
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const contents = useQuery({
    queryKey: ["account"],
    queryFn: () => call<AccountContentsShape>("GET", "/account"),
    enabled: isOpen,
    staleTime: 0,
  });
  const closing = useMutation({
    mutationFn: () =>
      call<SessionShape>("POST", "/account/close", { password, ...(hasSecondFactor ? { code } : {}) }),
    onSuccess: takeSession,
    onError: () => setCode(""),
    gcTime: 0,
  });
  const fields = fieldsOf(closing.error);
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title="Close your account for good?"
      confirmation={email}
      action="Close my account"
      onConfirm={() => contents.data !== undefined && closing.mutate()}
      isBusy={closing.isPending}
      error={closing.error}
      more={
        <>
          <PasswordInput
            value={password}
            onChange={({ target }) => setPassword(target.value)}
            error={fields.password}
          />
          {hasSecondFactor && <CodeInput value={code} onChange={setCode} error={fields.code} />}
        </>
      }
    >
      {contents.error !== null && (
        <ErrorNote
          error={contents.error}
          onRetry={() => void contents.refetch()}
          isRetrying={contents.isFetching}
        />
      )}
      {contents.data !== undefined ? (
        <AccountContents contents={contents.data} />
      ) : (
        contents.error === null && <Skeleton lines={5} />
      )}
    </ConfirmByTyping>
  );
}
