// The forms in which domain values are written as JSON: decimals as brief decimal text, maps as lists of
// pairs, which keep their order whatever a symbol is called, and all else unchanged. A form describes both
// directions.
import type { Position } from "../domain/account.ts";
import type { ConsumedLot } from "../domain/consumed.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { FiredLeg, Leg } from "../domain/leg.ts";
import type { Order, QueueEntry, Trade } from "../domain/order.ts";
import { type Decimal, decimal, formatBriefly, type Product } from "../money/decimal.ts";
import type { Posting } from "../money/posting.ts";

/**
 * How a part is stored that JSON has in another form: DECIMAL, or WHOLE for a bigint that counts something;
 * of a map and of a list how their values are. The compiler demands an entry for every such part, of each
 * member of a union. `never`: JSON holds the value unchanged.
 */
export type Form<T> = [bigint] extends [T]
  ? "WHOLE"
  : [T] extends [Product]
    ? "WHOLE"
    : [T] extends [bigint]
      ? "DECIMAL"
      : [T] extends [ReadonlyMap<string, infer Value>]
        ? { readonly mapOf: Form<Value> }
        : [T] extends [readonly (infer Value)[]]
          ? Form<Value>
          : [T] extends [object]
            ? Some<{
                readonly [K in KeyOf<T> as [Form<Part<T, K>>] extends [never] ? never : K]: Form<Part<T, K>>;
              }>
            : never;
type KeyOf<T> = T extends unknown ? keyof T : never;
type Part<T, K> = T extends unknown ? (K extends keyof T ? NonNullable<T[K]> : never) : never;
type Some<T> = [keyof T] extends [never] ? never : T;
type AnyForm = "DECIMAL" | "WHOLE" | { readonly [name: string]: AnyForm };
// biome-ignore lint/suspicious/noExplicitAny: what is parsed was written here.
type Parsed = any;

export const LEG: Form<Leg> = { triggerPrice: "DECIMAL", fired: { price: "DECIMAL", quantity: "DECIMAL" } };

export const LOT: Form<ConsumedLot> = { price: "DECIMAL", quantity: "DECIMAL" };

export const PROFILE: Form<FillProfile> = { makerFee: "DECIMAL", takerFee: "DECIMAL" };

// A product has more digits than decimals are written with: it is the whole number of its units of 1e-16.
export const POSITION: Form<Position> = {
  quantity: "DECIMAL",
  entryValue: "WHOLE",
  isolatedWallet: "DECIMAL",
  burden: "DECIMAL",
};

export const QUEUE: Form<QueueEntry> = { ahead: "DECIMAL" };

export const FIRING: Form<FiredLeg> = LEG.fired;

export const ORDER: Form<Order> = {
  price: "DECIMAL",
  stopPrice: "DECIMAL",
  quantity: "DECIMAL",
  quoteQuantity: "DECIMAL",
  executedQuantity: "DECIMAL",
  executedQuote: "DECIMAL",
  reserved: "DECIMAL",
  legs: { triggerPrice: "DECIMAL" },
  attached: { takeProfitPrice: "DECIMAL", stopLossPrice: "DECIMAL" },
  queue: QUEUE,
};

export const TRADE: Form<Trade> = {
  price: "DECIMAL",
  quantity: "DECIMAL",
  quoteQuantity: "DECIMAL",
  fee: "DECIMAL",
  realizedPnl: "DECIMAL",
  receipt: {
    remaining: "DECIMAL",
    level: {
      ...{ price: "DECIMAL", displayed: "DECIMAL", newerTrades: "DECIMAL" },
      ...{ ownConsumed: "DECIMAL", available: "DECIMAL", step: "DECIMAL" },
    },
    queue: {
      ...{ aheadAtPlacement: "DECIMAL", tradedAtPrice: "DECIMAL", canceledAhead: "DECIMAL" },
      ...{ aheadBefore: "DECIMAL", ahead: "DECIMAL" },
      history: { ahead: "DECIMAL", tradedAtPrice: "DECIMAL", canceledAhead: "DECIMAL" },
    },
    marketTrade: { price: "DECIMAL", quantity: "DECIMAL", available: "DECIMAL", step: "DECIMAL" },
  },
};

// Orders, trades and postings are in every commit. Written out they take half the time that their forms
// would.

export function storedOrder(order: Order) {
  const { legs, attached, queue } = order;
  return {
    ...order,
    price: formatBriefly(order.price),
    stopPrice: formatBriefly(order.stopPrice),
    quantity: formatBriefly(order.quantity),
    quoteQuantity: formatBriefly(order.quoteQuantity),
    executedQuantity: formatBriefly(order.executedQuantity),
    executedQuote: formatBriefly(order.executedQuote),
    reserved: formatBriefly(order.reserved),
    ...(legs !== undefined && { legs: stored(legs, ORDER.legs) }),
    ...(attached !== undefined && { attached: stored(attached, ORDER.attached) }),
    ...(queue !== undefined && { queue: stored(queue, QUEUE) }),
  };
}

export function storedTrade(trade: Trade) {
  const { realizedPnl, receipt } = trade;
  return {
    ...trade,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    quoteQuantity: formatBriefly(trade.quoteQuantity),
    fee: formatBriefly(trade.fee),
    ...(realizedPnl !== undefined && { realizedPnl: formatBriefly(realizedPnl) }),
    ...(receipt !== undefined && { receipt: stored(receipt, TRADE.receipt) }),
  };
}

export function storedPosting(posting: Posting) {
  return { ...posting, amount: formatBriefly(posting.amount) };
}

export function encoded(value: object, form: AnyForm): string {
  return JSON.stringify(stored(value, form));
}

export function decoded(text: string, form: AnyForm): Parsed {
  return revived(JSON.parse(text), form);
}

/** A value as JSON can hold it. A replacer of `JSON.stringify` would do the same in twice the time. */
export function stored(part: Parsed, form: AnyForm): Parsed {
  if (part === null) return null;
  if (form === "DECIMAL") return formatBriefly(part as Decimal);
  if (form === "WHOLE") return String(part);
  if (Array.isArray(part)) return part.map((value) => stored(value, form));
  const { mapOf } = form;
  if (mapOf !== undefined) return Array.from(part, ([name, value]: Parsed) => [name, stored(value, mapOf)]);
  const parts = { ...part };
  for (const name in form) {
    const inner = form[name];
    if (inner !== undefined && parts[name] !== undefined) parts[name] = stored(parts[name], inner);
  }
  return parts;
}

function revived(part: Parsed, form: AnyForm): Parsed {
  if (part === null) return null;
  if (form === "DECIMAL") return decimal(part);
  if (form === "WHOLE") return BigInt(part);
  const { mapOf } = form;
  if (mapOf !== undefined) {
    return new Map(part.map(([name, value]: Parsed) => [name, revived(value, mapOf)]));
  }
  if (Array.isArray(part)) {
    for (let index = 0; index < part.length; index += 1) part[index] = revived(part[index], form);
    return part;
  }
  for (const name in form) {
    const inner = form[name];
    if (inner !== undefined && part[name] !== undefined) part[name] = revived(part[name], inner);
  }
  return part;
}
