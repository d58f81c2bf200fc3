// A strategy that may be copied: how it did, how large an account has to be, and the way to copy it with a
// preview of that.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { OfferDetailJson, SmallestBalances } from "../../../../src/dashboard-api/schemas.ts";
import { isApiError } from "../../api/call.ts";
import { offerQuery } from "../../api/copying.ts";
import { useSession } from "../../api/session.ts";
import { curveOf } from "../../copying/offer-curve.ts";
import { counted, TYPE_NAMES } from "../../copying/words.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { Age, Badge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, EmptyState, QueryState } from "../../ui/card.tsx";
import { magnitude } from "../../ui/figures/decimals.ts";
import { Amount, Facts, fact, Percent } from "../../ui/figures/figures.tsx";
import { Instead, Screen } from "../../ui/page-header.tsx";
import { EquityCurves } from "../strategy/overview/equity-curves.tsx";
import { CopyCard } from "./offer/copy-card.tsx";

const route = getRouteApi("/copying/strategies/$strategyId");

export function Page() {
  const { strategyId } = route.useParams();
  const { server } = useSession();
  const query = useQuery(offerQuery(strategyId));
  const { data: offer, error } = query;
  if (offer === undefined) {
    if (isApiError(error, "NOT_FOUND")) return <NotOnOffer />;
    return (
      <Screen title="Strategy">
        <QueryState of={query} lines={12} />
      </Screen>
    );
  }
  return (
    <Screen
      title={offer.name}
      badge={<Badge>{TYPE_NAMES[offer.type]}</Badge>}
      actions={
        <ButtonLink to="/copying/strategies" kind="quiet">
          All strategies
        </ButtonLink>
      }
    >
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card title={`Equity of its virtual account, ${MARKET_KINDS[server.market].prices}`} isFlush>
          {offer.equity.length < 2 ? (
            <EmptyState title="No history yet.">The curve starts with its first trade.</EmptyState>
          ) : (
            <EquityCurves performance={curveOf(offer.equity)} />
          )}
        </Card>
        <div className="flex min-w-0 flex-col gap-5">
          <Figures offer={offer} />
          <SmallestCard smallest={offer.smallestBalances} />
        </div>
      </div>
      <CopyCard offer={offer} />
    </Screen>
  );
}

function Figures({ offer }: { offer: OfferDetailJson }) {
  const { performance, copiers, createdAt, symbols } = offer;
  return (
    <Card title="Results">
      <Facts
        facts={[
          fact("Return", <Percent rate={performance?.returnRate} isSigned />),
          fact("Largest drawdown", performance && <Percent rate={magnitude(performance.maxDrawdown)} />),
          fact("Over", performance && lengthInWords(performance.days)),
          fact("Trades", performance?.trades.toLocaleString("en-GB")),
          fact("Trades won", <Percent rate={performance?.winRate} decimals={1} />),
          fact("Age", <Age since={createdAt} />),
          fact("Copiers now", copiers.toLocaleString("en-GB")),
          fact("Symbols", symbols.length === 0 ? null : symbols.join(", ")),
        ]}
      />
      {performance === null && (
        <p className="mt-3 text-ink-soft text-sm">It is too young for meaningful figures.</p>
      )}
    </Card>
  );
}

function lengthInWords(days: number): string {
  return days < 1 ? "less than a day" : counted(days, "day");
}

function NotOnOffer() {
  return (
    <Instead
      title="This strategy can’t be copied now"
      why="Its trader closed it, or closed it to new copiers. If it was only closed to new copiers, running copies continue."
      to="/copying/strategies"
      action="Show other strategies"
    />
  );
}

// How large an account has to be so that what the strategy orders is not too small for the exchange.

function SmallestCard({ smallest }: { smallest: SmallestBalances | null }) {
  return (
    <Card title="Smallest balance for the exchange’s order minimums">
      {smallest === null ? (
        <p className="text-ink-soft">The strategy has placed too few orders for this.</p>
      ) : (
        <>
          <dl className="grid grid-cols-[auto_auto] justify-start gap-x-6 gap-y-1">
            {(
              [
                ["all orders large enough", smallest.all],
                ["95 % large enough", smallest.most],
                ["80 % large enough", smallest.many],
              ] as const
            ).map(([label, value]) => (
              <div key={label} className="contents">
                <dt className="text-ink-soft">{label}</dt>
                <dd className="text-right font-medium">
                  <Amount value={value} decimals={2} asset="USDT" />
                </dd>
              </div>
            ))}
          </dl>
          <p className="mt-3 text-ink-soft text-sm">
            Calculated from the strategy’s last {counted(smallest.orders, "order")}, with a share of 100 %.
            With a share of 50 % you need twice as much. An order that is too small for the exchange after
            scaling is skipped and logged, never made larger. A large balance does not guarantee a copy: exits
            of what the strategy held before you started are skipped whatever your balance is.
          </p>
        </>
      )}
    </Card>
  );
}
