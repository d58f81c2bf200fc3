// What a week's orders of a strategy under strict would have cost on other terms.
import { useQuery } from "@tanstack/react-query";
import type { CounterfactualSumsJson, StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { counterfactualSumsQuery } from "../../../api/strategy.ts";
import { Card, EmptyState, QueryState } from "../../../ui/card.tsx";
import { Amount } from "../../../ui/figures/figures.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";
import { differenceInWords, termsInWords } from "../orders/alternative-words.ts";

type Asset = CounterfactualSumsJson["assets"][number];
type Row = Asset["alternatives"][number] & Pick<Asset, "quoteAsset">;

/** Nothing under standard, and until the profile is known. */
export function WeekOnOtherTerms({ strategy }: { strategy: StrategyJson | undefined }) {
  if (strategy === undefined || strategy.fillProfile.strict === null) return null;
  return <OfStrategy strategyId={strategy.strategyId} />;
}

function OfStrategy({ strategyId }: { strategyId: string }) {
  const query = useQuery(counterfactualSumsQuery(strategyId));
  const { data, error } = query;
  if (error !== null && data === undefined) return <QueryState of={query} />;
  const rows = data?.assets.flatMap(({ quoteAsset, alternatives }) =>
    alternatives.map((row): Row => ({ ...row, quoteAsset })),
  );
  const orderCount = data?.assets.reduce((sum, asset) => sum + asset.orderCount, 0) ?? 0;
  return (
    <Card title="The last seven days on other terms" isFlush>
      <Table
        caption="What the orders of the last seven days would have cost on other terms"
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => `${row.quoteAsset} ${termsInWords(row)}`}
        empty={
          <EmptyState title="No order was compared in the last seven days.">
            An order is compared with itself under standard and under strict at other latencies once it has
            ended.
          </EmptyState>
        }
      />
      {orderCount > 0 && (
        <p className="max-w-prose px-4 pt-2 pb-3 text-ink-soft text-sm">
          {orderCount === 1 ? "One order is" : `${orderCount} orders are`} compared, each alone and for the
          quantity that both executed, fees included. Left out are open orders; stops, legs and the service's
          own orders; orders whose comparison was lost by a restart, by missed market data, or because too
          many ran at a time; and what only one of the two would have executed. What the strategy would have
          done next is not part of it.
        </p>
      )}
    </Card>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  headColumn("Terms", termsInWords),
  numberColumn("Orders compared", ({ orderCount }) => <Amount value={String(orderCount)} />),
  numberColumn("Together", ({ orderCount, difference, quoteAsset }) =>
    orderCount === 0 ? null : differenceInWords(difference, quoteAsset),
  ),
];
