// The second factor: whether there is one, and the dialogs that set it up, renew its recovery codes and remove it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endpointQuery } from "../../api/call.ts";
import { outdate } from "../../api/query-client.ts";
import { refreshSession } from "../../api/session.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Note } from "../../ui/note.tsx";
import { QueryState } from "../../ui/query.tsx";
import { DisableDialog } from "./disable-dialog.tsx";
import { RenewDialog } from "./renew-dialog.tsx";
import { SetUpDialog } from "./set-up-dialog.tsx";

/** So many or fewer are shown as a warning. */
const CODES_FEW = 3;

type OpenDialog = "SET_UP" | "RENEW" | "DISABLE" | null;

export function SecondFactorCard() {
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const query = useQuery(endpointQuery(["second-factor"], "GET /second-factor"));
  const refresh = () => {
    outdate(["second-factor"], ["sessions"], ["activity"]);
    void refreshSession();
  };
  const close = () => setDialog(null);
  const badge =
    query.data === undefined ? undefined : query.data.isEnabled ? (
      <StatusBadge status="ACTIVE" label="Enabled" />
    ) : (
      <StatusBadge status="NONE" label="Not enabled" />
    );
  return (
    <div id="second-factor" className="scroll-mt-16">
      <Card title="Second factor" aside={badge}>
        <QueryState of={query} lines={3} isBare />
        {query.data?.isEnabled === false && <NotEnabled onSetUp={() => setDialog("SET_UP")} />}
        {query.data?.isEnabled === true && (
          <Enabled
            recoveryCodesLeft={query.data.recoveryCodesLeft}
            onRenew={() => setDialog("RENEW")}
            onDisable={() => setDialog("DISABLE")}
          />
        )}
      </Card>
      <SetUpDialog isOpen={dialog === "SET_UP"} onClose={close} onChanged={refresh} />
      <RenewDialog isOpen={dialog === "RENEW"} onClose={close} onChanged={refresh} />
      <DisableDialog isOpen={dialog === "DISABLE"} onClose={close} onChanged={refresh} />
    </div>
  );
}

function NotEnabled({ onSetUp }: { onSetUp: () => void }) {
  return (
    <div className="flex flex-col items-start gap-4">
      <p>
        An authenticator app on your phone shows a new code every 30 seconds. You need one to sign in, and to
        create or revoke an API key.
      </p>
      <Button kind="primary" onClick={onSetUp}>
        Set it up
      </Button>
    </div>
  );
}

type EnabledProps = { recoveryCodesLeft: number; onRenew: () => void; onDisable: () => void };

function Enabled({ recoveryCodesLeft, onRenew, onDisable }: EnabledProps) {
  return (
    <div className="flex flex-col items-start gap-4">
      <p>You are asked for a code when you sign in, and when you create or revoke an API key.</p>
      {recoveryCodesLeft <= CODES_FEW ? (
        <Note tone="warn" title={`Recovery codes left: ${recoveryCodesLeft}`}>
          Renew them while you still have your authenticator.
        </Note>
      ) : (
        <p className="text-ink-soft">
          Recovery codes left: <span className="numeric text-ink">{recoveryCodesLeft}</span>
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onRenew}>Renew recovery codes</Button>
        <Button onClick={onDisable}>Disable</Button>
      </div>
    </div>
  );
}
