// Strategy against exchange: what copies got at their exchanges beside what the strategy got here.

import type { GapJson } from "../../../src/dashboard-api/schemas.ts";
import { OrderLink } from "../trading/links.tsx";
import { Side } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { ExactPrice, Price } from "../ui/figures/amounts.tsx";
import { grouped } from "../ui/figures/decimals.ts";
import { latencyInWords } from "../ui/figures/duration.ts";
import { Time } from "../ui/figures/time.tsx";
import { EmptyState } from "../ui/note.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Bps } from "./bps.tsx";

type BySymbol = GapJson["bySymbol"][number];
type BySize = GapJson["bySize"][number];
type ByOrder = GapJson["orders"][number];

type GapProps = {
  gap: GapJson | undefined;
  /** Of one strategy, on its own pages, or of all that are copied here. */
  of: "STRATEGY" | "EVERYBODY";
};

export function Gap({ gap, of }: GapProps) {
  if (gap !== undefined && gap.bySymbol.length === 0) {
    return (
      <Card title="Strategy against exchange" isFlush>
        <EmptyState title="Nothing has been filled yet.">
          Once copies are filled, their prices are compared with the strategy’s here.
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <div className="grid items-start gap-x-5 gap-y-3 xl:grid-cols-2">
        <Card title="Strategy against exchange, by symbol" isFlush>
          <Table
            caption="Slippage by symbol"
            columns={SYMBOL_COLUMNS}
            rows={gap?.bySymbol}
            rowKey={({ symbol }) => symbol}
            empty="None."
          />
        </Card>
        <Card title="By size of the order" isFlush>
          <Table
            caption="Slippage by order size"
            columns={SIZE_COLUMNS}
            rows={gap?.bySize}
            rowKey={({ upTo }) => upTo ?? "above"}
            empty="None."
          />
        </Card>
        <p className="text-ink-soft text-sm xl:col-span-2">
          Slippage in basis points of the strategy’s price: 100 bps are 1 %. Plus is worse for the copier.
          {gap?.range != null && <Range {...gap.range} orders={gap.orders.length} />}
        </p>
      </div>
      <Card title="By order of the strategy" isFlush>
        <Table
          caption="Slippage by order"
          columns={of === "STRATEGY" ? ORDER_COLUMNS : NAMED_ORDER_COLUMNS}
          rows={gap?.orders}
          rowKey={({ collectiveId }) => collectiveId}
          empty="None."
        />
      </Card>
    </>
  );
}

type RangeProps = NonNullable<GapJson["range"]> & { orders: number };

function Range({ from, to, orders, copiesPerOrder }: RangeProps) {
  return (
    <>
      {" "}
      Calculated from the {orders === 1 ? "newest order" : `newest ${orders.toLocaleString("en-GB")} orders`}{" "}
      that copies filled, <Time at={from} />
      {to > from && (
        <>
          {" "}
          to <Time at={to} />
        </>
      )}
      ; of an order with more than {copiesPerOrder} copies, from {copiesPerOrder} of them.
    </>
  );
}

/** The largest notional of a size class; null is the class without a bound. */
function sizeInWords(upTo: string | null): string {
  return upTo === null ? "above" : `up to ${grouped(upTo)}`;
}

type Measured = Omit<BySymbol, "symbol">;
function measured<Row extends Measured>(): readonly Column<Row>[] {
  return [
    { key: "orders", header: "Fills", align: "right", cell: ({ orders }) => orders.toLocaleString("en-GB") },
    ...gaps<Row>(),
  ];
}

function gaps<Row extends Measured>(): readonly Column<Row>[] {
  return [
    { key: "median", header: "Median", align: "right", cell: ({ medianBps }) => <Bps value={medianBps} /> },
    { key: "worst", header: "Worst", align: "right", cell: ({ worstBps }) => <Bps value={worstBps} /> },
    {
      key: "delay",
      header: "Delay",
      align: "right",
      cell: ({ meanDelayMs }) => latencyInWords(meanDelayMs),
    },
  ];
}

const SYMBOL_COLUMNS: readonly Column<BySymbol>[] = [
  { key: "symbol", header: "Symbol", isRowHeader: true, cell: ({ symbol }) => symbol },
  ...measured<BySymbol>(),
];
const SIZE_COLUMNS: readonly Column<BySize>[] = [
  { key: "size", header: "Worth, USDT", isRowHeader: true, cell: ({ upTo }) => sizeInWords(upTo) },
  ...measured<BySize>(),
];
const LEG = "Take profit / stop loss";
const OF_ORDER: readonly Column<ByOrder>[] = [
  { key: "at", header: "Time", isTime: true, cell: ({ at }) => <Time at={at} /> },
  { key: "symbol", header: "Symbol", cell: ({ symbol }) => symbol },
  { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> },
  {
    key: "quantity",
    header: "Size",
    align: "right",
    cell: ({ quantity }) => (quantity === null ? null : <Price value={quantity} />),
  },
  { key: "paper", header: "Strategy", align: "right", cell: ({ paper }) => <ExactPrice value={paper} /> },
  {
    key: "copies",
    header: "Copies",
    align: "right",
    cell: ({ copies, isCut }) => `${copies.toLocaleString("en-GB")}${isCut ? " or more" : ""}`,
  },
  ...gaps<ByOrder>(),
];
const ORDER_COLUMNS: readonly Column<ByOrder>[] = [
  {
    key: "order",
    header: "Order",
    isRowHeader: true,
    cell: ({ orderId }) => (orderId === null ? LEG : <OrderLink orderId={orderId} />),
  },
  ...OF_ORDER,
];
const NAMED_ORDER_COLUMNS: readonly Column<ByOrder>[] = [
  {
    key: "order",
    header: "Order",
    isRowHeader: true,
    cell: ({ strategyName, orderId }) => (
      <span>
        {strategyName}
        <span className="block font-normal text-ink-soft text-xs">
          {orderId === null ? LEG : `#${orderId}`}
        </span>
      </span>
    ),
  },
  ...OF_ORDER,
];
