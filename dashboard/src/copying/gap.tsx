// Strategy against exchange: what copies got at their exchanges beside what the strategy got here.

import type { GapJson } from "../../../src/dashboard-api/schemas.ts";
import { OrderLink } from "../trading/links.tsx";
import { Missing, Side } from "../ui/badge.tsx";
import { Card, EmptyState } from "../ui/card.tsx";
import { grouped, rounded, signOf } from "../ui/figures/decimals.ts";
import { latencyInWords } from "../ui/figures/duration.ts";
import { ExactPrice, Price, Time } from "../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, TableCard, timeColumn } from "../ui/table.tsx";

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
        <TableCard
          title="Strategy against exchange, by symbol"
          caption="Slippage by symbol"
          columns={SYMBOL_COLUMNS}
          rows={gap?.bySymbol}
          rowKey={({ symbol }) => symbol}
        />
        <TableCard
          title="By size of the order"
          caption="Slippage by order size"
          columns={SIZE_COLUMNS}
          rows={gap?.bySize}
          rowKey={({ upTo }) => upTo ?? "above"}
        />
        <p className="text-ink-soft text-sm xl:col-span-2">
          Slippage in basis points of the strategy’s price: 100 bps are 1 %. Plus is worse for the copier.
          {gap?.range != null && <Range {...gap.range} orders={gap.orders.length} />}
        </p>
      </div>
      <TableCard
        title="By order of the strategy"
        caption="Slippage by order"
        columns={of === "STRATEGY" ? ORDER_COLUMNS : NAMED_ORDER_COLUMNS}
        rows={gap?.orders}
        rowKey={({ collectiveId }) => collectiveId}
      />
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
  return [numberColumn("Fills", ({ orders }) => orders.toLocaleString("en-GB")), ...gaps<Row>()];
}

function gaps<Row extends Measured>(): readonly Column<Row>[] {
  return [
    numberColumn("Median", ({ medianBps }) => <Bps value={medianBps} />),
    numberColumn("Worst", ({ worstBps }) => <Bps value={worstBps} />),
    numberColumn("Delay", ({ meanDelayMs }) => latencyInWords(meanDelayMs)),
  ];
}

const SYMBOL_COLUMNS: readonly Column<BySymbol>[] = [
  headColumn("Symbol", ({ symbol }) => symbol),
  ...measured<BySymbol>(),
];
const SIZE_COLUMNS: readonly Column<BySize>[] = [
  headColumn("Worth, USDT", ({ upTo }) => sizeInWords(upTo)),
  ...measured<BySize>(),
];
const LEG = "Take profit / stop loss";
const OF_ORDER: readonly Column<ByOrder>[] = [
  timeColumn("Time", ({ at }) => at),
  column("Symbol", ({ symbol }) => symbol),
  column("Side", ({ side }) => <Side side={side} />),
  numberColumn("Size", ({ quantity }) => (quantity === null ? null : <Price value={quantity} />)),
  numberColumn("Strategy", ({ paper }) => <ExactPrice value={paper} />),
  numberColumn(
    "Copies",
    ({ copies, isCut }) => `${copies.toLocaleString("en-GB")}${isCut ? " or more" : ""}`,
  ),
  ...gaps<ByOrder>(),
];
const ORDER_COLUMNS: readonly Column<ByOrder>[] = [
  headColumn("Order", ({ orderId }) => (orderId === null ? LEG : <OrderLink orderId={orderId} />)),
  ...OF_ORDER,
];
const NAMED_ORDER_COLUMNS: readonly Column<ByOrder>[] = [
  headColumn("Order", ({ strategyName, orderId }) => (
    <span>
      {strategyName}
      <span className="block font-normal text-ink-soft text-xs">
        {orderId === null ? LEG : `#${orderId}`}
      </span>
    </span>
  )),
  ...OF_ORDER,
];

// Basis points against the strategy's own price. Plus is worse for the copier, so its color is that of a
// loss.

const DECIMALS = 2;

export function Bps({ value }: { value: string | null }) {
  if (value === null) return <Missing />;
  const sign = signOf(value);
  const look = sign > 0 ? "text-loss" : sign < 0 ? "text-gain" : "";
  return (
    <span className={`numeric ${look}`}>
      {sign > 0 ? "+" : ""}
      {grouped(rounded(value, DECIMALS))}
      <span className="ml-1 text-[0.9em] text-ink-soft">bps</span>
      {sign !== 0 && <span className="sr-only">{sign > 0 ? ", worse" : ", better"}</span>}
    </span>
  );
}
