// The order blotter: what is open, with the way to cancel it, and below what became of all others.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ordersQuery } from "../../api/trading.ts";
import { useStrategy } from "../../api/use-strategy.ts";
import { useAddress } from "../../app/use-address.ts";
import { useOwnSymbols } from "../../markets/use-symbol.ts";
import { CancelDialog, type Cancelling } from "../../trading/cancel-dialog.tsx";
import { SymbolFilter } from "../../trading/list-filter.tsx";
import { Card } from "../../ui/card.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { EmptyState, ErrorNote } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Pager } from "../../ui/pager.tsx";
import { OpenOrders, OrderHistory } from "./orders/order-tables.tsx";
import { orderInWords } from "./orders/order-words.ts";

const STATES = [
  { value: "", label: "Open and history" },
  { value: "open", label: "Open only" },
  { value: "history", label: "History only" },
] as const;

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const { search, change } = useAddress();
  const own = useOwnSymbols(strategyId, strategy?.type === "FUTURES") ?? [];
  const { state = "" } = search;
  return (
    <>
      <PageHeader
        title="Orders"
        documentTitle={`Orders, ${strategy?.name ?? strategyId}`}
        actions={
          <>
            <SymbolFilter own={own} />
            <div className="w-52">
              <Select
                label="Show"
                isInline
                value={state}
                onChange={({ target }) => change({ state: target.value || undefined, before: undefined })}
                options={STATES}
              />
            </div>
          </>
        }
      />
      <div className="flex flex-col gap-5">
        {state !== "history" && <Open canCancel={strategy?.status !== "CLOSED"} />}
        {state !== "open" && <History />}
      </div>
    </>
  );
}

function Open({ canCancel }: { canCancel: boolean }) {
  const { strategyId } = useStrategy();
  const { search } = useAddress();
  const symbol = bySymbol(search.symbol);
  const { data, error, refetch, isFetching } = useQuery(
    ordersQuery(strategyId, { state: "open", ...symbol }),
  );
  const [cancelling, setCancelling] = useState<Cancelling | null>(null);
  return (
    <Card title="Open" isFlush aside={<span className="numeric text-ink-soft text-sm">{countOf(data)}</span>}>
      {error !== null && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        </div>
      )}
      {(error === null || data !== undefined) && (
        <OpenOrders
          rows={data?.rows}
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
      )}
      <CancelDialog strategyId={strategyId} cancelling={cancelling} onClose={() => setCancelling(null)} />
    </Card>
  );
}

function History() {
  const { strategyId } = useStrategy();
  const { search } = useAddress();
  const { symbol, before } = search;
  const { data, error, refetch, isFetching } = useQuery(
    ordersQuery(strategyId, {
      state: "done",
      ...bySymbol(symbol),
      ...(before === undefined ? {} : { before }),
    }),
  );
  return (
    <Card title="History" isFlush>
      {error !== null && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        </div>
      )}
      {(error === null || data !== undefined) && (
        <OrderHistory
          rows={data?.rows}
          empty={
            <EmptyState
              title={
                symbol === undefined ? "No order has ended yet." : `No order in ${symbol} has ended yet.`
              }
            >
              Orders appear here with their fills once they are filled, canceled or expired.
            </EmptyState>
          }
        />
      )}
      <Pager what="orders" before={before} next={data?.next} />
    </Card>
  );
}

function countOf(data: { rows: readonly unknown[]; next: string | null } | undefined): string {
  if (data === undefined) return "";
  return data.next === null ? String(data.rows.length) : `the newest ${data.rows.length}`;
}

function bySymbol(symbol: string | undefined): { symbol?: string } {
  return symbol === undefined ? {} : { symbol };
}
