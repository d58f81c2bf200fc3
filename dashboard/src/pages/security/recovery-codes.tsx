// Recovery codes, shown this once.
import { usePerson } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { OnceShown } from "../../ui/once-shown.tsx";
import { DialogActions } from "../../ui/overlays/dialog.tsx";

type RecoveryCodesProps = { codes: readonly string[]; onDone: () => void };

export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const { email } = usePerson();
  const text = `Lyrebird recovery codes of ${email}\nEach signs you in once, in place of your authenticator.\n\n${codes.join("\n")}\n`;
  return (
    <OnceShown
      label="recovery codes"
      text={text}
      fileName="lyrebird-recovery-codes.txt"
      warning="If you lose your authenticator, each code signs you in once. Store them elsewhere: without authenticator and codes you can no longer sign in."
      confirmation="I have saved the recovery codes"
      actions={(isSaved) => (
        <DialogActions>
          <Button kind="primary" disabled={!isSaved} onClick={onDone}>
            Done
          </Button>
        </DialogActions>
      )}
    >
      <ol
        aria-label="Recovery codes"
        className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-4 py-3 whitespace-nowrap font-mono text-sm sm:grid-cols-2"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
    </OnceShown>
  );
}
