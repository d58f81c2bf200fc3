// The sessions of the account, and ending them.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { OwnSessionJson } from "../../../../src/dashboard-api/schemas.ts";
import { call, endpointQuery } from "../../api/call.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { ListCard } from "../../ui/query.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../ui/table.tsx";
import { NO_PROOF, ProofInput } from "./proof-input.tsx";
import { browserInWords } from "./user-agent.ts";

/** One session, or all but this one. */
type ToEnd = OwnSessionJson | "OTHERS";

export function SessionsCard() {
  const [toEnd, setToEnd] = useState<ToEnd | null>(null);
  const query = useQuery(endpointQuery(["sessions"], "GET /sessions"));
  const others = query.data?.rows.filter(({ isThisOne }) => !isThisOne) ?? [];
  return (
    <ListCard
      query={query}
      title="Sessions"
      aside={
        others.length > 0 && (
          <Button size="small" onClick={() => setToEnd("OTHERS")}>
            End all others
          </Button>
        )
      }
    >
      <Table
        caption="Your sessions"
        columns={columnsWith(setToEnd)}
        rows={query.data?.rows}
        rowKey={({ sessionId }) => sessionId}
        empty="No sessions."
      />

      <EndDialog toEnd={toEnd} onClose={() => setToEnd(null)} />
    </ListCard>
  );
}

function EndDialog({ toEnd, onClose }: { toEnd: ToEnd | null; onClose: () => void }) {
  return (
    <Dialog
      isOpen={toEnd !== null}
      onClose={onClose}
      title={toEnd === "OTHERS" ? "End all other sessions?" : "End this session?"}
      description={
        toEnd === null || toEnd === "OTHERS"
          ? "Every browser but this one is signed out."
          : `${browserInWords(toEnd.userAgent)} is signed out.`
      }
    >
      {toEnd !== null && <EndForm toEnd={toEnd} onClose={onClose} />}
    </Dialog>
  );
}

function EndForm({ toEnd, onClose }: { toEnd: ToEnd; onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm({
    first: NO_PROOF,
    send: (proof) =>
      call("POST /sessions/end", { sessionId: toEnd === "OTHERS" ? null : toEnd.sessionId, ...proof }),
    onDone: () => {
      toast(toEnd === "OTHERS" ? "All other sessions ended" : "Session ended");
      void queries.invalidateQueries({ queryKey: ["activity"] });
      onClose();
    },
    onError: () => form.set(NO_PROOF),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
  return (
    <DialogForm
      action={toEnd === "OTHERS" ? "End the sessions" : "End the session"}
      kind="danger"
      form={form}
      onCancel={onClose}
    >
      <ProofInput form={form} />
    </DialogForm>
  );
}

function columnsWith(onEnd: (session: OwnSessionJson) => void): readonly Column<OwnSessionJson>[] {
  return [
    headColumn("Browser", ({ userAgent, isThisOne }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <span title={userAgent}>{browserInWords(userAgent)}</span>
        {isThisOne && <Badge tone="accent">This session</Badge>}
      </span>
    )),
    column("Address", ({ address }) => <span className="break-all font-mono text-xs">{address}</span>),
    timeColumn("Signed in", ({ createdAt }) => createdAt),
    timeColumn("Expires", ({ expiresAt }) => expiresAt),
    numberColumn("Action", (session) =>
      session.isThisOne ? null : (
        <Button
          size="small"
          onClick={() => onEnd(session)}
          aria-label={`End the session of ${browserInWords(session.userAgent)}`}
        >
          End
        </Button>
      ),
    ),
  ];
}
