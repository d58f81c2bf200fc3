import type { ReactNode } from "react";
import { call, outdate } from "../api/call.ts";
import { FormDialog } from "../ui/forms/form.tsx";

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
  const { kind = "orders", id = 0, noun = "order", summary } = cancelling ?? {};
  return (
    <FormDialog
      isOpen={cancelling !== null}
      onClose={onClose}
      title={`Cancel this ${noun}?`}
      action={`Cancel the ${noun}`}
      kind="danger"
      cancel="Keep it"
      first={{}}
      send={(): Promise<unknown> =>
        kind === "orders"
          ? call("DELETE /strategies/:strategyId/orders/:orderId", { strategyId, orderId: id })
          : call("DELETE /strategies/:strategyId/legs/:legId", { strategyId, legId: id })
      }
      says={`Canceled the ${noun} ${id}`}
      onSettled={() => outdate(["strategy", strategyId])}
    >
      {() => <p>{summary}</p>}
    </FormDialog>
  );
}
