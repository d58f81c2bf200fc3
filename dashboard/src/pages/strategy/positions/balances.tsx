// What a strategy owns, by asset, and what it is worth as prices come in.

import { useQuery } from "@tanstack/react-query";
import type { BalanceJson, PriceJson } from "../../../../../src/dashboard-api/schemas.ts";
import { balancesQuery } from "../../../api/strategy.ts";
import { shownBalances, symbolsOf, worthOf } from "../../../strategies/equity.ts";
import { useEquity } from "../../../strategies/use-equity.ts";
import { StaleBadge } from "../../../ui/badge.tsx";
import { Card, QueryState } from "../../../ui/card.tsx";
import { Amount } from "../../../ui/figures/figures.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

type BalancesProps = {
  strategyId: string;
  title: string;
  /** The total as it is shown, where it is a part of another figure on the page. */
  shownTotal?: string | undefined;
};

export function Balances({ strategyId, title, shownTotal }: BalancesProps) {
  const query = useQuery(balancesQuery(strategyId));
  const live = useEquity();
  if (query.error !== null && query.data === undefined) return <QueryState of={query} />;
  const prices = live?.prices ?? NO_PRICES;
  const valued = query.data?.rows.map((row) =>
    prices.has(`${row.asset}USDT`) ? { ...row, value: worthOf(row, prices) } : row,
  );
  const { rows, total, shares } = shownBalances(valued, shownTotal);
  const isPriced =
    query.data !== undefined &&
    symbolsOf({ type: "SPOT", balances: query.data.rows, positions: [] }).length > 0;
  const share: Column<BalanceJson> = numberColumn("Share", ({ asset }) => {
    const percent = shares.get(asset);
    return percent === undefined ? null : `${percent} %`;
  });
  const unpriced = query.data?.rows.filter(({ value }) => value === null).map(({ asset }) => asset) ?? [];
  return (
    <Card
      title={title}
      isFlush
      aside={
        total !== undefined && (
          <span className="flex items-center gap-2 text-sm">
            <StaleBadge since={isPriced ? (live?.staleSince ?? null) : null} />
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

const NO_PRICES: ReadonlyMap<string, PriceJson> = new Map();
/** As many as the wire has at most, so that digits stand below one another. */
const MONEY_DECIMALS = 8;

const COLUMNS: readonly Column<BalanceJson>[] = [
  headColumn("Asset", ({ asset }) => asset),
  numberColumn("Free", ({ free }) => <Amount value={free} decimals={MONEY_DECIMALS} />),
  numberColumn("Locked", ({ locked }) => <Amount value={locked} decimals={MONEY_DECIMALS} />),
  numberColumn("Value", ({ value }) => <Amount value={value} decimals={2} asset="USDT" />),
];
