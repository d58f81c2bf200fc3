// A strategy's last orders scaled to an account as it is now: what would have been copied, or skipped and why. The sizes are those of
// `copy/scaling/`, so that nothing is reckoned a second way.
import { type PreviewRow, previewOrders } from "../copy/scaling/preview.ts";
import { COPY_QUOTE_ASSET, type CopySettings, type VenueAccount } from "../domain/copying.ts";
import { type Amount, divideDown, formatBriefly, SCALE } from "../money/decimal.ts";
import type { DashboardParts } from "./parts.ts";
import { presentSkip } from "./present/copying-entries.ts";
import type { PreviewRowShape, PreviewShape } from "./shapes.ts";

/** Actions that are gone through, the newest, */
const ACTIONS_LOOKED_AT = 400;
/** and orders of them that are shown. */
const ROWS_SHOWN_MAX = 50;

type Parts = Pick<DashboardParts, "gateway" | "copying">;
type Asked = {
  readonly strategyId: string;
  readonly account: VenueAccount;
  readonly settings: CopySettings;
};

/** Newest first. Throws as `Copying.funds` does. */
export async function previewOf(
  { gateway, copying }: Parts,
  { strategyId, account, settings }: Asked,
): Promise<PreviewShape> {
  const { wallet } = await copying.funds(account);
  const { family } = account;
  const newest = await gateway.store.copying.listRecentActions(strategyId, { limit: ACTIONS_LOOKED_AT });
  const symbols = newest.flatMap((action) => ("symbol" in action ? [action.symbol] : []));
  const told = await copying.rulesOf(account, symbols);
  const market = gateway.markets[family];
  const rows = previewOrders({
    family,
    actions: newest.toReversed(),
    wallet,
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
    used: formatBriefly(divideDown(wallet * settings.share, SCALE) as Amount),
    asset: COPY_QUOTE_ASSET,
  };
}

function presentRow({ action, scaled, notional }: PreviewRow): PreviewRowShape {
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
    skip: isSized ? null : presentSkip(scaled.skip, action.symbol),
  };
}
