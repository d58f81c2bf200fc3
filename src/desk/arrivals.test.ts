// Commands of a strategy under `strict` on their way to the exchange, under manual time: when they are
// decided, in which order, and what becomes of them when the way ends early. Source: strict fills, sections
// 4, 9 and 15 (W14).
import { describe, expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import type { Command, ExecuteSignal, PlaceOrder } from "../domain/command.ts";
import { matchKey, placementKey } from "../domain/command.ts";
import type { Latency } from "../domain/fill-profile.ts";
import type { BookView, MarketTrade } from "../domain/market.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import { latencyOf, STRICT_DEFAULTS, strictProfile } from "../engine/matching/terms.ts";
import { bookViewOf, type Levels } from "../engine/testing/market-stub.ts";
import { type Decimal, decimal, formatDecimal, ZERO } from "../money/decimal.ts";
import { Arrivals } from "./arrivals.ts";
import { buy, cancel, cleanFixtures, createFixture, executed, StubMarket, upTo } from "./testing/fixture.ts";

cleanFixtures();

const START = 1_000_000;
/** The book S of the worked examples. */
const ASKS: Levels = [
  ["60000", "0.0005"],
  ["60001", "0.0005"],
  ["60010", "0.001"],
];
const BIDS: Levels = [
  ["59999.99", "0.001"],
  ["59999", "0.002"],
];

/** A market of books, under manual time. */
class BookMarket extends StubMarket {
  readonly time = createManualTime(START);
  /** The symbols whose books were asked for. */
  readonly prepared: string[] = [];
  #book: BookView | null = null;
  #known = Promise.withResolvers<void>();

  override now(): number {
    return this.time.now();
  }

  display(asks: Levels, bids: Levels = BIDS): void {
    this.#book = bookViewOf(this.now(), { ASK: asks, BID: bids });
    this.show("BTCUSDT", bids[0]?.[0] ?? "0", asks[0]?.[0] ?? "0");
    this.#known.resolve();
  }

  /** The book is not known any more. */
  lose(): void {
    this.#book = null;
    this.#known = Promise.withResolvers();
  }

  /** Resolves the waits for a book that stays unknown. */
  giveUp(): void {
    this.#known.resolve();
  }

  override book(): BookView | null {
    return this.#book;
  }

  override rules(symbol: string): SymbolRules {
    const rules = super.rules(symbol);
    return { ...rules, orderTypes: [...rules.orderTypes, "LIMIT_MAKER"] };
  }

  override prepareBook(symbol: string): Promise<void> | undefined {
    this.prepared.push(symbol);
    return this.#book === null ? this.#known.promise : undefined;
  }
}

async function strictFixture(latency: Latency, { marketSpeed = 1 } = {}) {
  const profile = strictProfile("SPOT", { ...STRICT_DEFAULTS, latency });
  if (profile === null) throw new Error("the first tier is always known");
  const market = new BookMarket();
  market.display(ASKS);
  const parts = { timers: market.time, marketSpeed };
  const fixture = await createFixture({ market, profile, parts });
  const answers: string[] = [];
  /** Resolves when no command is in progress but those that wait for the book, and for time. */
  const settled = async (waiting = 0) => {
    do await new Promise((resolve) => setImmediate(resolve));
    while (fixture.desk.waitingCount() > waiting);
  };
  return {
    ...fixture,
    market,
    /** What was answered so far, by name and market time. */
    answers,
    /** Executes a command; its answer is noted. */
    send(name: string, command: Command, options: Parameters<typeof fixture.desk.execute>[2] = {}) {
      const answered = fixture.desk.execute("one", command, options);
      void answered.then((outcome) => {
        const said = isRefusal(outcome) ? outcome.refusal : outcome.orders.map(({ status }) => status).join();
        answers.push(`${name} ${market.now() - START} ${said}`);
      });
      return answered;
    },
    settled,
    /** Lets market time pass once everything before is done, and has what arrives decided. */
    async pass(ms: number, waiting = 0) {
      await settled();
      market.time.advance(ms);
      await settled(waiting);
    },
    async fillsOf(orderId: number) {
      const trades = await fixture.store.listTrades("one", { symbol: "BTCUSDT", orderId, limit: 10 });
      return trades.map(({ price, quantity }) => `${plain(quantity)} @ ${plain(price)}`);
    },
  };
}

function order(price: string, quantity: string, clientOrderId: string): PlaceOrder {
  return { ...buy(price, clientOrderId), size: { quantity: decimal(quantity) } };
}

/** Without zeros at its end. */
function plain(value: Decimal): string {
  return formatDecimal(value).replace(/\.?0+$/, "");
}

describe("W14: a latency of 400 ms", () => {
  test("a market order meets the book of its arrival, and is answered then", async () => {
    const { send, pass, answers, store, market, fillsOf } = await strictFixture(400);
    const placed = send("buy", order("market", "0.0005", "a"), { admittedAt: START });
    await pass(120);
    market.display([["60050", "1"]]);
    await pass(279);
    expect(answers).toEqual([]);
    expect((await store.loadAccount("one"))?.version).toBe(1);
    await pass(1);
    expect(answers).toEqual(["buy 400 FILLED"]);
    expect(await fillsOf(1)).toEqual(["0.0005 @ 60050"]);
    expect(executed(await placed).orders[0]).toMatchObject({
      placedAt: START + 400,
      arrival: { admittedAt: START, latencyMs: 400, arrivedAt: START + 400 },
    });
  });

  test("an order is filled while its cancel is on the way", async () => {
    const { desk, send, pass, answers, market, fillsOf } = await strictFixture(400);
    send("buy", order("59999.99", "0.0005", "a"));
    await pass(400);
    send("cancel", cancel(1));
    await pass(120);
    const trade: MarketTrade = {
      ...{ aggregateId: 7, price: decimal("59990.5"), quantity: decimal("1") },
      ...{ side: "BID", time: market.now() },
    };
    const match = { type: "MatchTrade", symbol: "BTCUSDT", trade, queues: new Map() } as const;
    executed(await desk.execute("one", match, { key: matchKey("BTCUSDT", trade) }));
    await pass(280);
    expect(answers).toEqual(["buy 400 NEW", "cancel 800 ORDER_NOT_OPEN"]);
    expect(await fillsOf(1)).toEqual(["0.0005 @ 59999.99"]);
  });
});

describe("commands on the way", () => {
  test("arrive in the order in which they were sent, each not before the one before it", async () => {
    const latency = { p50: 100, p90: 400, p99: 900 };
    const { send, pass, answers } = await strictFixture(latency);
    const names = upTo(12).map((each) => `c${each}`);
    let latest = 0;
    const arrivals = names.map((clientOrderId) => {
      const drawn = latencyOf(latency, { strategyId: "one", clientOrderId, action: "place" });
      const isOvertaking = drawn < latest;
      latest = Math.max(latest, drawn);
      return { at: latest, isOvertaking };
    });
    expect(arrivals.some(({ isOvertaking }) => isOvertaking)).toBe(true);
    for (const name of names) send(name, order("59000", "0.00001", name));
    let passed = 0;
    for (const at of new Set(arrivals.map((each) => each.at))) {
      await pass(at - passed - 1);
      await pass(1);
      passed = at;
    }
    expect(answers).toEqual(names.map((name, index) => `${name} ${arrivals[index]?.at} NEW`));
  });

  test("are not waited for by a close", async () => {
    const { desk, send, pass, answers } = await strictFixture(400);
    send("buy", order("59000", "0.001", "a"));
    await pass(100);
    await desk.execute("one", { type: "CloseStrategy" });
    expect(answers).toEqual([]);
    await pass(300);
    // What was true when the order was sent is not true when it arrives.
    expect(answers).toEqual(["buy 400 STRATEGY_NOT_LIVE"]);
  });

  test("are checked when they arrive: one that is too late by then is refused", async () => {
    const { send, pass, answers, market } = await strictFixture(400);
    const lapsed = () => (market.now() > START + 300 ? ({ refusal: "TIMESTAMP_TOO_OLD" } as const) : null);
    send("late", order("59000", "0.001", "a"), { lapsed });
    send("dear", order("59000", "1", "b"));
    await pass(400);
    expect(answers).toEqual(["late 400 TIMESTAMP_TOO_OLD", "dear 400 INSUFFICIENT_BALANCE"]);
  });

  test("of a client id that was used before answer with its order, after their latency", async () => {
    const { send, pass, answers, store } = await strictFixture(400);
    const key = placementKey("a");
    send("first", order("59000", "0.001", "a"), { key });
    send("again", order("59000", "0.001", "a"), { key });
    await pass(400);
    expect(answers).toEqual(["first 400 NEW", "again 400 NEW"]);
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
  });

  test("of signals take the latency too, with the number that was drawn", async () => {
    const { desk, store, pass, settled } = await strictFixture(400);
    const signal = { signalId: "s", strategyId: "one", idempotencyKey: "k", body: "{}", receivedAt: START };
    await store.receiveSignals([signal], { claimedUntil: START + 10_000 });
    const command: ExecuteSignal = {
      ...{ type: "ExecuteSignal", signalId: "s", processedAt: START },
      order: order("market", "0.0005", "s"),
    };
    const executing = desk.execute("one", command, { key: "signal:s" });
    await pass(399);
    expect((await store.findSignal("one", { signalId: "s" }))?.state.status).toBe("RECEIVED");
    await pass(1);
    await settled();
    expect(executed(await executing).orders[0]?.arrival).toMatchObject({
      latencyMs: 400,
      arrivedAt: START + 400,
    });
  });

  test.each([0, 400])(
    "of a signal that their commit would record are refused and not sent, with a latency of %i ms",
    async (latency) => {
      const { send, settled, answers, store, market } = await strictFixture(latency);
      const records = {
        signalId: "s",
        strategyId: "one",
        idempotencyKey: "k",
        body: "{}",
        receivedAt: START,
      };
      const placed = order("market", "0.0005", "s");
      const command = { type: "ExecuteSignal", signalId: "s", processedAt: START, order: placed } as const;
      send("signal", command, { key: "signal:s", records });
      await settled();
      expect(answers).toEqual(["signal 0 BUSY"]);
      expect(market.time.pending()).toBe(0);
      expect(await store.listSignals("one", { limit: 9 })).toEqual([]);
    },
  );

  test("of a latency of zero are decided at once", async () => {
    const { send, settled, answers, market } = await strictFixture(0);
    await send("buy", order("market", "0.0005", "a"));
    await settled();
    expect(answers).toEqual(["buy 0 FILLED"]);
    expect(market.time.pending()).toBe(0);
  });

  test("take the latency of the market's time where that runs faster", async () => {
    const { send, settled, answers, market } = await strictFixture(400, { marketSpeed: 20 });
    send("buy", order("market", "0.0005", "a"));
    await settled();
    // 20 ms of the timers; the clock of this test does not run faster, so the command waits on.
    market.time.advance(20);
    await settled();
    expect(market.time.pending()).toBe(1);
    market.time.advance(400);
    await settled();
    expect(answers).toHaveLength(1);
  });

  test("are at most 500 of a strategy", async () => {
    const { desk, send, settled, pass, answers, store } = await strictFixture(400);
    for (const each of upTo(500)) send("cancel", cancel(each));
    await settled();
    expect(await send("more", cancel(501))).toEqual({ refusal: "BUSY" });
    expect(desk.waitingCount()).toBe(0);
    await pass(400);
    expect(answers).toHaveLength(501);
    expect((await store.loadAccount("one"))?.version).toBe(1);
  });

  test("are refused when the service ends, and nothing of them is stored", async () => {
    const { desk, send, pass, answers, store, market } = await strictFixture(400);
    send("buy", order("market", "0.0005", "a"));
    await pass(100);
    desk.endArrivals();
    expect(await send("later", order("market", "0.0005", "b"))).toEqual({ refusal: "BUSY" });
    await desk.drain();
    expect(answers).toEqual(["buy 100 BUSY", "later 100 BUSY"]);
    expect(market.time.pending()).toBe(0);
    expect((await store.loadAccount("one"))?.version).toBe(1);
  });
});

describe("a book that is not known", () => {
  test("is awaited by a placement, and followed while the command is on the way", async () => {
    const { send, pass, answers, market, fillsOf } = await strictFixture(400);
    market.lose();
    send("buy", order("market", "0.0005", "a"));
    await pass(0);
    expect(market.prepared).toEqual(["BTCUSDT"]);
    await pass(400, 1);
    expect(answers).toEqual([]);
    market.display([["60020", "1"]]);
    await pass(0);
    expect(answers).toEqual(["buy 400 FILLED"]);
    expect(await fillsOf(1)).toEqual(["0.0005 @ 60020"]);
  });

  test("lets no command overtake one that was sent before it, while an earlier one waits for the book", async () => {
    const { send, pass, answers, market } = await strictFixture(50);
    market.lose();
    send("x", order("59000", "0.0001", "x"));
    await pass(20);
    send("a", cancel(7));
    await pass(35, 1);
    // Its latency is drawn when the command that waits is decided: it has arrived by then, after the cancel.
    send("b", order("59000", "0.0001", "b"));
    market.time.advance(55);
    market.display(ASKS);
    await pass(0);
    expect(answers).toEqual(["x 110 NEW", "a 110 ORDER_NOT_OPEN", "b 110 NEW"]);
  });

  test("that stays unknown refuses what would take, and lets a limit order rest with an unknown queue", async () => {
    const { send, settled, answers, market, store } = await strictFixture(0);
    market.lose();
    send("market", order("market", "0.0005", "a"));
    for (const timeInForce of ["IOC", "FOK"] as const) {
      send(timeInForce, { ...order("60000", "0.0005", timeInForce), timeInForce });
    }
    send("maker", { ...order("59000", "0.0005", "m"), orderType: "LIMIT_MAKER" });
    send("limit", order("60000", "0.0005", "l"));
    market.giveUp();
    await settled();
    expect(answers).toEqual([
      ...["market", "IOC", "FOK", "maker"].map((name) => `${name} 0 MARKET_SILENT`),
      "limit 0 NEW",
    ]);
    expect((await store.findOrder("one", { orderId: 1 }))?.queue?.ahead).toBeNull();
  });

  test("does not keep a trade of the market from filling an order", async () => {
    const { desk, send, settled, market, fillsOf } = await strictFixture(0);
    await send("limit", order("59999.99", "0.0005", "a"));
    await settled();
    market.lose();
    market.time.advance(10);
    const trade: MarketTrade = {
      ...{ aggregateId: 7, price: decimal("59999.99"), quantity: decimal("0.0012") },
      ...{ side: "BID", time: market.now() },
    };
    const position = { ahead: decimal<never>("0.001"), tradedAtPrice: ZERO, canceledAhead: ZERO };
    const queues = new Map([[1, position]]);
    executed(await desk.execute("one", { type: "MatchTrade", symbol: "BTCUSDT", trade, queues }));
    expect(await fillsOf(1)).toEqual(["0.0002 @ 59999.99"]);
  });
});

test("what is in front of an own order is what the port says", async () => {
  const asked: (readonly [string, number])[] = [];
  const profile = strictProfile("SPOT", { ...STRICT_DEFAULTS, latency: 0 });
  if (profile === null) throw new Error("the first tier is always known");
  const market = new BookMarket();
  market.display([["60050", "1"]], [["59000", "0.001"]]);
  const { desk } = await createFixture({
    ...{ market, profile },
    parts: {
      aheadOf(strategyId, orderId) {
        asked.push([strategyId, orderId]);
        return decimal("1");
      },
    },
  });
  // It has something to sell, and an order that a sale reaches.
  executed(await desk.execute("one", order("market", "0.001", "a")));
  executed(await desk.execute("one", order("59000", "0.0005", "b")));
  const sale = await desk.execute("one", { ...order("market", "0.0005", "c"), side: "SELL" });
  expect(executed(sale).orders.map(({ status }) => status)).toEqual(["FILLED"]);
  expect(asked).toEqual([["one", 2]]);
});

test("commands arrive with their latency also where market time was set back, which bounds no wait", () => {
  const time = createManualTime();
  let aheadMs = 60_000;
  const arrived: string[] = [];
  const now = () => time.now() + aheadMs;
  const take = (job: string) => void arrived.push(job);
  const arrivals = new Arrivals<string>({ now, timers: time, marketSpeed: 1, arrived: take });
  const send = (job: string) => arrivals.add(job, arrivals.timeOf(now() + 50));
  send("on its way");
  time.advance(20);
  aheadMs = 0;
  send("after it");
  time.advance(80);
  expect(arrived).toEqual(["on its way", "after it"]);
});
