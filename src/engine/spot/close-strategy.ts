// Closes a spot strategy permanently: cancels its orders and sells its holdings to the quote asset at the
// market's price, in one decision and so one commit: a crash leaves the strategy as it was or closed.
// A holding whose market is silent cannot be sold honestly now. The strategy is then CLOSING, which permits
// no writes, and the same command closes it later. Assets without a pair, and dust below a filter, stay and
// are shown. Source: specification 3.3; design, section 6 (strategy close).
import type { Account } from "../../domain/account.ts";
import type { DomainEvent, OrderFilled, OrderPlaced } from "../../domain/event.ts";
import type { Market } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { floorToStep, type Price, type Quantity, quantityFor, subtract, ZERO } from "../../money/decimal.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { Draft } from "../draft.ts";
import { failsAsMarket, referencePrice } from "../filters.ts";
import { ownOrder, placed } from "../new-order.ts";
import { seedOf } from "../open-strategy.ts";
import { canceled } from "../release.ts";
import { fillWhole } from "./fill.ts";
import { sell } from "./strict.ts";

/** Sales of one holding: it is cut to what the filters take in one order. */
const SALES_PER_HOLDING_MAX = 100;

export function closeStrategy(account: Account, circumstances: Circumstances): Decision {
  if (account.status === "CLOSED") return { refusal: "STRATEGY_CLOSED" };
  if (account.profile.strict !== null) return closeStrictly(account, circumstances);
  const { market, at } = circumstances;
  const events: DomainEvent[] = [...account.openOrders.values()].map((order) => canceled(order, at));
  const { profile, nextTradeId } = account;
  const numbers = { profile, orderId: account.nextOrderId, nextTradeId };
  let isWaiting = false;
  for (const { rules, quantity } of sellableHoldings(account, circumstances)) {
    const bid = market.quote(rules.symbol)?.bid ?? null;
    if (bid === null) isWaiting = true;
    else events.push(...sales(rules, quantity, bid, numbers, circumstances));
  }
  if (!isWaiting) events.push({ type: "StrategyClosed", at, postings: [] });
  else if (account.status === "LIVE") events.push({ type: "StrategyClosing", at, postings: [] });
  return { events };
}

/** The symbols at which the account's holdings are sold. */
export function symbolsOfHoldings(account: Account): string[] {
  const { asset: quoteAsset } = seedOf(account.type);
  return [...account.balances]
    .filter(([asset, { free, locked }]) => asset !== quoteAsset && (free > 0n || locked > 0n))
    .map(([asset]) => `${asset}${quoteAsset}`);
}

type Holding = { readonly rules: SymbolRules; readonly quantity: Quantity };

/** The account's holdings without dust: a close sells them, now or when the market has prices for them. */
export function sellableHoldings(account: Account, circumstances: Circumstances): readonly Holding[] {
  return holdings(account, circumstances).filter(({ rules, quantity }) =>
    isSellable(rules, quantity, circumstances),
  );
}

/** The account's holding of every asset that trades against its quote asset now, on the step of its lot. */
function holdings(account: Account, { market }: Circumstances): readonly Holding[] {
  return symbolsOfHoldings(account).flatMap((symbol) => {
    const rules = market.rules(symbol);
    if (rules === null || rules.status !== "TRADING" || !rules.isSpotTradingAllowed) return [];
    const ledgerAccounts = account.balances.get(rules.baseAsset);
    if (ledgerAccounts === undefined) return [];
    return [{ rules, quantity: onStep((ledgerAccounts.free + ledgerAccounts.locked) as Quantity, rules) }];
  });
}

function isSellable(rules: SymbolRules, quantity: Quantity, { market }: Circumstances): boolean {
  const first = atMost(quantity, rules, market);
  return failsAsMarket(rules, { side: "SELL", quantity: first }, market) === null;
}

function sales(
  rules: SymbolRules,
  quantity: Quantity,
  price: Price,
  numbers: Pick<Account, "profile"> & { orderId: number; nextTradeId: number },
  circumstances: Circumstances,
): (OrderPlaced | OrderFilled)[] {
  const events: (OrderPlaced | OrderFilled)[] = [];
  let left = quantity;
  for (let count = 0; count < SALES_PER_HOLDING_MAX && isSellable(rules, left, circumstances); count += 1) {
    const order = saleOf(numbers, rules, left, numbers.orderId, circumstances);
    numbers.orderId += 1;
    events.push(placed(order), fillWhole(numbers, order, { price, isMaker: false }, rules, circumstances.at));
    numbers.nextTradeId += 1;
    left = subtract(left, order.quantity);
  }
  return events;
}

function saleOf(
  { profile }: Pick<Account, "profile">,
  rules: SymbolRules,
  quantity: Quantity,
  orderId: number,
  { market, at }: Circumstances,
): Order {
  return ownOrder(profile, {
    orderId,
    clientOrderId: `close#${orderId}`,
    symbol: rules.symbol,
    side: "SELL",
    type: "MARKET",
    quantity: atMost(quantity, rules, market),
    reservedAsset: rules.baseAsset,
    at,
  });
}

/** The same under `strict`: what the book does not have now is sold later. */
function closeStrictly(account: Account, circumstances: Circumstances): Decision {
  const { at } = circumstances;
  const draft = new Draft(account);
  for (const order of account.openOrders.values()) draft.add(canceled(order, at));
  let isWaiting = false;
  for (const { rules, quantity } of sellableHoldings(account, circumstances)) {
    let left = quantity;
    for (let count = 0; count < SALES_PER_HOLDING_MAX && isSellable(rules, left, circumstances); count += 1) {
      const order = saleOf(account, rules, left, draft.account.nextOrderId, circumstances);
      const unsold = sell(draft, order, rules, circumstances);
      left = subtract(left, subtract(order.quantity, unsold));
      isWaiting ||= unsold > 0n;
      if (unsold > 0n) break;
    }
  }
  if (!isWaiting) draft.add({ type: "StrategyClosed", at, postings: [] });
  else if (account.status === "LIVE") draft.add({ type: "StrategyClosing", at, postings: [] });
  return { events: draft.events };
}

function onStep(quantity: Quantity, { lotSize, marketLotSize }: SymbolRules): Quantity {
  return floorToStep(floorToStep(quantity, lotSize?.stepSize ?? ZERO), marketLotSize?.stepSize ?? ZERO);
}

/** As much of a quantity as one order may be for. */
function atMost(quantity: Quantity, rules: SymbolRules, prices: Market): Quantity {
  const limits = [rules.lotSize, rules.marketLotSize].flatMap((lot) =>
    lot === null || lot.maxQuantity === 0n ? [] : [lot.maxQuantity],
  );
  const { notional } = rules;
  if (notional?.appliesMaxToMarket && notional.maxNotional > 0n) {
    const price = referencePrice(notional.reference, rules.symbol, "SELL", prices);
    if (price !== null && price > 0n) limits.push(quantityFor(notional.maxNotional, price));
  }
  const largest = limits.reduce((least, limit) => (limit < least ? limit : least), quantity);
  return onStep(largest, rules);
}
