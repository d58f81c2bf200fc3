// The request inspector: the last requests of the strategy's key, live, and of each refused one why.

import { useQuery } from "@tanstack/react-query";
import type { RequestsJson } from "../../../../src/dashboard-api/schemas.ts";
import { requestsQuery, useStrategy } from "../../api/strategy.ts";
import { useAddress } from "../../app/address.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, EmptyState, Note, Placeholder, QueryState } from "../../ui/card.tsx";
import { grouped } from "../../ui/figures/decimals.ts";
import { durationInWords } from "../../ui/figures/duration.ts";
import { Countdown, Time } from "../../ui/figures/figures.tsx";
import { Meter } from "../../ui/figures/meter.tsx";
import { Checkbox } from "../../ui/forms/field.tsx";
import { useNow } from "../../ui/hooks.ts";
import { Screen } from "../../ui/page-header.tsx";
import { toneOfMeter } from "./requests/diagnosis-words.ts";
import { REFUSED_FROM, RequestDialog, RequestTable } from "./requests/request-table.tsx";

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

// How much of its limits the key has used, and whether it is banned.

function Limits({ data }: { data: RequestsJson | undefined }) {
  return (
    <Card title="Limits">
      {data === undefined ? (
        <Placeholder lines={4} isBare />
      ) : (
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          {data.meters.map(({ name, used, limit, windowSeconds }) => {
            const tone = toneOfMeter(used, limit);
            const isUsedUp = tone === "loss";
            return (
              <Meter
                key={`${name} ${windowSeconds}`}
                label={`${name} in ${inWindow(windowSeconds)}`}
                filled={limit === 0 ? 0 : used / limit}
                value={`${grouped(String(used))} of ${grouped(String(limit))}`}
                tone={tone}
              >
                {tone !== "accent" && (
                  <p className={`mt-1 text-xs ${isUsedUp ? "text-loss" : "text-warn"}`}>
                    {isUsedUp ? "Used up: further requests are refused." : "Nearly used up."}
                  </p>
                )}
              </Meter>
            );
          })}
        </div>
      )}
    </Card>
  );
}

function Ban({ until }: { until: number }) {
  const isOver = useNow() >= until;
  return isOver ? (
    <Note tone="gain" title="The ban of this key is over.">
      Its next request is accepted.
    </Note>
  ) : (
    <Note tone="warn" title="This key is banned.">
      <p>
        Every request with it is answered 418 for another <Countdown until={until} />, because it kept sending
        after 429 responses. Requests during the ban do not lengthen it. Let the bot wait as long as
        Retry-After says.
      </p>
    </Note>
  );
}

function inWindow(seconds: number): string {
  return seconds === 60 ? "1 min" : durationInWords(seconds);
}
