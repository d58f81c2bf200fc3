import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CancelOrder, Command, PlaceOrder } from "../domain/command.ts";
import type { Quote } from "../domain/market.ts";
import type { Refusal } from "../domain/refusal.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import { STANDARD_SPOT } from "../engine/profiles.ts";
import { unfilteredRules } from "../engine/testing/market-stub.ts";
import { decimal, formatDecimal } from "../money/decimal.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type Commit, type Store, StoreFailure } from "../store/store.ts";
import { type Announcement, Desk, type DeskMarket, type Executed } from "./desk.ts";
import { createStrategies } from "./testing/strategies.ts";

let directory: string;
const opened: Store[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lyrebird-desk-"));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(directory, { recursive: true });
});

describe("turns", () => {
  test("commands of one strategy are carried out in the order they came", async () => {
    const { store, desk } = await stage();
    const outcomes = await Promise.all(
      upTo(20).map((each) => desk.execute("one", buy(each % 2 === 0 ? "90" : "market", `c${each}`))),
    );
    expect(outcomes.map((outcome) => executed(outcome).orders[0]?.clientOrderId)).toEqual(
      upTo(20).map((each) => `c${each}`),
    );
    const entries = await store.listEntries("one");
    expect(entries.map(({ version }) => version)).toEqual(upTo(21));
    const placed = entries.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === "OrderPlaced" ? [event.order.clientOrderId] : [])),
    );
    expect(placed).toEqual(upTo(20).map((each) => `c${each}`));
  });

  test("a command finds what the one before it did", async () => {
    const { desk } = await stage();
    const [bought, sold, soldAgain] = await Promise.all([
      desk.execute("one", buy("market", "a")),
      desk.execute("one", { ...buy("market", "b"), side: "SELL", size: { quantity: decimal("0.05") } }),
      desk.execute("one", { ...buy("market", "c"), side: "SELL", size: { quantity: decimal("0.05") } }),
    ]);
    expect(executed(bought).orders[0]?.status).toBe("FILLED");
    expect(executed(sold).orders[0]?.status).toBe("FILLED");
    // The fee of the purchase came out of what was bought.
    expect(soldAgain).toEqual({ refusal: "INSUFFICIENT_BALANCE" });
  });

  test("a strategy whose turn takes long does not keep others waiting", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    market.prepare = (symbol) => (symbol === "ETHUSDT" ? gate.promise : undefined);
    const { desk } = await stage({ market, strategies: ["one", "two"] });
    const slow = desk.execute("one", { ...buy("90", "a"), symbol: "ETHUSDT" });
    expect(executed(await desk.execute("two", buy("90", "a"))).orders).toHaveLength(1);
    gate.resolve();
    expect(executed(await slow).orders).toHaveLength(1);
  });

  test("whether a command has lapsed is asked when its turn has come, and not before", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { store, desk } = await stage({ market });
    market.prepare = () => gate.promise;
    const asked: string[] = [];
    let lapsed: Refusal | null = null;
    const ask = (name: string) => () => {
      asked.push(name);
      return lapsed;
    };
    const first = desk.execute("one", buy("90", "a"), { lapsed: ask("first") });
    const second = desk.execute("one", buy("90", "b"), { lapsed: ask("second") });
    expect(asked).toEqual([]);
    lapsed = { refusal: "TIMESTAMP_TOO_OLD" };
    gate.resolve();
    expect(await Promise.all([first, second])).toEqual([lapsed, lapsed]);
    expect(asked).toEqual(["first", "second"]);
    expect(await store.listEntries("one")).toHaveLength(1);
  });

  test("a replay that has lapsed is refused like any other command", async () => {
    const { desk } = await stage();
    await desk.execute("one", buy("90", "a"), { key: "k" });
    const lapsed = () => ({ refusal: "TIMESTAMP_TOO_OLD" }) as const;
    expect(await desk.execute("one", buy("90", "a"), { key: "k", lapsed })).toEqual(lapsed());
  });
});

describe("replay", () => {
  test("a repeated key replays the first outcome and changes nothing", async () => {
    const { store, desk, announced } = await stage();
    const first = executed(await desk.execute("one", buy("market", "a"), { key: "k" }));
    const before = await store.loadAccount("one");
    const again = executed(await desk.execute("one", buy("market", "a"), { key: "k" }));
    expect(again).toEqual({ ...first, replayed: true });
    expect(await store.loadAccount("one")).toEqual(before);
    expect(await store.listEntries("one")).toHaveLength(2);
    expect(announced).toHaveLength(1);
  });

  test("a replay answers with the order as it stands now", async () => {
    const { desk } = await stage();
    const first = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    expect(first.orders.map(({ status }) => status)).toEqual(["NEW"]);
    await desk.execute("one", cancel(1));
    const again = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    expect(again.events).toEqual(first.events);
    expect(again.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
  });

  test("a key is known to a desk that never saw its command", async () => {
    const { desk, file } = await stage();
    const first = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    const { desk: other } = await deskOn(file);
    expect(await other.execute("one", buy("90", "a"), { key: "k" })).toEqual({ ...first, replayed: true });
  });

  test("a refused command leaves its key free", async () => {
    const { desk } = await stage();
    const tooMuch: PlaceOrder = { ...buy("90", "a"), size: { quantity: decimal("1000") } };
    expect(await desk.execute("one", tooMuch, { key: "k" })).toEqual({ refusal: "INSUFFICIENT_BALANCE" });
    expect(executed(await desk.execute("one", buy("90", "a"), { key: "k" })).replayed).toBe(false);
  });

  test("of many commands with one key at once exactly one takes effect", async () => {
    const { store, desk, announced } = await stage();
    const outcomes = await Promise.all(
      upTo(20).map(() => desk.execute("one", buy("market", "a"), { key: "k" })),
    );
    expect(outcomes.filter((outcome) => !executed(outcome).replayed)).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => executed(outcome).orders[0]?.orderId))).toEqual(new Set([1]));
    expect(await store.listEntries("one")).toHaveLength(2);
    expect(announced).toHaveLength(1);
  });

  test("one key at two desks at once takes effect once", async () => {
    const { store, desk, file } = await stage();
    const { desk: other } = await deskOn(file);
    for (const each of upTo(10)) {
      const options = { key: `k${each}` };
      const outcomes = await Promise.all([
        desk.execute("one", buy("90", `c${each}`), options),
        other.execute("one", buy("90", `c${each}`), options),
      ]);
      expect(outcomes.map((outcome) => executed(outcome).replayed).sort()).toEqual([false, true]);
    }
    expect(await store.listEntries("one")).toHaveLength(11);
  });
});

describe("an account that another desk has moved", () => {
  test("is loaded again and the command decided again", async () => {
    const { store, desk, file, announced } = await stage();
    await desk.execute("one", buy("90", "a"));
    const { desk: other } = await deskOn(file);
    await other.execute("one", buy("91", "b"));
    const third = executed(await desk.execute("one", buy("92", "c")));
    expect(third.orders.map(({ orderId }) => orderId)).toEqual([3]);
    const open = await store.listOpenOrders("one", null);
    expect(open.map(({ clientOrderId }) => clientOrderId)).toEqual(["a", "b", "c"]);
    // 200 less 0.1 at 90, 91 and 92.
    expect(await fundsOf(store, "one")).toEqual({ free: "172.70000000", locked: "27.30000000" });
    expect(announced.map(({ orders }) => orders[0]?.clientOrderId)).toEqual(["a", "c"]);
  });

  test("can be one on which the command, decided again, is refused", async () => {
    const { store, desk, file } = await stage();
    await desk.execute("one", buy("90", "a"));
    const { desk: other } = await deskOn(file);
    await other.execute("one", { ...buy("90", "b"), size: { quantity: decimal("2") } });
    const third = await desk.execute("one", { ...buy("90", "c"), size: { quantity: decimal("1") } });
    expect(third).toEqual({ refusal: "INSUFFICIENT_BALANCE" });
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
  });

  test("is not refused a command that only the outdated account refuses", async () => {
    const { desk, file } = await stage();
    await desk.execute("one", buy("90", "a"));
    const { desk: other } = await deskOn(file);
    await other.execute("one", buy("91", "b"));
    const canceled = executed(await desk.execute("one", cancel(2)));
    expect(canceled.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
  });

  test("has all its open orders canceled, the other desk's too", async () => {
    const { store, desk, file } = await stage();
    await desk.execute("one", buy("90", "a"));
    await desk.execute("one", cancel(1));
    const { desk: other } = await deskOn(file);
    await other.execute("one", buy("91", "b"));
    await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(await store.listOpenOrders("one", null)).toEqual([]);
  });

  test("two desks under load lose nothing and double nothing", async () => {
    const { store, desk, file } = await stage();
    const { desk: other } = await deskOn(file);
    const outcomes = await Promise.all(
      upTo(40).map((each) =>
        (each % 2 === 0 ? desk : other).execute("one", {
          ...buy("1", `c${each}`),
          size: { quantity: decimal("1") },
        }),
      ),
    );
    const ids = outcomes.map((outcome) => executed(outcome).orders[0]?.orderId ?? 0);
    expect(ids.toSorted((left, right) => left - right)).toEqual(upTo(40));
    expect(await fundsOf(store, "one")).toEqual({ free: "160.00000000", locked: "40.00000000" });
  });
});

describe("a commit that fails", () => {
  test("rejects the execution and is reported, and nothing is announced", async () => {
    const { desk, store, announced, failures, storage } = await stage();
    const failure = new StoreFailure("the disk is full");
    storage.beforeCommit = () => Promise.reject(failure);
    await expect(desk.execute("one", buy("90", "a"))).rejects.toBe(failure);
    expect(failures).toEqual([failure]);
    expect(announced).toEqual([]);
    expect(await store.listEntries("one")).toHaveLength(1);
  });

  test("rejects every execution of its group", async () => {
    const strategies = ["one", "two", "three"];
    const { desk, announced, storage } = await stage({ strategies });
    storage.beforeCommit = () => Promise.reject(new StoreFailure("the disk is full"));
    const outcomes = await Promise.allSettled(strategies.map((id) => desk.execute(id, buy("90", "a"))));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(announced).toEqual([]);
  });

  test("leaves no trace in the account that the next command is decided on", async () => {
    const { desk, store, storage } = await stage();
    await desk.execute("one", buy("90", "a"));
    storage.beforeCommit = () => Promise.reject(new StoreFailure("the disk is full"));
    const failed = desk.execute("one", { ...buy("90", "b"), size: { quantity: decimal("2") } });
    await expect(failed).rejects.toThrow("the disk is full");
    storage.beforeCommit = () => Promise.resolve();
    const next = executed(await desk.execute("one", { ...buy("90", "c"), size: { quantity: decimal("2") } }));
    expect(next.orders.map(({ orderId }) => orderId)).toEqual([2]);
    expect(await fundsOf(store, "one")).toEqual({ free: "11.00000000", locked: "189.00000000" });
  });
});

describe("a database that another process keeps to itself", () => {
  test("has a client's command refused, certainly not executed, and the next one carried out", async () => {
    const { desk, store, announced, failures, storage } = await stage();
    storage.busyCommits = 1;
    expect(await desk.execute("one", buy("90", "a"))).toEqual({ refusal: "BUSY" });
    expect({ announced, failures }).toEqual({ announced: [], failures: [] });
    expect(await fundsOf(store, "one")).toEqual({ free: "200.00000000", locked: "0.00000000" });
    expect(executed(await desk.execute("one", buy("90", "a"))).replayed).toBe(false);
  });

  test("does not lose a crossing: the fill is tried until it is committed", async () => {
    const { desk, store, storage } = await stage();
    const { orders } = executed(await desk.execute("one", buy("90", "a")));
    storage.busyCommits = 2;
    const orderId = orders[0]?.orderId ?? 0;
    await desk.execute("one", { type: "FillRestingOrder", orderId, seen: decimal("90") });
    expect((await store.findOrder("one", { orderId }))?.status).toBe("FILLED");
  });
});

describe("announcements", () => {
  test("come after the commit and not before", async () => {
    const gate = Promise.withResolvers<void>();
    const { desk, announced, storage } = await stage();
    const reached = Promise.withResolvers<void>();
    storage.beforeCommit = () => {
      reached.resolve();
      return gate.promise;
    };
    const outcome = desk.execute("one", buy("90", "a"));
    await reached.promise;
    expect(announced).toEqual([]);
    gate.resolve();
    await outcome;
    expect(announced).toHaveLength(1);
  });

  test("tell what a reader elsewhere can see", async () => {
    const { desk, file } = await stage();
    const elsewhere = await open(file);
    const seen: Promise<unknown>[] = [];
    desk.onCommitted(({ strategyId, orders }) => {
      for (const { orderId } of orders) seen.push(elsewhere.findOrder(strategyId, { orderId }));
    });
    const first = executed(await desk.execute("one", buy("90", "a")));
    const second = executed(await desk.execute("one", buy("market", "b")));
    expect(await Promise.all(seen)).toEqual([...first.orders, ...second.orders]);
  });

  test("come in the order of each strategy's commits, with the mark of the decision", async () => {
    const market = new StubMarket();
    const strategies = ["one", "two"];
    const { desk, store, announced } = await stage({ market, strategies });
    await Promise.all(
      upTo(40).map((each) => desk.execute(strategies[each % 2] ?? "", buy("90", `c${each}`))),
    );
    for (const id of strategies) {
      const own = announced.filter(({ strategyId }) => strategyId === id);
      const entries = await store.listEntries(id);
      expect(own.map(({ events }) => events)).toEqual(entries.slice(1).map(({ events }) => events));
    }
    market.show("BTCUSDT", "98", "99");
    await desk.execute("one", buy("90", "last"));
    expect([announced[0]?.mark, announced.at(-1)?.mark]).toEqual([1, 2]);
  });

  test("carry the orders as the command left them", async () => {
    const { desk, announced } = await stage();
    const outcomes = [
      await desk.execute("one", buy("90", "a")),
      await desk.execute("one", buy("market", "b")),
      await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" }),
    ];
    expect(announced.map(({ orders }) => orders)).toEqual(
      outcomes.map((outcome) => executed(outcome).orders),
    );
    expect(announced.map(({ orders }) => orders[0]?.status)).toEqual(["NEW", "FILLED", "CANCELED"]);
  });

  test("are not made of a refusal, nor of a command that changed nothing", async () => {
    const { desk, store, announced } = await stage();
    expect(await desk.execute("one", cancel(7))).toEqual({ refusal: "ORDER_NOT_OPEN" });
    const nothing = await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(nothing).toEqual({ events: [], orders: [], replayed: false });
    expect(announced).toEqual([]);
    expect(await store.listEntries("one")).toHaveLength(1);
  });

  test("end for a listener that has been taken off", async () => {
    const { desk } = await stage();
    const heard: Announcement[] = [];
    const stop = desk.onCommitted((announcement) => heard.push(announcement));
    await desk.execute("one", buy("90", "a"));
    stop();
    await desk.execute("one", buy("90", "b"));
    expect(heard).toHaveLength(1);
  });
});

describe("bounds", () => {
  test("a strategy that has five hundred commands waiting is refused one more, and others are not", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk, store } = await stage({ market, strategies: ["one", "two"] });
    market.prepare = () => gate.promise;
    const accepted = upTo(500).map((each) =>
      desk.execute("one", { ...buy("90", `c${each}`), size: { quantity: decimal("0.001") } }),
    );
    expect(await desk.execute("one", buy("90", "more"))).toEqual({ refusal: "BUSY" });
    const other = desk.execute("two", buy("90", "a"));
    gate.resolve();
    for (const outcome of await Promise.all(accepted)) executed(outcome);
    executed(await other);
    expect(await store.listEntries("one")).toHaveLength(501);
    executed(await desk.execute("one", buy("90", "more")));
  });

  test("beyond twenty thousand commands waiting every strategy is refused", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk } = await stage({ market });
    market.prepare = () => gate.promise;
    // Strategies that do not exist are the cheapest: their commands reject when their turn comes.
    const accepted = upTo(20_000).map((each) => desk.execute(`ghost-${each % 100}`, buy("90", `c${each}`)));
    expect(await desk.execute("one", buy("90", "a"))).toEqual({ refusal: "BUSY" });
    gate.resolve();
    const outcomes = await Promise.allSettled(accepted);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    executed(await desk.execute("one", buy("90", "a")));
  });

  test("a draining desk answers what it has accepted and refuses what comes", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk, store } = await stage({ market, strategies: ["one", "two"] });
    market.prepare = () => gate.promise;
    const accepted = upTo(10).map((each) =>
      desk.execute(each % 2 === 0 ? "one" : "two", buy("90", `c${each}`)),
    );
    let isDrained = false;
    const drained = desk.drain().then(() => {
      isDrained = true;
    });
    expect(await desk.execute("one", buy("90", "late"))).toEqual({ refusal: "BUSY" });
    expect(isDrained).toBe(false);
    gate.resolve();
    await drained;
    expect(await store.listEntries("one")).toHaveLength(6);
    expect(await store.listEntries("two")).toHaveLength(6);
    for (const outcome of await Promise.all(accepted)) executed(outcome);
  });

  test("an idle desk is drained at once, as often as it is asked", async () => {
    const { desk } = await stage();
    await desk.execute("one", buy("90", "a"));
    await desk.drain();
    await desk.drain();
    expect(await desk.execute("one", buy("90", "b"))).toEqual({ refusal: "BUSY" });
  });
});

describe("groups", () => {
  const MANY = upTo(300).map((each) => `s${each}`);

  test("many strategies share a commit, at most two hundred of them", async () => {
    const { desk, groups } = await stage({ strategies: MANY });
    await Promise.all(MANY.map((id) => desk.execute(id, buy("90", "a"))));
    expect(groups.flat()).toHaveLength(300);
    expect(Math.max(...groups.map((group) => group.length))).toBeLessThanOrEqual(200);
    expect(groups.length).toBeLessThanOrEqual(4);
  });

  test("never hold one strategy twice", async () => {
    const { desk, groups, store } = await stage({ strategies: MANY });
    const commands = upTo(4).flatMap((each) => MANY.map((id) => desk.execute(id, buy("90", `c${each}`))));
    for (const outcome of await Promise.all(commands)) executed(outcome);
    expect(groups.flat()).toHaveLength(1_200);
    for (const group of groups) {
      expect(new Set(group.map(({ account }) => account.strategyId)).size).toBe(group.length);
    }
    expect((await store.loadAccount("s300"))?.version).toBe(5);
  });

  test("gather while the one before is being written", async () => {
    const gate = Promise.withResolvers<void>();
    const { desk, groups, storage } = await stage({ strategies: MANY });
    const reached = Promise.withResolvers<void>();
    storage.beforeCommit = () => {
      reached.resolve();
      return gate.promise;
    };
    const first = desk.execute("s1", buy("90", "a"));
    await reached.promise;
    const others = MANY.slice(1, 51).map((id) => desk.execute(id, buy("90", "a")));
    // Their turns are over only with their commit, so what stands behind one shows when they have been decided.
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(groups.map((group) => group.length)).toEqual([1, 50]);
  });
});

describe("a bug", () => {
  test("in a decision rejects that command alone: it has no effect, and the store is not blamed", async () => {
    const market = new StubMarket();
    const { desk, store, announced, failures } = await stage({ market, strategies: ["one", "two"] });
    const rules = market.rules;
    market.rules = (symbol) => {
      if (symbol === "ETHUSDT") throw new Error("a bug");
      return rules(symbol);
    };
    const [broken, behind, beside] = await Promise.allSettled([
      desk.execute("one", { ...buy("90", "a"), symbol: "ETHUSDT" }, { key: "k" }),
      desk.execute("one", buy("90", "a"), { key: "k" }),
      desk.execute("two", buy("90", "a")),
    ]);
    expect([broken, behind, beside].map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(failures).toEqual([]);
    expect(announced).toHaveLength(2);
    expect(await store.listEntries("one")).toHaveLength(2);
  });

  test("in a listener keeps neither the answer nor the other listeners from what was committed", async () => {
    const { desk, store, failures } = await stage();
    const heard: Announcement[] = [];
    desk.onCommitted(() => {
      throw new Error("a bug");
    });
    desk.onCommitted((announcement) => heard.push(announcement));
    // A rejection would say that the command had no effect.
    expect(executed(await desk.execute("one", buy("90", "a"))).orders).toHaveLength(1);
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
    expect(heard).toHaveLength(1);
    expect(failures).toEqual([]);
  });
});

test("a command of a strategy that does not exist rejects and harms nobody", async () => {
  const { desk, failures } = await stage();
  await expect(desk.execute("nobody", buy("90", "a"))).rejects.toThrow(
    "a command names a strategy that exists",
  );
  expect(failures).toEqual([]);
  executed(await desk.execute("one", buy("90", "a")));
});

/** A market that stands at 99 to 100 unless told otherwise. */
class StubMarket implements DeskMarket {
  readonly #quotes = new Map<string, Quote>();
  #sequence = 0;

  constructor() {
    this.show("BTCUSDT", "99", "100");
  }

  show(symbol: string, bid: string, ask: string): void {
    this.#sequence += 1;
    this.#quotes.set(symbol, { bid: decimal(bid), ask: decimal(ask) });
  }

  rules(symbol: string): SymbolRules {
    return unfilteredRules(symbol);
  }

  lastPrice(): null {
    return null;
  }

  averagePrice(): null {
    return null;
  }

  quote(symbol: string): Quote | null {
    return this.#quotes.get(symbol) ?? null;
  }

  now(): number {
    return 1_000;
  }

  mark(): number {
    return this.#sequence;
  }

  prepare(_symbol: string): Promise<void> | undefined {
    return undefined;
  }
}

type Storage = {
  /** What happens before a group reaches the store. */
  beforeCommit(): Promise<void>;
  /** How many groups from now on find the database taken by another process. */
  busyCommits: number;
};

/** A desk on a new database, with strategies of 200 USDT each. */
async function stage(options: { market?: StubMarket; strategies?: readonly string[] } = {}) {
  const file = join(directory, "lyrebird.sqlite");
  const store = await open(file);
  await createStrategies(store, options.strategies ?? ["one"]);
  return { file, ...(await deskOn(file, store, options.market)) };
}

/** A desk on a database, with what it committed and what it announced. */
async function deskOn(file: string, given?: Store, market = new StubMarket()) {
  const store = given ?? (await open(file));
  const groups: (readonly Commit[])[] = [];
  const storage: Storage = { beforeCommit: () => Promise.resolve(), busyCommits: 0 };
  const watched: Store = {
    ...store,
    async commit(group) {
      groups.push(group);
      await storage.beforeCommit();
      if (storage.busyCommits > 0) {
        storage.busyCommits -= 1;
        return group.map(() => "BUSY");
      }
      return await store.commit(group);
    },
  };
  const failures: StoreFailure[] = [];
  const onStoreFailure = (failure: StoreFailure) => failures.push(failure);
  const desk = new Desk({
    store: watched,
    market,
    profile: STANDARD_SPOT,
    onStoreFailure,
    log: pino({ level: "silent" }),
  });
  const announced: Announcement[] = [];
  desk.onCommitted((announcement) => announced.push(announcement));
  return { desk, store, groups, storage, announced, failures };
}

async function open(file: string): Promise<Store> {
  const store = await openSqliteStore(file);
  opened.push(store);
  return store;
}

/** A purchase of 0.1 BTC, at a limit or at the market. */
function buy(price: string, clientOrderId: string): PlaceOrder {
  return {
    type: "PlaceOrder",
    symbol: "BTCUSDT",
    side: "BUY",
    orderType: price === "market" ? "MARKET" : "LIMIT",
    size: { quantity: decimal("0.1") },
    stopPrice: null,
    price: price === "market" ? null : decimal(price),
    clientOrderId,
  };
}

function cancel(orderId: number): CancelOrder & Command {
  return { type: "CancelOrder", orderId };
}

function executed(outcome: Executed | Refusal): Executed {
  if (isRefusal(outcome)) throw new Error(`expected an execution, not ${outcome.refusal}`);
  return outcome;
}

async function fundsOf(store: Store, strategyId: string) {
  const pockets = (await store.loadAccount(strategyId))?.account.balances.get("USDT");
  return pockets && { free: formatDecimal(pockets.free), locked: formatDecimal(pockets.locked) };
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
