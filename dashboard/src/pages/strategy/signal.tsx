// One signal: the order as it was asked for, and what became of it.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { SignalJson } from "../../../../src/dashboard-api/schemas.ts";
import { signalQuery } from "../../api/strategy.ts";
import { OrderLink } from "../../trading/links.tsx";
import { StatusBadge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, Note, QueryState, Skeleton } from "../../ui/card.tsx";
import { CodeBlock, Copyable } from "../../ui/copy-button.tsx";
import { latencyInWords } from "../../ui/figures/duration.ts";
import { Facts, fact, Time, Timeline } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { signalHistory, signalInWords } from "./signals/signal-words.ts";

const route = getRouteApi("/strategies/$strategyId/signals/$signalId");

export function Page() {
  const { strategyId, signalId } = route.useParams();
  const query = useQuery(signalQuery(strategyId, signalId));
  const { data, error } = query;
  return (
    <Screen
      title="Signal"
      documentTitle={`Signal ${signalId}`}
      badge={data !== undefined && <StatusBadge status={data.status} />}
      lead={data === undefined ? undefined : signalInWords(data.order)}
      actions={
        <ButtonLink to="/strategies/$strategyId/signals" params={{ strategyId }} kind="quiet">
          All signals
        </ButtonLink>
      }
    >
      <QueryState of={query} />
      {error === null && <Detail signal={data} />}
    </Screen>
  );
}

function Detail({ signal }: { signal: SignalJson | undefined }) {
  return (
    <div className="flex flex-col gap-5">
      {signal?.status === "REJECTED" && (
        <Note tone="warn" title={`Rejected: ${signal.reason ?? "no reason given"}`} />
      )}
      {signal?.status === "FAILED" && (
        <Note tone="warn" title={`Not executed so far: ${signal.reason ?? "no reason given"}`}>
          It is retried automatically. Sending it again with the same idempotency key is safe.
        </Note>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,2fr)_minmax(16rem,1fr)]">
        <div className="flex min-w-0 flex-col gap-5">
          <Card title="Details">
            {signal === undefined ? <Skeleton lines={5} /> : <State signal={signal} />}
          </Card>
          {signal === undefined ? (
            <Card title="Requested order">
              <Skeleton lines={6} />
            </Card>
          ) : (
            <CodeBlock
              title="Requested order"
              label="order as JSON"
              text={JSON.stringify(signal.order, null, 2)}
            />
          )}
        </div>
        <Card title="History">
          {signal === undefined ? (
            <Skeleton lines={3} />
          ) : (
            <Timeline label="History of this signal" entries={signalHistory(signal)} />
          )}
        </Card>
      </div>
    </div>
  );
}

function State({ signal }: { signal: SignalJson }) {
  const { signalId, idempotencyKey, collectiveId } = signal;
  const names = [
    { label: "Signal id", value: signalId },
    { label: "Idempotency key", value: idempotencyKey },
    ...(collectiveId === null ? [] : [{ label: "Collective id", value: collectiveId }]),
  ];
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          fact("Received", <Time at={signal.receivedAt} />),
          fact("Processed", <Time at={signal.processedAt} />),
          fact("Latency", signal.latencyMs === null ? null : latencyInWords(signal.latencyMs)),
          fact("Attempts", signal.attempts),
          fact("Replays since the server started", signal.replays),
          fact("Order", signal.orderId === null ? null : <OrderLink orderId={signal.orderId} />),
        ]}
      />
      <dl className="flex flex-col gap-3">
        {names.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-ink-soft text-xs">{label}</dt>
            <dd className="mt-1">
              <Copyable value={value} label={label.toLowerCase()} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
