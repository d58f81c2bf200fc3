// The order book as a ladder, live, with the strategy's own orders in it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BookJson, StrategyJson, SymbolJson } from "../../../../src/dashboard-api/schemas.ts";
import { ordersQuery, useStrategy } from "../../api/strategy.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { useFollow, useLive, useStaleSince } from "../../live/use-live.ts";
import { decimalsOfStep } from "../../markets/markets.ts";
import { NoSuchSymbol, PageSymbol, useSymbol } from "../../markets/symbol-chooser.tsx";
import { OrderLink } from "../../trading/links.tsx";
import { StaleBadge } from "../../ui/badge.tsx";
import { Card, ErrorNote, Placeholder, Skeleton } from "../../ui/card.tsx";
import { signOf } from "../../ui/figures/decimals.ts";
import { Amount, Price } from "../../ui/figures/figures.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { GROUPINGS, type Grouping, type Ladder, type LadderLevel, ladderOf, stepOf } from "./depth/ladder.ts";

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

// The ladder: asks above, the spread between, bids below, so that the best prices meet in the middle.

type LadderTableProps = { symbol: string; ladder: Ladder; priceDecimals: number; sizeDecimals: number };
type Decimals = Pick<LadderTableProps, "priceDecimals" | "sizeDecimals">;

function LadderTable({ symbol, ladder, ...decimals }: LadderTableProps) {
  const { spread, spreadPercent } = ladder;
  return (
    <table className="w-full table-fixed border-collapse text-sm leading-5 md:text-xs md:leading-4">
      <caption className="sr-only">Order book of {symbol}</caption>
      <thead>
        <tr>
          {["Price", "Size", "Total", "Yours"].map((header, index) => (
            <th
              key={header}
              scope="col"
              className={`column-label px-2 py-1.5 text-right first:pl-4 last:pr-4 ${index === 3 ? "w-[22%]" : ""}`}
            >
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ladder.asks.toReversed().map((level) => (
          <Row key={level.price} level={level} isBid={false} {...decimals} />
        ))}
      </tbody>
      <tbody>
        <tr className="border-line-strong border-y bg-sunken">
          <th scope="row" className="py-1 pr-2 pl-4 text-right font-normal text-ink-soft">
            Spread
          </th>
          <td className="numeric px-2 text-right font-medium">
            <Price value={spread} />
          </td>
          <td className="numeric px-2 text-right text-ink-soft">
            {spreadPercent === null ? "" : `${spreadPercent} %`}
          </td>
          <td />
        </tr>
      </tbody>
      <tbody>
        {ladder.bids.map((level) => (
          <Row key={level.price} level={level} isBid {...decimals} />
        ))}
      </tbody>
    </table>
  );
}

function Row({
  level,
  isBid,
  priceDecimals,
  sizeDecimals,
}: Decimals & { level: LadderLevel; isBid: boolean }) {
  const { price, quantity, cumulated, depthPercent, own } = level;
  const tint = isBid ? "var(--gain-soft)" : "var(--loss-soft)";
  return (
    <tr
      className="h-5 md:h-4"
      style={{
        backgroundImage: `linear-gradient(to left, ${tint} ${depthPercent}%, transparent ${depthPercent}%)`,
      }}
    >
      <th
        scope="row"
        className={`numeric py-0 pr-2 pl-4 text-right font-medium ${isBid ? "text-gain" : "text-loss"}`}
      >
        <span className="sr-only">{isBid ? "bid " : "ask "}</span>
        <Price value={price} decimals={priceDecimals} />
      </th>
      <td className="numeric px-2 text-right">
        {signOf(quantity) === 0 ? "–" : <Amount value={quantity} decimals={sizeDecimals} />}
      </td>
      <td className="numeric px-2 text-right">
        <Amount value={cumulated} decimals={sizeDecimals} />
      </td>
      <td className="numeric pr-4 pl-2 text-right">
        {own?.orderIds[0] !== undefined && (
          <OrderLink orderId={own.orderIds[0]}>
            <span aria-hidden="true">◆ </span>
            {own.quantity}
          </OrderLink>
        )}
      </td>
    </tr>
  );
}
