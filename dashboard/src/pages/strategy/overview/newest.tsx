// The newest trades and signals, with the way to all of them.

import { useQuery } from "@tanstack/react-query";
import type { SignalJson, TradeJson } from "../../../../../src/dashboard-api/schemas.ts";
import { signalsQuery, tradesQuery } from "../../../api/trading.ts";
import { CsvLink } from "../../../trading/csv-link.tsx";
import { ChartLink, OrderLink, SignalLink } from "../../../trading/links.tsx";
import { Side, StatusBadge } from "../../../ui/badge.tsx";
import { Amount, Price } from "../../../ui/figures/amounts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { ButtonLink } from "../../../ui/links.tsx";
import { QueryState } from "../../../ui/query.tsx";
import { type Column, column, headColumn, numberColumn, TableCard } from "../../../ui/table.tsx";
import { signalInWords } from "../signals/signal-words.ts";

const SHOWN_MAX = 5;

export function NewestTrades({ strategyId }: { strategyId: string }) {
  const query = useQuery(tradesQuery(strategyId, {}));
  if (query.error !== null && query.data === undefined) return <QueryState of={query} />;
  return (
    <TableCard
      title="Newest trades"
      aside={
        <span className="flex gap-2">
          <CsvLink file="GET /strategies/:strategyId/trades.csv" parameters={{ strategyId }} size="small">
            Trades as CSV
          </CsvLink>
          <All strategyId={strategyId} to="trades" />
        </span>
      }
      columns={TRADE_COLUMNS}
      rows={query.data?.rows.slice(0, SHOWN_MAX)}
      rowKey={({ symbol, tradeId }) => `${symbol} ${tradeId}`}
      empty="No trades yet."
    />
  );
}

export function NewestSignals({ strategyId }: { strategyId: string }) {
  const query = useQuery(signalsQuery(strategyId, undefined));
  if (query.error !== null && query.data === undefined) return <QueryState of={query} />;
  return (
    <TableCard
      title="Newest signals"
      aside={<All strategyId={strategyId} to="signals" />}
      columns={SIGNAL_COLUMNS}
      rows={query.data?.rows.slice(0, SHOWN_MAX)}
      rowKey={({ signalId }) => signalId}
      empty="No signals yet."
    />
  );
}

function All({ strategyId, to }: { strategyId: string; to: "trades" | "signals" }) {
  return (
    <ButtonLink to={`/strategies/$strategyId/${to}`} params={{ strategyId }} kind="quiet" size="small">
      All {to}
    </ButtonLink>
  );
}

const TRADE_COLUMNS: readonly Column<TradeJson>[] = [
  headColumn({ header: "Time", isTime: true }, ({ at }) => <Time at={at} />),
  column("Side", ({ side }) => <Side side={side} />),
  column("Symbol", ({ symbol, at }) => <ChartLink symbol={symbol} at={at} />),
  numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
  numberColumn("Price", ({ price }) => <Price value={price} />),
  numberColumn("Order", ({ orderId }) => <OrderLink orderId={orderId} />),
];

const SIGNAL_COLUMNS: readonly Column<SignalJson>[] = [
  headColumn({ header: "Received", isTime: true }, ({ signalId, receivedAt }) => (
    <span className="flex flex-col">
      <Time at={receivedAt} />
      <SignalLink signalId={signalId} />
    </span>
  )),
  column("Requested order", ({ order }) => signalInWords(order)),
  column("Status", ({ status }) => <StatusBadge status={status} />),
];
