// One fill and its evidence: in words, as a picture, and its figures.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { TradeDetailJson } from "../../../../src/dashboard-api/schemas.ts";
import { tradeQuery } from "../../api/strategy.ts";
import { ChartLink, OrderLink } from "../../trading/links.tsx";
import { inWords, Side } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, EmptyState, QueryState, Skeleton } from "../../ui/card.tsx";
import { grouped } from "../../ui/figures/decimals.ts";
import { Amount, type Fact, Facts, fact, Percent, Price, Time } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Alternatives } from "./orders/alternatives.tsx";
import { QueueBar, QueueOverTime, WalkedBook } from "./trade/pictures.tsx";
import { beginsLater } from "./trade/queue-moves.ts";
import { type Receipt, receiptInWords } from "./trade/receipt-words.ts";

const route = getRouteApi("/strategies/$strategyId/trades/$tradeId");

export function Page() {
  const { strategyId, tradeId } = route.useParams();
  const query = useQuery(tradeQuery(strategyId, tradeId));
  const { data, error } = query;
  return (
    <Screen
      title={`Trade ${tradeId}`}
      lead={data && tradeInWords(data.trade)}
      actions={
        <ButtonLink to="/strategies/$strategyId/trades" params={{ strategyId }} kind="quiet">
          All trades
        </ButtonLink>
      }
    >
      <QueryState of={query} />
      {error === null && <Detail detail={data} />}
    </Screen>
  );
}

function tradeInWords({ side, quantity, symbol, price }: TradeDetailJson["trade"]): string {
  return `${inWords(side)} ${grouped(quantity)} ${symbol} at ${grouped(price)}`;
}

function Detail({ detail }: { detail: TradeDetailJson | undefined }) {
  if (detail === undefined) {
    return (
      <Card title="Receipt">
        <Skeleton lines={6} />
      </Card>
    );
  }
  const { trade, receipt } = detail;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,2fr)_minmax(16rem,1fr)]">
      <div className="flex min-w-0 flex-col gap-5">
        {receipt === null ? (
          <EmptyState title="This fill has no receipt.">
            Under the fill profile standard an order is filled whole at the best price. Fills under strict
            have their evidence here.
          </EmptyState>
        ) : (
          <Evidence trade={trade} receipt={receipt} />
        )}
        <Alternatives orderId={String(trade.orderId)} />
      </div>
      <Card title="Details">
        <Facts facts={[...factsOf(trade), ...(receipt === null ? [] : evidenceFacts(receipt))]} />
      </Card>
    </div>
  );
}

function Evidence({ trade, receipt }: { trade: TradeDetailJson["trade"]; receipt: Receipt }) {
  const { walk, queue } = receipt;
  return (
    <>
      <Card title="Receipt">
        <ul aria-label="How this fill came about" className="flex max-w-prose flex-col gap-1">
          {receiptInWords(trade, receipt).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Card>
      {walk.length > 0 && (
        <Card
          title={receipt.cause === "BOOK_CROSSED" ? "Levels that reached the limit" : "Levels taken"}
          isFlush
        >
          <WalkedBook walk={walk} side={trade.side} tradeId={trade.tradeId} />
          <p className="px-4 pt-2 pb-3 text-ink-soft text-sm">
            The bars show what was displayed: taken by the order, consumed by this strategy before, and the
            rest.
          </p>
        </Card>
      )}
      {queue !== null && (queue.aheadAtPlacement ?? queue.aheadBefore) !== null && (
        <Card title="The queue" isFlush>
          <QueueBar queue={queue} filled={trade.quantity} />
          <p className="px-4 pt-2 pb-3 text-ink-soft text-sm">
            The bars show what others displayed in front of the order, and what was filled of it.
          </p>
        </Card>
      )}
      {queue !== null && <QueueCard queue={queue} />}
    </>
  );
}

function QueueCard({ queue }: { queue: NonNullable<Receipt["queue"]> }) {
  const { history } = queue;
  return (
    <Card title="The queue as it moved" isFlush>
      {history !== null && <QueueOverTime history={history} />}
      <p className="px-4 pt-2 pb-3 text-ink-soft text-sm">
        {history === null
          ? "How the queue moved between placement and fill was not recorded with this receipt."
          : `Times are the exchange's. ${
              beginsLater(queue)
                ? "The first one is later than the placement: what moved the queue before is not known one by one, since the server was restarted or another one took over. "
                : ""
            }Of a long history some moves are left out; what a row says was traded and canceled is since the row before.`}
      </p>
    </Card>
  );
}

function factsOf(trade: TradeDetailJson["trade"]): readonly Fact[] {
  return [
    fact("Symbol", <ChartLink symbol={trade.symbol} at={trade.at} />),
    fact("Order", <OrderLink orderId={trade.orderId} />),
    fact("Side", <Side side={trade.side} />),
    fact("Quantity", <Amount value={trade.quantity} />),
    fact("Price", <Price value={trade.price} />),
    fact("Value", <Amount value={trade.quoteQuantity} />),
    fact("Fee", <Amount value={trade.fee} asset={trade.feeAsset} />),
    fact("Role", trade.isMaker ? "Maker" : "Taker"),
    fact("Time", <Time at={trade.at} />),
  ];
}

function evidenceFacts(receipt: Receipt): readonly Fact[] {
  const { arrival, book, marketTrade, queue, feeRate, feeTier } = receipt;
  return [
    fact("Limit", receipt.limit === null ? "Market" : <Price value={receipt.limit} />),
    fact("Fee rate", <Percent rate={feeRate} decimals={4} />),
    fact("Fee tier", feeTier),
    ...(arrival === null
      ? []
      : [
          fact("Latency", `${grouped(String(arrival.latencyMs))} ms`),
          fact("Arrived", <Time at={arrival.arrivedAt} />),
        ]),
    ...(book === null
      ? []
      : [
          fact("Book update", <span className="numeric">{book.lastUpdateId}</span>),
          fact("Book of", <Time at={book.eventTime} />),
          ...(book.tickerUpdateId === null
            ? []
            : [fact("Ticker update", <span className="numeric">{book.tickerUpdateId}</span>)]),
        ]),
    ...(marketTrade === null
      ? []
      : [
          fact("Market trade", <span className="numeric">{marketTrade.aggregateId}</span>),
          fact("Traded at", <Time at={marketTrade.time} />),
        ]),
    ...(queue === null ? [] : [fact("Queue model", queue.model)]),
  ];
}
