// The settlements of the profit share: computed, charged to nobody.
import { useQuery } from "@tanstack/react-query";
import type { Answer } from "../../../api/call.ts";
import { profitSharesQuery } from "../../../api/copying.ts";
import { Amount, Percent, SignedAmount } from "../../../ui/figures/amounts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { EmptyState } from "../../../ui/note.tsx";
import { ListCard } from "../../../ui/query.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

type Row = Answer<"GET /copies/:copyId/profit-shares">["rows"][number];

export function ProfitShares({ copyId }: { copyId: string }) {
  const query = useQuery(profitSharesQuery(copyId));
  const asset = query.data?.asset ?? "";
  const columns: readonly Column<Row>[] = [
    headColumn({ header: "Settled", isTime: true }, ({ at }) => <Time at={at} />),
    numberColumn("Profit since the start", ({ profit }) => (
      <SignedAmount value={profit} decimals={2} asset={asset} />
    )),
    numberColumn("Highest before", ({ mark }) => <Amount value={mark} decimals={2} asset={asset} />),
    numberColumn("Share", ({ share }) => <Amount value={share} decimals={2} asset={asset} />),
  ];
  return (
    <ListCard query={query} title="Profit share (computed, nobody is charged)">
      <Table
        caption="Settlements of the profit share"
        columns={columns}
        rows={query.data?.rows}
        rowKey={({ at }) => String(at)}
        empty={
          <EmptyState title="No settlement yet.">
            The first is computed on the first Monday (00:00 UTC) after the copy began, or when it ends.
          </EmptyState>
        }
      />

      {query.data !== undefined && query.data.rows.length > 0 && (
        <p className="p-4 text-ink-soft text-sm">
          <Percent rate={query.data.rate} /> of the profit above the highest one before,{" "}
          <Amount value={query.data.total} decimals={2} asset={asset} /> in all.
        </p>
      )}
    </ListCard>
  );
}
