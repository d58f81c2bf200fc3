import { describe, expect, test } from "vitest";
import type { PlaceOrder } from "../domain/command.ts";
import type { Refusal } from "../domain/refusal.ts";
import { decimal, type Quantity } from "../money/decimal.ts";
import { StoreFailure } from "../store/store.ts";
import type { Announcement } from "./desk.ts";
import {
  buy,
  cancel,
  cleanFixtures,
  createFixture,
  deskOn,
  executed,
  fundsOf,
  open,
  StubMarket,
  upTo,
} from "./testing/fixture.ts";

cleanFixtures();

describe("queues", () => {
  test("commands of one strategy are executed in the order they came", async () => {
    const { store, desk } = await createFixture();
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
    const { desk } = await createFixture();
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

  test("a strategy whose command takes long does not delay others", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    market.prepare = (symbol) => (symbol === "ETHUSDT" ? gate.promise : undefined);
    const { desk } = await createFixture({ market, strategies: ["one", "two"] });
    const slow = desk.execute("one", { ...buy("90", "a"), symbol: "ETHUSDT" });
    expect(executed(await desk.execute("two", buy("90", "a"))).orders).toHaveLength(1);
    gate.resolve();
    expect(executed(await slow).orders).toHaveLength(1);
  });

  test("whether a command has lapsed is checked before its decision, and not earlier", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { store, desk } = await createFixture({ market });
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
    const { desk } = await createFixture();
    await desk.execute("one", buy("90", "a"), { key: "k" });
    const lapsed = () => ({ refusal: "TIMESTAMP_TOO_OLD" }) as const;
    expect(await desk.execute("one", buy("90", "a"), { key: "k", lapsed })).toEqual(lapsed());
  });
});

describe("replay", () => {
  test("a repeated key replays the first outcome and changes nothing", async () => {
    const { store, desk, announced } = await createFixture();
    const first = executed(await desk.execute("one", buy("market", "a"), { key: "k" }));
    const before = await store.loadAccount("one");
    const again = executed(await desk.execute("one", buy("market", "a"), { key: "k" }));
    expect(again).toEqual({ ...first, replayed: true });
    expect(await store.loadAccount("one")).toEqual(before);
    expect(await store.listEntries("one")).toHaveLength(2);
    expect(announced).toHaveLength(1);
  });

  test("a replay answers with the order in its present state", async () => {
    const { desk } = await createFixture();
    const first = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    expect(first.orders.map(({ status }) => status)).toEqual(["NEW"]);
    await desk.execute("one", cancel(1));
    const again = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    expect(again.events).toEqual(first.events);
    expect(again.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
  });

  test("a key is known to a desk that never saw its command", async () => {
    const { desk, file } = await createFixture();
    const first = executed(await desk.execute("one", buy("90", "a"), { key: "k" }));
    const { desk: other } = await deskOn(file);
    expect(await other.execute("one", buy("90", "a"), { key: "k" })).toEqual({ ...first, replayed: true });
  });

  test("a refused command leaves its key free", async () => {
    const { desk } = await createFixture();
    const tooMuch: PlaceOrder = { ...buy("90", "a"), size: { quantity: decimal("1000") } };
    expect(await desk.execute("one", tooMuch, { key: "k" })).toEqual({ refusal: "INSUFFICIENT_BALANCE" });
    expect(executed(await desk.execute("one", buy("90", "a"), { key: "k" })).replayed).toBe(false);
  });

  test("of many commands with one key at once exactly one takes effect", async () => {
    const { store, desk, announced } = await createFixture();
    const outcomes = await Promise.all(
      upTo(20).map(() => desk.execute("one", buy("market", "a"), { key: "k" })),
    );
    expect(outcomes.filter((outcome) => !executed(outcome).replayed)).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => executed(outcome).orders[0]?.orderId))).toEqual(new Set([1]));
    expect(await store.listEntries("one")).toHaveLength(2);
    expect(announced).toHaveLength(1);
  });

  test("one key at two desks at once takes effect once", async () => {
    const { store, desk, file } = await createFixture();
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
    const { store, desk, file, announced } = await createFixture();
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
    const { store, desk, file } = await createFixture();
    await desk.execute("one", buy("90", "a"));
    const { desk: other } = await deskOn(file);
    await other.execute("one", { ...buy("90", "b"), size: { quantity: decimal("2") } });
    const third = await desk.execute("one", { ...buy("90", "c"), size: { quantity: decimal("1") } });
    expect(third).toEqual({ refusal: "INSUFFICIENT_BALANCE" });
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
  });

  test("is not refused a command that only the outdated account refuses", async () => {
    const { desk, file } = await createFixture();
    await desk.execute("one", buy("90", "a"));
    const { desk: other } = await deskOn(file);
    await other.execute("one", buy("91", "b"));
    const canceled = executed(await desk.execute("one", cancel(2)));
    expect(canceled.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
  });

  test("is loaded again before a refusal that it was moved for while a market was waited for", async () => {
    const market = new StubMarket();
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    market.prepare = () => {
      asked.resolve();
      return gate.promise;
    };
    const { desk, file } = await createFixture({ market });
    const { desk: other } = await deskOn(file);
    const size = { quantity: decimal<Quantity>("0.05") };
    const sold = desk.execute("one", { ...buy("market", "a"), side: "SELL", size });
    await asked.promise;
    await other.execute("one", buy("market", "b"));
    gate.resolve();
    expect(executed(await sold).orders.map(({ status }) => status)).toEqual(["FILLED"]);
  });

  test("is loaded before each command while two desks take turns, so that no commit is outdated", async () => {
    const { desk, file, groups } = await createFixture();
    const { desk: other, groups: othersGroups } = await deskOn(file);
    const turn = async (number: number) => {
      await desk.execute("one", buy("1", `a${number}`));
      await other.execute("one", buy("1", `b${number}`));
    };
    await turn(0);
    await turn(1);
    const before = [groups.length, othersGroups.length];
    for (const number of upTo(5)) await turn(number + 1);
    expect([groups.length, othersGroups.length]).toEqual(before.map((count) => count + 5));
  });

  test("is not loaded any more once it is this desk's alone again", async () => {
    const { desk, file, loads } = await createFixture();
    const { desk: other } = await deskOn(file);
    for (const number of upTo(3)) {
      await desk.execute("one", buy("1", `a${number}`));
      await other.execute("one", buy("1", `b${number}`));
    }
    await desk.execute("one", buy("1", "c"));
    await desk.execute("one", buy("1", "d"));
    const before = loads.count;
    for (const number of upTo(5)) await desk.execute("one", buy("1", `e${number}`));
    expect(loads.count).toBe(before);
  });

  test("has all its open orders canceled, the other desk's too", async () => {
    const { store, desk, file } = await createFixture();
    await desk.execute("one", buy("90", "a"));
    await desk.execute("one", cancel(1));
    const { desk: other } = await deskOn(file);
    await other.execute("one", buy("91", "b"));
    await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(await store.listOpenOrders("one", null)).toEqual([]);
  });

  test("two desks under load lose nothing and double nothing", async () => {
    const { store, desk, file } = await createFixture();
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
    const { desk, store, announced, failures, storage } = await createFixture();
    const failure = new StoreFailure("the disk is full");
    storage.beforeCommit = () => Promise.reject(failure);
    await expect(desk.execute("one", buy("90", "a"))).rejects.toBe(failure);
    expect(failures).toEqual([failure]);
    expect(announced).toEqual([]);
    expect(await store.listEntries("one")).toHaveLength(1);
  });

  test("rejects every execution of its group", async () => {
    const strategies = ["one", "two", "three"];
    const { desk, announced, storage } = await createFixture({ strategies });
    storage.beforeCommit = () => Promise.reject(new StoreFailure("the disk is full"));
    const outcomes = await Promise.allSettled(strategies.map((id) => desk.execute(id, buy("90", "a"))));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(announced).toEqual([]);
  });

  test("leaves no trace in the account that the next command is decided on", async () => {
    const { desk, store, storage } = await createFixture();
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
  test("refuses a client's command, certainly not executed, and executes the next one", async () => {
    const { desk, store, announced, failures, storage } = await createFixture();
    storage.busyCommits = 1;
    expect(await desk.execute("one", buy("90", "a"))).toEqual({ refusal: "BUSY" });
    expect({ announced, failures }).toEqual({ announced: [], failures: [] });
    expect(await fundsOf(store, "one")).toEqual({ free: "200.00000000", locked: "0.00000000" });
    expect(executed(await desk.execute("one", buy("90", "a"))).replayed).toBe(false);
  });

  test("does not lose a crossing: the fill is tried until it is committed", async () => {
    const { desk, store, storage } = await createFixture();
    const { orders } = executed(await desk.execute("one", buy("90", "a")));
    storage.busyCommits = 2;
    const orderId = orders[0]?.orderId ?? 0;
    await desk.execute("one", { type: "FillRestingOrder", orderId, seen: decimal("90") });
    expect((await store.findOrder("one", { orderId }))?.status).toBe("FILLED");
  });

  test("refuses what clients send behind such a fill, which they would wait for, and loses no other", async () => {
    const { desk, store, storage } = await createFixture();
    const { orders } = executed(await desk.execute("one", buy("90", "a")));
    const more = executed(await desk.execute("one", buy("89", "b")));
    storage.busyCommits = 3;
    const fill = (orderId = 0, seen = "90") =>
      desk.execute("one", { type: "FillRestingOrder", orderId, seen: decimal(seen) });
    const [, refused, filled, alsoRefused] = await Promise.all([
      fill(orders[0]?.orderId),
      desk.execute("one", buy("88", "c")),
      fill(more.orders[0]?.orderId, "89"),
      desk.execute("one", buy("87", "d")),
    ]);
    expect([refused, alsoRefused]).toEqual([{ refusal: "BUSY" }, { refusal: "BUSY" }]);
    executed(filled);
    expect(await store.listOpenOrders("one", null)).toEqual([]);
    expect(desk.waitingCount()).toBe(0);
    executed(await desk.execute("one", buy("88", "c")));
  });
});

describe("announcements", () => {
  test("come after the commit and not before", async () => {
    const gate = Promise.withResolvers<void>();
    const { desk, announced, storage } = await createFixture();
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
    const { desk, file } = await createFixture();
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
    const { desk, store, announced } = await createFixture({ market, strategies });
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
    expect([announced[0]?.sequence, announced.at(-1)?.sequence]).toEqual([1, 2]);
  });

  test("carry the orders as the command left them", async () => {
    const { desk, announced } = await createFixture();
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
    const { desk, store, announced } = await createFixture();
    expect(await desk.execute("one", cancel(7))).toEqual({ refusal: "ORDER_NOT_OPEN" });
    const nothing = await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(nothing).toEqual({ events: [], orders: [], legs: [], replayed: false });
    expect(announced).toEqual([]);
    expect(await store.listEntries("one")).toHaveLength(1);
  });

  test("end for a listener that has been taken off", async () => {
    const { desk } = await createFixture();
    const heard: Announcement[] = [];
    const stop = desk.onCommitted((announcement) => heard.push(announcement));
    await desk.execute("one", buy("90", "a"));
    stop();
    await desk.execute("one", buy("90", "b"));
    expect(heard).toHaveLength(1);
  });

  test("say which version of the strategy they made", async () => {
    const { desk, store, announced } = await createFixture();
    for (const id of ["a", "b"]) await desk.execute("one", buy("90", id));
    expect(announced.map(({ version }) => version)).toEqual([2, 3]);
    expect(await store.versionsOf(["one"])).toEqual(new Map([["one", 3]]));
  });
});

test("a command of a strategy that does not exist rejects and has no other effect", async () => {
  const { desk, failures } = await createFixture();
  await expect(desk.execute("nobody", buy("90", "a"))).rejects.toThrow(
    "a command names a strategy that exists",
  );
  expect(failures).toEqual([]);
  executed(await desk.execute("one", buy("90", "a")));
});

describe("short of disk space", () => {
  test("openings are refused, a used key is answered, and reductions go on", async () => {
    const { desk, storage } = await createFixture();
    const resting = executed(await desk.execute("one", buy("90", "a"), { key: "order:a" })).orders[0];
    storage.isShort = true;
    expect(await desk.execute("one", buy("90", "b"), { key: "order:b" })).toEqual({
      refusal: "STORAGE_SHORT",
    });
    expect(executed(await desk.execute("one", buy("90", "a"), { key: "order:a" })).replayed).toBe(true);
    expect(executed(await desk.execute("one", cancel(resting?.orderId ?? 0))).orders[0]?.status).toBe(
      "CANCELED",
    );
    expect(executed(await desk.execute("one", { type: "CloseStrategy" })).events).not.toEqual([]);
  });
});
