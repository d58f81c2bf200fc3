// A strategy's last orders scaled to an account as it is now: what would have been copied, or skipped and
// why; what a copy would open of the strategy's holdings; and the worst that the settings permit. The sizes
// are those of `copy/sizing/`, so that nothing is computed a second way; holdings of a copy that the account
// serves already count too. A person without a copy that follows the strategy gets rounded sizes, and none of
// the strategy's own: exact sizes and the ratio together would reveal its holdings.
import type { z } from "zod";
import { leadStateOf } from "../../copy/leads/actions.ts";
import { driftOf } from "../../copy/sizing/drift.ts";
import { type PreviewRow, previewOrders } from "../../copy/sizing/preview.ts";
import { symbolsHeld, workedWith, worthOfHoldings } from "../../copy/sizing/proportion.ts";
import { worstCase, worstCaseWords } from "../../copy/sizing/worst-case.ts";
import type { VenueBalances } from "../../copy/venue/venue.ts";
import type { Account } from "../../domain/account.ts";
import {
  COPY_QUOTE_ASSET,
  type CopyBook,
  type CopySettings,
  EMPTY_BOOK,
  type LeadAction,
  type LeadState,
  type Skip,
  type VenueAccount,
} from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { leverageOf } from "../../engine/futures/margin.ts";
import {
  type Amount,
  add,
  ceilToDigits,
  floorToDigits,
  proceedsDown,
  type Quantity,
  ZERO,
} from "../../money/decimal.ts";
import type { DashboardParts } from "../parts.ts";
import type { previewSchema } from "../schemas/copies.ts";
import { pricesOf } from "./copy-drift.ts";
import { skipAnswer } from "./entries.ts";

/** The newest actions, which are read, */
const ACTIONS_READ = 400;
/** and the orders of them that are shown. */
const ROWS_SHOWN_MAX = 50;

/** The digits that are left of a size for a person who does not copy the strategy. */
const ROUNDED_DIGITS = 2;

const NO_TRADES = { lastPrices: new Map() };

type Preview = z.output<typeof previewSchema>;
type Parts = Pick<DashboardParts, "gateway" | "copying" | "prices">;
type Asked = {
  readonly strategyId: string;
  readonly account: VenueAccount;
  readonly settings: CopySettings;
  /** Of the copy of this strategy that the account serves; empty if it serves none. */
  readonly holdings: CopyBook["holdings"];
  /** Whether the person has a copy that follows the strategy: others get rounded sizes. */
  readonly isExact: boolean;
};

/** Newest first. Throws as `Copying.funds` does. */
export async function previewOf(
  parts: Parts,
  { strategyId, account, settings, holdings, isExact }: Asked,
): Promise<Preview> {
  const { gateway, copying } = parts;
  const balances = await copying.funds(account);
  const { wallet } = balances;
  const { type } = account;
  const [newest, loaded] = await Promise.all([
    gateway.store.copying.listRecentActions(strategyId, { limit: ACTIONS_READ }),
    gateway.store.loadAccount(strategyId),
  ]);
  const lead = loaded === null ? null : leadStateOf(loaded.account, newest[0] ?? null);
  const holds = lead === null ? [] : symbolsHeld(type, lead);
  const ordered = newest.flatMap((action) => ("symbol" in action ? [action.symbol] : []));
  const symbols = new Set([...ordered, ...holds]);
  const told = await copying.rulesOf(account, symbols);
  const market = gateway.markets[type];
  // What the venue does not tell of in time is taken from our own market: null alone means that it is not
  // listed.
  const rulesOf = (symbol: string) => {
    const found = told.get(symbol);
    return found === undefined ? market.rules(symbol) : found;
  };
  const held = type === "FUTURES" ? ZERO : worthOf(parts, holdings, newest[0]);
  const whole = add(wallet, held);
  const rows = previewOrders({
    type,
    actions: newest.toReversed(),
    worked: whole,
    settings,
    rulesOf,
  })
    .toReversed()
    .slice(0, ROWS_SHOWN_MAX)
    .map((row) => rowAnswer(row, isExact));
  const copied = rows.filter(({ skip }) => skip === null).length;
  const present =
    loaded === null || lead === null
      ? []
      : heldNow(parts, { account: loaded.account, lead, balances, settings, holdings, rulesOf });
  return {
    isRounded: !isExact,
    rows,
    copied,
    skipped: rows.length - copied,
    wallet,
    held,
    used: workedWith(settings, whole),
    asset: COPY_QUOTE_ASSET,
    holds: isExact ? present : present.map((each) => ({ ...each, ...rounded(each) })),
    worst: worstOf(
      { account: loaded?.account ?? null, type, settings, equity: workedWith(settings, whole) },
      {
        symbols,
        rulesOf,
      },
    ),
  };
}

type RulesOf = (symbol: string) => SymbolRules | null;

/**
 * What the strategy holds, with the order that would open it for the copy: as a repair that may open does.
 */
function heldNow(
  parts: Parts,
  of: {
    readonly account: Account;
    readonly lead: LeadState;
    readonly balances: VenueBalances;
    readonly settings: CopySettings;
    readonly holdings: CopyBook["holdings"];
    readonly rulesOf: RulesOf;
  },
): readonly (Pick<Preview["holds"][number], "symbol" | "side"> & Sizes)[] {
  const { account, lead, balances, settings, holdings, rulesOf } = of;
  const { type, leverages } = account;
  const { wallet, available } = balances;
  const held = new Map([...holdings].map(([symbol, { quantity }]) => [symbol, quantity]));
  const snapshot = { at: 0, wallet, available, equity: wallet, held };
  const symbols = symbolsHeld(type, lead);
  const prices = pricesOf(parts, type, new Set([...symbols, ...holdings.keys()]));
  const chosen = symbols.flatMap((symbol) => {
    const contract = rulesOf(symbol)?.contract ?? null;
    return contract === null ? [] : [[symbol, leverageOf({ leverages }, symbol, contract)] as const];
  });
  return driftOf({
    ...{ type, lead, settings, rulesOf, prices },
    leadAtStart: null,
    book: { ...EMPTY_BOOK, holdings, snapshot },
    isPending: false,
    entries: [],
    leverages: new Map(chosen),
  })
    .filter((row) => row.lead !== 0n)
    .map((row) => {
      const price = prices.get(row.symbol) ?? lead.lastPrices.get(row.symbol) ?? null;
      const quantity = row.increase?.quantity ?? null;
      const notional = quantity === null || price === null ? null : proceedsDown(price, quantity);
      return { symbol: row.symbol, side: row.lead > 0n ? "BUY" : "SELL", quantity, notional };
    });
}

/**
 * Of the contracts that the strategy holds or has ordered of late, at the leverage that it has chosen for
 * each.
 */
function worstOf(
  of: {
    readonly account: Account | null;
    readonly type: VenueAccount["type"];
    readonly settings: CopySettings;
    readonly equity: Amount;
  },
  { symbols, rulesOf }: { readonly symbols: ReadonlySet<string>; readonly rulesOf: RulesOf },
): Preview["worst"] {
  const { account, type, settings, equity } = of;
  const contracts = [...symbols].flatMap((symbol) => {
    const rules = rulesOf(symbol);
    if (account === null || rules === null || rules.contract === null) return [];
    return [{ rules, leverage: leverageOf(account, symbol, rules.contract) }];
  });
  const worst = worstCase({ type, settings, equity, contracts });
  return { ...worst, words: worstCaseWords(worst, { type, settings }) };
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

function rowAnswer(
  { action, scaled, notional, isExit }: PreviewRow,
  isExact: boolean,
): Preview["rows"][number] {
  const isSized = scaled.kind === "SIZED";
  const sizes = { quantity: isSized ? scaled.quantity : null, notional };
  const skip = isSized ? null : scaled.skip;
  return {
    ...action,
    leadQuantity: isExact ? action.quantity : null,
    scaledQuantity: isExact ? (scaled.scaledQuantity ?? 0n) : null,
    ...(isExact ? sizes : rounded(sizes)),
    isExit,
    skip: skip === null ? null : skipAnswer(isExact ? skip : roundedSkip(skip), action.symbol),
  };
}

type Sizes = { readonly quantity: Quantity | null; readonly notional: Amount | null };

function rounded({ quantity, notional }: Sizes): Sizes {
  return {
    quantity: quantity === null ? null : floorToDigits(quantity, ROUNDED_DIGITS),
    notional: notional === null ? null : floorToDigits(notional, ROUNDED_DIGITS),
  };
}

/**
 * Sizes in the figures are rounded away from each other, so that one still falls short of the other; counts
 * and prices stay.
 */
function roundedSkip(skip: Skip): Skip {
  const { wanted, had, unit, reason } = skip;
  if (wanted === null || had === null || unit === null || reason === "PRICE_UNFIT") return skip;
  return { ...skip, wanted: ceilToDigits(wanted, ROUNDED_DIGITS), had: floorToDigits(had, ROUNDED_DIGITS) };
}
