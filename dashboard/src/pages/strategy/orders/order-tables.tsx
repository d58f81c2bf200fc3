// Open orders with the way to cancel each, and all others.
import type { ReactNode } from "react";
import type { OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import { ChartLink, OrderLink } from "../../../trading/links.tsx";
import { SymbolPrice, SymbolQuantity } from "../../../trading/symbol-amounts.tsx";
import { inWords, Side, StatusBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Amount } from "../../../ui/figures/amounts.tsx";
import { signOf } from "../../../ui/figures/decimals.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { filledPercent, legsInWords, orderInWords } from "./order-words.ts";

type OpenOrdersProps = {
  rows: readonly OrderJson[] | undefined;
  /** Absent where nothing can be canceled any more. */
  onCancel: ((order: OrderJson) => void) | undefined;
  empty: ReactNode;
};

export function OpenOrders({ rows, onCancel, empty }: OpenOrdersProps) {
  const cancel: Column<OrderJson> = {
    key: "cancel",
    header: "Action",
    align: "right",
    cell: (order) => (
      <Button size="small" onClick={() => onCancel?.(order)} aria-label={`Cancel: ${orderInWords(order)}`}>
        Cancel
      </Button>
    ),
  };
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

const ORDER: Column<OrderJson> = {
  key: "order",
  header: "Order",
  isRowHeader: true,
  cell: ({ orderId }) => <OrderLink orderId={orderId} />,
};
const PLACED: Column<OrderJson> = {
  key: "placed",
  header: "Placed",
  isTime: true,
  cell: ({ placedAt }) => <Time at={placedAt} />,
};
const SYMBOL: Column<OrderJson> = {
  key: "symbol",
  header: "Symbol",
  cell: ({ symbol, placedAt }) => <ChartLink symbol={symbol} at={placedAt} />,
};
const SIDE: Column<OrderJson> = { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> };
const TYPE: Column<OrderJson> = {
  key: "type",
  header: "Type",
  cell: ({ type, isReduceOnly, legs }) => (
    <span className="whitespace-nowrap">
      {inWords(type)}
      {isReduceOnly && <span className="text-ink-soft"> · reduce only</span>}
      {legs.length > 0 && <span className="block text-ink-soft text-xs">with {legsInWords({ legs })}</span>}
    </span>
  ),
};
const PRICE: Column<OrderJson> = {
  key: "price",
  header: "Price",
  align: "right",
  cell: ({ symbol, price, stopPrice }) => (
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
  ),
};
const QUANTITY: Column<OrderJson> = {
  key: "quantity",
  header: "Quantity",
  align: "right",
  cell: ({ symbol, quantity, quoteQuantity }) =>
    signOf(quantity) === 0 && quoteQuantity !== null ? (
      <>
        for <Amount value={quoteQuantity} />
      </>
    ) : (
      <SymbolQuantity symbol={symbol} value={quantity} />
    ),
};
const FILLED: Column<OrderJson> = {
  key: "filled",
  header: "Filled",
  align: "right",
  cell: (order) => (
    <>
      <SymbolQuantity symbol={order.symbol} value={order.executedQuantity} />
      {order.status === "PARTIALLY_FILLED" && (
        <span className="ml-1 text-ink-soft">({filledPercent(order) ?? "–"} %)</span>
      )}
    </>
  ),
};
const AVERAGE: Column<OrderJson> = {
  key: "average",
  header: "Average",
  align: "right",
  cell: ({ symbol, averagePrice }) => <SymbolPrice symbol={symbol} value={averagePrice} />,
};
const STATUS: Column<OrderJson> = {
  key: "status",
  header: "Status",
  cell: ({ status }) => <StatusBadge status={status} />,
};

const OPEN = [ORDER, PLACED, SYMBOL, SIDE, TYPE, PRICE, QUANTITY, FILLED];
const HISTORY = [ORDER, PLACED, SYMBOL, SIDE, TYPE, PRICE, QUANTITY, FILLED, AVERAGE, STATUS];
