// One position of a futures strategy, at the mark price as it comes in: what it is worth, and how far it is
// from liquidation.
import type { LegJson, PositionJson } from "../../../../../src/dashboard-api/schemas.ts";
import { useStaleSince } from "../../../live/use-live.ts";
import { type HeardPrice, usePrice } from "../../../live/use-price.ts";
import { decimalsOfStep, useSymbols } from "../../../markets/markets.ts";
import { ChartLink } from "../../../trading/links.tsx";
import { Badge, Missing, StaleBadge } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { Amount, Price, SignedAmount } from "../../../ui/figures/amounts.tsx";
import { compare, magnitude, signOf } from "../../../ui/figures/decimals.ts";
import { Facts } from "../../../ui/figures/facts.tsx";
import { Meter } from "../../../ui/figures/meter.tsx";
import { Countdown } from "../../../ui/figures/time.tsx";
import { type AtMark, atMark } from "./at-mark.ts";
import { LegTable } from "./leg-table.tsx";

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

export function PositionCard({ position, mark, shownUnrealized, legs, onCancel }: PositionCardProps) {
  const { symbol, quantity, leverage } = position;
  const heard = usePrice("FUTURES", symbol);
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
            { label: "Size", value: <Amount value={magnitude(quantity)} /> },
            { label: "Value at mark", value: <Amount value={now.notional} decimals={2} asset="USDT" /> },
            {
              label: "Unrealized",
              value: (
                <>
                  <SignedAmount value={shownUnrealized ?? now.unrealised} decimals={2} asset="USDT" />
                  {now.returnPercent !== null && (
                    <span className="numeric text-ink-soft text-sm"> ({now.returnPercent} % of margin)</span>
                  )}
                </>
              ),
            },
            { label: "Entry price", value: <Price value={position.entryPrice} /> },
            { label: "Mark price", value: <Price value={now.mark} {...markDecimals} /> },
            { label: "Break-even price", value: <Price value={position.breakEvenPrice} /> },
            {
              label: "Margin (isolated)",
              value: <Amount value={position.isolatedMargin} decimals={2} asset="USDT" />,
            },
            { label: "Next funding in", value: <NextFunding at={position.nextFundingAt} heard={heard} /> },
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
