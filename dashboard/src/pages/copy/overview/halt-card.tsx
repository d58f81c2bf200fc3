// The copier's own kill switch: nothing is sent for any of their copies.
import { useState } from "react";
import { useCopyMutation } from "../../../api/use-copy.ts";
import { HaltDialog } from "../../../copying/halt-dialog.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";

export function HaltCard({ copyId }: { copyId: string }) {
  const [isOpen, setOpen] = useState(false);
  const halt = useCopyMutation<string>(copyId, {
    path: "halt",
    body: (reason) => ({ reason }),
    says: "All your copies are halted",
    onDone: () => setOpen(false),
  });
  return (
    <Card title="Halt everything">
      <p className="max-w-prose">
        The kill switch for an emergency: from then on nothing at all is sent for any of your copies, not even
        cancels and sales, until you let them go on. To stop opening while closing goes on, pause instead.
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
        says="What rests at the exchange goes on resting, and what is held stays held: look after it there. What the strategies do meanwhile is logged as skipped."
        onHalt={(reason) => halt.mutate(reason)}
        isBusy={halt.isPending}
        error={halt.error}
      />
    </Card>
  );
}
