// Whatever can happen to a strategy, and whatever an account can hold, comes back from its text as it was.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { HeldBefore, Position } from "../domain/account.ts";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import type { ConsumedLot } from "../domain/consumed.ts";
import type { DomainEvent } from "../domain/event.ts";
import {
  FEE_TIERS,
  type FillProfile,
  QUEUE_MODELS,
  STANDARD,
  type StrictTerms,
} from "../domain/fill-profile.ts";
import {
  type AttachedLeg,
  type FiredLeg,
  LEG_CANCEL_REASONS,
  LEG_EXPIRY_REASONS,
  type Leg,
} from "../domain/leg.ts";
import type { Order, QueueEntry, Trade } from "../domain/order.ts";
import type { Arrival, BookStamp, Receipt } from "../domain/receipt.ts";
import type { Rejection } from "../domain/signal.ts";
import type { Decimal, Price, Product, Quantity, Rate } from "../money/decimal.ts";
import {
  type LedgerAccounts,
  OWN_LEDGER_ACCOUNTS,
  type Posting,
  WORLD_LEDGER_ACCOUNTS,
} from "../money/posting.ts";
import { decodeAccount, decodeEvents, encodeEvents, encodeState } from "./codec.ts";

/** Twenty integer digits and eight decimals. */
const UNITS_MAX = 10n ** 28n - 1n;
const RUNS = 1_000;

test("events of every type", async () => {
  const everyType = fc.tuple(...Object.values(EVENTS));
  await fc.assert(
    fc.property(everyType, (events) => {
      expect(decodeEvents(encodeEvents(events))).toEqual(events);
    }),
    { numRuns: RUNS },
  );
});

test("what an account's row carries", async () => {
  await fc.assert(
    fc.property(ACCOUNTS, (account) => {
      const { strategyId: id, type, status } = account;
      const decoded = decodeAccount({ id, type, status, state: encodeState(account) }, []);
      expect(decoded).toEqual(account);
      // Maps are equal whatever their order.
      for (const part of [
        "positions",
        "openLegs",
        "leverages",
        "heldBefore",
        "fundedUntil",
        "consumed",
      ] as const) {
        expect([...decoded[part].keys()]).toEqual([...account[part].keys()]);
      }
    }),
    { numRuns: RUNS },
  );
});

test("the row of an account that holds nothing but spot says nothing of futures", () => {
  const state = JSON.parse(encodeState(emptyAccount("one", "SPOT")));
  expect(Object.keys(state)).toEqual([
    ...["balances", "nextOrderId", "nextTradeId", "orderCounts", "updatedAt", "ascendsFrom"],
  ]);
});

function units<D extends Decimal | Product>(max = UNITS_MAX): fc.Arbitrary<D> {
  const values = fc.oneof(fc.bigInt({ min: -max, max }), fc.bigInt({ min: -100n, max: 100n }));
  return values as fc.Arbitrary<bigint> as fc.Arbitrary<D>;
}

/** Objects that have some of the optional fields. */
function some<Required extends object, Optional extends object>(
  required: fc.Arbitrary<Required>,
  optional: { [K in keyof Optional]: fc.Arbitrary<Optional[K]> },
): fc.Arbitrary<Required & Partial<Optional>> {
  return fc
    .tuple(required, fc.record(optional, { requiredKeys: [] }))
    .map(([given, chosen]) => ({ ...given, ...chosen }) as Required & Partial<Optional>);
}

const id = fc.nat();
const time = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const side = fc.constantFrom("BUY" as const, "SELL" as const);
const ledgerAccount = fc.constantFrom(...OWN_LEDGER_ACCOUNTS, ...WORLD_LEDGER_ACCOUNTS);

const posting: fc.Arbitrary<Posting> = fc.record({
  from: ledgerAccount,
  to: ledgerAccount,
  asset: text,
  amount: units(),
});
const happening = { at: time, postings: fc.array(posting, { maxLength: 3 }) };

const legType = fc.constantFrom("STOP_MARKET" as const, "TAKE_PROFIT_MARKET" as const);
const attachedLeg: fc.Arbitrary<AttachedLeg> = fc.record({
  legId: id,
  clientLegId: text,
  type: legType,
  triggerPrice: units(),
});
const book: fc.Arbitrary<BookStamp> = fc.record({
  lastUpdateId: id,
  eventTime: time,
  receivedAt: time,
  tickerUpdateId: fc.option(id),
  lastTradeId: fc.option(id),
});
const queue: fc.Arbitrary<QueueEntry> = fc.record({
  since: time,
  ahead: fc.option(units<Quantity>()),
  book: fc.option(book),
});
const arrival: fc.Arbitrary<Arrival> = fc.record({
  admittedAt: fc.option(time),
  latencyMs: id,
  arrivedAt: time,
});
const bookSide = fc.constantFrom("BID" as const, "ASK" as const);
const receipt: fc.Arbitrary<Receipt> = fc.record({
  version: id,
  cause: fc.constantFrom("WALK", "TRADE_AT_PRICE", "BOOK_CROSSED", "TAKEOVER"),
  arrival: fc.option(arrival),
  remaining: units<Quantity>(),
  book: fc.option(book),
  level: fc.option(
    fc.record({
      price: units<Price>(),
      displayed: units<Quantity>(),
      fromTicker: fc.boolean(),
      newerTrades: units<Quantity>(),
      side: bookSide,
      index: id,
      ownConsumed: units<Quantity>(),
      available: units<Quantity>(),
      step: units<Quantity>(),
    }),
  ),
  queue: fc.option(
    fc.record({
      aheadAtPlacement: fc.option(units<Quantity>()),
      bookAtPlacement: fc.option(book),
      tradedAtPrice: units<Quantity>(),
      canceledAhead: units<Quantity>(),
      aheadBefore: fc.option(units<Quantity>()),
      ahead: units<Quantity>(),
      history: fc.array(
        fc.record({
          ...{ time, ahead: fc.option(units<Quantity>()) },
          ...{ tradedAtPrice: units<Quantity>(), canceledAhead: units<Quantity>() },
        }),
      ),
    }),
  ),
  marketTrade: fc.option(
    fc.record({
      aggregateId: id,
      price: units<Price>(),
      quantity: units<Quantity>(),
      time,
      available: units<Quantity>(),
      step: units<Quantity>(),
    }),
  ),
});
const lot: fc.Arbitrary<ConsumedLot> = fc.record({
  side: bookSide,
  price: units<Price>(),
  quantity: units<Quantity>(),
  at: time,
});
const strictProfile: fc.Arbitrary<FillProfile> = fc.record({
  name: fc.constant("strict" as const),
  version: id,
  makerFee: units<Rate>(),
  takerFee: units<Rate>(),
  strict: fc.record<StrictTerms>({
    latency: fc.oneof(id, fc.record({ p50: id, p90: id, p99: id })),
    queue: fc.constantFrom(...QUEUE_MODELS),
    refreshMs: id,
    feeTier: fc.constantFrom(...FEE_TIERS),
    feeDiscount: fc.constantFrom("none", "bnb"),
  }),
});

type OfSomeOrders =
  | ("reduceOnly" | "closesPosition" | "legs" | "attached")
  | ("timeInForce" | "expiryReason" | "arrival" | "queue");
const order: fc.Arbitrary<Order> = some(
  fc.record<Omit<Order, OfSomeOrders>>({
    orderId: id,
    clientOrderId: text,
    symbol: text,
    side,
    type: fc.constantFrom("MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT", "LIMIT_MAKER", "LIQUIDATION"),
    status: fc.constantFrom("NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "REJECTED", "EXPIRED"),
    price: units(),
    stopPrice: units(),
    quantity: units(),
    quoteQuantity: units(),
    executedQuantity: units(),
    executedQuote: units(),
    reserved: units(),
    reservedAsset: text,
    placedAt: time,
    updatedAt: time,
    workingAt: fc.option(time),
  }),
  {
    reduceOnly: fc.constant(true as const),
    closesPosition: fc.constant(true as const),
    legs: fc.array(attachedLeg, { maxLength: 2 }),
    attached: fc.record({ takeProfitPrice: fc.option(units()), stopLossPrice: fc.option(units()) }),
    timeInForce: fc.constantFrom("IOC", "FOK", "GTX"),
    expiryReason: fc.constantFrom("LOT_SIZE", "UNFILLED_IOC_QUANTITY_EXPIRED"),
    arrival,
    queue,
  },
);

const trade: fc.Arbitrary<Trade> = some(
  fc.record<Omit<Trade, "realizedPnl" | "receipt">>({
    tradeId: id,
    orderId: id,
    symbol: text,
    side,
    price: units(),
    quantity: units(),
    quoteQuantity: units(),
    fee: units(),
    feeAsset: text,
    isMaker: fc.boolean(),
    at: time,
  }),
  { realizedPnl: units(), receipt },
);

const fired: fc.Arbitrary<FiredLeg> = fc.record({ orderId: id, price: units(), quantity: units(), at: time });
const leg: fc.Arbitrary<Leg> = some(
  fc.record<Omit<Leg, "entryId" | "endReason" | "workingType" | "priceProtect">>({
    legId: id,
    clientLegId: text,
    symbol: text,
    side,
    type: legType,
    status: fc.constantFrom("PENDING", "NEW", "FINISHED", "CANCELED", "EXPIRED"),
    triggerPrice: units(),
    placedAt: time,
    updatedAt: time,
    fired: fc.option(fired),
  }),
  {
    entryId: id,
    endReason: fc.constantFrom(...LEG_CANCEL_REASONS, ...LEG_EXPIRY_REASONS),
    workingType: fc.constant("CONTRACT_PRICE"),
    priceProtect: fc.constant(true as const),
  },
);

const position: fc.Arbitrary<Position> = fc.record<Position>({
  symbol: text,
  quantity: units(),
  entryValue: units<Product>(UNITS_MAX * UNITS_MAX),
  isolatedWallet: units(),
  burden: units(),
  openedAt: time,
  updatedAt: time,
});

/** The compiler asks for every type that there is. */
const EVENTS: {
  readonly [T in DomainEvent["type"]]: fc.Arbitrary<Extract<DomainEvent, { readonly type: T }>>;
} = {
  StrategyOpened: some(fc.record({ ...happening, type: fc.constant("StrategyOpened") }), {
    profile: strictProfile,
  }),
  OrderRested: fc.record({ ...happening, type: fc.constant("OrderRested"), orderId: id, queue }),
  OrderPlaced: some(fc.record({ ...happening, type: fc.constant("OrderPlaced"), order }), {
    admittedAt: time,
  }),
  OrderFilled: some(fc.record({ ...happening, type: fc.constant("OrderFilled"), trade }), {
    position: fc.option(position),
    consumed: lot,
  }),
  OrderReserveChanged: fc.record({
    ...happening,
    type: fc.constant("OrderReserveChanged"),
    orderId: id,
    reserved: units(),
  }),
  OrderCanceled: fc.record({ ...happening, type: fc.constant("OrderCanceled"), orderId: id }),
  OrderTriggered: fc.record({ ...happening, type: fc.constant("OrderTriggered"), orderId: id }),
  OrderExpired: fc.record({
    ...happening,
    type: fc.constant("OrderExpired"),
    orderId: id,
    reason: fc.constantFrom("LOT_SIZE", "INSUFFICIENT_BALANCE", "NOTHING_TO_REDUCE"),
  }),
  LegPlaced: some(fc.record({ ...happening, type: fc.constant("LegPlaced"), leg }), { admittedAt: time }),
  LegArmed: fc.record({ ...happening, type: fc.constant("LegArmed"), legId: id }),
  LegFired: fc.record({ ...happening, type: fc.constant("LegFired"), legId: id, fired }),
  LegCanceled: some(fc.record({ ...happening, type: fc.constant("LegCanceled"), legId: id }), {
    reason: fc.constantFrom(...LEG_CANCEL_REASONS),
  }),
  LegExpired: some(fc.record({ ...happening, type: fc.constant("LegExpired"), legId: id }), {
    reason: fc.constantFrom(...LEG_EXPIRY_REASONS),
  }),
  LeverageChanged: fc.record({
    ...happening,
    type: fc.constant("LeverageChanged"),
    symbol: text,
    leverage: fc.integer({ min: 1, max: 125 }),
  }),
  FundingSettled: fc.record({
    ...happening,
    type: fc.constant("FundingSettled"),
    symbol: text,
    fundingTime: time,
    rate: units(),
    markPrice: units(),
    asset: text,
    position: fc.option(position),
  }),
  StrategyClosing: fc.record({ ...happening, type: fc.constant("StrategyClosing") }),
  StrategyClosed: fc.record({ ...happening, type: fc.constant("StrategyClosed") }),
  SignalExecuted: fc.record({
    ...happening,
    type: fc.constant("SignalExecuted"),
    signalId: text,
    orderId: id,
    processedAt: time,
  }),
  SignalRejected: fc.record({
    ...happening,
    type: fc.constant("SignalRejected"),
    signalId: text,
    reason: fc.constantFrom<Rejection>(
      { refusal: "STRATEGY_NOT_LIVE" },
      { refusal: "FILTER_FAILED", filter: "NOTIONAL" },
      { refusal: "ORDER_TYPE_UNSUPPORTED", orderType: "STOP_LOSS_LIMIT" },
      { refusal: "PARAMETERS_MISSING", parameters: ["quantity", "quoteOrderQty"] },
    ),
    processedAt: time,
  }),
};

const ledgerAccounts: fc.Arbitrary<LedgerAccounts> = fc.record<LedgerAccounts>({
  free: units(),
  locked: units(),
  isolated: units(),
  seed: units(),
  market: units(),
  fees: units(),
  funding: units(),
  clearance: units(),
});
const heldBefore: fc.Arbitrary<HeldBefore> = fc.record({ changedAt: time, quantity: units() });

/**
 * Symbols are listed by the exchange: capitals and digits. One of digits alone would be out of its order in
 * an object.
 */
const symbol = fc.stringMatching(/^[A-Z0-9]{1,12}$/);

function mapOf<Key, Value>(
  key: fc.Arbitrary<Key>,
  value: fc.Arbitrary<Value>,
): fc.Arbitrary<Map<Key, Value>> {
  return fc.array(fc.tuple(key, value), { maxLength: 3 }).map((entries) => new Map(entries));
}

const ACCOUNTS: fc.Arbitrary<Account> = fc
  .constantFrom("SPOT" as const, "FUTURES" as const)
  .chain((type) => accountsOf(type));

function accountsOf(type: StrategyType): fc.Arbitrary<Account> {
  return fc.record<Account>({
    strategyId: text,
    type: fc.constant(type),
    profile: fc.oneof(fc.constant(STANDARD[type]), strictProfile),
    consumed: mapOf(symbol, fc.array(lot, { minLength: 1, maxLength: 3 })),
    status: fc.constantFrom("LIVE", "CLOSING", "CLOSED"),
    balances: mapOf(symbol, ledgerAccounts),
    openOrders: fc.constant(new Map()),
    nextOrderId: id,
    nextTradeId: id,
    nextIncomeId: id,
    positions: fc
      .array(position, { maxLength: 3 })
      .map((all) => new Map(all.map((each) => [each.symbol, each]))),
    openLegs: fc.array(leg, { maxLength: 3 }).map((all) => new Map(all.map((each) => [each.legId, each]))),
    leverages: mapOf(symbol, fc.integer({ min: 1, max: 125 })),
    heldBefore: mapOf(symbol, fc.array(heldBefore, { minLength: 1, maxLength: 3 })),
    fundedUntil: mapOf(symbol, time),
    orderCounts: fc.constant(emptyAccount("", "SPOT").orderCounts),
    updatedAt: time,
    ascendsFrom: fc.record({ orderId: id, tradeId: id }),
  });
}
