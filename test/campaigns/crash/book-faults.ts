// Whether the orders and trades of a strategy are in keeping with all that was acknowledged.
import type { FillProfileName } from "../../../src/domain/fill-profile.ts";
import { sum, units } from "../../support/exact.ts";
import { firedOrders } from "../harness/books.ts";
import type { Fault } from "../harness/faults.ts";
import type { StoredStrategy } from "../harness/stored-rows.ts";
import { isLeg, isOpenBody, type OrderBody } from "./bodies.ts";
import type { Books } from "./books.ts";
import { isBody, type Placement, type Trader } from "./trader.ts";

/** Those that the trader has sent, without what the service did for it. */
export function ownOrders(orders: readonly OrderBody[]): readonly OrderBody[] {
  const fired = new Set(
    orders.flatMap((order) =>
      isLeg(order) && order.status === "FINISHED" ? [`${order.clientOrderId} ${order.updateTime}`] : [],
    ),
  );
  return orders.filter((order) => {
    const { clientOrderId, time, type } = order;
    const isOfLeg = type === "MARKET" && fired.has(`${clientOrderId} ${time}`);
    const isOfService = clientOrderId.includes("#") || /^(stopLoss|takeProfit)\//.test(clientOrderId);
    return !isOfLeg && !isOfService;
  });
}

/** Whether what was acknowledged is there, once, as it may be by now, and nothing else. */
export function acknowledgementFaults(trader: Trader, orders: readonly OrderBody[]): Fault[] {
  const faults: Fault[] = [];
  const own = ownOrders(orders);
  const byClientId = new Map(own.map((order) => [order.clientOrderId, order]));
  if (byClientId.size < own.length) faults.push({ kind: "DOUBLED", what: "an order is listed again" });
  const ended = endsOfPositions(orders);
  for (const { clientOrderId } of own) {
    if (!trader.placements.has(clientOrderId)) {
      faults.push({ kind: "UNASKED", what: `${clientOrderId} is there but was never sent` });
    }
  }
  for (const [clientOrderId, placement] of trader.placements) {
    const { heard } = placement;
    const stored = byClientId.get(clientOrderId);
    if (heard === "refused") {
      if (stored === undefined) continue;
      const what = `${clientOrderId} was refused and is there: ${JSON.stringify(stored)}`;
      faults.push({ kind: "UNASKED", what });
    } else if (isBody(heard)) {
      const was = JSON.stringify(heard);
      if (stored === undefined) {
        faults.push({ kind: "LOST", what: `${clientOrderId} was acknowledged and is gone: ${was}` });
      } else if (!mayFollow(heard, stored, placement, { profile: trader.profile, ended })) {
        faults.push({
          kind: "CHANGED",
          what: `${clientOrderId} went from ${was} to ${JSON.stringify(stored)}`,
        });
      }
    }
  }
  return faults.map(({ kind, what }) => ({ kind, what: `${trader.name}: ${what}` }));
}

/**
 * When positions ended by themselves, which takes orders and legs with them: by a liquidation, or by a leg
 * that fired.
 */
function endsOfPositions(orders: readonly OrderBody[]): ReadonlySet<number> {
  return new Set(
    orders.flatMap((order) => {
      const isEnd = order.type === "LIQUIDATION" || (isLeg(order) && order.status === "FINISHED");
      return isEnd ? [order.updateTime] : [];
    }),
  );
}

/** Whether an order or leg that was acknowledged as `heard` may now be `stored`. */
function mayFollow(
  heard: OrderBody,
  stored: OrderBody,
  { mayBeCanceled, isCanceled }: Pick<Placement, "mayBeCanceled" | "isCanceled">,
  { profile, ended }: { readonly profile: FillProfileName; readonly ended: ReadonlySet<number> },
): boolean {
  if (FIXED.some((field) => heard[field] !== stored[field])) return false;
  if (isCanceled) return stored.status === "CANCELED";
  const isSame = MOVING.every((field) => heard[field] === stored[field]);
  if (stored.status === heard.status && (isSame || heard.status !== "PARTIALLY_FILLED")) return isSame;
  if (!isOpenBody(heard)) return false;
  const [before, after] = [units(heard.executedQty), units(stored.executedQty)];
  // Only `strict` fills an order in parts.
  const isMore = after > before && profile === "strict";
  if (after !== before && !isMore && stored.status !== "FILLED") return false;
  switch (stored.status) {
    case "PARTIALLY_FILLED":
      return isMore && after < units(stored.origQty);
    case "CANCELED":
      return (
        (isLeg(stored) || after < units(stored.origQty)) && (mayBeCanceled || ended.has(stored.updateTime))
      );
    case "FILLED":
      return stored.executedQty === stored.origQty;
    case "FINISHED":
      return isLeg(stored);
    // A leg whose position is gone; an order that only reduced one, that could not be paid for any more, or,
    // under `strict`, that an own order reached.
    case "EXPIRED":
      return isLeg(stored) || units(stored.executedQty) < units(stored.origQty);
    default:
      return false;
  }
}

const FIXED = ["orderId", "side", "type", "price", "origQty", "time"] as const;
const MOVING = ["executedQty", "cummulativeQuoteQty", "updateTime"] as const;

/** Trades count from one, each once, and those of an order add up to what it says of itself. */
export function tradeFaults({ name }: Pick<Trader, "name">, { orders, trades }: Books): Fault[] {
  const faults: Fault[] = [];
  for (const [index, { id }] of trades.entries()) {
    const previous = trades[index - 1]?.id ?? 0;
    if (id > previous + 1)
      faults.push({ kind: "LOST", what: `trade ${previous + 1} is missing in the list` });
    if (id <= previous) faults.push({ kind: "DOUBLED", what: `trade ${id} is listed again` });
  }
  for (const order of orders) {
    if (isLeg(order)) continue;
    const own = trades.filter(({ orderId }) => orderId === order.orderId);
    const quantity = sum(own.map(({ qty }) => units(qty)));
    const quote = sum(own.map(({ quoteQty }) => units(quoteQty)));
    if (quantity === units(order.executedQty) && quote === units(order.cummulativeQuoteQty)) continue;
    const what = `the trades of ${JSON.stringify(order)} are ${JSON.stringify(own)}`;
    faults.push({ kind: "UNBALANCED", what });
  }
  return faults.map(({ kind, what }) => ({ kind, what: `${name}: ${what}` }));
}

/**
 * An order that rested was filled at its limit, as maker; and whatever was filled as maker was so at its
 * limit.
 */
export function restedFaults(
  { placements, type }: Trader,
  { orders, trades, legs }: StoredStrategy,
): string[] {
  // Of a leg that fired the order has the client id.
  const fired = firedOrders(legs);
  return orders.flatMap(({ orderId, clientOrderId, price }) => {
    if (fired.has(orderId)) return [];
    const hasRested = placements.get(clientOrderId)?.hasRested === true;
    const own = trades.filter((trade) => trade.orderId === orderId && (hasRested || trade.isMaker));
    if (own.every((trade) => trade.isMaker && units(trade.price) === units(price))) return [];
    return [`${type} ${clientOrderId} rested and did not fill at its limit: ${JSON.stringify(own)}`];
  });
}
