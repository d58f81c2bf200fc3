// Confirms the start of a copy before real orders are sent.
import type { CopySettingsShape, VenueAccountShape } from "../../../../../src/dashboard/shapes.ts";
import { settingsInWords } from "../../../copying/settings.ts";
import { hostOf } from "../../../copying/words.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { DialogForm } from "../../../ui/dialog-form.tsx";

type StartDialogProps = {
  /** Of the strategy. */
  name: string;
  account: VenueAccountShape | undefined;
  /** What the strategy holds now. */
  holds: readonly string[];
  /** Null: the dialog is closed. */
  settings: CopySettingsShape | null;
  onClose: () => void;
  onStart: (settings: CopySettingsShape) => void;
  isBusy: boolean;
  error: unknown;
};

export function StartDialog(props: StartDialogProps) {
  const { name, account, holds, settings, onClose, onStart, isBusy, error } = props;
  return (
    <Dialog isOpen={settings !== null} onClose={onClose} title={`Copy ${name} with real orders?`}>
      {settings !== null && (
        <DialogForm
          action="Start copying"
          onSubmit={() => onStart(settings)}
          onCancel={onClose}
          isBusy={isBusy}
          error={error}
        >
          <ul className="list-disc pl-5">
            <li>
              From the strategy’s next order on, real orders are sent to {account?.label} at{" "}
              {account === undefined ? "" : hostOf(account.venue)}. You can lose the money that the copy uses.
            </li>
            <li>It uses {settingsInWords(settings)}.</li>
            <li>
              {holds.length === 0
                ? "The strategy holds nothing now. The copy sells or closes only what it opened itself."
                : `What the strategy holds now (${holds.join(", ")}) is not bought. The copy sells or closes only what it opened itself: exits of these holdings are skipped.`}
            </li>
            <li>You can pause, stop or halt it at any time.</li>
          </ul>
        </DialogForm>
      )}
    </Dialog>
  );
}
