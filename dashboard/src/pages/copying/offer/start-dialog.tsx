// The last look before real orders are sent.
import type { CopySettingsShape, VenueAccountShape } from "../../../../../src/dashboard/shapes.ts";
import { settingsInWords } from "../../../copying/settings.ts";
import { hostOf } from "../../../copying/words.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { DialogForm } from "../../../ui/dialog-form.tsx";

type StartDialogProps = {
  /** Of the strategy. */
  name: string;
  account: VenueAccountShape | undefined;
  /** Null: the dialog is closed. */
  settings: CopySettingsShape | null;
  onClose: () => void;
  onStart: (settings: CopySettingsShape) => void;
  isBusy: boolean;
  error: unknown;
};

export function StartDialog({ name, account, settings, onClose, onStart, isBusy, error }: StartDialogProps) {
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
              From its next order on, real orders are sent to {account?.label} at{" "}
              {account === undefined ? "" : hostOf(account.venue)}. You can lose what the copy works with.
            </li>
            <li>It uses {settingsInWords(settings)}.</li>
            <li>
              What the strategy holds already is not bought; it sells only what the copy has bought itself.
            </li>
            <li>You can pause, stop or halt it at any time.</li>
          </ul>
        </DialogForm>
      )}
    </Dialog>
  );
}
