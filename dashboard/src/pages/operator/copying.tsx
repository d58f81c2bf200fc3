// Copying on this server: the exchanges, the copies, what was not copied and why, the gap to paper, and the kill switches.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OperatorCopyingJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { copyingQuery } from "../../api/operator.ts";
import { outdate } from "../../api/query-client.ts";
import { CopyNumbers } from "../../copying/copy-numbers.tsx";
import { Gap } from "../../copying/gap.tsx";
import { Outcomes } from "../../copying/outcomes.tsx";
import { Unclosed } from "../../copying/unclosed.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState, ErrorNote } from "../../ui/note.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Loaded } from "../../ui/query.tsx";
import { CopiersNote } from "./copying/copiers-note.tsx";
import { type NewSwitch, SetSwitchDialog } from "./copying/set-switch-dialog.tsx";
import { SwitchTable } from "./copying/switch-table.tsx";
import { VenueTable } from "./copying/venue-table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

export function Page() {
  const query = useQuery(copyingQuery);
  const [setting, setSetting] = useState<Partial<NewSwitch> | null>(null);
  const clear = useClear();
  return (
    <Screen
      title="Copying"
      lead="Orders that are copied to exchange accounts, and the kill switches that stop copying."
      actions={
        <>
          <Refreshed
            at={query.dataUpdatedAt}
            isBusy={query.isFetching}
            onRefresh={() => void query.refetch()}
          />
          <Button kind="danger" onClick={() => setSetting({})}>
            Set a kill switch
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {({ venues, copiers, copies, behind, unclosed, counts, gap, switches }) => (
          <>
            {clear.error !== null && <ErrorNote error={clear.error} />}
            {venues.length > 0 && <CopiersNote copiers={copiers} />}
            <Card title="Kill switches" isFlush>
              <SwitchTable
                rows={switches}
                onClear={clear.mutate}
                cleared={clear.isPending ? clear.variables : undefined}
              />
            </Card>
            <Card title="Exchanges" isFlush>
              {venues.length === 0 ? (
                <EmptyState title="Copying is not offered.">
                  Set <code className="font-mono text-sm">COPY_VENUES</code> to the addresses of the exchanges
                  that copiers may connect, separated by commas, and restart the server.
                </EmptyState>
              ) : (
                <VenueTable rows={venues} onHalt={(id) => setSetting({ kind: "VENUE", id })} />
              )}
            </Card>
            {unclosed.length > 0 && (
              <Card title="Closed strategies with copies that are still open">
                <Unclosed rows={unclosed} />
              </Card>
            )}
            <div className="grid items-start gap-5 xl:grid-cols-2">
              <Card title="Copies">
                <CopyNumbers copies={copies} behind={behind} />
              </Card>
              <Card title="What was copied in the last 30 days">
                <Outcomes counts={counts} />
              </Card>
            </div>
            <Gap gap={gap} of="EVERYBODY" />
          </>
        )}
      </Loaded>
      <SetSwitchDialog
        first={setting}
        venues={query.data?.venues.map(({ origin }) => origin) ?? []}
        onClose={() => setSetting(null)}
      />
    </Screen>
  );
}

type Cleared = Pick<OperatorCopyingJson["switches"][number], "kind" | "id">;

function useClear() {
  return useMutation({
    mutationFn: ({ kind, id }: Cleared) => call("POST /operator/copying/switches/clear", { kind, id }),
    onSuccess: () => {
      toast("Kill switch cleared");
      outdate(copyingQuery.queryKey);
    },
  });
}
