// All parts of a commit stand or fall together, and only on the version that it was decided on; of a group
// each commit has an outcome of its own.
import { describe, expect, test } from "vitest";
import { decimal, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { StoreFailure } from "../store.ts";
import { incomeOf, legOf } from "./futures-records.ts";
import { accountOf, commitOf, HUGE, hold, orderOf, TINY, tradeOf } from "./records.ts";
import { commit, create, everythingOf, exposedOf, type Opened, versionsOf } from "./store-under-test.ts";

export function commitCases(opened: Opened): void {
  describe("commits", () => {
    const { store } = opened;

    test("a commit on the present version moves the strategy to the next", async () => {
      await create(store, "one");
      expect(await store.commit([commitOf(accountOf("one"), 2)])).toEqual(["COMMITTED"]);
      expect(await store.commit([commitOf(accountOf("one"), 3)])).toEqual(["COMMITTED"]);
      expect((await store.loadAccount("one"))?.version).toBe(3);
    });

    test.each([
      ["behind the row", 2],
      ["ahead of the row", 5],
    ])("a commit decided on a version %s is outdated and leaves nothing behind", async (_case, version) => {
      await create(store, "one");
      await commit(store, [commitOf(accountOf("one"), 2)]);
      await commit(store, [commitOf(accountOf("one"), 3)]);
      const before = await everythingOf(store, "one");
      const late = accountOf("one");
      hold(late, "USDT", { free: "1", seed: "-1" });
      late.status = "CLOSED";
      const outdated = commitOf(late, version, {
        key: "late",
        orders: [orderOf(7)],
        trades: [tradeOf(7, 7)],
        legs: [legOf(8)],
        incomes: [incomeOf(7)],
      });
      expect(await store.commit([outdated])).toEqual(["OUTDATED"]);
      expect(await everythingOf(store, "one")).toEqual(before);
      expect(await store.findEntry("one", "late")).toBeNull();
      expect(await store.findOrder("one", { orderId: 7 })).toBeNull();
    });

    test("a commit of a strategy that does not exist is outdated and leaves nothing behind", async () => {
      const parts = { orders: [orderOf(1)], legs: [legOf(2)], incomes: [incomeOf(1)] };
      const ghost = commitOf(accountOf("ghost"), 1, parts);
      expect(await store.commit([ghost])).toEqual(["OUTDATED"]);
      expect(await store.loadAccount("ghost")).toBeNull();
      expect(await everythingOf(store, "ghost")).toMatchObject({
        entries: [],
        orders: [],
        legs: [],
        incomes: [],
      });
      expect(await exposedOf(store)).toEqual([]);
    });

    test("the others of a group stand beside an outdated commit, and outcomes come in the group's order", async () => {
      await create(store, "c", "a", "d", "b");
      await commit(store, [commitOf(accountOf("a"), 2)]);
      const outcomes = await store.commit([
        commitOf(accountOf("c"), 2, { orders: [orderOf(1)], trades: [tradeOf(1, 1)] }),
        commitOf(accountOf("a"), 2, { orders: [orderOf(1)] }),
        commitOf(accountOf("d"), 2, { orders: [orderOf(1)] }),
        commitOf(accountOf("b"), 9, { orders: [orderOf(1)] }),
      ]);
      expect(outcomes).toEqual(["COMMITTED", "OUTDATED", "COMMITTED", "OUTDATED"]);
      expect(await exposedOf(store)).toEqual(["c", "d"]);
      expect(await versionsOf(store, ["a", "b", "c", "d"])).toEqual([2, 1, 2, 2]);
    });

    test("what a commit changes of the status or the exposure is stored, and so is what changes neither", async () => {
      await create(store, "one", "two");
      const stored = async () => ({
        exposed: await exposedOf(store),
        closing: await store.listClosingStrategies(),
        status: (await store.loadAccount("one"))?.account.status,
        version: (await store.loadAccount("one"))?.version,
      });
      const open = [orderOf(1)];
      const closed = [orderOf(1, { status: "CANCELED" })];
      await commit(store, [commitOf(accountOf("one"), 2, { orders: open })]);
      const live = { closing: [], status: "LIVE" };
      expect(await stored()).toEqual({ ...live, exposed: ["one"], version: 2 });
      // Nothing of them changes.
      await commit(store, [commitOf(accountOf("one"), 3, { orders: open }), commitOf(accountOf("two"), 2)]);
      expect(await stored()).toEqual({ ...live, exposed: ["one"], version: 3 });
      await commit(store, [commitOf(accountOf("one"), 4, { orders: closed })]);
      expect(await stored()).toEqual({ ...live, exposed: [], version: 4 });
      await commit(store, [commitOf(accountOf("one", "CLOSING"), 5, { orders: open })]);
      const isClosing = { closing: ["one"], status: "CLOSING" };
      expect(await stored()).toEqual({ ...isClosing, exposed: ["one"], version: 5 });
      await commit(store, [commitOf(accountOf("one", "CLOSING"), 6, { orders: closed })]);
      expect(await stored()).toEqual({ ...isClosing, exposed: [], version: 6 });
      await commit(store, [commitOf(accountOf("one", "CLOSED"), 7)]);
      expect(await stored()).toEqual({ closing: [], exposed: [], status: "CLOSED", version: 7 });
      expect(await store.commit([commitOf(accountOf("one", "CLOSED"), 7)])).toEqual(["OUTDATED"]);
    });

    test("a group of two hundred strategies is answered commit by commit", async () => {
      const ids = Array.from({ length: 200 }, (_, index) => `s${index}`);
      await create(store, ...ids);
      const group = ids.map((id, index) =>
        commitOf(accountOf(id), index % 3 === 0 ? 7 : 2, { key: "k", orders: [orderOf(1), orderOf(2)] }),
      );
      const outcomes = await store.commit(group);
      expect(outcomes).toEqual(ids.map((_, index) => (index % 3 === 0 ? "OUTDATED" : "COMMITTED")));
      expect(await versionsOf(store, ids)).toEqual(ids.map((_, index) => (index % 3 === 0 ? 1 : 2)));
    });

    test("an order is stored as it stands after each commit", async () => {
      await create(store, "one");
      const placed = orderOf(1, { clientOrderId: "mine" });
      const filled = orderOf(1, {
        clientOrderId: "mine",
        status: "FILLED",
        executedQuantity: decimal("0.5"),
        executedQuote: decimal("50"),
        reserved: ZERO,
        updatedAt: 99,
      });
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [placed] })]);
      expect(await store.findOrder("one", { orderId: 1 })).toEqual(placed);
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [filled] })]);
      expect(await store.findOrder("one", { orderId: 1 })).toEqual(filled);
      expect(await store.listOrders("one", { symbol: "BTCUSDT", limit: 10 })).toEqual([filled]);
      expect(await store.listOpenOrders("one", null)).toEqual([]);
    });

    test("a leg is stored as it stands after each commit, and incomes are added", async () => {
      await create(store, "one");
      const fired = { orderId: 3, price: decimal<Price>(TINY), quantity: decimal<Quantity>(HUGE), at: 99 };
      const finished = legOf(2, { status: "FINISHED", updatedAt: 99, triggerPrice: decimal(HUGE), fired });
      await commit(store, [commitOf(accountOf("one"), 2, { legs: [legOf(2)], incomes: [incomeOf(1)] })]);
      expect(await store.findLeg("one", { legId: 2 })).toEqual(legOf(2));
      const paid = incomeOf(2, { amount: decimal(`-${HUGE}`), symbol: null, tradeId: null, at: 2_000 });
      await commit(store, [commitOf(accountOf("one"), 3, { legs: [finished], incomes: [paid] })]);
      expect(await everythingOf(store, "one")).toMatchObject({
        legs: [finished],
        incomes: [incomeOf(1), paid],
      });
    });

    test("an order and a trade with the largest and the smallest decimals come back to the last digit", async () => {
      await create(store, "one");
      const order = orderOf(1, {
        price: decimal(TINY),
        quantity: decimal(HUGE),
        quoteQuantity: decimal(HUGE),
        executedQuantity: decimal(TINY),
        executedQuote: decimal(HUGE),
        reserved: decimal(HUGE),
      });
      const trade = tradeOf(1, 1, {
        price: decimal(HUGE),
        quantity: decimal(TINY),
        quoteQuantity: decimal(HUGE),
        fee: decimal(TINY),
      });
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [order], trades: [trade] })]);
      expect(await store.findOrder("one", { orderId: 1 })).toEqual(order);
      expect(await store.listTrades("one", { symbol: "BTCUSDT", limit: 1 })).toEqual([trade]);
    });

    test.each([
      [
        "two orders with one client id",
        { orders: [orderOf(1, { clientOrderId: "x" }), orderOf(2, { clientOrderId: "x" })] },
      ],
      ["two trades with one id", { trades: [tradeOf(1, 1), tradeOf(1, 2)] }],
      [
        "two legs with one client id",
        { legs: [legOf(1, { clientLegId: "x" }), legOf(2, { clientLegId: "x" })] },
      ],
      ["two incomes with one id", { incomes: [incomeOf(1), incomeOf(1)] }],
    ])("a group with %s rejects, stores nothing and does not harm the next", async (_case, broken) => {
      await create(store, "one", "two", "three");
      await commit(store, [commitOf(accountOf("two"), 2)]);
      const before = await Promise.all(["one", "two", "three"].map((id) => everythingOf(store, id)));
      const group = [
        commitOf(accountOf("one"), 2, {
          key: "k",
          orders: [orderOf(1)],
          trades: [tradeOf(1, 1)],
          legs: [legOf(2)],
          incomes: [incomeOf(1)],
        }),
        commitOf(accountOf("two"), 3, broken),
        commitOf(accountOf("three"), 2, { orders: [orderOf(1)] }),
      ];
      await expect(store.commit(group)).rejects.toThrow(StoreFailure);
      expect(await Promise.all(["one", "two", "three"].map((id) => everythingOf(store, id)))).toEqual(before);
      expect(await store.commit([commitOf(accountOf("two"), 3)])).toEqual(["COMMITTED"]);
    });

    test("a key that was used before makes a commit outdated, and no other", async () => {
      await create(store, "one", "two", "three");
      await commit(store, [commitOf(accountOf("two"), 2, { key: "used" })]);
      const before = await everythingOf(store, "two");
      const parts = {
        orders: [orderOf(1)],
        trades: [tradeOf(1, 1)],
        legs: [legOf(2)],
        incomes: [incomeOf(1)],
      };
      const group = [
        commitOf(accountOf("one"), 2, { key: "used", ...parts }),
        commitOf(accountOf("two"), 3, { key: "used", ...parts }),
        commitOf(accountOf("three"), 2, { key: "other", ...parts }),
      ];
      expect(await store.commit(group)).toEqual(["COMMITTED", "OUTDATED", "COMMITTED"]);
      expect(await everythingOf(store, "two")).toEqual(before);
      expect(await versionsOf(store, ["one", "two", "three"])).toEqual([2, 2, 2]);
      expect(await store.commit([commitOf(accountOf("two"), 3, { key: "new", ...parts })])).toEqual([
        "COMMITTED",
      ]);
    });

    test("a client id that an earlier commit used is refused like one in the same commit", async () => {
      await create(store, "one");
      const used = orderOf(1, { clientOrderId: "x", status: "CANCELED" });
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [used] })]);
      const again = commitOf(accountOf("one"), 3, { orders: [orderOf(2, { clientOrderId: "x" })] });
      await expect(store.commit([again])).rejects.toThrow(StoreFailure);
      expect(await versionsOf(store, ["one"])).toEqual([2]);
      expect(await store.findOrder("one", { clientOrderId: "x" })).toEqual(used);
    });

    test("order ids, trade ids, client ids and keys belong to their strategy", async () => {
      await create(store, "one", "two");
      const parts = { key: "k", orders: [orderOf(1, { clientOrderId: "x" })], trades: [tradeOf(1, 1)] };
      await commit(store, [
        commitOf(accountOf("one"), 2, parts),
        commitOf(accountOf("two"), 2, { ...parts, orders: [orderOf(1, { clientOrderId: "x", at: 77 })] }),
      ]);
      expect((await store.findOrder("one", { clientOrderId: "x" }))?.placedAt).toBe(1_000);
      expect((await store.findOrder("two", { clientOrderId: "x" }))?.placedAt).toBe(77);
    });
  });
}
