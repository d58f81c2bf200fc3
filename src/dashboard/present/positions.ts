// Open positions as the browser gets them: the same standing that bots are shown, and how far it is to the liquidation.
import type { Account } from "../../domain/account.ts";
import { bracketOf } from "../../engine/futures/margin.ts";
import { standingOf } from "../../http/present/futures-positions.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import { divideDown, formatBriefly, magnitude, type Price, SCALE, subtract } from "../../money/decimal.ts";
import type { LastPrices } from "../last-prices.ts";
import type { PositionShape } from "../shapes.ts";
import { presentLeg } from "./orders.ts";

export function presentPositions(
  account: Account,
  { market, prices }: { readonly market: MarketFeed; readonly prices: LastPrices },
): readonly PositionShape[] {
  return [...account.positions.keys()].map((symbol) => {
    const known = prices.of("FUTURES", symbol);
    const mark = known?.price ?? null;
    // Of the one price that is shown, whatever has come meanwhile.
    const standing = standingOf(account, symbol, { rules: market.rules, lastMarkPrice: () => mark });
    const { liquidationPrice: liquidation } = standing;
    const terms = market.rules(symbol)?.contract ?? null;
    return {
      symbol,
      quantity: formatBriefly(standing.quantity),
      entryPrice: formatBriefly(standing.entryPrice),
      markPrice: orNull(mark),
      breakEvenPrice: formatBriefly(standing.breakEvenPrice),
      unrealised: mark === null ? null : formatBriefly(standing.profit),
      isolatedMargin: formatBriefly(standing.isolatedMargin),
      leverage: standing.leverage,
      notional: mark === null ? null : formatBriefly(standing.notional),
      liquidationPrice: liquidation === 0n ? null : formatBriefly(liquidation),
      liquidationDistance:
        mark === null || mark === 0n || liquidation === 0n
          ? null
          : formatBriefly(divideDown(magnitude(subtract(mark, liquidation)) * SCALE, mark)),
      maintenance:
        mark === null || terms === null
          ? null
          : {
              margin: formatBriefly(standing.maintenanceMargin),
              rate: formatBriefly(bracketOf(standing.notional, terms).maintenanceRate),
            },
      nextFundingAt: market.nextFundingAt(symbol),
      legs: [...account.openLegs.values()]
        .filter((leg) => leg.symbol === symbol && leg.status === "NEW")
        .map(presentLeg),
      pricedAt: known?.at ?? null,
    };
  });
}

function orNull(price: Price | null): string | null {
  return price === null ? null : formatBriefly(price);
}
