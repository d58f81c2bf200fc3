// The log of signals: what was sent to the bot routes, and what became of it.
import { useQuery } from "@tanstack/react-query";
import type { SignalJson } from "../../../../src/dashboard-api/schemas.ts";
import { signalsQuery, useStrategy } from "../../api/strategy.ts";
import { useAddress } from "../../app/address.tsx";
import { OrderLink } from "../../trading/links.tsx";
import { StatusBadge } from "../../ui/badge.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { EmptyState, Listed } from "../../ui/card.tsx";
import { latencyInWords } from "../../ui/figures/duration.ts";
import { Pager, Screen } from "../../ui/page-header.tsx";
import { type Column, column, numberColumn, Table } from "../../ui/table.tsx";
import { SIGNAL_HEAD } from "./signals/signal-head.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const { search } = useAddress();
  const query = useQuery(signalsQuery(strategyId, search.before));
  return (
    <Screen
      title="Signals"
      documentTitle={`Signals, ${strategy?.name ?? strategyId}`}
      lead="Orders that were sent as signals. Each is executed exactly once, however often it is sent."
    >
      <Listed query={query}>
        <Table
          caption="Signals"
          columns={COLUMNS}
          rows={query.data?.rows}
          rowKey={({ signalId }) => signalId}
          empty={
            <EmptyState
              title="No signals yet."
              action={
                <a href="/docs" className={TEXT_LINK}>
                  How to send one
                </a>
              }
            >
              {strategy?.type === "FUTURES"
                ? "Signals are for spot strategies. This one trades by the exchange's routes."
                : "Your bot sends a signal to POST /bot/v1/spot/orders with an idempotency-key; it then appears here with its outcome."}
            </EmptyState>
          }
        />
        <Pager what="signals" before={search.before} next={query.data?.next} />
      </Listed>
    </Screen>
  );
}

const COLUMNS: readonly Column<SignalJson>[] = [
  ...SIGNAL_HEAD,
  column("Status", ({ status, reason }) => (
    <span className="flex flex-col items-start gap-0.5 max-md:items-end">
      <StatusBadge status={status} />
      {reason !== null && <span className="text-sm">{reason}</span>}
    </span>
  )),
  numberColumn("Latency", ({ latencyMs }) => (latencyMs === null ? null : latencyInWords(latencyMs))),
  numberColumn("Attempts", ({ attempts }) => attempts),
  numberColumn("Replays", ({ replays }) => replays),
  numberColumn("Order", ({ orderId }) => (orderId === null ? null : <OrderLink orderId={orderId} />)),
];
