// Confirms the start of a copy before real orders are sent, with what its settings permit at worst.
import { useQuery } from "@tanstack/react-query";
import type {
  CopySettingsJson,
  OfferDetailJson,
  VenueAccountJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { type PreviewAsked, previewQuery } from "../../../api/copying.ts";
import { settingsInWords } from "../../../copying/settings.ts";
import { hostOf } from "../../../copying/words.ts";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";

type StartDialogProps = {
  strategy: Pick<OfferDetailJson, "strategyId" | "name">;
  account: VenueAccountJson | undefined;
  /** What the strategy holds now. */
  holds: readonly string[];
  /** Null: the dialog is closed. */
  settings: CopySettingsJson | null;
  onClose: () => void;
  onStart: (settings: CopySettingsJson) => void;
  isBusy: boolean;
  error: unknown;
};

export function StartDialog(props: StartDialogProps) {
  const { strategy, account, holds, settings, onClose, onStart, isBusy, error } = props;
  const { strategyId, name } = strategy;
  const { accountId = "" } = account ?? {};
  return (
    <Dialog isOpen={settings !== null} onClose={onClose} title={`Copy ${name} with real orders?`}>
      {settings !== null && (
        <DialogForm
          action="Start copying"
          form={{ onSubmit: () => onStart(settings), isBusy, error }}
          onCancel={onClose}
        >
          <ul className="list-disc pl-5">
            <li>
              From the strategy’s next order on, real orders are sent to {account?.label} at{" "}
              {account === undefined ? "" : hostOf(account.venue)}. You can lose the money that the copy uses.
            </li>
            <li>It uses {settingsInWords(settings)}.</li>
            <li>{holdsInWords(holds, settings)}</li>
            <li>You can pause, stop or halt it at any time.</li>
          </ul>
          <WorstCase asked={{ strategyId, accountId, settings }} />
        </DialogForm>
      )}
    </Dialog>
  );
}

function holdsInWords(holds: readonly string[], { copyExisting }: CopySettingsJson): string {
  if (holds.length === 0)
    return "The strategy holds nothing now. The copy sells or closes only what it opened itself.";
  const held = `What the strategy holds now (${holds.join(", ")})`;
  return copyExisting
    ? `${held} is opened at the market’s price when the copy starts, within your limits.`
    : `${held} is not bought. The copy sells or closes only what it opened itself: exits of these holdings are skipped.`;
}

/** Of the preview that the page below has asked for already. */
function WorstCase({ asked }: { asked: PreviewAsked }) {
  const { data } = useQuery(previewQuery(asked));
  if (data === undefined) return null;
  return (
    <section aria-label="At worst">
      <h3 className="font-medium">At worst</h3>
      <ul className="list-disc pl-5">
        {data.worst.words.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  );
}
