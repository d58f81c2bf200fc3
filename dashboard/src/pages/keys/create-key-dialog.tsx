// A new key: its label and a fresh code, then the secret, shown this once.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { CreatedKeyShape } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { OnceShown } from "../../ui/once-shown.tsx";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { secretFile, secretFileName } from "./secret-file.ts";

const LABEL_LENGTH_MAX = 60;

export function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const [created, setCreated] = useState<CreatedKeyShape | null>(null);
  const close = () => {
    setCreated(null);
    onClose();
  };
  const goOn = (keyId: string) => {
    close();
    void navigate({ to: "/strategies/new", search: { key: keyId } });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isHeld={created !== null}
      title={created === null ? "New API key" : "Save the secret"}
    >
      {created === null ? (
        <CreateForm onCancel={close} onCreated={setCreated} />
      ) : (
        <Secret created={created} onDone={close} onStrategy={() => goOn(created.key.keyId)} />
      )}
    </Dialog>
  );
}

type CreateFormProps = { onCancel: () => void; onCreated: (created: CreatedKeyShape) => void };

function CreateForm({ onCancel, onCreated }: CreateFormProps) {
  const queries = useQueryClient();
  const [label, setLabel] = useState("");
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<CreatedKeyShape>("POST", "/keys", { label, code }),
    onSuccess: (created) => {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      onCreated(created);
    },
    onError: () => setCode(""),
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  return (
    <DialogForm
      action="Create the key"
      onSubmit={mutate}
      onCancel={onCancel}
      isBusy={isPending}
      error={error}
    >
      <TextInput
        label="Label"
        hint="For you alone: what will use it, such as “BTC grid on the home server”."
        name="label"
        autoComplete="off"
        required
        maxLength={LABEL_LENGTH_MAX}
        value={label}
        onChange={(event) => setLabel(event.target.value)}
        error={fields.label}
      />
      <CodeInput value={code} onChange={setCode} error={fields.code} />
    </DialogForm>
  );
}

type SecretProps = { created: CreatedKeyShape; onDone: () => void; onStrategy: () => void };

function Secret({ created: { key, apiSecret }, onDone, onStrategy }: SecretProps) {
  const { server } = useSession();
  const { label, apiKey, createdAt } = key;
  return (
    <OnceShown
      label="the key and its secret"
      text={secretFile({ label, apiKey, apiSecret, publicUrl: server.publicUrl, createdAt })}
      fileName={secretFileName(label)}
      warning="This secret is never shown again, not even by an operator. If you lose it, revoke the key and create another."
      confirmation="I have saved the secret"
      actions={(isSaved) => (
        <DialogActions>
          <Button disabled={!isSaved} onClick={onDone}>
            Done
          </Button>
          <Button kind="primary" disabled={!isSaved} onClick={onStrategy}>
            Create a strategy with it
          </Button>
        </DialogActions>
      )}
    >
      <dl className="flex flex-col gap-3">
        <div>
          <dt className="mb-1 font-medium text-sm">API key</dt>
          <dd>
            <Copyable value={apiKey} label="API key" />
          </dd>
        </div>
        <div>
          <dt className="mb-1 font-medium text-sm">Secret</dt>
          <dd>
            <Copyable value={apiSecret} label="secret" />
          </dd>
        </div>
      </dl>
    </OnceShown>
  );
}
