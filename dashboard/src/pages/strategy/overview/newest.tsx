// The newest trades and signals, with the way to all of them.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SignalJson, TradeJson } from "../../../../../src/dashboard-api/schemas.ts";
import { signalsQuery, tradesQuery } from "../../../api/trading.ts";
import { CsvLink } from "../../../trading/csv-link.tsx";
import { ChartLink, OrderLink, SignalLink } from "../../../trading/links.tsx";
import { Side, StatusBadge } from "../../../ui/badge.tsx";
import { buttonLook } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Amount, Price } from "../../../ui/figures/amounts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { ErrorNote } from "../../../ui/note.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { signalInWords } from "../signals/signal-words.ts";

const SHOWN_MAX = 5;

export function NewestTrades({ strategyId }: { strategyId: string }) {
  const { data, error, refetch, isFetching } = useQuery(tradesQuery(strategyId, {}));
  if (error !== null && data === undefined) {
    return <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  }
  return (
    <Card
      title="Newest trades"
      isFlush
      aside={
        <span className="flex gap-2">
          <CsvLink file="GET /strategies/:strategyId/trades.csv" parameters={{ strategyId }} size="small">
            Trades as CSV
          </CsvLink>
          <All strategyId={strategyId} to="trades" />
        </span>
      }
    >
      <Table
        caption="Newest trades"
        columns={TRADE_COLUMNS}
        rows={data?.rows.slice(0, SHOWN_MAX)}
        rowKey={({ symbol, tradeId }) => `${symbol} ${tradeId}`}
        empty="No trades yet."
      />
    </Card>
  );
}

export function NewestSignals({ strategyId }: { strategyId: string }) {
  const { data, error, refetch, isFetching } = useQuery(signalsQuery(strategyId, undefined));
  if (error !== null && data === undefined) {
    return <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  }
  return (
    <Card title="Newest signals" isFlush aside={<All strategyId={strategyId} to="signals" />}>
      <Table
        caption="Newest signals"
        columns={SIGNAL_COLUMNS}
        rows={data?.rows.slice(0, SHOWN_MAX)}
        rowKey={({ signalId }) => signalId}
        empty="No signals yet."
      />
    </Card>
  );
}

function All({ strategyId, to }: { strategyId: string; to: "trades" | "signals" }) {
  return (
    <Link
      to={`/strategies/$strategyId/${to}`}
      params={{ strategyId }}
      className={buttonLook("quiet", "small")}
    >
      All {to}
    </Link>
  );
}

const TRADE_COLUMNS: readonly Column<TradeJson>[] = [
  { key: "time", header: "Time", isTime: true, isRowHeader: true, cell: ({ at }) => <Time at={at} /> },
  { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> },
  { key: "symbol", header: "Symbol", cell: ({ symbol, at }) => <ChartLink symbol={symbol} at={at} /> },
  {
    key: "quantity",
    header: "Quantity",
    align: "right",
    cell: ({ quantity }) => <Amount value={quantity} />,
  },
  { key: "price", header: "Price", align: "right", cell: ({ price }) => <Price value={price} /> },
  { key: "order", header: "Order", align: "right", cell: ({ orderId }) => <OrderLink orderId={orderId} /> },
];

const SIGNAL_COLUMNS: readonly Column<SignalJson>[] = [
  {
    key: "received",
    header: "Received",
    isTime: true,
    isRowHeader: true,
    cell: ({ signalId, receivedAt }) => (
      <span className="flex flex-col">
        <Time at={receivedAt} />
        <SignalLink signalId={signalId} />
      </span>
    ),
  },
  { key: "order", header: "Requested order", cell: ({ order }) => signalInWords(order) },
  { key: "status", header: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
];
