// An order under the fill profile strict on other terms: what latency and size have cost it.
import { useQuery } from "@tanstack/react-query";
import type { AlternativeJson } from "../../../../../src/dashboard-api/schemas.ts";
import { counterfactualQuery, useStrategy } from "../../../api/strategy.ts";
import { Card, EmptyState, QueryState } from "../../../ui/card.tsx";
import { Amount, Price } from "../../../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";
import { absenceInWords, differenceInWords, statusInWords, termsInWords } from "./alternative-words.ts";

/** Nothing under standard, and until the profile is known. */
export function Alternatives({ orderId }: { orderId: string }) {
  const { strategyId, strategy } = useStrategy();
  if (strategy === undefined || strategy.fillProfile.strict === null) return null;
  return <OfOrder strategyId={strategyId} orderId={orderId} />;
}

function OfOrder({ strategyId, orderId }: { strategyId: string; orderId: string }) {
  const query = useQuery(counterfactualQuery(strategyId, orderId));
  const { data, error } = query;
  if (error !== null && data === undefined) return <QueryState of={query} />;
  const absence = data === undefined ? null : absenceInWords(data.state);
  return (
    <Card title="On other terms" isFlush>
      {absence === null ? (
        <>
          <Table
            caption="This order on other terms"
            columns={columnsIn(data?.quoteAsset ?? "")}
            rows={data?.rows}
            rowKey={termsInWords}
          />
          <p className="max-w-prose px-4 pt-2 pb-3 text-ink-soft text-sm">
            Each row is the same order, alone, in the book that was displayed when it would have arrived. The
            last column compares it with the order as it was, fees included, for the quantity that both
            executed.
          </p>
        </>
      ) : (
        <EmptyState title={absence} />
      )}
    </Card>
  );
}

function columnsIn(quoteAsset: string): readonly Column<AlternativeJson>[] {
  return [
    headColumn("Terms", termsInWords),
    column("Outcome", statusInWords),
    numberColumn("Executed", ({ executedQuantity }) => <Amount value={executedQuantity} />),
    numberColumn("Average price", ({ averagePrice }) => <Price value={averagePrice} />),
    numberColumn("Fee", ({ fee, feeAsset }) => <Amount value={fee} asset={feeAsset} />),
    numberColumn("Against the order", ({ profile, difference }) =>
      profile === "own" ? null : differenceInWords(difference, quoteAsset),
    ),
  ];
}
