// What must always hold under `strict`, over random books, trades, orders and times, of both strategy types:
// no unit is filled without evidence, and none twice. Source: strict fills, section 17.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import type { Command, MatchTrade } from "../domain/command.ts";
import type { DomainEvent, OrderFilled } from "../domain/event.ts";
import type { BookView, MarketTrade } from "../domain/market.ts";
import type { Order } from "../domain/order.ts";
import type { BookLevel, BookSide } from "../domain/receipt.ts";
import { isRefusal } from "../domain/refusal.ts";
import { floorToStep, least, type Price, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import { OWN_LEDGER_ACCOUNTS, WORLD_LEDGER_ACCOUNTS } from "../money/posting.ts";
import { apply } from "./apply.ts";
import { decide } from "./decide.ts";
import { STRICT_DEFAULTS, strictProfile } from "./matching/terms.ts";
import { consumedAt, takenSide } from "./matching/walk.ts";
import { openStrategy } from "./open-strategy.ts";
import { contractRules } from "./testing/contract-rules.ts";
import { MarketStub, symbolRules } from "./testing/market-stub.ts";

const RUNS = 200;
const SYMBOL = "BTCUSDT";
const UNIT = 10n ** 8n;
const MID = 60_000n;
const REFRESH_MS = 1_000;

/** Every digit of prices and quantities is used on spot, so that each part is rounded. */
const RULES = {
  SPOT: symbolRules("BTC", {
    priceFilter: null,
    lotSize: { minQuantity: 1n as Quantity, maxQuantity: ZERO, stepSize: 1n as Quantity },
    marketLotSize: null,
    notional: null,
  }),
  FUTURES: contractRules("BTC", { notional: null, percentPrice: null }),
};

type Levels = ReadonlyMap<Price, Quantity>;
type Step =
  | { readonly kind: "book"; readonly bids: Levels; readonly asks: Levels }
  | { readonly kind: "trade"; readonly side: BookSide; readonly price: Price; readonly quantity: Quantity }
  | { readonly kind: "cross" }
  | {
      readonly kind: "order";
      readonly side: Order["side"];
      readonly price: Price | null;
      readonly quantity: Quantity;
      readonly timeInForce: "GTC" | "IOC" | "FOK" | "GTX";
      readonly reduceOnly: boolean;
    }
  | { readonly kind: "cancel"; readonly which: number }
  | { readonly kind: "mark"; readonly price: Price }
  | { readonly kind: "wait"; readonly ms: number };

function stepsOf(type: StrategyType): fc.Arbitrary<readonly Step[]> {
  const unit = type === "SPOT" ? 1n : 10n ** 5n;
  const quantity = fc
    .bigInt({ min: 1n, max: type === "SPOT" ? 200_000n : 20n })
    .map((count) => (count * unit) as Quantity);
  const tickAround = (from: bigint, to: bigint) =>
    fc
      .tuple(fc.bigInt({ min: from, max: to }), fc.bigInt({ min: 0n, max: type === "SPOT" ? 99n : 0n }))
      .map(([offset, odd]) => ((MID + offset) * UNIT + odd) as Price);
  const levels = (from: bigint, to: bigint) =>
    fc
      .array(fc.tuple(tickAround(from, to), quantity), { minLength: 1, maxLength: 4 })
      .map((all) => new Map(all));
  const price = tickAround(-6n, 6n);
  return fc.array(
    fc.oneof(
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("book" as const),
          bids: levels(-6n, -1n),
          asks: levels(0n, 6n),
        }),
      },
      fc.record({
        kind: fc.constant("trade" as const),
        side: fc.constantFrom<BookSide>("BID", "ASK"),
        price,
        quantity,
      }),
      fc.record({ kind: fc.constant("cross" as const) }),
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("order" as const),
          side: fc.constantFrom<Order["side"]>("BUY", "SELL"),
          price: fc.option(price, { freq: 4 }),
          quantity,
          timeInForce: fc.constantFrom(
            "GTC" as const,
            "GTC" as const,
            "IOC" as const,
            "FOK" as const,
            "GTX" as const,
          ),
          reduceOnly: type === "SPOT" ? fc.constant(false) : fc.boolean(),
        }),
      },
      fc.record({ kind: fc.constant("cancel" as const), which: fc.nat(5) }),
      fc.record({ kind: fc.constant("mark" as const), price: tickAround(-3_500n, 3_500n) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(1_500) }),
    ),
    { minLength: 25, maxLength: 40 },
  );
}

/** One strategy, with the book and the trades that it has met. */
class World {
  readonly account: Account;
  readonly events: DomainEvent[] = [];
  readonly #market: MarketStub;
  readonly #type: StrategyType;
  #levels: Readonly<Record<BookSide, Levels>> = { BID: new Map(), ASK: new Map() };
  #updateId = 0;
  #aggregateId = 0;
  #at = 1;

  constructor(type: StrategyType) {
    this.#type = type;
    this.#market = new MarketStub([RULES[type]]);
    const profile = strictProfile(type, { ...STRICT_DEFAULTS, refreshMs: REFRESH_MS });
    if (profile === null) throw new Error("the first tier is known");
    const { account, event } = openStrategy("one", type, this.#at, profile);
    this.account = account;
    this.events.push(event);
    if (type === "FUTURES") this.#market.setMarkPrice(SYMBOL, (MID * UNIT) as Price);
    else this.#grant("BTC", 10n ** 7n);
  }

  take(step: Step): void {
    this.#at += 1;
    switch (step.kind) {
      case "book":
        this.#levels = { BID: step.bids, ASK: step.asks };
        this.#updateId += 1;
        this.#market.setBook(SYMBOL, this.#book());
        return;
      case "trade": {
        this.#aggregateId += 1;
        const { side, price, quantity } = step;
        this.#match({ aggregateId: this.#aggregateId, side, price, quantity, time: this.#at });
        return;
      }
      case "cross":
        for (const order of [...this.account.openOrders.values()]) this.#cross(order);
        return;
      case "order":
        this.#place(step);
        return;
      case "cancel": {
        const order = [...this.account.openOrders.values()][step.which];
        if (order !== undefined) this.#execute({ type: "CancelOrder", orderId: order.orderId });
        return;
      }
      case "mark":
        if (this.#type === "SPOT") return;
        this.#market.setMarkPrice(SYMBOL, step.price);
        this.#execute({ type: "LiquidatePosition", symbol: SYMBOL, seen: step.price });
        return;
      case "wait":
        this.#at += step.ms;
    }
  }

  #match(trade: MarketTrade): void {
    // Nobody is in front: what is filled depends on the trade alone.
    const nothingAhead = { ahead: ZERO, tradedAtPrice: ZERO, canceledAhead: ZERO };
    const ids = [...this.account.openOrders.keys()];
    const queues: MatchTrade["queues"] = new Map(ids.map((id) => [id, nothingAhead]));
    const filled = this.#execute({ type: "MatchTrade", symbol: SYMBOL, trade, queues }).filter(isFill);
    const sum = filled.reduce((total, event) => total + event.trade.quantity, 0n);
    expect(sum <= trade.quantity).toBe(true);
    for (const { trade: own } of filled) {
      expect(own.isMaker).toBe(true);
      expect(own.side === "BUY" ? own.price >= trade.price : own.price <= trade.price).toBe(true);
      expect(own.quantity <= (own.receipt?.marketTrade?.available ?? 0n)).toBe(true);
    }
  }

  #cross({ orderId, side }: Order): void {
    const levels: BookLevel[] = [...this.#book().displayed(takenSide(side))];
    this.#execute({ type: "MatchCrossing", orderId, levels, book: this.#book() });
  }

  #place({ side, price, quantity, timeInForce, reduceOnly }: Extract<Step, { kind: "order" }>): void {
    const isPostOnly = timeInForce === "GTX" && price !== null;
    const events = this.#execute({
      type: "PlaceOrder",
      symbol: SYMBOL,
      side,
      orderType: price === null ? "MARKET" : isPostOnly && this.#type === "SPOT" ? "LIMIT_MAKER" : "LIMIT",
      size: { quantity },
      price,
      stopPrice: null,
      clientOrderId: `o${this.#at}`,
      entry: { reduceOnly, attached: null, leverage: null },
      timeInForce: price === null || (isPostOnly && this.#type === "SPOT") ? "GTC" : timeInForce,
    });
    const taken = events.filter(isFill);
    const sum = taken.reduce((total, event) => total + event.trade.quantity, 0n);
    if (timeInForce === "FOK" && price !== null && taken.length > 0 && !reduceOnly)
      expect(sum).toBe(quantity);
    if (isPostOnly) expect(taken).toEqual([]);
    for (const { trade } of taken) {
      expect(trade.isMaker).toBe(false);
      if (price !== null) expect(side === "BUY" ? trade.price <= price : trade.price >= price).toBe(true);
    }
  }

  /** Decides and applies; answers the events, each of them checked. */
  #execute(command: Command): readonly DomainEvent[] {
    const decision = decide(this.account, command, { market: this.#market, at: this.#at });
    if (isRefusal(decision)) return [];
    for (const event of decision.events) {
      if (isFill(event)) this.#checkFill(event);
      apply(this.account, event);
      this.events.push(event);
      checkAccount(this.account);
    }
    checkReserves(this.account);
    return decision.events;
  }

  /** The receipt of a fill has all that it takes to compute the fill again. */
  #checkFill({ trade, consumed }: OrderFilled): void {
    const { receipt } = trade;
    if (receipt === undefined) throw new Error("every trade under strict has a receipt");
    const { level } = receipt;
    if (level === null) return;
    const lots = this.account.consumed.get(SYMBOL) ?? [];
    const own = consumedAt(level.side, level.price, {
      lots,
      refreshMs: REFRESH_MS,
      at: this.#at,
      step: ZERO,
    });
    expect(level.ownConsumed).toBe(own);
    const displayed = this.#levels[level.side].get(level.price) ?? ZERO;
    expect(level.displayed).toBe(displayed);
    const step = RULES[this.#type].lotSize?.stepSize ?? ZERO;
    const others = displayed > own ? subtract(displayed, own) : ZERO;
    expect(level.available).toBe(floorToStep(others, step));
    expect(trade.quantity <= level.available).toBe(true);
    expect(consumed).toEqual({
      side: level.side,
      price: level.price,
      quantity: trade.quantity,
      at: this.#at,
    });
    // What is out at the level fits into its display.
    expect(least(displayed, (own + trade.quantity) as Quantity)).toBe(own + trade.quantity);
  }

  #book(): BookView {
    const sides = this.#levels;
    return {
      lastUpdateId: this.#updateId,
      eventTime: this.#at,
      receivedAt: this.#at,
      tickerUpdateId: null,
      lastTradeId: null,
      *displayed(side) {
        const prices = [...sides[side].keys()].sort((one, other) =>
          one < other === (side === "ASK") ? -1 : 1,
        );
        for (const price of prices) {
          const displayed = sides[side].get(price) ?? ZERO;
          yield { price, displayed, fromTicker: false, newerTrades: ZERO };
        }
      },
      displayedAt: (side, price) => sides[side].get(price) ?? ZERO,
    };
  }

  #grant(asset: string, amount: bigint): void {
    const postings = [{ from: "seed", to: "free", asset, amount: amount as never }] as const;
    const event: DomainEvent = { type: "StrategyOpened", at: this.#at, postings };
    apply(this.account, event);
    this.events.push(event);
  }
}

function isFill(event: DomainEvent): event is OrderFilled {
  return event.type === "OrderFilled";
}

/** Nothing is overdrawn (a posting throws), money only moves, and no order is filled beyond its quantity. */
function checkAccount({ balances, openOrders }: Account): void {
  for (const ledgerAccounts of balances.values()) {
    const all = [...OWN_LEDGER_ACCOUNTS, ...WORLD_LEDGER_ACCOUNTS].reduce(
      (total, ledgerAccount) => total + ledgerAccounts[ledgerAccount],
      0n,
    );
    expect(all).toBe(0n);
  }
  for (const order of openOrders.values()) {
    expect(order.executedQuantity < order.quantity).toBe(true);
    expect(order.reserved >= 0n).toBe(true);
  }
}

function checkReserves({ balances, openOrders, profile }: Account): void {
  expect(profile.name).toBe("strict");
  for (const [asset, { locked }] of balances) {
    const reserved = [...openOrders.values()]
      .filter(({ reservedAsset }) => reservedAsset === asset)
      .reduce((total, order) => total + order.reserved, 0n);
    expect(locked).toBe(reserved);
  }
}

describe.each(["SPOT", "FUTURES"] as const)("%s under strict", (type) => {
  test("fills nothing without evidence and nothing twice, and its journal gives the same account", async () => {
    let fills = 0;
    await fc.assert(
      fc.property(stepsOf(type), (steps) => {
        const world = new World(type);
        for (const step of steps) world.take(step);
        fills += world.events.filter(isFill).length;
        // The first event says the profile: without it the account would be of the standard one.
        const replayed = emptyAccount("one", type);
        for (const event of world.events) apply(replayed, event);
        expect(replayed).toEqual(world.account);
      }),
      { numRuns: RUNS },
    );
    // Books and orders meet: the properties were tried.
    expect(fills).toBeGreaterThan(2 * RUNS);
  });
});
