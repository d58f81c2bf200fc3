// Sets a kill switch: what it stops, and why.

import type { KillSwitchJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { copyingQuery } from "../../../api/operator.ts";
import { SWITCH_NAMES } from "../../../copying/words.ts";
import { FormDialog } from "../../../ui/forms/dialog-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";

const REASON_LENGTH_MAX = 200;
type Kind = KillSwitchJson["kind"];
export type NewSwitch = { readonly kind: Kind; readonly id: string };

type SetSwitchDialogProps = {
  /** What is chosen at first; null: the dialog is closed. */
  first: Partial<NewSwitch> | null;
  /** Those that may be used. */
  venues: readonly string[];
  onClose: () => void;
};

const ID_WORDS: Readonly<Record<Exclude<Kind, "VENUE">, { label: string; hint: string }>> = {
  COPIER: { label: "Copier", hint: "Their e-mail address, or their id." },
  STRATEGY: {
    label: "Strategy",
    hint: "The id is on its owner’s page under People.",
  },
};

export function SetSwitchDialog({ first, venues, onClose }: SetSwitchDialogProps) {
  return (
    <FormDialog
      isOpen={first !== null}
      onClose={onClose}
      title="Set a kill switch"
      description="Nothing is sent for the copies that it covers, not even cancels and exits, until it is cleared."
      action="Halt"
      kind="danger"
      first={{ kind: first?.kind ?? ("VENUE" as Kind), id: first?.id ?? "", reason: "" }}
      send={({ id, ...values }) => call("POST /operator/copying/switches", { ...values, id: id.trim() })}
      says="Kill switch set"
      outdates={[copyingQuery.queryKey]}
    >
      {({ values: { kind }, control, set }) => (
        <>
          <Select
            label="Scope"
            {...control("kind")}
            onChange={({ target }) => set({ kind: target.value as Kind, id: "" })}
            options={Object.entries(SWITCH_NAMES).map(([value, label]) => ({ value, label }))}
          />
          {kind === "VENUE" ? (
            <Select
              label="Exchange"
              required
              placeholder="Choose an exchange"
              options={venues.map((origin) => ({ value: origin, label: origin }))}
              {...control("id")}
            />
          ) : (
            <TextInput
              {...ID_WORDS[kind]}
              isMonospace
              autoComplete="off"
              spellCheck={false}
              required
              {...control("id")}
            />
          )}
          <TextInput
            label="Reason"
            hint="Shown to everybody whose copies it halts."
            autoComplete="off"
            required
            maxLength={REASON_LENGTH_MAX}
            {...control("reason")}
          />
        </>
      )}
    </FormDialog>
  );
}
