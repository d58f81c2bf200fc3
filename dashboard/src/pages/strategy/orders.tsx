// The order blotter: what is open, with the way to cancel it, and below what became of all others.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { OrderJson } from "../../../../src/dashboard-api/schemas.ts";
import { ordersQuery, useStrategy } from "../../api/strategy.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { useOwnSymbols } from "../../markets/symbol-chooser.tsx";
import { CancelDialog, type Cancelling } from "../../trading/cancel-dialog.tsx";
import { ChartLink, OrderLink, SymbolFilter } from "../../trading/links.tsx";
import { SymbolPrice, SymbolQuantity } from "../../trading/trade-table.tsx";
import { inWords, Side, StatusBadge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ListCard } from "../../ui/card.tsx";
import { signOf } from "../../ui/figures/decimals.ts";
import { Amount } from "../../ui/figures/figures.tsx";
import { Pager, Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../ui/table.tsx";
import { filledPercent, legsInWords, orderInWords } from "./orders/order-words.ts";

const STATES = [
  { value: "", label: "Open and history" },
  { value: "open", label: "Open only" },
  { value: "history", label: "History only" },
] as const;

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const { search } = useAddress();
  const own = useOwnSymbols(strategyId, strategy?.type === "FUTURES") ?? [];
  const { state = "" } = search;
  return (
    <Screen
      title="Orders"
      documentTitle={`Orders, ${strategy?.name ?? strategyId}`}
      actions={
        <>
          <SymbolFilter own={own} />
          <AddressSelect name="state" label="Show" value={state} options={STATES} />
        </>
      }
    >
      {state !== "history" && <Open canCancel={strategy?.status !== "CLOSED"} />}
      {state !== "open" && <History />}
    </Screen>
  );
}

function Open({ canCancel }: { canCancel: boolean }) {
  const { strategyId } = useStrategy();
  const { symbol } = useAddress().search;
  const query = useQuery(ordersQuery(strategyId, { state: "open", symbol }));
  const [cancelling, setCancelling] = useState<Cancelling | null>(null);
  return (
    <ListCard
      query={query}
      title="Open"
      aside={<span className="numeric text-ink-soft text-sm">{countOf(query.data)}</span>}
    >
      <OpenOrders
        rows={query.data?.rows}
        onCancel={
          canCancel
            ? (order) =>
                setCancelling({
                  kind: "orders",
                  id: order.orderId,
                  noun: "order",
                  summary: `${orderInWords(order)}, order ${order.orderId}. Its fills so far are kept.`,
                })
            : undefined
        }
        empty={
          <EmptyState title={symbol === undefined ? "No open orders." : `No open orders in ${symbol}.`}>
            {canCancel
              ? "Limit and stop orders of your bot stay here until they are filled or canceled."
              : "A closed strategy has none."}
          </EmptyState>
        }
      />

      <CancelDialog strategyId={strategyId} cancelling={cancelling} onClose={() => setCancelling(null)} />
    </ListCard>
  );
}

function History() {
  const { strategyId } = useStrategy();
  const { symbol, before } = useAddress().search;
  const query = useQuery(ordersQuery(strategyId, { state: "done", symbol, before }));
  return (
    <ListCard
      query={query}
      title="History"
      footer={<Pager what="orders" before={before} next={query.data?.next} />}
    >
      <Table
        caption="Order history"
        phone="scroll"
        columns={HISTORY}
        rowKey={({ orderId }) => orderId}
        rows={query.data?.rows}
        empty={
          <EmptyState
            title={symbol === undefined ? "No order has ended yet." : `No order in ${symbol} has ended yet.`}
          >
            Orders appear here with their fills once they are filled, canceled or expired.
          </EmptyState>
        }
      />
    </ListCard>
  );
}

function countOf(data: { rows: readonly unknown[]; next: string | null } | undefined): string {
  if (data === undefined) return "";
  return data.next === null ? String(data.rows.length) : `the newest ${data.rows.length}`;
}

// Open orders with the way to cancel each, and all others.

type OpenOrdersProps = {
  rows: readonly OrderJson[] | undefined;
  /** Absent where nothing can be canceled any more. */
  onCancel: ((order: OrderJson) => void) | undefined;
  empty: ReactNode;
};

function OpenOrders({ rows, onCancel, empty }: OpenOrdersProps) {
  const cancel: Column<OrderJson> = numberColumn("Action", (order) => (
    <Button size="small" onClick={() => onCancel?.(order)} aria-label={`Cancel: ${orderInWords(order)}`}>
      Cancel
    </Button>
  ));
  return (
    <Table
      caption="Open orders"
      columns={onCancel === undefined ? OPEN : [...OPEN, cancel]}
      rows={rows}
      rowKey={({ orderId }) => orderId}
      empty={empty}
    />
  );
}

const ORDER: Column<OrderJson> = headColumn("Order", ({ orderId }) => <OrderLink orderId={orderId} />);
const PLACED: Column<OrderJson> = timeColumn("Placed", ({ placedAt }) => placedAt);
const SYMBOL: Column<OrderJson> = column("Symbol", ({ symbol, placedAt }) => (
  <ChartLink symbol={symbol} at={placedAt} />
));
const SIDE: Column<OrderJson> = column("Side", ({ side }) => <Side side={side} />);
const TYPE: Column<OrderJson> = column("Type", ({ type, isReduceOnly, legs }) => (
  <span className="whitespace-nowrap">
    {inWords(type)}
    {isReduceOnly && <span className="text-ink-soft"> · reduce only</span>}
    {legs.length > 0 && <span className="block text-ink-soft text-xs">with {legsInWords({ legs })}</span>}
  </span>
));
const PRICE: Column<OrderJson> = numberColumn("Price", ({ symbol, price, stopPrice }) => (
  <span className="inline-flex flex-col items-end">
    {price === null ? (
      <span className="text-ink-soft">Market</span>
    ) : (
      <SymbolPrice symbol={symbol} value={price} />
    )}
    {stopPrice !== null && (
      <span className="text-ink-soft text-xs">
        Trigger <SymbolPrice symbol={symbol} value={stopPrice} />
      </span>
    )}
  </span>
));
const QUANTITY: Column<OrderJson> = numberColumn("Quantity", ({ symbol, quantity, quoteQuantity }) =>
  signOf(quantity) === 0 && quoteQuantity !== null ? (
    <>
      for <Amount value={quoteQuantity} />
    </>
  ) : (
    <SymbolQuantity symbol={symbol} value={quantity} />
  ),
);
const FILLED: Column<OrderJson> = numberColumn("Filled", (order) => (
  <>
    <SymbolQuantity symbol={order.symbol} value={order.executedQuantity} />
    {order.status === "PARTIALLY_FILLED" && (
      <span className="ml-1 text-ink-soft">({filledPercent(order) ?? "–"} %)</span>
    )}
  </>
));
const AVERAGE: Column<OrderJson> = numberColumn("Average", ({ symbol, averagePrice }) => (
  <SymbolPrice symbol={symbol} value={averagePrice} />
));
const STATUS: Column<OrderJson> = column("Status", ({ status }) => <StatusBadge status={status} />);

const OPEN = [ORDER, PLACED, SYMBOL, SIDE, TYPE, PRICE, QUANTITY, FILLED];
const HISTORY = [ORDER, PLACED, SYMBOL, SIDE, TYPE, PRICE, QUANTITY, FILLED, AVERAGE, STATUS];
