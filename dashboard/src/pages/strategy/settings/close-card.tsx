// Closing the strategy for good: first what it would do, then its name to be typed; then, while a market is
// waited for, what is left.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type {
  ClosePreviewJson,
  LegJson,
  OrderJson,
  StrategyJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { call, outdate } from "../../../api/call.ts";
import { closePreviewQuery, summaryQuery } from "../../../api/strategy.ts";
import { useAddress } from "../../../app/address.tsx";
import { shownResult } from "../../../strategies/equity.ts";
import { OrderLink } from "../../../trading/links.tsx";
import { Badge, inWords, Side } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card, QueryState } from "../../../ui/card.tsx";
import { Amount, Facts, fact, Price, SignedAmount, Time } from "../../../ui/figures/figures.tsx";
import { ConfirmByTyping } from "../../../ui/forms/confirm-by-typing.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { type Column, column, headColumn, numberColumn, Table, type TableProps } from "../../../ui/table.tsx";
import { closeInWords } from "./close-words.ts";

export function CloseCard({ strategy }: { strategy: StrategyJson }) {
  const { search, change } = useAddress();
  const { status } = strategy;
  const isLookedAt = search.close !== undefined;
  return (
    <Card title={TITLES[status]}>
      <div role="status" className="sr-only">
        {status !== "LIVE" && TITLES[status]}
      </div>
      <div className="flex flex-col gap-4">
        {status === "LIVE" && (
          <p>
            Closing cancels open orders and sells or closes holdings at market. The strategy then no longer
            trades; its history stays. It can’t be reopened.
          </p>
        )}
        {status === "LIVE" && !isLookedAt && (
          <div>
            <Button onClick={() => change({ close: "1" }, { replace: true })}>Show what closing does</Button>
          </div>
        )}
        {status === "LIVE" && isLookedAt && <Closing strategy={strategy} />}
        {status === "CLOSING" && <Remaining strategy={strategy} />}
        {status === "CLOSED" && (
          <Facts
            facts={[
              fact("Equity", <Amount value={strategy.equity} decimals={2} asset="USDT" />),
              fact("Profit", <SignedAmount value={shownResult(strategy).profit} asset="USDT" />),
              fact("Created", <Time at={strategy.createdAt} />),
            ]}
          />
        )}
      </div>
    </Card>
  );
}

const TITLES = {
  LIVE: "Close this strategy",
  CLOSING: "Being closed",
  CLOSED: "Closed",
} as const satisfies Record<StrategyJson["status"], string>;

function Closing({ strategy }: { strategy: StrategyJson }) {
  const { strategyId, type } = strategy;
  const [isAsking, setAsking] = useState(false);
  const closing = useClosing(strategyId, () => setAsking(false));
  // While it is being closed there is nothing left to be previewed.
  const isUnderWay = closing.isPending || closing.isSuccess;
  const query = useQuery({
    ...closePreviewQuery(strategyId),
    enabled: !isUnderWay,
  });
  const { data, refetch, isFetching } = query;
  if (data === undefined) return <QueryState of={query} lines={6} isBare />;
  const words = closeInWords(data);
  return (
    <>
      <ClosePreview preview={data} isFutures={type === "FUTURES"} />
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Close the strategy
        </Button>
        <Button onClick={() => void refetch()} isBusy={isFetching}>
          Refresh
        </Button>
      </div>
      <ConfirmByTyping
        isOpen={isAsking}
        onClose={() => {
          setAsking(false);
          closing.reset();
        }}
        title="Close this strategy for good?"
        confirmation={data.confirmation}
        action="Close the strategy"
        form={{ onSubmit: () => closing.mutate(data), isBusy: closing.isPending, error: closing.error }}
      >
        {words.length === 0 ? (
          <p>There are no open orders and nothing to sell.</p>
        ) : (
          <ul className="list-disc pl-5">
            {words.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
      </ConfirmByTyping>
    </>
  );
}

function useClosing(strategyId: string, onClosed: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ confirmation }: ClosePreviewJson) =>
      call("POST /strategies/:strategyId/close", { strategyId, confirmation }),
    onSuccess: (strategy) => {
      queries.setQueryData(summaryQuery(strategyId).queryKey, strategy);
      toast(strategy.status === "CLOSED" ? "Strategy closed" : "The strategy is being closed");
      onClosed();
      outdate(["strategies"], ["keys"], ["strategy", strategyId]);
    },
  });
}

/** Shown while the strategy waits for a market to close; the page updates itself when there is one. */
function Remaining({ strategy: { strategyId, type } }: { strategy: StrategyJson }) {
  const query = useQuery(closePreviewQuery(strategyId));
  return (
    <>
      <ol className="list-decimal pl-5">
        <li>Orders, take profits and stop losses are canceled.</li>
        <li>
          {query.data === undefined || query.data.waitingFor.length === 0
            ? "What is held is being sold."
            : `Waiting for the market of ${query.data.waitingFor.join(", ")}: holdings there are sold as soon as it has prices and quantity for them.`}
        </li>
        <li>Then it is closed. You need not do anything.</li>
      </ol>
      <QueryState of={query} />
      {query.data !== undefined && <ClosePreview preview={query.data} isFutures={type === "FUTURES"} />}
    </>
  );
}

// What closing would do, or what is left of it to be done, thing by thing.

type Sale = ClosePreviewJson["sold"][number];
type Dust = ClosePreviewJson["dust"][number];

function ClosePreview({ preview, isFutures }: { preview: ClosePreviewJson; isFutures: boolean }) {
  const { cancelled, legs, sold, dust } = preview;
  if (cancelled.length + legs.length + sold.length + dust.length === 0) {
    return <p>There are no open orders and nothing to sell: it closes at once.</p>;
  }
  return (
    <div className="flex flex-col gap-4">
      <Part
        title="Orders that are canceled"
        columns={ORDER_COLUMNS}
        rows={cancelled}
        rowKey={({ orderId }) => orderId}
      />
      <Part
        title="Take profits and stop losses that are canceled"
        columns={LEG_COLUMNS}
        rows={legs}
        rowKey={({ legId }) => legId}
      />
      <Part
        title={isFutures ? "Positions that are closed" : "What is sold"}
        columns={saleColumns(isFutures)}
        rows={sold}
        rowKey={({ symbol, brings }) => `${symbol} ${brings === null ? "later" : "now"}`}
      />
      <Part
        title="Too small to sell; it stays"
        caption="Too small to sell"
        columns={DUST_COLUMNS}
        rows={dust}
        rowKey={({ asset }) => asset}
      />
    </div>
  );
}

type PartProps<Row> = Omit<TableProps<Row>, "caption"> & { title: string; caption?: string };

/** Nothing if there are no rows. */
function Part<Row>({ title, caption = title, ...table }: PartProps<Row>) {
  if (table.rows?.length === 0) return null;
  return (
    <div className="rounded-md border border-line">
      <h3 className="border-line border-b px-4 py-2 font-medium text-sm">{title}</h3>
      <Table caption={caption} {...table} />
    </div>
  );
}

const ORDER_COLUMNS: readonly Column<OrderJson>[] = [
  headColumn("Order", ({ orderId }) => <OrderLink orderId={orderId} />),
  column("Symbol", ({ symbol }) => symbol),
  column("Side", ({ side }) => <Side side={side} />),
  column("Type", ({ type }) => inWords(type)),
  numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
  numberColumn("Price", ({ price }) => <Price value={price} />),
];

const LEG_COLUMNS: readonly Column<LegJson>[] = [
  headColumn("Kind", ({ kind }) => inWords(kind)),
  column("Symbol", ({ symbol }) => symbol),
  numberColumn("Trigger price", ({ triggerPrice }) => <Price value={triggerPrice} />),
];

function saleColumns(isFutures: boolean): readonly Column<Sale>[] {
  return [
    headColumn("Symbol", ({ symbol }) => symbol),
    column("Side", ({ side }) => <Side side={side} />),
    numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
    numberColumn(isFutures ? "Gain, about" : "Proceeds, about", ({ brings }) =>
      brings === null ? (
        <Badge tone="warn">waits for the market</Badge>
      ) : isFutures ? (
        <SignedAmount value={brings} decimals={2} asset="USDT" />
      ) : (
        <Amount value={brings} decimals={2} asset="USDT" />
      ),
    ),
  ];
}

const DUST_COLUMNS: readonly Column<Dust>[] = [
  headColumn("Asset", ({ asset }) => asset),
  numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
  numberColumn("Worth", ({ value }) => <Amount value={value} decimals={4} asset="USDT" />),
];
