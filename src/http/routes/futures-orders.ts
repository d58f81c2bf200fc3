// Futures orders and trades. Source: specification 4.2; reference exchange, sections 11.9 and 12.
import { isOpen, type Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { OrderQuery, TradeQuery } from "../../store/ports/trading.ts";
import { sinceLastDays } from "../parse/futures-history.ts";
import type { ByProfile, Placement } from "../parse/terms.ts";
import type { Ports } from "../pipeline.ts";
import { digitsOf } from "../present/digits.ts";
import type { ShownOrder } from "../present/futures-orders.ts";
import type { SignedCall } from "../route.ts";
import { cancelSought, findOrder, listedOr, ofProfile, place, type SoughtOrder } from "./strategy.ts";

export async function placeOrder(
  asked: Placement | ByProfile<Placement>,
  ports: Pick<Ports, "desk" | "markets" | "newClientOrderId">,
  call: SignedCall,
) {
  const placement = await ofProfile(asked, ports, call);
  if (isRefusal(placement)) return placement;
  const placed = await place(placement, ports, call);
  return isRefusal(placed) ? placed : { ...shown(placed.order, ports), replayed: placed.replayed };
}

export async function cancelOrder(
  sought: SoughtOrder,
  ports: Pick<Ports, "desk" | "store" | "markets">,
  call: SignedCall,
) {
  const order = await cancelSought(sought, ports, call);
  return isRefusal(order) ? order : shown(order, ports);
}

/** Cancels all orders, or all legs, of a symbol. */
export function cancelAll(type: "CancelOpenOrders" | "CancelOpenLegs") {
  return async (
    symbol: string,
    { desk, markets }: Pick<Ports, "desk" | "markets">,
    { strategyId, lapsed }: SignedCall,
  ) => {
    const executed = await desk.execute(strategyId, { type, symbol }, { lapsed });
    if (isRefusal(executed)) return executed;
    return listedOr(symbol, [...executed.orders, ...executed.legs], markets.FUTURES);
  };
}

export async function queryOrder(
  sought: SoughtOrder,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
): Promise<ShownOrder | Refusal> {
  const found = await findOrder(sought, ports, call);
  return isRefusal(found) ? found : shown(found, ports);
}

/** A terminal order is not found here. */
export const queryOpenOrder: typeof queryOrder = async (...asked) => {
  const found = await queryOrder(...asked);
  return isRefusal(found) || isOpen(found.order) ? found : { refusal: "ORDER_UNKNOWN" };
};

export async function openOrders(
  symbol: string | null,
  ports: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  const orders = await ports.store.listOpenOrders(strategyId, symbol);
  const rows = orders.map((order) => shown(order, ports));
  return symbol === null ? rows : listedOr(symbol, rows, ports.markets.FUTURES);
}

export async function allOrders(
  query: OrderQuery,
  ports: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  const market = ports.markets.FUTURES;
  const orders = await ports.store.listOrders(strategyId, sinceLastDays(query, market.now()));
  return listedOr(
    query.symbol,
    orders.map((order) => shown(order, ports)),
    market,
  );
}

export async function userTrades(
  query: TradeQuery,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  const market = markets.FUTURES;
  const found = await store.listTrades(strategyId, sinceLastDays(query, market.now()));
  const trades = listedOr(query.symbol, found, market);
  return isRefusal(trades) ? trades : { trades, digits: digitsOf(market.rules(query.symbol)) };
}

function shown(order: Order, { markets }: Pick<Ports, "markets">): ShownOrder {
  return { order, digits: digitsOf(markets.FUTURES.rules(order.symbol)) };
}
