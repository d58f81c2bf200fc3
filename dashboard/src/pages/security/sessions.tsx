// The sessions of the account, and ending them.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OwnSessionJson } from "../../../../src/dashboard-api/schemas.ts";
import { call, endpointQuery, outdate } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ListCard } from "../../ui/card.tsx";
import { CodeInput, PasswordInput } from "../../ui/forms/field.tsx";
import { type Form, FormDialog } from "../../ui/forms/form.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../ui/table.tsx";
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
  const isAll = toEnd === null || toEnd === "OTHERS";
  return (
    <FormDialog
      isOpen={toEnd !== null}
      onClose={onClose}
      title={isAll ? "End all other sessions?" : "End this session?"}
      description={
        isAll
          ? "Every browser but this one is signed out."
          : `${browserInWords(toEnd.userAgent)} is signed out.`
      }
      action={isAll ? "End the sessions" : "End the session"}
      kind="danger"
      first={NO_PROOF}
      send={(proof) => call("POST /sessions/end", { sessionId: isAll ? null : toEnd.sessionId, ...proof })}
      says={isAll ? "All other sessions ended" : "Session ended"}
      outdates={[["activity"]]}
      onError={(_error, set) => set(NO_PROOF)}
      onSettled={() => outdate(["sessions"])}
    >
      {(form) => <ProofInput form={form} />}
    </FormDialog>
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

// Proof that the owner asks: a code where there is a second factor, else the password.

type Proof = { readonly password: string | undefined; readonly code: string | undefined };
const NO_PROOF: Proof = { password: undefined, code: undefined };

function ProofInput({ form }: { form: Form<Proof> }) {
  const { hasSecondFactor } = usePerson();
  const { values, fields, set } = form;
  if (hasSecondFactor) {
    return (
      <CodeInput value={values.code ?? ""} onChange={(code) => set({ code })} error={fields.code} autoFocus />
    );
  }
  return <PasswordInput {...form.control("password")} value={values.password ?? ""} />;
}
