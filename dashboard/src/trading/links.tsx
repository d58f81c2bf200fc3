// Ways from one of a strategy's screens to another: to an order, to a signal, to the chart of a symbol.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { fileAddress, type Parameters } from "../api/call.ts";
import { useStrategyId } from "../api/strategy.ts";
import { AddressSelect, useAddress } from "../app/address.tsx";
import { buttonLook } from "../ui/button.tsx";

const LOOK =
  "font-medium text-accent-ink underline decoration-line-strong underline-offset-2 hover:decoration-current";

export function OrderLink({ orderId, children }: { orderId: number; children?: ReactNode }) {
  const strategyId = useStrategyId();
  return (
    <Link
      to="/strategies/$strategyId/orders/$orderId"
      params={{ strategyId, orderId: String(orderId) }}
      className={`numeric ${LOOK}`}
    >
      {children ?? `#${orderId}`}
    </Link>
  );
}

/** The evidence of a fill. */
export function ReceiptLink({ tradeId, children }: { tradeId: number; children?: ReactNode }) {
  const strategyId = useStrategyId();
  return (
    <Link
      to="/strategies/$strategyId/trades/$tradeId"
      params={{ strategyId, tradeId: String(tradeId) }}
      className={LOOK}
    >
      {children ?? "Receipt"}
      <span className="sr-only"> of trade {tradeId}</span>
    </Link>
  );
}

export function SignalLink({ signalId }: { signalId: string }) {
  const strategyId = useStrategyId();
  return (
    <Link
      to="/strategies/$strategyId/signals/$signalId"
      params={{ strategyId, signalId }}
      className={`break-all font-mono text-xs ${LOOK}`}
    >
      {signalId}
    </Link>
  );
}

/** `at` opens the chart at that time, Unix ms. */
export function ChartLink({ symbol, at, children }: { symbol: string; at?: number; children?: ReactNode }) {
  const strategyId = useStrategyId();
  return (
    <Link
      to="/strategies/$strategyId/chart"
      params={{ strategyId }}
      search={{ symbol, ...(at === undefined ? {} : { at: String(at) }) }}
      className={LOOK}
    >
      {children ?? symbol}
    </Link>
  );
}

type CsvLinkProps<Name extends FileName> = {
  file: Name;
  parameters: Parameters<Name>;
  size?: "normal" | "small";
  children: ReactNode;
};
type FileName = "GET /strategies/:strategyId/performance.csv" | "GET /strategies/:strategyId/trades.csv";

/** Downloads a file of a strategy's figures. */
export function CsvLink<Name extends FileName>({
  file,
  parameters,
  size = "normal",
  children,
}: CsvLinkProps<Name>) {
  return (
    <a href={fileAddress(file, parameters)} download className={buttonLook("quiet", size)}>
      {children}
    </a>
  );
}

// Which symbol of a list is shown: a choice among those that the strategy has to do with, kept in the
// address.

export function SymbolFilter({ own }: { own: readonly string[] }) {
  const { search } = useAddress();
  const { symbol = "" } = search;
  const names = symbol === "" || own.includes(symbol) ? own : [symbol, ...own];
  return (
    <AddressSelect
      name="symbol"
      label="Symbol"
      value={symbol}
      options={[{ value: "", label: "All symbols" }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
}
