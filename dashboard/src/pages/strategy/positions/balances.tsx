// What a strategy owns, by asset, and what it is worth as prices come in.
import { useQuery } from "@tanstack/react-query";
import type { BalanceShape } from "../../../../../src/dashboard/shapes.ts";
import { balancesQuery } from "../../../api/trading.ts";
import { symbolsOf, worthOf } from "../../../strategies/equity.ts";
import { FOLLOWED_MAX, usePrices } from "../../../strategies/use-equity.ts";
import { Amount } from "../../../ui/amounts.tsx";
import { Card } from "../../../ui/card.tsx";
import { add, percentOf } from "../../../ui/decimals.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { StaleBadge } from "../../../ui/stale-badge.tsx";
import { type Column, Table } from "../../../ui/table.tsx";

export function Balances({ strategyId, title }: { strategyId: string; title: string }) {
  const { data, error, refetch, isFetching } = useQuery(balancesQuery(strategyId));
  const held = data?.rows ?? NONE;
  const symbols = symbolsOf({ type: "SPOT", balances: held, positions: [] }).slice(0, FOLLOWED_MAX);
  const { prices, staleSince } = usePrices("SPOT", symbols);
  if (error !== null && data === undefined) {
    return <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  }
  const rows = data?.rows.map((row) =>
    prices.has(`${row.asset}USDT`) ? { ...row, value: worthOf(row, prices) } : row,
  );
  const total = rows?.reduce((sum, { value }) => (value === null ? sum : add(sum, value)), "0");
  const share: Column<BalanceShape> = {
    key: "share",
    header: "Share",
    align: "right",
    cell: ({ value }) => {
      const percent = value === null || total === undefined ? null : percentOf(value, total, 1);
      return percent === null ? null : `${percent} %`;
    },
  };
  const unpriced = data?.rows.filter(({ value }) => value === null).map(({ asset }) => asset) ?? [];
  return (
    <Card
      title={title}
      isFlush
      aside={
        total !== undefined && (
          <span className="flex items-center gap-2 text-sm">
            <StaleBadge since={staleSince} />
            <span className="text-ink-soft">Total</span>
            <Amount value={total} decimals={2} asset="USDT" />
          </span>
        )
      }
    >
      <Table
        caption="Balances"
        columns={[...COLUMNS, share]}
        rows={rows}
        rowKey={({ asset }) => asset}
        empty="No balances."
      />
      {unpriced.length > 0 && (
        <p className="border-line border-t px-4 py-2 text-ink-soft text-sm">
          No price is known for {unpriced.join(", ")}: the total does not include it.
        </p>
      )}
    </Card>
  );
}

const NONE: readonly BalanceShape[] = [];
/** As many as the wire has at most, so that digits stand below one another. */
const MONEY_DECIMALS = 8;

const COLUMNS: readonly Column<BalanceShape>[] = [
  { key: "asset", header: "Asset", isRowHeader: true, cell: ({ asset }) => asset },
  {
    key: "free",
    header: "Free",
    align: "right",
    cell: ({ free }) => <Amount value={free} decimals={MONEY_DECIMALS} />,
  },
  {
    key: "locked",
    header: "Locked",
    align: "right",
    cell: ({ locked }) => <Amount value={locked} decimals={MONEY_DECIMALS} />,
  },
  {
    key: "value",
    header: "Value",
    align: "right",
    cell: ({ value }) => <Amount value={value} decimals={2} asset="USDT" />,
  },
];
