// One order: its status, its fills, and its history in words.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { OrderDetailJson } from "../../../../src/dashboard-api/schemas.ts";
import { orderQuery, useStrategy } from "../../api/strategy.ts";
import { CancelDialog, type Cancelling } from "../../trading/cancel-dialog.tsx";
import { SignalLink } from "../../trading/links.tsx";
import { TradeTable } from "../../trading/trade-table.tsx";
import { inWords, Side, StatusBadge } from "../../ui/badge.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card, EmptyState, QueryState, Skeleton } from "../../ui/card.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { signOf } from "../../ui/figures/decimals.ts";
import { Amount, type Fact, Facts, fact, Price, Time, Timeline } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Alternatives } from "./orders/alternatives.tsx";
import { filledPercent, orderInWords } from "./orders/order-words.ts";
import { LegTable } from "./positions/leg-table.tsx";

const route = getRouteApi("/strategies/$strategyId/orders/$orderId");

export function Page() {
  const { strategyId, orderId } = route.useParams();
  const { strategy } = useStrategy();
  const query = useQuery(orderQuery(strategyId, orderId));
  const { data, error } = query;
  const [cancelling, setCancelling] = useState<Cancelling | null>(null);
  const order = data?.order;
  return (
    <Screen
      title={`Order ${orderId}`}
      badge={order !== undefined && <StatusBadge status={order.status} />}
      lead={order === undefined ? undefined : orderInWords(order)}
      actions={
        <>
          <ButtonLink to="/strategies/$strategyId/orders" params={{ strategyId }} kind="quiet">
            All orders
          </ButtonLink>
          {order !== undefined && (
            <ButtonLink
              to="/strategies/$strategyId/chart"
              params={{ strategyId }}
              search={{ symbol: order.symbol, at: String(order.placedAt) }}
              kind="quiet"
            >
              Show on the chart
            </ButtonLink>
          )}
          {order?.isOpen && strategy?.status !== "CLOSED" && (
            <Button
              onClick={() =>
                setCancelling({
                  kind: "orders",
                  id: order.orderId,
                  noun: "order",
                  summary: `${orderInWords(order)}. Its fills so far are kept.`,
                })
              }
            >
              Cancel
            </Button>
          )}
        </>
      }
    >
      <QueryState of={query} />
      {error === null && <Detail orderId={orderId} detail={data} isSpot={strategy?.type === "SPOT"} />}
      <CancelDialog strategyId={strategyId} cancelling={cancelling} onClose={() => setCancelling(null)} />
    </Screen>
  );
}

/** What every fill of one order shares. */
const SAID_ABOVE = ["Symbol", "Side", "Order"];

type DetailProps = { orderId: string; detail: OrderDetailJson | undefined; isSpot: boolean };

function Detail({ orderId, detail, isSpot }: DetailProps) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,2fr)_minmax(16rem,1fr)]">
      <div className="flex min-w-0 flex-col gap-5">
        <Card title="Details">
          {detail === undefined ? <Skeleton lines={6} /> : <Facts facts={factsOf(detail)} />}
        </Card>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <Card title="History">
          {detail === undefined ? (
            <Skeleton lines={4} />
          ) : (
            <Timeline label="History of this order" entries={detail.history} />
          )}
        </Card>
      </div>
      <div className="flex min-w-0 flex-col gap-5 lg:col-span-2">
        {detail !== undefined && detail.legs.length > 0 && (
          <Card title="Take profit and stop loss" isFlush>
            <LegTable
              caption="Take profit and stop loss of this order"
              rows={detail.legs}
              onCancel={undefined}
            />
          </Card>
        )}
        <Card title="Fills" isFlush>
          <TradeTable
            caption="Fills of this order"
            rows={detail?.trades}
            without={isSpot ? [...SAID_ABOVE, "Realized"] : SAID_ABOVE}
            empty={<EmptyState title="Not filled yet." />}
          />
        </Card>
        <Alternatives orderId={orderId} />
        <Card title="IDs">{detail === undefined ? <Skeleton lines={4} /> : <Names detail={detail} />}</Card>
      </div>
    </div>
  );
}

function factsOf({ order }: OrderDetailJson): readonly Fact[] {
  const filled = filledPercent(order);
  return [
    fact("Symbol", order.symbol),
    fact("Side", <Side side={order.side} />),
    fact("Type", inWords(order.type)),
    fact(
      "Quantity",
      signOf(order.quantity) === 0 && order.quoteQuantity !== null ? (
        <>
          for <Amount value={order.quoteQuantity} />
        </>
      ) : (
        <Amount value={order.quantity} />
      ),
    ),
    fact("Price", order.price === null ? "Market" : <Price value={order.price} />),
    ...(order.stopPrice === null ? [] : [fact("Trigger price", <Price value={order.stopPrice} />)]),
    fact(
      "Filled",
      <>
        <Amount value={order.executedQuantity} />
        {filled !== null && <span className="text-ink-soft"> ({filled} %)</span>}
      </>,
    ),
    fact("Average price", <Price value={order.averagePrice} />),
    fact("Value filled", <Amount value={order.executedQuote} />),
    fact("Reduce only", order.isReduceOnly ? "Yes" : "No"),
    fact("Placed", <Time at={order.placedAt} />),
    fact("Last change", <Time at={order.updatedAt} />),
  ];
}

function Names({ detail: { order, signalId } }: { detail: OrderDetailJson }) {
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-3">
      <div>
        <dt className="text-ink-soft text-xs">Client order id</dt>
        <dd className="mt-1">
          <Copyable value={order.clientOrderId} label="client order id" />
        </dd>
      </div>
      <div>
        <dt className="text-ink-soft text-xs">Collective id, shared with the copiers' orders</dt>
        <dd className="mt-1">
          <Copyable value={order.collectiveId} label="collective id" />
        </dd>
      </div>
      <div>
        <dt className="text-ink-soft text-xs">Signal that placed it</dt>
        <dd className="mt-0.5">{signalId === null ? "None" : <SignalLink signalId={signalId} />}</dd>
      </div>
    </dl>
  );
}
