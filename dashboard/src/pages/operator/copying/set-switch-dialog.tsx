// Sets a kill switch: what it stops, and why.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { KillSwitchShape } from "../../../../../src/dashboard/shapes.ts";
import { call } from "../../../api/call.ts";
import { fieldsOf } from "../../../api/error.ts";
import { copyingQuery } from "../../../api/operator.ts";
import { SWITCH_NAMES } from "../../../copying/words.ts";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

const REASON_LENGTH_MAX = 200;
type Kind = KillSwitchShape["kind"];
export type NewSwitch = { readonly kind: Kind; readonly id: string };

type SetSwitchDialogProps = {
  /** What is chosen at first; null: the dialog is closed. */
  first: Partial<NewSwitch> | null;
  /** Those that may be used. */
  venues: readonly string[];
  onClose: () => void;
};

export function SetSwitchDialog({ first, venues, onClose }: SetSwitchDialogProps) {
  return (
    <Dialog
      isOpen={first !== null}
      onClose={onClose}
      title="Set a kill switch"
      description="Nothing is sent for the copies that it covers, not even cancels and exits, until it is cleared."
    >
      {first !== null && <SwitchForm first={first} venues={venues} onClose={onClose} />}
    </Dialog>
  );
}

const ID_WORDS: Readonly<Record<Exclude<Kind, "VENUE">, { label: string; hint: string }>> = {
  COPIER: { label: "Copier", hint: "Their e-mail address, or their id." },
  STRATEGY: {
    label: "Strategy",
    hint: "The id is on its owner’s page under People.",
  },
};

type SwitchFormProps = { first: Partial<NewSwitch>; venues: readonly string[]; onClose: () => void };

function SwitchForm({ first, venues, onClose }: SwitchFormProps) {
  const queries = useQueryClient();
  const [kind, setKind] = useState<Kind>(first.kind ?? "VENUE");
  const [id, setId] = useState(first.id ?? "");
  const [reason, setReason] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call("POST", "/operator/copying/switches", { kind, id: id.trim(), reason }),
    onSuccess: () => {
      toast("Kill switch set");
      void queries.invalidateQueries({ queryKey: copyingQuery.queryKey });
      onClose();
    },
  });
  const fields = fieldsOf(error);
  return (
    <DialogForm
      action="Halt"
      kind="danger"
      onSubmit={mutate}
      onCancel={onClose}
      isBusy={isPending}
      error={error}
    >
      <Select
        label="Scope"
        name="kind"
        value={kind}
        onChange={({ target }) => {
          setKind(target.value as Kind);
          setId("");
        }}
        options={Object.entries(SWITCH_NAMES).map(([value, label]) => ({ value, label }))}
        error={fields.kind}
      />
      {kind === "VENUE" ? (
        <Select
          label="Exchange"
          name="id"
          required
          placeholder="Choose an exchange"
          value={id}
          onChange={({ target }) => setId(target.value)}
          options={venues.map((origin) => ({ value: origin, label: origin }))}
          error={fields.id}
        />
      ) : (
        <TextInput
          {...ID_WORDS[kind]}
          name="id"
          isMonospace
          autoComplete="off"
          spellCheck={false}
          required
          value={id}
          onChange={({ target }) => setId(target.value)}
          error={fields.id}
        />
      )}
      <TextInput
        label="Reason"
        hint="Shown to everybody whose copies it halts."
        name="reason"
        autoComplete="off"
        required
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        error={fields.reason}
      />
    </DialogForm>
  );
}
