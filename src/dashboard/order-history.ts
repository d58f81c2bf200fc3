// What became of an order, in plain words: from the entries of the journal that are found by a key (its placement, its trigger, its
// fill), its trades, and how it stands. A journal is long; nothing here goes through all of it.
import { placementKey, signalKey } from "../domain/command-key.ts";
import type { DomainEvent, ExpiryReason } from "../domain/event.ts";
import { isOpen, type Order, type Trade } from "../domain/order.ts";
import { formatBriefly } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import type { OrderDetailShape } from "./shapes.ts";

type Line = OrderDetailShape["history"][number];

const EXPIRED_BECAUSE: { readonly [R in ExpiryReason]?: string } = {
  INSUFFICIENT_BALANCE: "the balance did not cover it any more",
  BOOK_EMPTY: "nobody offered anything",
  NOTHING_TO_REDUCE: "there was no position left to reduce",
};

/** Oldest first. */
export async function historyOf(
  store: Pick<Store, "findEntry">,
  strategyId: string,
  { order, trades }: { readonly order: Order; readonly trades: readonly Trade[] },
): Promise<readonly Line[]> {
  const { orderId, clientOrderId } = order;
  const keys = [
    placementKey(clientOrderId),
    signalKey(clientOrderId),
    `trigger:${orderId}`,
    `fill:${orderId}`,
  ];
  const entries = await Promise.all(keys.map((key) => store.findEntry(strategyId, key)));
  const events = entries.flatMap((entry) => entry?.events ?? []);
  return [
    { at: order.placedAt, says: placed(order) },
    ...events.flatMap((event) => triggered(event, order)),
    ...trades.map(filled),
    ...ended(order, events),
  ];
}

function placed({ side, type, quantity, quoteQuantity, price, stopPrice, symbol }: Order): string {
  const size = quantity === 0n ? `for ${formatBriefly(quoteQuantity)}` : formatBriefly(quantity);
  const limit = price === 0n ? "" : ` at ${formatBriefly(price)}`;
  const stop = stopPrice === 0n ? "" : `, waiting for ${formatBriefly(stopPrice)}`;
  return `Placed: ${side} ${size} ${symbol}, ${type}${limit}${stop}`;
}

function triggered(event: DomainEvent, { orderId, stopPrice }: Order): Line[] {
  if (event.type !== "OrderTriggered" || event.orderId !== orderId) return [];
  return [{ at: event.at, says: `Triggered: the last price reached ${formatBriefly(stopPrice)}` }];
}

function filled({ at, quantity, price, fee, feeAsset, isMaker }: Trade): Line {
  const how = isMaker ? "maker" : "taker";
  const cost = `fee ${formatBriefly(fee)} ${feeAsset}`;
  return { at, says: `Filled ${formatBriefly(quantity)} at ${formatBriefly(price)} as ${how}, ${cost}` };
}

function ended(order: Order, events: readonly DomainEvent[]): Line[] {
  const { status, updatedAt: at } = order;
  if (isOpen(order) || status === "FILLED") return [];
  if (status === "CANCELED") return [{ at, says: "Cancelled" }];
  if (status === "REJECTED") return [{ at, says: "Rejected" }];
  const reason = events.find((event) => event.type === "OrderExpired" && event.orderId === order.orderId);
  if (reason?.type !== "OrderExpired") return [{ at, says: "Expired" }];
  return [
    { at, says: `Expired: ${EXPIRED_BECAUSE[reason.reason] ?? `the filter ${reason.reason} refused it`}` },
  ];
}
