// Closes a spot strategy permanently: cancels its orders and sells its holdings to the quote asset at the
// market's price, in one decision and so one commit: a crash leaves the strategy as it was or closed. With a
// holding that trades the other way round, as TRY in USDTTRY, the quote asset is bought.
// A holding whose market is silent cannot be sold honestly now. The strategy is then CLOSING, which permits
// no writes, and the same command closes it later. Assets without a pair, and dust below a filter, stay and
// are shown. Source: specification 3.3; design, section 6 (strategy close).
import type { Account } from "../../domain/account.ts";
import type { Market } from "../../domain/market.ts";
import type { Order, Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { type Amount, asAmount, costUp, type Quantity, quantityFor } from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { Draft } from "../draft.ts";
import { failsAsMarket, onLot, referencePrice } from "../filters.ts";
import { ownOrder, placed } from "../new-order.ts";
import { seedOf } from "../open-strategy.ts";
import { canceled } from "../release.ts";
import { bestOpposite } from "../trigger.ts";
import { fillWhole } from "./fill.ts";
import { liquidate } from "./strict.ts";

/** Orders for one holding: it is cut to what the filters take in one order. */
const ORDERS_PER_HOLDING_MAX = 100;

export function closeStrategy(account: Account, circumstances: Circumstances): Decision {
  if (account.status === "CLOSED") return { refusal: "STRATEGY_CLOSED" };
  const { market, at } = circumstances;
  const draft = new Draft(account);
  for (const order of account.openOrders.values()) draft.add(canceled(order, at));
  let isWaiting = false;
  for (const { asset } of sellableHoldings(account, market)) {
    if (!sellAll(draft, asset, circumstances)) isWaiting = true;
  }
  if (!isWaiting) draft.add({ type: "StrategyClosed", at, postings: [] });
  else if (account.status === "LIVE") draft.add({ type: "StrategyClosing", at, postings: [] });
  return { events: draft.events };
}

/** The symbols at which the account's holdings may be sold, whether they are listed or not. */
export function symbolsOfHoldings(account: Account): string[] {
  return assetsOf(account).flatMap(symbolsOf);
}

/** What is held of an asset, and the order at the market's price that turns it into the quote asset. */
export type Holding = {
  readonly asset: string;
  readonly rules: SymbolRules;
  /** BUY where the pair is quoted in the asset. */
  readonly side: Side;
  /** Of the order, on the step of its lot; null for a purchase whose price is not known. */
  readonly quantity: Quantity | null;
  /** How much of the asset it takes. */
  readonly amount: Amount;
};

/** The account's holdings without dust: a close sells them, now or when the market has prices for them. */
export function sellableHoldings(account: Account, market: Market): readonly Holding[] {
  return assetsOf(account).flatMap((asset) => sellableHolding(account, asset, market) ?? []);
}

function assetsOf({ type, balances }: Account): string[] {
  const { asset: quoteAsset } = seedOf(type);
  return [...balances.keys()].filter((asset) => asset !== quoteAsset && ownedOf(balances, asset) > 0n);
}

/** The names of the pair of an asset and the quote asset, either way round. */
function symbolsOf(asset: string): readonly string[] {
  const { asset: quoteAsset } = seedOf("SPOT");
  return [`${asset}${quoteAsset}`, `${quoteAsset}${asset}`];
}

/** Null for dust, and for an asset that does not trade against the quote asset now. */
function sellableHolding({ balances }: Account, asset: string, market: Market): Holding | null {
  const rules = symbolsOf(asset)
    .map((symbol) => market.rules(symbol))
    .find((each) => each?.status === "TRADING" && each.isSpotTradingAllowed);
  if (rules == null || (rules.baseAsset !== asset && rules.quoteAsset !== asset)) return null;
  const owned = ownedOf(balances, asset);
  if (rules.baseAsset === asset) {
    const quantity = onLot(owned as bigint as Quantity, rules);
    const holding = { asset, rules, side: "SELL", quantity, amount: asAmount(quantity) } as const;
    return isSellable(holding, quantity, market) ? holding : null;
  }
  const price = market.quote(rules.symbol)?.ask ?? referencePrice("LAST", rules.symbol, "BUY", market);
  if (price === null) return { asset, rules, side: "BUY", quantity: null, amount: owned };
  const quantity = onLot(quantityFor(owned, price), rules);
  const holding = { asset, rules, side: "BUY", quantity, amount: costUp(price, quantity) } as const;
  return isSellable(holding, quantity, market) ? holding : null;
}

function isSellable({ rules, side }: Pick<Holding, "rules" | "side">, quantity: Quantity, market: Market) {
  return failsAsMarket(rules, { side, quantity: atMost(quantity, rules, side, market) }, market) === null;
}

/** Sells a holding, order by order; false if some of it waits for the market. */
function sellAll(draft: Draft, asset: string, circumstances: Circumstances): boolean {
  const { market, at } = circumstances;
  for (let count = 0; count < ORDERS_PER_HOLDING_MAX; count += 1) {
    const holding = sellableHolding(draft.account, asset, market);
    if (holding === null) return true;
    const { rules, side, quantity } = holding;
    if (quantity === null) return false;
    const order = orderFor(draft.account, { rules, side, quantity }, circumstances);
    if (draft.account.profile.strict !== null) {
      if (liquidate(draft, order, rules, circumstances, (bought) => onLot(bought, rules))) continue;
      return false;
    }
    const quote = market.quote(rules.symbol);
    const price = quote && bestOpposite(side, quote);
    if (price === null) return false;
    draft.add(placed(order));
    draft.add(fillWhole(draft.account, order, { price, isMaker: false }, rules, at));
  }
  return true;
}

function orderFor(
  { profile, nextOrderId: orderId }: Account,
  { rules, side, quantity }: Pick<Holding, "rules" | "side"> & { readonly quantity: Quantity },
  { market, at }: Circumstances,
): Order {
  return ownOrder(profile, {
    orderId,
    clientOrderId: `close#${orderId}`,
    symbol: rules.symbol,
    side,
    type: "MARKET",
    quantity: atMost(quantity, rules, side, market),
    reservedAsset: side === "SELL" ? rules.baseAsset : rules.quoteAsset,
    at,
  });
}

/** As much of a quantity as one order may be for. */
function atMost(quantity: Quantity, rules: SymbolRules, side: Side, prices: Market): Quantity {
  const limits = [rules.lotSize, rules.marketLotSize].flatMap((lot) =>
    lot === null || lot.maxQuantity === 0n ? [] : [lot.maxQuantity],
  );
  const { notional } = rules;
  if (notional?.appliesMaxToMarket && notional.maxNotional > 0n) {
    const price = referencePrice(notional.reference, rules.symbol, side, prices);
    if (price !== null && price > 0n) limits.push(quantityFor(notional.maxNotional, price));
  }
  const largest = limits.reduce((least, limit) => (limit < least ? limit : least), quantity);
  return onLot(largest, rules);
}
