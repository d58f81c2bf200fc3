import { useState } from "react";
import { usePerson } from "../api/session.ts";
import { Button, type ButtonKind } from "../ui/button.tsx";
import { SwitchProfileDialog } from "./switch-profile-dialog.tsx";

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
