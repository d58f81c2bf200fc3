// The trader's kill switch: nothing is sent for any copy of the strategy.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { StrategyCopyingJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { strategyCopyingQuery } from "../../../api/copying.ts";
import { outdate } from "../../../api/query-client.ts";
import { HaltDialog } from "../../../copying/halt-dialog.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorNote, Note } from "../../../ui/note.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

type HaltedNoteProps = { strategyId: string; halted: NonNullable<StrategyCopyingJson["halted"]> };

/** While it is set. */
export function HaltedNote({ strategyId, halted }: HaltedNoteProps) {
  const release = useSwitch(strategyId);
  return (
    <Note tone="warn" title="Copies of this strategy are halted">
      <p className="mt-1">
        Nothing is sent for them; what the strategy does is logged as skipped. Reason: “{halted.reason}”
      </p>
      {halted.isOwn ? (
        <div className="mt-3 flex flex-col items-start gap-3">
          {release.error !== null && <ErrorNote error={release.error} />}
          <Button size="small" onClick={() => release.mutate(null)} isBusy={release.isPending}>
            Clear the kill switch
          </Button>
        </div>
      ) : (
        <p className="mt-1">An operator set this kill switch; only an operator can clear it.</p>
      )}
    </Note>
  );
}

export function CopiersHalt({ strategyId }: { strategyId: string }) {
  const [isAsking, setAsking] = useState(false);
  const halt = useSwitch(strategyId);
  return (
    <Card title="Halt all copies">
      <p className="max-w-prose">
        A kill switch for emergencies, such as a bot out of control: nothing is sent for any copy of this
        strategy, not even cancels and exits, until you clear it. It does not stop your own bot.
      </p>
      <div className="mt-3">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Halt all copies
        </Button>
      </div>
      <HaltDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Halt all copies of this strategy?"
        says="Copiers see the reason. Their holdings and their open orders at the exchanges stay as they are."
        onHalt={halt.mutateAsync}
      />
    </Card>
  );
}

/** With a reason it is set, with null it is cleared. */
function useSwitch(strategyId: string) {
  return useMutation({
    mutationFn: (reason: string | null) =>
      reason === null
        ? call("DELETE /strategies/:strategyId/copying/halt", { strategyId })
        : call("POST /strategies/:strategyId/copying/halt", { strategyId, reason }),
    onSuccess: (_answer, reason) => {
      toast(reason === null ? "Kill switch cleared" : "All copies are halted");
      outdate(strategyCopyingQuery(strategyId).queryKey);
    },
  });
}
