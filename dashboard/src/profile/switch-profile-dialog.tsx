// From Copier to Trader and back, and what that changes. It can be turned back at any time.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { takeSession, usePerson } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/note.tsx";
import { Dialog, DialogActions } from "../ui/overlays/dialog.tsx";
import { toast } from "../ui/overlays/toast.tsx";

const CHANGES = {
  TRADER: {
    name: "Trader",
    says: [
      "You run bots of your own: the pages for API keys and strategies appear.",
      "Keys and strategies also need an approved identity and a second factor.",
      "The pages for copying are hidden while you are a trader; running copies continue.",
    ],
  },
  COPIER: {
    name: "Copier",
    says: [
      "The pages for API keys and strategies are hidden while you are a copier.",
      "Your strategies stay as they are: bots keep trading and keys keep working.",
      "To stop a bot, revoke its key or close its strategy before you switch.",
    ],
  },
} as const;

export function SwitchProfileDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const { profile } = usePerson();
  const other = profile === "TRADER" ? "COPIER" : "TRADER";
  const { name, says } = CHANGES[other];
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: () => call("PUT /profile", { profile: other }),
    onSuccess: async (session) => {
      onClose();
      takeSession(session);
      toast(`You use Lyrebird as a ${name.toLowerCase()} now`);
      await navigate({ to: "/" });
    },
  });
  const close = () => {
    reset();
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={`Switch to the ${name} profile?`}>
      <ul className="list-disc pl-5">
        {says.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      {error !== null && <ErrorNote error={error} />}
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" onClick={() => mutate()} isBusy={isPending}>
          Switch to {name}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
