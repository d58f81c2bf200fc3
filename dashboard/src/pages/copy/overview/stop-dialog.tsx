import type { CopyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { copyKeys } from "../../../api/use-copy.ts";
import { FormDialog } from "../../../ui/forms/dialog-form.tsx";
import { RadioCard } from "../../../ui/forms/radio-card.tsx";

type StopDialogProps = { copy: CopyJson; isOpen: boolean; onClose: () => void };

export function StopDialog({ copy: { copyId, account, family }, isOpen, onClose }: StopDialogProps) {
  const held = family === "SPOT" ? "what it has bought" : "its positions";
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Stop this copy?"
      description="The copy ends for good. Its log stays. You can copy the strategy again later."
      action="Stop the copy"
      kind="danger"
      first={{ closesAll: true }}
      send={({ closesAll }) => call("POST /copies/:copyId/stop", { copyId, closesAll })}
      says={(_answer, { closesAll }) => (closesAll ? "The copy is being closed" : "The copy has ended")}
      outdates={copyKeys(copyId)}
    >
      {({ values: { closesAll }, set }) => (
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 font-medium text-sm">Holdings of the copy</legend>
          <RadioCard
            name="closesAll"
            title={family === "SPOT" ? "Sell it" : "Close it"}
            says={`Its orders are canceled and ${held} ${family === "SPOT" ? "is sold" : "are closed"} at the market. Anything else in the account is not touched.`}
            isChosen={closesAll}
            onChoose={() => set({ closesAll: true })}
          />
          <RadioCard
            name="closesAll"
            title="Keep it"
            says={`Orders that would open something are canceled. ${family === "SPOT" ? "What it has bought" : "Its positions"} and the orders that close it stay at ${account.label}. Lyrebird no longer manages them: you do.`}
            isChosen={!closesAll}
            onChoose={() => set({ closesAll: false })}
          />
        </fieldset>
      )}
    </FormDialog>
  );
}
