// The order book as a ladder, live, with the strategy's own orders in it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BookJson, StrategyJson, SymbolJson } from "../../../../src/dashboard-api/schemas.ts";
import { ordersQuery } from "../../api/trading.ts";
import { useStrategy } from "../../api/use-strategy.ts";
import { AddressSelect } from "../../app/address-select.tsx";
import { useAddress } from "../../app/use-address.ts";
import { useFollow, useLive, useStaleSince } from "../../live/use-live.ts";
import { decimalsOfStep } from "../../markets/markets.ts";
import { NoSuchSymbol } from "../../markets/no-such-symbol.tsx";
import { PageSymbol } from "../../markets/page-symbol.tsx";
import { useSymbol } from "../../markets/use-symbol.ts";
import { OrderLink } from "../../trading/links.tsx";
import { StaleBadge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Placeholder } from "../../ui/query.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { GROUPINGS, type Grouping, ladderOf, stepOf } from "./depth/ladder.ts";
import { LadderTable } from "./depth/ladder-table.tsx";

/** Of 20 levels a side, 4 rows each shorter than a line of text. */
const SKELETON_LINES = 20;

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const choice = useSymbol(strategy, strategyId);
  const { search } = useAddress();
  const multiple = GROUPINGS.find((each) => each === search.group) ?? "1";
  const { symbol } = choice;
  return (
    <div className="max-w-2xl">
      <PageHeader
        title="Depth"
        documentTitle={`Depth ${symbol?.symbol ?? ""}`}
        badge={<PageSymbol choice={choice} forgets="group" />}
        actions={
          symbol && (
            <AddressSelect
              name="group"
              label="Group prices by"
              value={multiple}
              options={GROUPINGS.map((each) => ({ value: each, label: stepOf(symbol.tickSize, each) }))}
              unset="1"
              replace
              width="w-60"
            />
          )
        }
      />
      {choice.error !== null && <ErrorNote error={choice.error} onRetry={choice.retry} />}
      {symbol === null && <NoSuchSymbol choice={choice} />}
      {choice.error === null && (symbol === undefined || (symbol !== null && strategy === undefined)) && (
        <Placeholder lines={SKELETON_LINES} />
      )}
      {symbol && strategy !== undefined && (
        <Book key={symbol.symbol} symbol={symbol} strategy={strategy} multiple={multiple} />
      )}
    </div>
  );
}

type BookProps = { symbol: SymbolJson; strategy: StrategyJson; multiple: Grouping };

function Book({ symbol: { symbol, tickSize, stepSize }, strategy, multiple }: BookProps) {
  const [book, setBook] = useState<BookJson | null>(null);
  const topic = { kind: "depth", family: strategy.type, symbol } as const;
  useFollow(topic);
  const staleSince = useStaleSince(topic);
  useLive("book", (message) => {
    if (message.family === strategy.type && message.symbol === symbol) setBook(message);
  });
  const { data: open } = useQuery(ordersQuery(strategy.strategyId, { state: "open", symbol }));
  const step = stepOf(tickSize, multiple);
  const ladder = book === null ? null : ladderOf(book, step, open?.rows ?? []);
  return (
    <>
      <Card isFlush>
        {staleSince !== null && (
          <p className="px-4 pt-2">
            <StaleBadge since={staleSince} />
          </p>
        )}
        {ladder === null ? (
          <div className="p-4" aria-busy="true">
            <p role="status" className="mb-3 text-ink-soft text-sm">
              Waiting for the order book of {symbol} …
            </p>
            <Skeleton lines={SKELETON_LINES} />
          </div>
        ) : (
          <LadderTable
            symbol={symbol}
            ladder={ladder}
            priceDecimals={decimalsOfStep(step)}
            sizeDecimals={decimalsOfStep(stepSize)}
          />
        )}
      </Card>
      {ladder !== null && ladder.away.length > 0 && (
        <p className="mt-2 text-sm">
          Your orders beyond these levels:{" "}
          {ladder.away.map((orderId, index) => (
            <span key={orderId}>
              {index > 0 && ", "}
              <OrderLink orderId={orderId}>order {orderId}</OrderLink>
            </span>
          ))}
          .
        </p>
      )}
      <p className="mt-2 text-ink-soft text-sm">
        The best 20 levels per side. ◆ marks your own open orders; the market's sizes do not include them.
      </p>
    </>
  );
}
