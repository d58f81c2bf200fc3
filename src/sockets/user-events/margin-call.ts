// Margin calls: a warning that the mark price has used up most of a position's margin. It is sent when the
// ratio of maintenance margin to margin rises to the limit, and again only after it has fallen below it.
// Source: reference sockets, section 7.5; the limit is ours, since the exchange publishes none.
import type { Account } from "../../domain/account.ts";
import { type MarkedMarket, presentRisk, standingOf } from "../../http/present/futures-positions.ts";
import { type UserEvent, userEvent } from "./event.ts";

/** Of 100 parts of the margin that maintenance takes. */
const LIMIT_PERCENT = 80n;

/** Symbols of which a call was sent, and whose ratio has not fallen since. */
export type CalledSymbols = ReadonlySet<string>;

/**
 * The margin call of a futures account at the present mark prices, at a time in Unix ms, if one is due; with
 * the symbols that have been called by now.
 */
export function marginCall(
  account: Account,
  called: CalledSymbols,
  { market, now }: { readonly market: MarkedMarket; readonly now: number },
): { readonly event: UserEvent | null; readonly called: CalledSymbols } {
  const symbols = [...account.positions.keys()];
  // Without a mark price nothing is known of the margin.
  const unknown = symbols.filter((symbol) => market.lastMarkPrice(symbol) === null);
  const short = symbols
    .filter((symbol) => !unknown.includes(symbol))
    .map((symbol) => standingOf(account, symbol, market))
    .filter(({ isolatedMargin, maintenanceMargin }) => isShort(isolatedMargin, maintenanceMargin));
  const fresh = short.filter(({ symbol }) => !called.has(symbol));
  const rows = fresh.map((standing) => {
    const risk = presentRisk(standing);
    return {
      s: risk.symbol,
      ps: risk.positionSide,
      pa: risk.positionAmt,
      mt: risk.marginType.toUpperCase(),
      iw: risk.isolatedWallet,
      mp: risk.markPrice,
      up: risk.unRealizedProfit,
      mm: risk.maintMargin,
    };
  });
  return {
    event: rows.length === 0 ? null : userEvent({ e: "MARGIN_CALL", E: now, p: rows }),
    called: new Set([
      ...short.map(({ symbol }) => symbol),
      ...unknown.filter((symbol) => called.has(symbol)),
    ]),
  };
}

function isShort(margin: bigint, maintenance: bigint): boolean {
  return maintenance * 100n >= margin * LIMIT_PERCENT;
}
