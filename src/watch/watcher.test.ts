import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Desk, type DeskMarket, type Executed } from "../desk/desk.ts";
import { createStrategies } from "../desk/testing/strategies.ts";
import type { PlaceOrder } from "../domain/command.ts";
import type { Quote } from "../domain/market.ts";
import type { Order, Side } from "../domain/order.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import { STANDARD_SPOT } from "../engine/profiles.ts";
import { unfilteredRules } from "../engine/testing/market-stub.ts";
import { decimal, formatDecimal, type Price } from "../money/decimal.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { type WatchedMarket, Watcher } from "./watcher.ts";

let directory: string;
const opened: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lyrebird-watch-"));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true });
});

describe("a resting order", () => {
  test.each([
    ["BUY", "90", { bid: "89", ask: "90" }],
    ["BUY", "90", { bid: "70", ask: "71" }],
    ["SELL", "110", { bid: "110", ask: "111" }],
    ["SELL", "110", { bid: "130", ask: "131" }],
  ] as const)("%s at %s that %o reaches fills at its limit, as maker", async (side, limit, { bid, ask }) => {
    const { market, place, settled, store } = await stage();
    await place("one", side, limit);
    market.show("BTCUSDT", bid, ask);
    await settled("one");
    expect((await store.findOrder("one", { orderId: 2 }))?.status).toBe("FILLED");
    const trades = await store.listTrades("one", { symbol: "BTCUSDT", orderId: 2, limit: 10 });
    expect(
      trades.map(({ price, quantity, isMaker }) => [formatDecimal(price), formatDecimal(quantity), isMaker]),
    ).toEqual([[`${limit}.00000000`, "0.10000000", true]]);
  });

  test("that no quote reaches goes on resting", async () => {
    const { market, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    await place("one", "SELL", "110");
    for (const [bid, ask] of [
      ["89", "90.00000001"],
      ["109.99999999", "120"],
    ] as const) {
      market.show("BTCUSDT", bid, ask);
    }
    market.show("ETHUSDT", "50", "51");
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
  });

  test("is filled once, however many quotes reach it", async () => {
    const { market, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    for (const ask of ["89", "88", "87", "95", "80"]) market.show("BTCUSDT", "70", ask);
    await settled("one");
    market.show("BTCUSDT", "70", "71");
    await settled("one");
    expect(await store.listTrades("one", { symbol: "BTCUSDT", orderId: 2, limit: 10 })).toHaveLength(1);
  });

  test("that was canceled is not filled", async () => {
    const { desk, market, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.show("BTCUSDT", "70", "71");
    await settled("one");
    expect((await store.findOrder("one", { orderId: 2 }))?.status).toBe("CANCELED");
    expect(await store.listTrades("one", { symbol: "BTCUSDT", orderId: 2, limit: 10 })).toEqual([]);
  });

  test("that is being canceled when the market reaches it ends one way only", async () => {
    const { desk, market, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    const canceling = desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.show("BTCUSDT", "70", "71");
    await canceling;
    await settled("one");
    expect((await store.findOrder("one", { orderId: 2 }))?.status).toBe("CANCELED");
    expect(market.watched()).toEqual([]);
  });

  test("of each of many strategies is filled by one quote", async () => {
    const strategies = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const { market, place, settled, store } = await stage({ strategies });
    await Promise.all(strategies.map((id) => place(id, "BUY", "90")));
    market.show("BTCUSDT", "89", "90");
    await Promise.all(strategies.map(settled));
    expect(await store.listAllOpenOrders()).toEqual([]);
    expect(market.watched()).toEqual([]);
  });
});

describe("a crossing between an order's decision and its watching", () => {
  test.each([
    ["BUY", "90", "89", "90"],
    ["SELL", "110", "110", "111"],
  ] as const)("fills a %s at %s, although no later quote reaches it", async (side, limit, bid, ask) => {
    const { market, place, settled, store, storage } = await stage();
    const hold = storage.hold();
    const placing = place("one", side, limit);
    await hold.reached;
    market.show("BTCUSDT", bid, ask);
    market.show("BTCUSDT", "99", "100");
    hold.release();
    expect((await placing).status).toBe("NEW");
    await settled("one");
    const [trade] = await store.listTrades("one", { symbol: "BTCUSDT", orderId: 2, limit: 1 });
    expect(trade && [formatDecimal(trade.price), trade.isMaker]).toEqual([`${limit}.00000000`, true]);
  });

  test("concerns that order alone: one that was there before is judged by the quotes it saw", async () => {
    const { market, place, settled, store } = await stage({ strategies: ["early", "late"] });
    await place("early", "BUY", "91");
    // What the market remembers since the mark of the late order, and never showed to the early one.
    market.remember("BTCUSDT", { highestBid: decimal("89"), lowestAsk: decimal("90") });
    await place("late", "BUY", "90");
    await settled("late");
    await settled("early");
    const resting = await store.listAllOpenOrders();
    expect(resting.map(({ strategyId }) => strategyId)).toEqual(["early"]);
  });

  test("is none if it came before the decision", async () => {
    const { market, place, settled, store, storage } = await stage();
    market.show("BTCUSDT", "89", "90");
    market.show("BTCUSDT", "99", "100");
    const hold = storage.hold();
    const placing = place("one", "BUY", "90");
    await hold.reached;
    market.show("BTCUSDT", "98", "99");
    hold.release();
    await placing;
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
  });

  test("is none if it was on another symbol", async () => {
    const { market, place, settled, store, storage } = await stage();
    const hold = storage.hold();
    const placing = place("one", "BUY", "90");
    await hold.reached;
    market.show("ETHUSDT", "49", "50");
    hold.release();
    await placing;
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
  });
});

describe("a crossing that cannot be carried out", () => {
  test("while the symbol is halted leaves the order resting until a later quote", async () => {
    const { market, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    market.halted.add("BTCUSDT");
    market.show("BTCUSDT", "89", "90");
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
    expect(market.watched()).toEqual(["BTCUSDT"]);
    market.halted.clear();
    market.show("BTCUSDT", "88", "89");
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toEqual([]);
  });

  test("because the desk is full is not lost when the market moves away", async () => {
    const { desk, market, place, settled, store, storage } = await stage();
    await place("one", "BUY", "90");
    const hold = storage.hold();
    // One command is held at its commit, and behind it the queue fills up.
    const crowd: Promise<unknown>[] = [place("one", "BUY", "1")];
    await hold.reached;
    for (let each = 0; each < 1_000; each += 1) {
      crowd.push(desk.execute("one", { type: "CancelOrder", orderId: 1_000_000 }));
    }
    expect(await crowd.at(-1)).toEqual({ refusal: "BUSY" });
    market.show("BTCUSDT", "89", "90");
    market.show("BTCUSDT", "99", "100");
    hold.release();
    await Promise.all(crowd);
    await settled("one");
    expect((await store.findOrder("one", { orderId: 2 }))?.status).toBe("FILLED");
  });
});

describe("at the start", () => {
  test("every order that rests in the store is watched, and only it", async () => {
    const { desk, place, store } = await stage({ strategies: ["one", "two"] });
    await place("one", "BUY", "90");
    await place("one", "BUY", "91");
    await place("two", "SELL", "110");
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });

    const { market, watcher, settled } = startOn(store);
    expect(market.watched()).toEqual([]);
    expect(await watcher.rebuild()).toBe(2);
    expect(market.watched()).toEqual(["BTCUSDT"]);
    market.show("BTCUSDT", "89", "90");
    await Promise.all([settled("one"), settled("two")]);
    expect((await store.findOrder("one", { orderId: 3 }))?.status).toBe("FILLED");
    expect((await store.findOrder("one", { orderId: 2 }))?.status).toBe("CANCELED");
    expect((await store.listAllOpenOrders()).map(({ strategyId }) => strategyId)).toEqual(["two"]);
    market.show("BTCUSDT", "110", "111");
    await Promise.all([settled("one"), settled("two")]);
    expect(await store.listAllOpenOrders()).toEqual([]);
  });

  test("without resting orders nothing is watched", async () => {
    const { market, watcher } = await stage();
    expect(await watcher.rebuild()).toBe(0);
    expect(market.watched()).toEqual([]);
  });
});

describe("a symbol", () => {
  test("is watched once, as long as somebody waits on it", async () => {
    const { desk, market, place } = await stage({ strategies: ["one", "two"] });
    expect(market.watched()).toEqual([]);
    await place("one", "BUY", "90");
    await place("two", "SELL", "110");
    await place("two", "BUY", "45", { symbol: "ETHUSDT" });
    expect(market.watched()).toEqual(["BTCUSDT", "ETHUSDT"]);
    await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(market.watched()).toEqual(["BTCUSDT", "ETHUSDT"]);
    await desk.execute("two", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(market.watched()).toEqual(["ETHUSDT"]);
    await desk.execute("two", { type: "CancelOpenOrders", symbol: "ETHUSDT" });
    expect(market.watched()).toEqual([]);
  });

  test("is released when its last order has been filled, and watched again for the next", async () => {
    const { market, place, settled } = await stage();
    await place("one", "BUY", "90");
    market.show("BTCUSDT", "89", "90");
    await settled("one");
    expect(market.watched()).toEqual([]);
    await place("one", "BUY", "80");
    expect(market.watched()).toEqual(["BTCUSDT"]);
  });

  test("is not watched for orders that fill at once", async () => {
    const { market, place } = await stage();
    expect((await place("one", "BUY", "100")).status).toBe("FILLED");
    expect(market.watched()).toEqual([]);
  });
});

describe("a closed watcher", () => {
  test("has released every symbol and fills nothing more", async () => {
    const { market, watcher, place, settled, store } = await stage();
    await place("one", "BUY", "90");
    watcher.close();
    expect(market.watched()).toEqual([]);
    await place("one", "BUY", "91");
    market.show("BTCUSDT", "70", "71");
    await settled("one");
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
    expect(market.watched()).toEqual([]);
  });

  test("watches nothing again for a fill that was under way and refused", async () => {
    const { market, watcher, place, settled } = await stage();
    await place("one", "BUY", "90");
    market.halted.add("BTCUSDT");
    market.show("BTCUSDT", "70", "71");
    watcher.close();
    await settled("one");
    expect(market.watched()).toEqual([]);
  });
});

/** A market that is told what to show; it stands at 99 to 100 for BTC and at 50 to 51 for ETH. */
class StubMarket implements DeskMarket, WatchedMarket {
  readonly halted = new Set<string>();
  readonly #remembered = new Map<string, { highestBid: Price; lowestAsk: Price }>();
  readonly #shown: { readonly symbol: string; readonly bid: Price; readonly ask: Price }[] = [];
  #watchers: { readonly symbol: string; readonly listener: (quote: Quote) => void }[] = [];

  constructor() {
    this.show("BTCUSDT", "99", "100");
    this.show("ETHUSDT", "50", "51");
  }

  show(symbol: string, bid: string, ask: string): void {
    const quote = { bid: decimal<Price>(bid), ask: decimal<Price>(ask) };
    this.#shown.push({ symbol, ...quote });
    for (const watcher of this.#watchers) if (watcher.symbol === symbol) watcher.listener(quote);
  }

  /** The symbols that are watched, one entry a watcher. */
  watched(): string[] {
    return this.#watchers.map(({ symbol }) => symbol).sort();
  }

  watchQuotes(symbol: string, listener: (quote: Quote) => void): () => void {
    const watcher = { symbol, listener };
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((other) => other !== watcher);
    };
  }

  /** From now on these are the symbol's extremes since any mark, whatever was shown. */
  remember(symbol: string, extremes: { highestBid: Price; lowestAsk: Price }): void {
    this.#remembered.set(symbol, extremes);
  }

  extremesSince(symbol: string, mark: number) {
    const remembered = this.#remembered.get(symbol);
    if (remembered !== undefined) return remembered;
    const since = this.#shown.slice(mark).filter((shown) => shown.symbol === symbol);
    const [first] = since;
    if (first === undefined) return null;
    let { bid: highestBid, ask: lowestAsk } = first;
    for (const { bid, ask } of since) {
      if (bid > highestBid) highestBid = bid;
      if (ask < lowestAsk) lowestAsk = ask;
    }
    return { highestBid, lowestAsk };
  }

  mark(): number {
    return this.#shown.length;
  }

  quote(symbol: string): Quote | null {
    return this.#shown.findLast((shown) => shown.symbol === symbol) ?? null;
  }

  rules(symbol: string): SymbolRules {
    return unfilteredRules(symbol, { status: this.halted.has(symbol) ? "BREAK" : "TRADING" });
  }

  lastPrice(): null {
    return null;
  }

  averagePrice(): null {
    return null;
  }

  now(): number {
    return 1_000;
  }

  prepare(): undefined {
    return undefined;
  }
}

/** Lets a test stop the next commit on its way to the store. */
class Storage {
  #held: { readonly reached: PromiseWithResolvers<void>; readonly gate: PromiseWithResolvers<void> } | null =
    null;

  hold(): { readonly reached: Promise<void>; release(): void } {
    const held = { reached: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>() };
    this.#held = held;
    return { reached: held.reached.promise, release: () => held.gate.resolve() };
  }

  async passage(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    held?.reached.resolve();
    await held?.gate.promise;
  }
}

/** A watcher on a new database; every strategy has 200 USDT, less 20 for the 0.2 BTC that its order 1 bought. */
async function stage(options: { readonly strategies?: readonly string[] } = {}) {
  const strategies = options.strategies ?? ["one"];
  const store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  opened.push(() => store.close());
  await createStrategies(store, strategies);
  const started = startOn(store);
  await Promise.all(strategies.map((id) => started.place(id, "BUY", "100", { quantity: "0.2" })));
  return { store, ...started };
}

function startOn(store: Store) {
  const market = new StubMarket();
  const storage = new Storage();
  const desk = new Desk({
    store: {
      ...store,
      async commit(group) {
        await storage.passage();
        return await store.commit(group);
      },
    },
    market,
    profile: STANDARD_SPOT,
    log: pino({ level: "silent" }),
    onStoreFailure(failure) {
      throw failure;
    },
  });
  const watcher = new Watcher({ desk, store, market, log: pino({ level: "silent" }) });
  opened.push(() => watcher.close());
  let lastClientId = 0;
  return {
    market,
    storage,
    desk,
    watcher,
    /** Places a limit order, for 0.1 unless said, and answers it. */
    async place(
      strategyId: string,
      side: Side,
      limit: string,
      terms: { readonly symbol?: string; readonly quantity?: string } = {},
    ): Promise<Order> {
      const { symbol = "BTCUSDT", quantity = "0.1" } = terms;
      lastClientId += 1;
      const command: PlaceOrder = {
        type: "PlaceOrder",
        symbol,
        side,
        orderType: "LIMIT",
        size: { quantity: decimal(quantity) },
        price: decimal(limit),
        clientOrderId: `c${lastClientId}`,
      };
      const [order] = executed(await desk.execute(strategyId, command)).orders;
      if (order === undefined) throw new Error("a placement answers with its order");
      return order;
    },
    /** Resolves when the strategy has carried out all that it was told so far, fills included. */
    async settled(strategyId: string): Promise<void> {
      await desk.execute(strategyId, { type: "CancelOrder", orderId: 1_000_000 });
      await new Promise((resolve) => setImmediate(resolve));
      await desk.execute(strategyId, { type: "CancelOrder", orderId: 1_000_000 });
    },
  };
}

function executed(outcome: Executed | Refusal): Executed {
  if (isRefusal(outcome)) throw new Error(`expected an execution, not ${outcome.refusal}`);
  return outcome;
}
