// Fills, newest first.
import type { ReactNode } from "react";
import type { TradeJson } from "../../../src/dashboard-api/schemas.ts";
import { Side } from "../ui/badge.tsx";
import { Amount, SignedAmount } from "../ui/figures/amounts.tsx";
import { decimalsOf, trimZeros } from "../ui/figures/decimals.ts";
import { Time } from "../ui/figures/time.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { ChartLink, OrderLink } from "./links.tsx";
import { SymbolPrice, SymbolQuantity } from "./symbol-amounts.tsx";

type TradeTableProps = {
  caption: string;
  rows: readonly TradeJson[] | undefined;
  empty: ReactNode;
  /** Columns that say the same in every row. */
  without?: readonly string[];
};

export function TradeTable({ caption, rows, empty, without = [] }: TradeTableProps) {
  return (
    <Table
      caption={caption}
      phone="scroll"
      columns={columnsOf(rows ?? []).filter(({ key }) => !without.includes(key))}
      rows={rows}
      rowKey={({ symbol, tradeId }) => `${symbol} ${tradeId}`}
      empty={empty}
    />
  );
}

/** Values and fees are exact, with as many decimals each as the longest of those that are shown, so that their points stand in line. */
function columnsOf(rows: readonly TradeJson[]): readonly Column<TradeJson>[] {
  const valueDecimals = longestOf(rows.map(({ quoteQuantity }) => quoteQuantity));
  const feeDecimals = longestOf(rows.map(({ fee }) => fee));
  return [
    { key: "time", header: "Time", isTime: true, isRowHeader: true, cell: ({ at }) => <Time at={at} /> },
    { key: "symbol", header: "Symbol", cell: ({ symbol, at }) => <ChartLink symbol={symbol} at={at} /> },
    { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> },
    {
      key: "quantity",
      header: "Quantity",
      align: "right",
      cell: ({ symbol, quantity }) => <SymbolQuantity symbol={symbol} value={quantity} />,
    },
    {
      key: "price",
      header: "Price",
      align: "right",
      cell: ({ symbol, price }) => <SymbolPrice symbol={symbol} value={price} />,
    },
    {
      key: "value",
      header: "Value",
      align: "right",
      cell: ({ quoteQuantity }) => <Amount value={quoteQuantity} decimals={valueDecimals} />,
    },
    {
      key: "fee",
      header: "Fee",
      align: "right",
      cell: ({ fee, feeAsset }) => (
        <>
          <Amount value={fee} decimals={feeDecimals} />
          <span className="ml-1 inline-block min-w-9 text-left text-ink-soft text-xs">{feeAsset}</span>
        </>
      ),
    },
    {
      key: "realised",
      header: "Realized",
      align: "right",
      cell: ({ realised }) => <SignedAmount value={realised} />,
    },
    { key: "role", header: "Role", cell: ({ isMaker }) => (isMaker ? "Maker" : "Taker") },
    { key: "order", header: "Order", align: "right", cell: ({ orderId }) => <OrderLink orderId={orderId} /> },
  ];
}

function longestOf(values: readonly string[]): number {
  return Math.max(0, ...values.map((value) => decimalsOf(trimZeros(value))));
}
