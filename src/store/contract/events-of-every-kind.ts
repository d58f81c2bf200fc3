// The events that cases store and expect to read back.
import type { DomainEvent } from "../../domain/event.ts";
import { decimal, type Price, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import { legOf, positionOf } from "./futures-records.ts";
import { HUGE, orderOf, TINY, tradeOf } from "./records.ts";
import { strictEvents } from "./strict-records.ts";

/**
 * An event of every kind, with the largest and the smallest decimals, and a placement that waits for its
 * trigger.
 */
export function eventsOfEveryKind(): DomainEvent[] {
  const at = 1_795_228_304_525;
  return [
    {
      type: "StrategyOpened",
      at,
      postings: [{ from: "seed", to: "free", asset: "USDT", amount: decimal(HUGE) }],
    },
    {
      type: "OrderPlaced",
      at,
      order: orderOf(1, { quantity: decimal(HUGE) }),
      postings: [{ from: "free", to: "locked", asset: "USDT", amount: decimal(TINY) }],
    },
    {
      type: "OrderFilled",
      at,
      trade: tradeOf(1, 1, { price: decimal(HUGE), isMaker: true }),
      postings: [
        { from: "locked", to: "market", asset: "USDT", amount: decimal("50") },
        { from: "market", to: "free", asset: "BTC", amount: decimal("0.5") },
        { from: "free", to: "fees", asset: "BTC", amount: decimal("0.0005") },
      ],
    },
    { type: "OrderCanceled", at, orderId: 2, postings: [] },
    {
      type: "OrderPlaced",
      at,
      admittedAt: at - 3,
      order: orderOf(3, { type: "STOP_LOSS", stopPrice: decimal(TINY), workingAt: null }),
      postings: [],
    },
    { type: "OrderTriggered", at, orderId: 3, postings: [] },
    {
      type: "OrderExpired",
      at,
      orderId: 3,
      reason: "PERCENT_PRICE_BY_SIDE",
      postings: [{ from: "locked", to: "free", asset: "USDT", amount: decimal("50") }],
    },
    ...futuresEvents(at),
    ...strictEvents(at),
    { type: "StrategyClosing", at, postings: [] },
    { type: "StrategyClosed", at, postings: [] },
    { type: "SignalExecuted", at, signalId: "executed", orderId: 1, processedAt: at + 5, postings: [] },
    {
      type: "SignalRejected",
      at,
      signalId: "rejected",
      reason: { refusal: "FILTER_FAILED", filter: "LOT_SIZE" },
      processedAt: at + 5,
      postings: [],
    },
  ];
}

function futuresEvents(at: number): DomainEvent[] {
  const postings = [] as const;
  const fired = { orderId: 6, price: decimal<Price>(TINY), quantity: decimal<Quantity>(HUGE), at };
  const settlement = { symbol: "BTCUSDT", fundingTime: at - 7, rate: decimal<Rate>(`-${TINY}`) };
  const attached = { takeProfitPrice: decimal<Price>(HUGE), stopLossPrice: null };
  const legs = [
    { legId: 5, clientLegId: "stopLoss/4", type: "STOP_MARKET", triggerPrice: decimal<Price>(TINY) },
  ] as const;
  return [
    { type: "LeverageChanged", at, symbol: "BTCUSDT", leverage: 125, postings },
    {
      type: "OrderPlaced",
      at,
      order: orderOf(4, { reduceOnly: true, closesPosition: true, attached }),
      postings,
    },
    { type: "OrderPlaced", at, order: orderOf(4, { legs }), postings },
    { type: "OrderReserveChanged", at, orderId: 4, reserved: decimal(TINY), postings },
    {
      type: "OrderFilled",
      at,
      trade: tradeOf(2, 4, { realizedPnl: decimal(`-${HUGE}`) }),
      position: positionOf("BTCUSDT"),
      postings: [{ from: "free", to: "isolated", asset: "USDT", amount: decimal("5") }],
    },
    { type: "OrderFilled", at, trade: tradeOf(3, 4, { realizedPnl: ZERO }), position: null, postings },
    { type: "LegPlaced", at, admittedAt: at - 3, leg: legOf(5), postings },
    { type: "LegPlaced", at, leg: legOf(5, { status: "FINISHED", fired }), postings },
    { type: "LegPlaced", at, leg: legOf(5, { status: "PENDING", entryId: 4 }), postings },
    { type: "LegArmed", at, legId: 5, postings },
    { type: "LegFired", at, legId: 5, fired, postings },
    { type: "LegCanceled", at, legId: 5, postings },
    { type: "LegCanceled", at, legId: 5, reason: "ENTRY_CANCELED", postings },
    { type: "LegExpired", at, legId: 5, postings },
    { type: "LegExpired", at, legId: 5, reason: "LEG_EXISTS", postings },
    {
      type: "FundingSettled",
      at,
      ...settlement,
      markPrice: decimal(HUGE),
      asset: "USDT",
      position: positionOf("BTCUSDT"),
      postings: [{ from: "funding", to: "isolated", asset: "USDT", amount: decimal(TINY) }],
    },
    {
      type: "FundingSettled",
      at,
      ...settlement,
      markPrice: decimal(TINY),
      asset: "USDT",
      position: null,
      postings,
    },
  ];
}
