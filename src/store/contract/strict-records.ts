// What the cases store of strategies under the profile `strict`, with the largest and the smallest decimals.
import type { Account } from "../../domain/account.ts";
import type { ConsumedLot } from "../../domain/consumed.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { QueueEntry } from "../../domain/order.ts";
import type { BookStamp, Receipt } from "../../domain/receipt.ts";
import { decimal, type Price, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import { accountOf, HUGE, orderOf, TINY, tradeOf } from "./records.ts";

export const STRICT: FillProfile = {
  name: "strict",
  version: 1,
  makerFee: decimal<Rate>(TINY),
  takerFee: decimal<Rate>("0.001"),
  strict: {
    latency: { p50: 50, p90: 120, p99: 400 },
    queue: "power-3",
    refreshMs: 5_000,
    feeTier: "vip9",
    feeDiscount: "bnb",
  },
};

export const LOT: ConsumedLot = {
  side: "ASK",
  price: decimal<Price>(HUGE),
  quantity: decimal<Quantity>(TINY),
  at: 1_795_228_304_525,
};

const BOOK: BookStamp = {
  lastUpdateId: 50_093_239_224,
  eventTime: 900,
  receivedAt: 912,
  tickerUpdateId: null,
  lastTradeId: 3_085_683_258,
};
const QUEUE: QueueEntry = { since: 1_000, ahead: decimal<Quantity>(HUGE), book: BOOK };
const ARRIVAL = { admittedAt: 950, latencyMs: 50, arrivedAt: 1_000 };

const WALKED: Receipt = {
  version: 1,
  cause: "WALK",
  arrival: ARRIVAL,
  remaining: decimal(HUGE),
  book: { ...BOOK, tickerUpdateId: 50_093_239_231, lastTradeId: null },
  level: {
    side: "ASK",
    index: 2,
    price: decimal(HUGE),
    displayed: decimal(HUGE),
    fromTicker: true,
    newerTrades: decimal(TINY),
    ownConsumed: ZERO,
    available: decimal(TINY),
    step: decimal(TINY),
  },
  queue: null,
  marketTrade: null,
};

const MATCHED: Receipt = {
  version: 1,
  cause: "TRADE_AT_PRICE",
  arrival: null,
  remaining: decimal(TINY),
  book: null,
  level: null,
  queue: {
    aheadAtPlacement: null,
    bookAtPlacement: BOOK,
    tradedAtPrice: decimal(HUGE),
    canceledAhead: decimal(TINY),
    aheadBefore: decimal(HUGE),
    ahead: ZERO,
    history: [
      { time: 1_300, ahead: null, tradedAtPrice: ZERO, canceledAhead: ZERO },
      { time: 1_390, ahead: decimal(HUGE), tradedAtPrice: decimal(TINY), canceledAhead: ZERO },
      { time: 1_398, ahead: ZERO, tradedAtPrice: decimal(HUGE), canceledAhead: decimal(TINY) },
    ],
  },
  marketTrade: {
    aggregateId: 3_085_683_259,
    price: decimal(TINY),
    quantity: decimal(HUGE),
    time: 1_398,
    available: decimal(TINY),
    step: ZERO,
  },
};

/** An open order that was filled in part, with its place in the queue. */
export const PARTLY_FILLED = orderOf(7, {
  status: "PARTIALLY_FILLED",
  executedQuantity: decimal("0.1"),
  executedQuote: decimal("10"),
  reserved: decimal("40"),
  arrival: ARRIVAL,
  queue: QUEUE,
});

/** A trade by a walk, and one by a trade of the market. */
export const RECEIPTED = [tradeOf(1, 7, { receipt: WALKED }), tradeOf(2, 7, { receipt: MATCHED })] as const;

/** An account that took of two symbols lately. */
export function strictAccountOf(strategyId: string): Account {
  const account = accountOf(strategyId);
  account.profile = STRICT;
  account.consumed = new Map([
    ["ETHUSDT", [LOT, { ...LOT, side: "BID", at: LOT.at + 1 }]],
    ["BTCUSDT", [LOT]],
  ]);
  return account;
}

/** The events that only `strict` has, or that say more under it. */
export function strictEvents(at: number): DomainEvent[] {
  const postings = [] as const;
  return [
    { type: "StrategyOpened", at, profile: STRICT, postings },
    { type: "OrderPlaced", at, order: { ...PARTLY_FILLED, timeInForce: "IOC" }, postings },
    { type: "OrderFilled", at, trade: RECEIPTED[0], consumed: LOT, postings },
    { type: "OrderFilled", at, trade: RECEIPTED[1], postings },
    { type: "OrderRested", at, orderId: 7, queue: QUEUE, postings },
    { type: "OrderRested", at, orderId: 7, queue: { since: 1, ahead: null, book: null }, postings },
    { type: "OrderExpired", at, orderId: 7, reason: "UNFILLED_IOC_QUANTITY_EXPIRED", postings },
  ];
}
