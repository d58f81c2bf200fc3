// Ends a copy for good, and asks what becomes of what it holds.
import { useState } from "react";
import type { CopyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { useCopyMutation } from "../../../api/use-copy.ts";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";

type StopDialogProps = { copy: CopyJson; isOpen: boolean; onClose: () => void };

export function StopDialog({ copy, isOpen, onClose }: StopDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Stop this copy?"
      description="The copy ends for good. Its log stays. You can copy the strategy again later."
    >
      <StopForm copy={copy} onClose={onClose} />
    </Dialog>
  );
}

function StopForm({ copy: { copyId, account, family }, onClose }: Omit<StopDialogProps, "isOpen">) {
  const [closesAll, setClosesAll] = useState(true);
  const stop = useCopyMutation(copyId, "POST /copies/:copyId/stop", {
    says: closesAll ? "The copy is being closed" : "The copy has ended",
    onDone: onClose,
  });
  const held = family === "SPOT" ? "what it has bought" : "its positions";
  return (
    <DialogForm
      action="Stop the copy"
      kind="danger"
      form={{ onSubmit: () => stop.mutate({ closesAll }), isBusy: stop.isPending, error: stop.error }}
      onCancel={onClose}
    >
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 font-medium text-sm">Holdings of the copy</legend>
        <Choice
          title={family === "SPOT" ? "Sell it" : "Close it"}
          says={`Its orders are canceled and ${held} ${family === "SPOT" ? "is sold" : "are closed"} at the market. Anything else in the account is not touched.`}
          isChosen={closesAll}
          onChoose={() => setClosesAll(true)}
        />
        <Choice
          title="Keep it"
          says={`Orders that would open something are canceled. ${family === "SPOT" ? "What it has bought" : "Its positions"} and the orders that close it stay at ${account.label}. Lyrebird no longer manages them: you do.`}
          isChosen={!closesAll}
          onChoose={() => setClosesAll(false)}
        />
      </fieldset>
    </DialogForm>
  );
}

type ChoiceProps = { title: string; says: string; isChosen: boolean; onChoose: () => void };

function Choice({ title, says, isChosen, onChoose }: ChoiceProps) {
  return (
    <label className="flex cursor-pointer gap-3 rounded-md border border-line-strong px-3 py-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2">
      <input
        type="radio"
        name="closesAll"
        checked={isChosen}
        onChange={onChoose}
        className="mt-1 size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0">
        <span className="block font-medium">{title}</span>
        <span className="mt-0.5 block text-ink text-sm">{says}</span>
      </span>
    </label>
  );
}
