// The history of an order in plain sentences. It comes from the journal entries of its placement, trigger and
// fill, from its trades, and from its current state. Entries are found by key, since a journal is too long to
// scan; what fills an open order under `strict` is known from its trades, and why it expired from its state.
import { fillKey, placementKey, signalKey, triggerKey } from "../domain/command.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { ExpiryReason } from "../domain/order.ts";
import { isOpen, type Order, type OrderType, type Trade } from "../domain/order.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import { type Amount, formatBriefly, type Price, type Quantity } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import type { OrderDetailJson } from "./schemas/trading.ts";

type Line = OrderDetailJson["history"][number];

const EXPIRED_BECAUSE: { readonly [R in ExpiryReason]?: string } = {
  INSUFFICIENT_BALANCE: "the balance no longer covered it",
  BOOK_EMPTY: "the order book was empty",
  NOTHING_TO_REDUCE: "there was no position left to reduce",
  INSUFFICIENT_LIQUIDITY: "the order book did not have more",
  UNFILLED_IOC_QUANTITY_EXPIRED: "the order book did not have more within its limit",
  UNFILLED_FOK_ORDER_EXPIRED: "the order book did not have all of it within its limit",
  SELF_TRADE: "another order of the strategy would have met it",
};

/** The coins of a symbol, as far as the market knows them. */
type Coins = Pick<SymbolRules, "baseAsset" | "quoteAsset">;

/** Oldest first. `coins` is null of a symbol that is not listed any more. */
export async function historyOf(
  store: Pick<Store, "findEntry">,
  strategyId: string,
  about: { readonly order: Order; readonly trades: readonly Trade[]; readonly coins: Coins | null },
): Promise<readonly Line[]> {
  const { order, trades } = about;
  const { orderId, clientOrderId } = order;
  const keys = [placementKey(clientOrderId), signalKey(clientOrderId), triggerKey(orderId), fillKey(orderId)];
  const entries = await Promise.all(keys.map((key) => store.findEntry(strategyId, key)));
  const events = entries.flatMap((entry) => entry?.events ?? []);
  const words = wordsOf(about.coins ?? { baseAsset: order.symbol, quoteAsset: "" });
  return [
    { at: order.placedAt, says: placed(order, words) },
    ...events.flatMap((event) => triggered(event, order, words)),
    ...trades.map((trade) => filled(trade, words)),
    ...ended(order, events),
  ];
}

type Words = {
  /** "0.5 BTC" */
  quantity(of: Quantity): string;
  /** "60000 USDT": an amount or a price. */
  money(of: Amount | Price): string;
  readonly coin: string;
};

function wordsOf({ baseAsset, quoteAsset }: Coins): Words {
  return {
    quantity: (of) => `${formatBriefly(of)} ${baseAsset}`,
    money: (of) => `${formatBriefly(of)} ${quoteAsset}`.trimEnd(),
    coin: baseAsset,
  };
}

const KINDS: { readonly [T in OrderType]: string } = {
  MARKET: "market order",
  LIMIT: "limit order",
  LIMIT_MAKER: "limit order that never takes",
  STOP_LOSS: "stop order",
  STOP_LOSS_LIMIT: "stop order",
  LIQUIDATION: "liquidation order",
};

function placed(order: Order, words: Words): string {
  const { side, type, quantity, quoteQuantity, price, stopPrice } = order;
  const verb = side === "BUY" ? "buy" : "sell";
  const size = quantity === 0n ? `${words.coin} for ${words.money(quoteQuantity)}` : words.quantity(quantity);
  const limit = price === 0n ? "" : ` at ${words.money(price)} or better`;
  const stop = stopPrice === 0n ? "" : `, once the price reaches ${words.money(stopPrice)},`;
  return `A ${KINDS[type]} to ${verb} ${size}${limit}${stop} was placed.`;
}

function triggered(event: DomainEvent, { orderId, stopPrice }: Order, words: Words): Line[] {
  if (event.type !== "OrderTriggered" || event.orderId !== orderId) return [];
  return [
    { at: event.at, says: `The price reached ${words.money(stopPrice)}, and the order was triggered.` },
  ];
}

function filled({ at, side, quantity, price, fee, feeAsset, isMaker }: Trade, words: Words): Line {
  const verb = side === "BUY" ? "bought" : "sold";
  const how = isMaker ? "maker" : "taker";
  const cost = `${formatBriefly(fee)} ${feeAsset}`;
  return {
    at,
    says: `It ${verb} ${words.quantity(quantity)} at ${words.money(price)}, as ${how}, for a fee of ${cost}.`,
  };
}

function ended(order: Order, events: readonly DomainEvent[]): Line[] {
  const { status, updatedAt: at } = order;
  if (isOpen(order) || status === "FILLED") return [];
  if (status === "CANCELED") return [{ at, says: "It was canceled." }];
  if (status === "REJECTED") return [{ at, says: "It was rejected." }];
  const reason = order.expiryReason ?? recordedReason(order, events);
  if (reason === null) return [{ at, says: "It expired." }];
  return [{ at, says: `It expired: ${EXPIRED_BECAUSE[reason] ?? `the filter ${reason} refused it`}.` }];
}

/** Of an order that expired before reasons were recorded with orders: it is in the entry that ended it. */
function recordedReason({ orderId }: Order, events: readonly DomainEvent[]): ExpiryReason | null {
  const ending = events.find((event) => event.type === "OrderExpired" && event.orderId === orderId);
  return ending?.type === "OrderExpired" ? ending.reason : null;
}
