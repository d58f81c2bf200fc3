// What bounds an order besides its size and what it costs: the largest position, and how many orders rest.
import type { LeadPlacement, Skip } from "../../domain/copying.ts";
import type { ClientOrderType } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { leverageMax, notionalMaxAt } from "../../engine/futures/margin.ts";
import {
  add,
  asAmount,
  costUp,
  magnitude,
  type Price,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import type { RestingOnSymbol, ScaleInput } from "./scale-order.ts";
import { countAsAmount, skipOf } from "./skip.ts";

/** The leverage that a strategy's order is copied at: its own, as far as the venue's contract goes. Null for a spot pair. */
export function copiedLeverage(
  { leverage }: Pick<LeadPlacement, "leverage">,
  { contract }: SymbolRules,
): number | null {
  return leverage === null || contract === null ? null : Math.min(leverage, leverageMax(contract));
}

/** ABOVE_MAXIMUM, if more would be held than the venue lets anybody hold: base units of a pair, notional of a contract. */
export function positionSkip(
  input: ScaleInput,
  rules: SymbolRules,
  order: { readonly quantity: Quantity; readonly opening: Quantity; readonly price: Price | null },
): Skip | null {
  if (order.opening === 0n) return null;
  return rules.contract === null
    ? maxPositionSkip(input, rules, order.quantity)
    : bracketSkip(input, rules, order);
}

function maxPositionSkip(input: ScaleInput, { maxPosition }: SymbolRules, quantity: Quantity): Skip | null {
  if (maxPosition === null || maxPosition === 0n) return null;
  const { accountHeld, holdings, placement, restingOnSymbol } = input;
  const own: Quantity = holdings.get(placement.symbol)?.quantity ?? ZERO;
  const held = own > accountHeld ? own : accountHeld;
  const wanted = asAmount(add(add(held, restingOnSymbol.buys), quantity));
  const had = asAmount(maxPosition);
  return wanted <= had
    ? null
    : skipOf("ABOVE_MAXIMUM", { filter: "MAX_POSITION", wanted, had, unit: "BASE" });
}

function bracketSkip(
  { placement, holdings }: ScaleInput,
  rules: SymbolRules,
  { quantity, price }: { readonly quantity: Quantity; readonly price: Price | null },
): Skip | null {
  const { contract } = rules;
  if (contract === null || price === null) return null;
  const own: Quantity = holdings.get(placement.symbol)?.quantity ?? ZERO;
  const after = placement.side === "BUY" ? add(own, quantity) : subtract(own, quantity);
  const wanted = costUp(price, magnitude(after));
  const had = notionalMaxAt(copiedLeverage(placement, rules) ?? 1, contract);
  return wanted <= had ? null : skipOf("ABOVE_MAXIMUM", { wanted, had, unit: "QUOTE" });
}

/** ORDER_CAP, if one more order of a type would be one too many on the symbol. What takes the market's price does not rest. */
export function orderCapSkip(
  { maxNumOrders, maxNumAlgoOrders }: SymbolRules,
  orderType: ClientOrderType,
  resting: Pick<RestingOnSymbol, "orders" | "stops">,
): Skip | null {
  if (orderType === "MARKET") return null;
  const ofOrders = capSkip("MAX_NUM_ORDERS", resting.orders, maxNumOrders);
  const isStop = orderType !== "LIMIT";
  return ofOrders ?? (isStop ? capSkip("MAX_NUM_ALGO_ORDERS", resting.stops, maxNumAlgoOrders) : null);
}

/** ORDER_CAP, if one more leg would be one too many on the symbol, where so many wait. */
export function legCapSkip({ maxNumAlgoOrders }: SymbolRules, restingStops: number): Skip | null {
  return capSkip("MAX_NUM_ALGO_ORDERS", restingStops, maxNumAlgoOrders);
}

function capSkip(
  filter: "MAX_NUM_ORDERS" | "MAX_NUM_ALGO_ORDERS",
  resting: number,
  cap: number | null,
): Skip | null {
  if (cap === null || cap === 0 || resting < cap) return null;
  return skipOf("ORDER_CAP", { filter, wanted: countAsAmount(resting + 1), had: countAsAmount(cap) });
}
