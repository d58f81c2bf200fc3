// The copier's own kill switch: nothing is sent for any of their copies.
import { useState } from "react";
import { useCopyMutation } from "../../../api/use-copy.ts";
import { HaltDialog } from "../../../copying/halt-dialog.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";

export function HaltCard({ copyId }: { copyId: string }) {
  const [isOpen, setOpen] = useState(false);
  const halt = useCopyMutation(copyId, "POST /copies/:copyId/halt", { says: "All your copies are halted" });
  return (
    <Card title="Halt everything">
      <p className="max-w-prose">
        A kill switch for emergencies: nothing is sent for any of your copies, not even cancels and exits,
        until you clear it. To stop new entries but keep following exits, pause instead.
      </p>
      <div className="mt-3">
        <Button kind="danger" onClick={() => setOpen(true)}>
          Halt everything
        </Button>
      </div>
      <HaltDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Halt all your copies?"
        says="Open orders and holdings stay at the exchange as they are: manage them there. What the strategies do in the meantime is logged as skipped."
        onHalt={(reason) => halt.mutateAsync({ reason })}
      />
    </Card>
  );
}
