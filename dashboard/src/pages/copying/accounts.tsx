// The exchange accounts of a copier: which are connected, whether their keys are taken, and what uses them.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { VenueAccountJson } from "../../../../src/dashboard-api/schemas.ts";
import { accountsQuery, venuesQuery } from "../../api/copying.ts";
import { usePerson } from "../../api/session.ts";
import { useAddress } from "../../app/use-address.ts";
import { NotOffered } from "../../copying/not-offered.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { MissingSteps } from "../keys/missing-steps.tsx";
import { AccountTable, DisconnectedTable } from "./accounts/account-table.tsx";
import { CheckDialog } from "./accounts/check-dialog.tsx";
import { ConnectDialog } from "./accounts/connect-dialog.tsx";
import { DisconnectDialog } from "./accounts/disconnect-dialog.tsx";
import { ReplaceDialog } from "./accounts/replace-dialog.tsx";

/** What is being done with which account. */
type Doing = { readonly what: "check" | "replace" | "disconnect"; readonly account: VenueAccountJson };

export function Page() {
  const person = usePerson();
  const { search, change } = useAddress();
  const query = useQuery(accountsQuery);
  const { data, error } = query;
  const venues = useQuery(venuesQuery).data?.rows;
  const [doing, setDoing] = useState<Doing | null>(null);
  const going = data?.rows.filter(({ status }) => status !== "DISCONNECTED");
  const ended = data?.rows.filter(({ status }) => status === "DISCONNECTED") ?? [];
  const isOffered = venues === undefined || venues.length > 0;
  const mayConnect = isOffered && person.kyc === "APPROVED" && person.hasSecondFactor;
  const connect = (
    <Button kind="primary" onClick={() => change({ connect: "1" }, { replace: true })}>
      Connect an account
    </Button>
  );
  const begin = (what: Doing["what"]) => (account: VenueAccountJson) => setDoing({ what, account });
  const end = () => setDoing(null);
  const of = (what: Doing["what"]) => (doing?.what === what ? doing.account : null);
  return (
    <Screen
      title="Exchange accounts"
      lead="The accounts that your copies trade on. Keys are stored encrypted and never shown again."
      actions={mayConnect ? connect : undefined}
    >
      {isOffered && (
        <MissingSteps
          person={person}
          before="Before you can connect an exchange account"
          asking="connecting an account"
        />
      )}
      <QueryState of={query} />
      {!isOffered && (
        <Card isFlush>
          <NotOffered />
        </Card>
      )}
      {(isOffered || (going !== undefined && going.length > 0)) && (error === null || data !== undefined) && (
        <Card isFlush>
          <AccountTable
            rows={going}
            onCheck={begin("check")}
            onReplace={begin("replace")}
            onDisconnect={begin("disconnect")}
            empty={
              <EmptyState
                title="No exchange account is connected."
                {...(mayConnect ? { action: connect } : {})}
              >
                Create an API key at the exchange that may read and trade, but not withdraw. It is checked
                before anything is stored.
              </EmptyState>
            }
          />
        </Card>
      )}
      {ended.length > 0 && (
        <Card title="Disconnected" isFlush>
          <DisconnectedTable rows={ended} />
        </Card>
      )}

      <ConnectDialog
        isOpen={search.connect !== undefined && mayConnect}
        venues={venues ?? []}
        family={search.connect === "FUTURES" ? "FUTURES" : "SPOT"}
        onClose={() => change({ connect: undefined }, { replace: true })}
      />
      <CheckDialog account={of("check")} onClose={end} />
      <ReplaceDialog account={of("replace")} onClose={end} />
      <DisconnectDialog account={of("disconnect")} onClose={end} />
    </Screen>
  );
}
