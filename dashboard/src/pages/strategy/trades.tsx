// Every fill of the strategy, a page at a time, and all of them as a file.
import { useQuery } from "@tanstack/react-query";
import { tradesQuery, useStrategy } from "../../api/strategy.ts";
import { useAddress } from "../../app/address.tsx";
import { useOwnSymbols } from "../../markets/symbol-chooser.tsx";
import { CsvLink, SymbolFilter } from "../../trading/links.tsx";
import { TradeTable } from "../../trading/trade-table.tsx";
import { EmptyState, Listed } from "../../ui/card.tsx";
import { Pager, Screen } from "../../ui/page-header.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const { search } = useAddress();
  const { symbol, before } = search;
  const own = useOwnSymbols(strategyId, strategy?.type === "FUTURES") ?? [];
  const query = useQuery(tradesQuery(strategyId, { symbol, before }));
  return (
    <Screen
      title="Trades"
      documentTitle={`Trades, ${strategy?.name ?? strategyId}`}
      actions={
        <>
          <SymbolFilter own={own} />
          <CsvLink file="GET /strategies/:strategyId/trades.csv" parameters={{ strategyId }}>
            All trades as CSV
          </CsvLink>
        </>
      }
    >
      <Listed query={query}>
        <TradeTable
          caption="Trades"
          rows={query.data?.rows}
          without={strategy?.type === "SPOT" ? ["Realized"] : []}
          empty={
            <EmptyState title={symbol === undefined ? "No trades yet." : `No trades in ${symbol}.`}>
              Each fill of an order shows here within a second.
            </EmptyState>
          }
        />
        <Pager what="trades" before={before} next={query.data?.next} />
      </Listed>
    </Screen>
  );
}
