// Fills, newest first.
import type { ReactNode } from "react";
import type { TradeJson } from "../../../src/dashboard-api/schemas.ts";
import { useStrategy } from "../api/strategy.ts";
import { decimalsOfStep, useSymbols } from "../markets/markets.ts";
import { Side } from "../ui/badge.tsx";
import { decimalsOf, trimZeros } from "../ui/figures/decimals.ts";
import { Amount, SignedAmount, Time } from "../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../ui/table.tsx";
import { ChartLink, OrderLink, ReceiptLink } from "./links.tsx";

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
      columns={columnsOf(rows ?? [])}
      without={without}
      rows={rows}
      rowKey={({ symbol, tradeId }) => `${symbol} ${tradeId}`}
      empty={empty}
    />
  );
}

/**
 * Values and fees are exact, with as many decimals each as the longest of those that are shown, so that their
 * points stand in line.
 */
function columnsOf(rows: readonly TradeJson[]): readonly Column<TradeJson>[] {
  const valueDecimals = longestOf(rows.map(({ quoteQuantity }) => quoteQuantity));
  const feeDecimals = longestOf(rows.map(({ fee }) => fee));
  return [
    headColumn({ header: "Time", isTime: true }, ({ at }) => <Time at={at} />),
    column("Symbol", ({ symbol, at }) => <ChartLink symbol={symbol} at={at} />),
    column("Side", ({ side }) => <Side side={side} />),
    numberColumn("Quantity", ({ symbol, quantity }) => <SymbolQuantity symbol={symbol} value={quantity} />),
    numberColumn("Price", ({ symbol, price }) => <SymbolPrice symbol={symbol} value={price} />),
    numberColumn("Value", ({ quoteQuantity }) => <Amount value={quoteQuantity} decimals={valueDecimals} />),
    numberColumn("Fee", ({ fee, feeAsset }) => (
      <>
        <Amount value={fee} decimals={feeDecimals} />
        <span className="ml-1 inline-block min-w-9 text-left text-ink-soft text-xs">{feeAsset}</span>
      </>
    )),
    numberColumn("Realized", ({ realised }) => <SignedAmount value={realised} />),
    column("Role", ({ isMaker }) => (isMaker ? "Maker" : "Taker")),
    numberColumn("Order", ({ orderId }) => <OrderLink orderId={orderId} />),
    // Only fills under strict have evidence.
    ...(rows.some(({ hasReceipt }) => hasReceipt)
      ? [
          column<TradeJson>("Evidence", ({ tradeId, hasReceipt }) =>
            hasReceipt ? <ReceiptLink tradeId={tradeId} /> : null,
          ),
        ]
      : []),
  ];
}

function longestOf(values: readonly string[]): number {
  return Math.max(0, ...values.map((value) => decimalsOf(trimZeros(value))));
}

// Prices and quantities of a symbol with the decimals of its tick and its step, so that they stand below one
// another digit by digit. What has more digits than that keeps them.

type SymbolAmountProps = { symbol: string; value: string | null };

export function SymbolPrice({ symbol, value }: SymbolAmountProps) {
  return <Aligned symbol={symbol} value={value} step="tickSize" />;
}

export function SymbolQuantity({ symbol, value }: SymbolAmountProps) {
  return <Aligned symbol={symbol} value={value} step="stepSize" />;
}

function Aligned({ symbol, value, step }: SymbolAmountProps & { step: "tickSize" | "stepSize" }) {
  const { strategy } = useStrategy();
  const { data } = useSymbols(strategy?.type);
  const rules = data?.rows.find((row) => row.symbol === symbol);
  if (value === null || rules === undefined) return <Amount value={value} />;
  return <Amount value={value} decimals={Math.max(decimalsOfStep(rules[step]), decimalsOfStep(value))} />;
}
