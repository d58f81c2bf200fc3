// Asks once before an order, a take profit or a stop loss is canceled, and does it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { call } from "../api/call.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/note.tsx";
import { Dialog, DialogActions } from "../ui/overlays/dialog.tsx";
import { toast } from "../ui/overlays/toast.tsx";

export type Cancelling = {
  readonly kind: "orders" | "legs";
  readonly id: number;
  /** What it is: "order", "take profit". */
  readonly noun: string;
  /** What it says, in a line. */
  readonly summary: ReactNode;
};

type CancelDialogProps = { strategyId: string; cancelling: Cancelling | null; onClose: () => void };

export function CancelDialog({ strategyId, cancelling, onClose }: CancelDialogProps) {
  return (
    <Dialog
      isOpen={cancelling !== null}
      onClose={onClose}
      title={`Cancel this ${cancelling?.noun ?? "order"}?`}
    >
      {cancelling !== null && (
        <Confirm key={cancelling.id} strategyId={strategyId} cancelling={cancelling} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Confirm({ strategyId, cancelling, onClose }: CancelDialogProps & { cancelling: Cancelling }) {
  const queries = useQueryClient();
  const { kind, id, noun, summary } = cancelling;
  const cancel = useMutation({
    mutationFn: (): Promise<unknown> =>
      kind === "orders"
        ? call("DELETE /strategies/:strategyId/orders/:orderId", { strategyId, orderId: id })
        : call("DELETE /strategies/:strategyId/legs/:legId", { strategyId, legId: id }),
    onSuccess: () => {
      toast(`Canceled the ${noun}`);
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["strategy", strategyId] }),
  });
  return (
    <>
      <p>{summary}</p>
      {cancel.error !== null && <ErrorNote error={cancel.error} />}
      <DialogActions>
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" onClick={() => cancel.mutate()} isBusy={cancel.isPending}>
          Cancel the {noun}
        </Button>
      </DialogActions>
    </>
  );
}
