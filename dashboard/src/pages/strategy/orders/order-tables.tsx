// Open orders with the way to cancel each, and all others.
import type { ReactNode } from "react";
import type { OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import { ChartLink, OrderLink } from "../../../trading/links.tsx";
import { SymbolPrice, SymbolQuantity } from "../../../trading/symbol-amounts.tsx";
import { inWords, Side, StatusBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Amount } from "../../../ui/figures/amounts.tsx";
import { signOf } from "../../../ui/figures/decimals.ts";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../../ui/table.tsx";
import { filledPercent, legsInWords, orderInWords } from "./order-words.ts";

type OpenOrdersProps = {
  rows: readonly OrderJson[] | undefined;
  /** Absent where nothing can be canceled any more. */
  onCancel: ((order: OrderJson) => void) | undefined;
  empty: ReactNode;
};

export function OpenOrders({ rows, onCancel, empty }: OpenOrdersProps) {
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

export function OrderHistory({ rows, empty }: Omit<OpenOrdersProps, "onCancel">) {
  return (
    <Table
      caption="Order history"
      phone="scroll"
      columns={HISTORY}
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
