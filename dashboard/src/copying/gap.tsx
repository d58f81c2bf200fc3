// Paper against real: what copies got at their exchanges beside what the strategy got here.
import type { GapShape } from "../../../src/dashboard/shapes.ts";
import { ExactPrice, Price } from "../ui/amounts.tsx";
import { Card } from "../ui/card.tsx";
import { grouped } from "../ui/decimals.ts";
import { latencyInWords } from "../ui/duration.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Side } from "../ui/side.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Bps } from "./bps.tsx";

type BySymbol = GapShape["bySymbol"][number];
type BySize = GapShape["bySize"][number];
type ByOrder = GapShape["orders"][number];

export function Gap({ gap }: { gap: GapShape | undefined }) {
  if (gap !== undefined && gap.bySymbol.length === 0) {
    return (
      <Card title="Paper against real" isFlush>
        <EmptyState title="Nothing has been filled yet.">
          Once copies are filled, their prices are shown here beside the strategy’s own.
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <div className="grid items-start gap-x-5 gap-y-3 xl:grid-cols-2">
        <Card title="Paper against real, by symbol" isFlush>
          <Table
            caption="Gap by symbol"
            columns={SYMBOL_COLUMNS}
            rows={gap?.bySymbol}
            rowKey={({ symbol }) => symbol}
            empty="None."
          />
        </Card>
        <Card title="By size of the order" isFlush>
          <Table
            caption="Gap by size"
            columns={SIZE_COLUMNS}
            rows={gap?.bySize}
            rowKey={({ upTo }) => upTo ?? "above"}
            empty="None."
          />
        </Card>
        <p className="text-ink-soft text-sm xl:col-span-2">
          In basis points of the strategy’s own price: 100 are 1 %. Plus is worse for the copier.
        </p>
      </div>
      <Card title="Newest fills of copies" isFlush>
        <Table
          caption="Newest fills of copies"
          columns={ORDER_COLUMNS}
          rows={gap?.orders.map((order, index) => ({ ...order, index }))}
          rowKey={({ index }) => index}
          empty="None."
        />
      </Card>
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
    { key: "orders", header: "Orders", align: "right", cell: ({ orders }) => orders.toLocaleString("en-GB") },
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
const ORDER_COLUMNS: readonly Column<ByOrder>[] = [
  { key: "at", header: "Time", cell: ({ at }) => <Time at={at} /> },
  { key: "symbol", header: "Symbol", isRowHeader: true, cell: ({ symbol }) => symbol },
  { key: "side", header: "Side", cell: ({ side }) => <Side side={side} /> },
  {
    key: "quantity",
    header: "Quantity",
    align: "right",
    cell: ({ quantity }) => <Price value={quantity} />,
  },
  { key: "paper", header: "Strategy", align: "right", cell: ({ paper }) => <ExactPrice value={paper} /> },
  { key: "real", header: "Copy", align: "right", cell: ({ real }) => <ExactPrice value={real} /> },
  { key: "bps", header: "Gap", align: "right", cell: ({ bps }) => <Bps value={bps} /> },
  { key: "delay", header: "Delay", align: "right", cell: ({ delayMs }) => latencyInWords(delayMs) },
];
