import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { takeSession, usePerson } from "../api/session.ts";
import { Button, type ButtonKind } from "../ui/button.tsx";
import { FormDialog } from "../ui/forms/form.tsx";

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
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Switch to the ${name} profile?`}
      action={`Switch to ${name}`}
      first={{}}
      send={() => call("PUT /profile", { profile: other })}
      says={`You use Lyrebird as a ${name.toLowerCase()} now`}
      onDone={(session) => {
        takeSession(session);
        return navigate({ to: "/" });
      }}
    >
      {() => (
        <ul className="list-disc pl-5">
          {says.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Opens the dialog that says what the other profile changes. */
export function SwitchProfileButton({ kind = "quiet" }: { kind?: ButtonKind }) {
  const { profile } = usePerson();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={kind} onClick={() => setOpen(true)}>
        Switch to {profile === "TRADER" ? "Copier" : "Trader"}
      </Button>
      <SwitchProfileDialog isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}
