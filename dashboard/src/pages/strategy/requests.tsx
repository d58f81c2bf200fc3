// The request inspector: the last requests of the strategy's key, live, and of each refused one why.

import { useQuery } from "@tanstack/react-query";
import { requestsQuery } from "../../api/trading.ts";
import { useStrategy } from "../../api/use-strategy.ts";
import { useAddress } from "../../app/use-address.ts";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { Checkbox } from "../../ui/forms/checkbox.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { Ban, Limits } from "./requests/limits.tsx";
import { RequestDialog } from "./requests/request-dialog.tsx";
import { REFUSED_FROM, RequestTable } from "./requests/request-table.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const { search, change } = useAddress();
  const query = useQuery(requestsQuery(strategyId));
  const { data, error } = query;
  const isRefusedOnly = search.refused !== undefined;
  const rows = data?.requests.filter(({ status }) => !isRefusedOnly || status >= REFUSED_FROM);
  const opened =
    search.request === undefined || data === undefined
      ? null
      : data.requests.find(({ requestId }) => requestId === search.request);
  return (
    <Screen
      title="Requests"
      documentTitle={`Requests, ${strategy?.name ?? strategyId}`}
      lead={
        strategy?.key ? (
          <>
            The last 100 requests of the key “{strategy.key.label}”, as they come in.
            {data !== undefined && (
              <>
                {" "}
                Remembered since <Time at={data.since} />.
              </>
            )}
          </>
        ) : undefined
      }
    >
      <QueryState of={query} />
      {data?.bannedUntil != null && <Ban until={data.bannedUntil} />}
      {strategy !== undefined && strategy.key === null ? (
        <Card isFlush>
          <EmptyState
            title="This strategy has no key."
            action={
              strategy.status === "CLOSED" ? undefined : (
                <ButtonLink to="/strategies/$strategyId/settings" params={{ strategyId }}>
                  Bind a key
                </ButtonLink>
              )
            }
          >
            This page shows requests of the strategy’s current key.
          </EmptyState>
        </Card>
      ) : (
        (error === null || data !== undefined) && (
          <>
            <Limits data={data} />
            <Card
              title="Requests"
              isFlush
              aside={
                <Checkbox
                  label="Refused only"
                  checked={isRefusedOnly}
                  onChange={({ target }) =>
                    change({ refused: target.checked ? "1" : undefined }, { replace: true })
                  }
                />
              }
            >
              <RequestTable rows={rows} empty={<None isRefusedOnly={isRefusedOnly} />} />
            </Card>
          </>
        )
      )}

      <RequestDialog request={opened} onClose={() => change({ request: undefined })} />
    </Screen>
  );
}

function None({ isRefusedOnly }: { isRefusedOnly: boolean }) {
  return isRefusedOnly ? (
    <EmptyState title="No request was refused.">All remembered requests succeeded.</EmptyState>
  ) : (
    <EmptyState title="No requests yet.">
      Start your bot with this key: each of its requests appears here at once, with the reason if it was
      refused. A request with an unknown key is not shown.
    </EmptyState>
  );
}
