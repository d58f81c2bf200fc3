// What the strategy holds: positions of a futures strategy, balances of a spot one.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { LegJson, PositionJson } from "../../../../src/dashboard-api/schemas.ts";
import { balancesQuery, legsQuery, positionsQuery, useStrategy } from "../../api/strategy.ts";
import { type HeardPrice, useHeardPrice, useStaleSince } from "../../live/use-live.ts";
import { decimalsOfStep, useSymbols } from "../../markets/markets.ts";
import { shownParts } from "../../strategies/equity.ts";
import { useEquity } from "../../strategies/use-equity.ts";
import { CancelDialog, type Cancelling } from "../../trading/cancel-dialog.tsx";
import { ChartLink } from "../../trading/links.tsx";
import { Badge, Missing, StaleBadge } from "../../ui/badge.tsx";
import { Card, EmptyState, Placeholder, QueryState, together } from "../../ui/card.tsx";
import { compare, magnitude, signOf } from "../../ui/figures/decimals.ts";
import { Amount, Countdown, Facts, fact, Price, SignedAmount } from "../../ui/figures/figures.tsx";
import { Meter } from "../../ui/figures/meter.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { type AtMark, atMark } from "./positions/at-mark.ts";
import { Balances } from "./positions/balances.tsx";
import { LegTable, legInWords } from "./positions/leg-table.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const title = strategy?.type === "SPOT" ? "Balances" : "Positions";
  return (
    <>
      <PageHeader
        title={title}
        documentTitle={`${title}, ${strategy?.name ?? strategyId}`}
        lead={
          strategy?.type === "SPOT"
            ? "Assets of the strategy. Locked amounts are reserved by open orders."
            : undefined
        }
      />
      {strategy === undefined && <Placeholder lines={5} />}
      {strategy?.type === "SPOT" && <Balances strategyId={strategyId} title="By asset" />}
      {strategy?.type === "FUTURES" && (
        <FuturesPositions strategyId={strategyId} canCancel={strategy.status !== "CLOSED"} />
      )}
    </>
  );
}

// The positions of a futures strategy, what protects them, and its wallet.

function FuturesPositions({ strategyId, canCancel }: { strategyId: string; canCancel: boolean }) {
  const positions = useQuery(positionsQuery(strategyId));
  const legs = useQuery(legsQuery(strategyId, { state: "open" }));
  const balances = useQuery(balancesQuery(strategyId));
  const live = useEquity();
  const parts =
    live === null || balances.data === undefined || positions.data === undefined
      ? null
      : shownParts({ balances: balances.data.rows, positions: positions.data.rows }, live);
  const [cancelling, setCancelling] = useState<Cancelling | null>(null);
  const onCancel = canCancel ? (leg: LegJson) => setCancelling(cancellingOf(leg)) : undefined;
  const armed = legs.data?.rows.filter(({ status }) => status !== "PENDING");
  const pending = legs.data?.rows.filter(({ status }) => status === "PENDING") ?? [];
  return (
    <div className="flex flex-col gap-5">
      <QueryState of={{ ...together(positions, legs), data: positions.data }} lines={6} />
      {positions.data?.rows.length === 0 && (
        <Card isFlush>
          <EmptyState title="No open positions.">
            A position opens with the first fill. Its liquidation price, margin and funding then show here,
            live.
          </EmptyState>
        </Card>
      )}
      {positions.data?.rows.map((position) => (
        <PositionCard
          key={position.symbol}
          position={position}
          mark={live?.prices.get(position.symbol)?.mark ?? null}
          shownUnrealized={parts?.gains.get(position.symbol) ?? null}
          legs={legsOf(position, armed, legs.data?.next === null)}
          onCancel={onCancel}
        />
      ))}
      {pending.length > 0 && (
        <Card title="Take profits and stop losses of open orders" isFlush>
          <LegTable
            caption="Take profits and stop losses of open orders"
            rows={pending}
            onCancel={onCancel}
            hasSymbol
          />
        </Card>
      )}
      <Balances strategyId={strategyId} title="Wallet" shownTotal={parts?.wallet} />
      <CancelDialog strategyId={strategyId} cancelling={cancelling} onClose={() => setCancelling(null)} />
    </div>
  );
}

/** The legs of a position: where not all that are armed are loaded, those that it came with count as well. */
function legsOf(position: PositionJson, armed: readonly LegJson[] | undefined, areAll: boolean) {
  const own = armed?.filter(({ symbol }) => symbol === position.symbol) ?? [];
  if (armed !== undefined && areAll) return own;
  return [...new Map([...position.legs, ...own].map((leg) => [leg.legId, leg])).values()];
}

function cancellingOf(leg: LegJson): Cancelling {
  return {
    kind: "legs",
    id: leg.legId,
    noun: leg.kind === "TAKE_PROFIT" ? "take profit" : "stop loss",
    summary: `${legInWords(leg)}. The ${leg.status === "PENDING" ? "order" : "position"} stays open without it.`,
  };
}

// One position of a futures strategy, at the mark price as it comes in: what it is worth, and how far it is
// from liquidation.

/** Margin ratios, per cent, from which on there is a warning, and an alarm. */
const HIGH_PERCENT = "50";
const VERY_HIGH_PERCENT = "80";

type PositionCardProps = {
  position: PositionJson;
  /**
   * The mark price that the page's equity is computed with; null while it has none newer than the server's.
   */
  mark: string | null;
  /**
   * What it has gained, rounded so that it adds up with the other parts of the equity; null while there is
   * none.
   */
  shownUnrealized: string | null;
  legs: readonly LegJson[];
  onCancel: ((leg: LegJson) => void) | undefined;
};

function PositionCard({ position, mark, shownUnrealized, legs, onCancel }: PositionCardProps) {
  const { symbol, quantity, leverage } = position;
  const heard = useHeardPrice("FUTURES", symbol);
  const staleSince = useStaleSince({ kind: "prices", family: "FUTURES", symbol });
  const now = atMark(position, mark);
  const isLong = signOf(quantity) > 0;
  const { data: symbols } = useSymbols("FUTURES");
  const tick = symbols?.rows.find((row) => row.symbol === symbol)?.tickSize;
  // A mark has more digits than any price that can be traded at.
  const markDecimals = tick === undefined ? {} : { decimals: decimalsOfStep(tick) };
  return (
    <Card
      title={symbol}
      aside={
        <span className="flex flex-wrap items-center gap-2">
          <StaleBadge since={staleSince} />
          <Badge tone={isLong ? "gain" : "loss"}>
            {isLong ? "Long" : "Short"} {leverage}×
          </Badge>
          <ChartLink symbol={symbol}>Chart</ChartLink>
        </span>
      }
    >
      <div className="flex flex-col gap-5">
        <Facts
          facts={[
            fact("Size", <Amount value={magnitude(quantity)} />),
            fact("Value at mark", <Amount value={now.notional} decimals={2} asset="USDT" />),
            fact(
              "Unrealized",
              <>
                <SignedAmount value={shownUnrealized ?? now.unrealised} decimals={2} asset="USDT" />
                {now.returnPercent !== null && (
                  <span className="numeric text-ink-soft text-sm"> ({now.returnPercent} % of margin)</span>
                )}
              </>,
            ),
            fact("Entry price", <Price value={position.entryPrice} />),
            fact("Mark price", <Price value={now.mark} {...markDecimals} />),
            fact("Break-even price", <Price value={position.breakEvenPrice} />),
            fact("Margin (isolated)", <Amount value={position.isolatedMargin} decimals={2} asset="USDT" />),
            fact("Next funding in", <NextFunding at={position.nextFundingAt} heard={heard} />),
          ]}
        />
        <Liquidation position={position} now={now} />
        {legs.length > 0 && (
          <div className="-mx-4 -mb-4 border-line border-t">
            <LegTable caption={`Take profits and stop losses of ${symbol}`} rows={legs} onCancel={onCancel} />
          </div>
        )}
        {legs.length === 0 && (
          <p className="text-ink-soft text-sm">No take profit and no stop loss are set for this position.</p>
        )}
      </div>
    </Card>
  );
}

function Liquidation({ position, now }: { position: PositionJson; now: AtMark }) {
  const { liquidationPrice } = position;
  const { distancePercent, marginRatioPercent, maintenanceMargin, marginBalance } = now;
  if (liquidationPrice === null) {
    return <p className="text-ink-soft text-sm">Its margin covers any price: it can't be liquidated.</p>;
  }
  if (distancePercent === null || marginRatioPercent === null) {
    return (
      <p className="text-sm">
        Liquidation price <Price value={liquidationPrice} />. The margin ratio shows with the next mark price.
      </p>
    );
  }
  const isVeryHigh = compare(marginRatioPercent, VERY_HIGH_PERCENT) >= 0;
  const isHigh = compare(marginRatioPercent, HIGH_PERCENT) >= 0;
  const isLong = signOf(position.quantity) > 0;
  return (
    <Meter
      label={`Margin ratio${isVeryHigh ? ": liquidation is very near" : isHigh ? ": liquidation is near" : ""}`}
      filled={Number(marginRatioPercent) / 100}
      value={`${marginRatioPercent} %`}
      tone={isVeryHigh ? "loss" : isHigh ? "warn" : "accent"}
    >
      <p className="mt-1 text-ink-soft text-sm">
        Maintenance margin <Amount value={maintenanceMargin} decimals={2} asset="USDT" /> ÷ margin balance{" "}
        <Amount value={marginBalance} decimals={2} asset="USDT" />. Liquidated at 100 %: when the mark price{" "}
        {isLong ? "falls" : "rises"} to <Price value={liquidationPrice} />,{" "}
        <span className="numeric">{distancePercent} %</span> {isLong ? "below" : "above"} the mark price now.
      </p>
    </Meter>
  );
}

/** The countdown to the next funding, by the market time of the last price. */
function NextFunding({ at, heard }: { at: number | null; heard: HeardPrice | null }) {
  if (at === null) return <Missing />;
  const behind = heard === null ? 0 : heard.heardAt - heard.price.at;
  return <Countdown until={at + behind} over="being settled" />;
}
