// What closing would do, or what is left of it to be done, thing by thing.
import type { ReactNode } from "react";
import type { ClosePreviewJson, LegJson, OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import { OrderLink } from "../../../trading/links.tsx";
import { Badge, inWords, Side } from "../../../ui/badge.tsx";
import { Amount, Price, SignedAmount } from "../../../ui/figures/amounts.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

type Sale = ClosePreviewJson["sold"][number];
type Dust = ClosePreviewJson["dust"][number];

export function ClosePreview({ preview, isFutures }: { preview: ClosePreviewJson; isFutures: boolean }) {
  const { cancelled, legs, sold, dust, waitingFor } = preview;
  if (cancelled.length + legs.length + sold.length + dust.length === 0) {
    return <p>There are no open orders and nothing to sell: it closes at once.</p>;
  }
  return (
    <div className="flex flex-col gap-4">
      {cancelled.length > 0 && (
        <Part title="Orders that are canceled">
          <Table
            caption="Orders that are canceled"
            columns={ORDER_COLUMNS}
            rows={cancelled}
            rowKey={({ orderId }) => orderId}
          />
        </Part>
      )}
      {legs.length > 0 && (
        <Part title="Take profits and stop losses that are canceled">
          <Table
            caption="Take profits and stop losses that are canceled"
            columns={LEG_COLUMNS}
            rows={legs}
            rowKey={({ legId }) => legId}
          />
        </Part>
      )}
      {sold.length > 0 && (
        <Part title={isFutures ? "Positions that are closed" : "What is sold"}>
          <Table
            caption={isFutures ? "Positions that are closed" : "What is sold"}
            columns={saleColumns(waitingFor, isFutures)}
            rows={sold}
            rowKey={({ symbol }) => symbol}
            empty="Nothing."
          />
        </Part>
      )}
      {dust.length > 0 && (
        <Part title="Too small to sell; it stays">
          <Table
            caption="Too small to sell"
            columns={DUST_COLUMNS}
            rows={dust}
            rowKey={({ asset }) => asset}
            empty="Nothing."
          />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="rounded-md border border-line">
      <h3 className="border-line border-b px-4 py-2 font-medium text-sm">{title}</h3>
      {children}
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

function saleColumns(waitingFor: readonly string[], isFutures: boolean): readonly Column<Sale>[] {
  return [
    headColumn("Symbol", ({ symbol }) => symbol),
    column("Side", ({ side }) => <Side side={side} />),
    numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
    numberColumn(isFutures ? "Gain, about" : "Proceeds, about", ({ symbol, brings }) =>
      waitingFor.includes(symbol) ? (
        <Badge tone="warn">waiting for prices</Badge>
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
