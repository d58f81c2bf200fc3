// What can be done with a copy: pause it, resume it, stop it for good.
import { useState } from "react";
import type { CopyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { asApiError } from "../../../api/error.ts";
import { useCopyMutation } from "../../../api/use-copy.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { StopDialog } from "./stop-dialog.tsx";

export function Actions({ copy }: { copy: CopyJson }) {
  const { copyId, status, strategyStatus } = copy;
  const [isStopping, setStopping] = useState(false);
  const pause = useCopyMutation(copyId, "POST /copies/:copyId/pause", { says: "The copy is paused" });
  const resume = useCopyMutation(copyId, "POST /copies/:copyId/resume", { says: "The copy follows again" });
  // The buttons have no room for it; what is shown is as it was.
  const say = { onError: (error: unknown) => toast(asApiError(error).message) };
  if (status === "STOPPED") return null;
  return (
    <>
      {status === "FOLLOWING" && (
        <Button onClick={() => pause.mutate({}, say)} isBusy={pause.isPending}>
          Pause
        </Button>
      )}
      {status === "PAUSED" && strategyStatus === "LIVE" && (
        <Button kind="primary" onClick={() => resume.mutate({}, say)} isBusy={resume.isPending}>
          Resume
        </Button>
      )}
      {status !== "CLOSING" && <Button onClick={() => setStopping(true)}>Stop…</Button>}
      <StopDialog copy={copy} isOpen={isStopping} onClose={() => setStopping(false)} />
    </>
  );
}
