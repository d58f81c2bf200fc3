// What a repair would send, and the choice of whether it may also open or increase.
import { useState } from "react";
import type { DriftRowJson } from "../../../../../src/dashboard-api/schemas.ts";
import { useCopyMutation } from "../../../api/use-copy.ts";
import { repairOf } from "../../../copying/drift.ts";
import { counted } from "../../../copying/words.ts";
import { Side } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Price } from "../../../ui/figures/amounts.tsx";
import { Checkbox } from "../../../ui/forms/checkbox.tsx";
import { ErrorNote } from "../../../ui/note.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";

type RepairDialogProps = {
  copyId: string;
  rows: readonly DriftRowJson[];
  isOpen: boolean;
  onClose: () => void;
};

export function RepairDialog({ isOpen, onClose, ...parts }: RepairDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Bring the copy to its target"
      description="Sends market orders to the exchange. Symbols that match their target are not touched."
    >
      <Repair {...parts} onClose={onClose} />
    </Dialog>
  );
}

function Repair({ copyId, rows, onClose }: Omit<RepairDialogProps, "isOpen">) {
  const [mayIncrease, setMayIncrease] = useState(false);
  const { orders, leftOut } = repairOf(rows, { mayIncrease });
  const hasIncreases = leftOut > 0 || mayIncrease;
  const repair = useCopyMutation(copyId, "POST /copies/:copyId/repair", {
    says: "The repair has started",
    onDone: onClose,
  });
  return (
    <>
      {orders.length === 0 ? (
        <p>Nothing can be reduced.</p>
      ) : (
        <ul aria-label="Orders of the repair" className="flex flex-col gap-1">
          {orders.map(({ symbol, side, quantity, asset, increases }) => (
            <li key={symbol} className="flex flex-wrap justify-between gap-x-4">
              <span>
                <Side side={side} /> {symbol}
              </span>
              <span className="numeric">
                <Price value={quantity} /> {asset}
                <span className="text-ink-soft">, {increases ? "opens or increases" : "reduces"}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {leftOut > 0 && (
        <p className="text-ink-soft text-sm">
          {counted(leftOut, "order")} more would open or increase, and {leftOut === 1 ? "is" : "are"} left
          out.
        </p>
      )}
      {hasIncreases && (
        <Checkbox
          label="May also open or increase"
          hint="It then also buys what the copy is missing, at the current market price."
          checked={mayIncrease}
          onChange={({ target }) => setMayIncrease(target.checked)}
        />
      )}
      {repair.error !== null && <ErrorNote error={repair.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          disabled={orders.length === 0}
          onClick={() => repair.mutate({ mayIncrease })}
          isBusy={repair.isPending}
        >
          Send {counted(orders.length, "order")}
        </Button>
      </DialogActions>
    </>
  );
}
