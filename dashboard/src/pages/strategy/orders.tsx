// The order blotter: what is open, with the way to cancel it, and below what became of all others.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ordersQuery } from "../../api/trading.ts";
import { useStrategy } from "../../api/use-strategy.ts";
import { AddressSelect } from "../../app/address-select.tsx";
import { useAddress } from "../../app/use-address.ts";
import { useOwnSymbols } from "../../markets/use-symbol.ts";
import { CancelDialog, type Cancelling } from "../../trading/cancel-dialog.tsx";
import { SymbolFilter } from "../../trading/list-filter.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Pager } from "../../ui/pager.tsx";
import { ListCard } from "../../ui/query.tsx";
import { OpenOrders, OrderHistory } from "./orders/order-tables.tsx";
import { orderInWords } from "./orders/order-words.ts";

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
  const { search } = useAddress();
  const symbol = bySymbol(search.symbol);
  const query = useQuery(ordersQuery(strategyId, { state: "open", ...symbol }));
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
          <EmptyState
            title={search.symbol === undefined ? "No open orders." : `No open orders in ${search.symbol}.`}
          >
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
  const { search } = useAddress();
  const { symbol, before } = search;
  const query = useQuery(
    ordersQuery(strategyId, {
      state: "done",
      ...bySymbol(symbol),
      ...(before === undefined ? {} : { before }),
    }),
  );
  return (
    <ListCard query={query} title="History">
      <OrderHistory
        rows={query.data?.rows}
        empty={
          <EmptyState
            title={symbol === undefined ? "No order has ended yet." : `No order in ${symbol} has ended yet.`}
          >
            Orders appear here with their fills once they are filled, canceled or expired.
          </EmptyState>
        }
      />

      <Pager what="orders" before={before} next={query.data?.next} />
    </ListCard>
  );
}

function countOf(data: { rows: readonly unknown[]; next: string | null } | undefined): string {
  if (data === undefined) return "";
  return data.next === null ? String(data.rows.length) : `the newest ${data.rows.length}`;
}

function bySymbol(symbol: string | undefined): { symbol?: string } {
  return symbol === undefined ? {} : { symbol };
}
