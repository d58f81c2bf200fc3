// A strategy's last orders scaled to an account as it is now: what would have been copied, or skipped and why. The sizes are those of
// `copy/scaling/`, so that nothing is reckoned a second way: also what a copy there has bought already is worked with.
import { worthOfHoldings } from "../copy/scaling/equity.ts";
import { type PreviewRow, previewOrders } from "../copy/scaling/preview.ts";
import {
  COPY_QUOTE_ASSET,
  type CopyBook,
  type CopySettings,
  type LeadAction,
  type VenueAccount,
} from "../domain/copying.ts";
import { type Amount, add, divideDown, formatBriefly, SCALE, ZERO } from "../money/decimal.ts";
import { pricesOf } from "./copy-drift.ts";
import type { DashboardParts } from "./parts.ts";
import { presentSkip } from "./present/copying-entries.ts";
import type { PreviewRowShape, PreviewShape } from "./shapes.ts";

/** Actions that are gone through, the newest, */
const ACTIONS_LOOKED_AT = 400;
/** and orders of them that are shown. */
const ROWS_SHOWN_MAX = 50;

const NO_TRADES = { lastPrices: new Map() };

type Parts = Pick<DashboardParts, "gateway" | "copying" | "prices">;
type Asked = {
  readonly strategyId: string;
  readonly account: VenueAccount;
  readonly settings: CopySettings;
  /** Of the copy of this strategy that the account serves; empty if it serves none. */
  readonly holdings: CopyBook["holdings"];
};

/** Newest first. Throws as `Copying.funds` does. */
export async function previewOf(
  parts: Parts,
  { strategyId, account, settings, holdings }: Asked,
): Promise<PreviewShape> {
  const { gateway, copying } = parts;
  const { wallet } = await copying.funds(account);
  const { family } = account;
  const newest = await gateway.store.copying.listRecentActions(strategyId, { limit: ACTIONS_LOOKED_AT });
  const symbols = newest.flatMap((action) => ("symbol" in action ? [action.symbol] : []));
  const told = await copying.rulesOf(account, symbols);
  const market = gateway.markets[family];
  const held = family === "FUTURES" ? ZERO : worthOf(parts, holdings, newest[0]);
  const whole = add(wallet, held);
  const rows = previewOrders({
    family,
    actions: newest.toReversed(),
    worked: whole,
    settings,
    // What the venue does not tell of in time is taken from our own market: null alone means that it is not listed.
    rulesOf: (symbol) => {
      const found = told.get(symbol);
      return found === undefined ? market.rules(symbol) : found;
    },
  })
    .toReversed()
    .slice(0, ROWS_SHOWN_MAX)
    .map(presentRow);
  const copied = rows.filter(({ skip }) => skip === null).length;
  return {
    rows,
    copied,
    skipped: rows.length - copied,
    wallet: formatBriefly(wallet),
    held: formatBriefly(held),
    used: formatBriefly(divideDown(whole * settings.share, SCALE) as Amount),
    asset: COPY_QUOTE_ASSET,
  };
}

/** At the prices of here, which orders that are yet to come are not sized by: those are the venue's. */
function worthOf(
  parts: Parts,
  holdings: CopyBook["holdings"],
  newest: Pick<LeadAction, "lead"> | undefined,
): Amount {
  const prices = pricesOf(parts, "SPOT", new Set(holdings.keys()));
  return worthOfHoldings(holdings, prices, newest?.lead ?? NO_TRADES);
}

function presentRow({ action, scaled, notional, isExit }: PreviewRow): PreviewRowShape {
  const isSized = scaled.kind === "SIZED";
  return {
    collectiveId: action.collectiveId,
    at: action.at,
    symbol: action.symbol,
    side: action.side,
    orderType: action.orderType,
    leadQuantity: formatBriefly(action.quantity),
    scaledQuantity: formatBriefly(scaled.scaledQuantity ?? 0n),
    quantity: isSized ? formatBriefly(scaled.quantity) : null,
    notional: notional === null ? null : formatBriefly(notional),
    isExit,
    skip: isSized ? null : presentSkip(scaled.skip, action.symbol),
  };
}
