// A new key: its label and a fresh code, then the secret, shown this once.

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { CreatedKeyJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { OnceShown } from "../../ui/once-shown.tsx";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { secretFile, secretFileName } from "./secret-file.ts";

const LABEL_LENGTH_MAX = 60;

export function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const [created, setCreated] = useState<CreatedKeyJson | null>(null);
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

type CreateFormProps = { onCancel: () => void; onCreated: (created: CreatedKeyJson) => void };

function CreateForm({ onCancel, onCreated }: CreateFormProps) {
  const form = useForm({
    first: { label: "", code: "" },
    send: (values) => call("POST /keys", values),
    outdates: [["keys"]],
    onDone: onCreated,
  });
  return (
    <DialogForm action="Create the key" form={form} onCancel={onCancel}>
      <TextInput
        label="Label"
        hint="For you alone: what will use it, such as “BTC grid on the home server”."
        autoComplete="off"
        required
        maxLength={LABEL_LENGTH_MAX}
        {...form.control("label")}
      />
      <CodeInput {...form.direct("code")} />
    </DialogForm>
  );
}

type SecretProps = { created: CreatedKeyJson; onDone: () => void; onStrategy: () => void };

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
