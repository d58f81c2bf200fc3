// The lines of the chart as a list: what they are, and how far the price is from them.
import type { ReactNode } from "react";
import { OrderLink } from "../../../trading/links.tsx";
import { Price } from "../../../ui/figures/amounts.tsx";
import { percentOf, signOf, subtract } from "../../../ui/figures/decimals.ts";
import { type Column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";
import type { PriceLine } from "./overlays.ts";

type LineTableProps = { lines: readonly PriceLine[] | undefined; last: string | undefined; empty: ReactNode };

export function LineTable({ lines, last, empty }: LineTableProps) {
  const columns: readonly Column<PriceLine>[] = [
    headColumn("Line", ({ says, orderId }) =>
      orderId === null ? says : <OrderLink orderId={orderId}>{says}</OrderLink>,
    ),
    numberColumn("Price", ({ price }) => <Price value={price} />),
    numberColumn("From the last price", ({ price }) => distance(price, last)),
  ];
  return (
    <Table
      caption="Lines of the chart"
      columns={columns}
      rows={lines}
      rowKey={({ id }) => id}
      empty={empty}
    />
  );
}

function distance(price: string, last: string | undefined): string | null {
  if (last === undefined) return null;
  const percent = percentOf(subtract(price, last), last);
  if (percent === null) return null;
  return `${signOf(percent) > 0 ? "+" : ""}${percent} %`;
}
