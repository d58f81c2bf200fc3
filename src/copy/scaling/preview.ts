// A strategy's last orders, scaled to an account as it is now: copied, or skipped and why. The account follows on paper, so
// that what is sold was bought before; prices are those of then, rules those of now.
import type { StrategyType } from "../../domain/account.ts";
import type { CopySettings, LeadAction, LeadPlacement } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { type Amount, proceedsDown, ZERO } from "../../money/decimal.ts";
import { priceOf, type VenuePrices } from "./equity.ts";
import { PaperBook } from "./paper-book.ts";
import { isReduction, type Sized, scaleOrder, type Unsized } from "./scale-order.ts";

export type PreviewRow = {
  readonly action: LeadAction & LeadPlacement;
  readonly scaled: Sized | Unsized;
  /** What the order would be worth, at its limit or the market's price of then; null if it is skipped, or no price is known. */
  readonly notional: Amount | null;
  /** Whether it only sells, reduces or closes what the strategy holds. */
  readonly isExit: boolean;
};

export type PreviewInput = {
  readonly family: StrategyType;
  /** Oldest first. Of all kinds: fills and cancels are followed too. */
  readonly actions: readonly LeadAction[];
  /** What there is to work with: the account's quote asset, and on spot what a copy on it holds already. */
  readonly worked: Amount;
  readonly settings: CopySettings;
  /** The venue's; null for what it does not list. */
  readonly rulesOf: (symbol: string) => SymbolRules | null;
};

/** What the last prices say is enough: the prices of now are not those of then. */
const NO_PRICES: VenuePrices = new Map();

/** A row for each order that was placed, oldest first. */
export function previewOrders(input: PreviewInput): readonly PreviewRow[] {
  const { family, actions, worked, settings } = input;
  const [first] = actions;
  if (first === undefined) return [];
  const placements = actions.filter((action) => action.kind === "PLACE");
  const book = new PaperBook(family, { wallet: worked, settings, lead: first.lead, placements });
  return actions.flatMap((action) => {
    if (action.kind === "PLACE") return [previewOf(input, book, action)];
    follow(book, action);
    return [];
  });
}

function previewOf(
  { family, settings, rulesOf }: PreviewInput,
  book: PaperBook,
  action: LeadAction & LeadPlacement,
): PreviewRow {
  const { symbol, lead, price, filled } = action;
  const scaled = scaleOrder({
    family,
    placement: action,
    lead,
    settings,
    holdings: book.holdings,
    wallet: book.wallet,
    available: book.available,
    restingWorth: family === "SPOT" ? book.restingWorth : ZERO,
    restingOnSymbol: book.restingOn(symbol),
    accountHeld: family === "SPOT" ? book.held(symbol) : ZERO,
    rules: rulesOf(symbol),
    prices: NO_PRICES,
    opensNot: null,
  });
  const isExit = isReduction(family, action, lead);
  if (scaled.kind === "SKIPPED") return { action, scaled, notional: null, isExit };
  book.place(action, scaled);
  const measured = price > 0n ? price : (filled?.price ?? priceOf(symbol, NO_PRICES, lead));
  const worth = measured === null ? null : proceedsDown(measured, scaled.quantity);
  return { action, scaled, notional: worth, isExit };
}

function follow(book: PaperBook, action: LeadAction): void {
  if (action.kind === "FILL") book.fill(action.orderId, action.filled);
  if (action.kind === "CANCEL") book.cancel(action.orderId);
  if (action.kind === "FIRE_LEG" || action.kind === "LIQUIDATE")
    book.closePosition(action.symbol, action.filled.price);
}
