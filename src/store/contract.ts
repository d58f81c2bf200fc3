// What every store promises, as a test suite that each of them runs: the port's comments, turned into cases.
//
// A case gets a database of its own. Values are chosen to hurt: decimals beyond 64 bits, ids that sort differently as
// text, groups of which a part is outdated.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Account, emptyAccount, type StrategyStatus } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Order, Trade } from "../domain/order.ts";
import { decimal, ZERO } from "../money/decimal.ts";
import { emptyPockets, type Pocket } from "../money/posting.ts";
import {
  type ApiKeyRecord,
  type BudgetEntry,
  type Commit,
  type OrderQuery,
  type Store,
  StoreFailure,
  type TradeQuery,
} from "./store.ts";

export type StoreUnderTest = {
  /** A store on a new database. */
  readonly store: Store;
  /** Another store on the same database, as a second process would open it. */
  reopen(): Promise<Store>;
  /** Closes every store that is still open and removes the database. */
  dispose(): Promise<void>;
};

/** Twenty integer digits, the most that the exchange's protocol can say, and all eight decimals. */
const HUGE = "99999999999999999999.99999999";
const TINY = "0.00000001";

export function storeContract(name: string, openStore: () => Promise<StoreUnderTest>): void {
  describe(`the store contract: ${name}`, () => {
    let opened: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      opened = await openStore();
      store = opened.store;
    });
    afterEach(() => opened.dispose());

    describe("accounts", () => {
      test("a created strategy loads as it was created, at version 1", async () => {
        const { first } = await create(store, "one");
        expect(await store.loadAccount("one")).toEqual({ account: first.account, version: 1 });
      });

      test("a strategy that does not exist loads as null", async () => {
        await create(store, "one");
        expect(await store.loadAccount("two")).toBeNull();
      });

      test("balances of twenty integer digits and eight decimals come back to the last digit", async () => {
        await create(store, "one");
        const account = accountOf("one");
        hold(account, "USDT", { free: HUGE, locked: TINY, seed: `-${HUGE}`, market: `-${TINY}`, fees: "0" });
        hold(account, "PEPE", { free: "92233720368547758.08000001", market: "-92233720368547758.08000001" });
        await commit(store, [commitOf(account, 2)]);
        const loaded = await store.loadAccount("one");
        expect(loaded?.account.balances).toEqual(account.balances);
      });

      test("status, numbering and time of the last change come back", async () => {
        await create(store, "one");
        const account = accountOf("one");
        account.status = "CLOSING";
        account.nextOrderId = 4_000_000_001;
        account.nextTradeId = 9_007_199_254_740_991;
        account.updatedAt = 1_795_228_304_525;
        await commit(store, [commitOf(account, 2)]);
        expect(await store.loadAccount("one")).toEqual({ account, version: 2 });
      });

      test("an account comes with its open orders, in the order of placement, and with no others", async () => {
        await create(store, "one");
        const account = accountOf("one");
        const orders = [
          orderOf(10),
          orderOf(9, { status: "FILLED" }),
          orderOf(2, { status: "PARTIALLY_FILLED" }),
          orderOf(1, { status: "CANCELED" }),
          orderOf(3),
        ];
        await commit(store, [commitOf(account, 2, { orders })]);
        const loaded = await store.loadAccount("one");
        expect([...(loaded?.account.openOrders ?? [])]).toEqual([
          [2, orders[2]],
          [3, orders[4]],
          [10, orders[0]],
        ]);
      });

      test("whoever changes a loaded account changes nothing in the store", async () => {
        const { first } = await create(store, "one");
        const loaded = await store.loadAccount("one");
        loaded?.account.balances.clear();
        expect((await store.loadAccount("one"))?.account).toEqual(first.account);
      });
    });

    describe("commits", () => {
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
        });
        expect(await store.commit([outdated])).toEqual(["OUTDATED"]);
        expect(await everythingOf(store, "one")).toEqual(before);
        expect(await store.findEntry("one", "late")).toBeNull();
        expect(await store.findOrder("one", { orderId: 7 })).toBeNull();
      });

      test("a commit of a strategy that does not exist is outdated and leaves nothing behind", async () => {
        const ghost = commitOf(accountOf("ghost"), 1, { orders: [orderOf(1)] });
        expect(await store.commit([ghost])).toEqual(["OUTDATED"]);
        expect(await store.loadAccount("ghost")).toBeNull();
        expect(await store.listEntries("ghost")).toEqual([]);
        expect(await store.listAllOpenOrders()).toEqual([]);
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
        expect((await store.listAllOpenOrders()).map(({ strategyId }) => strategyId)).toEqual(["c", "d"]);
        expect(await versionsOf(store, ["a", "b", "c", "d"])).toEqual([2, 1, 2, 2]);
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
        ["a key that was used before", { key: "used" }],
      ])("a group with %s rejects, stores nothing and does not harm the next", async (_case, broken) => {
        await create(store, "one", "two", "three");
        await commit(store, [commitOf(accountOf("two"), 2, { key: "used" })]);
        const before = await Promise.all(["one", "two", "three"].map((id) => everythingOf(store, id)));
        const group = [
          commitOf(accountOf("one"), 2, { key: "k", orders: [orderOf(1)], trades: [tradeOf(1, 1)] }),
          commitOf(accountOf("two"), 3, broken),
          commitOf(accountOf("three"), 2, { orders: [orderOf(1)] }),
        ];
        await expect(store.commit(group)).rejects.toThrow(StoreFailure);
        expect(await Promise.all(["one", "two", "three"].map((id) => everythingOf(store, id)))).toEqual(
          before,
        );
        expect(await store.commit([commitOf(accountOf("two"), 3)])).toEqual(["COMMITTED"]);
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

    describe("the journal", () => {
      test("a key finds its entry, with every kind of event as it was", async () => {
        await create(store, "one");
        const events = eventsOfEveryKind();
        await commit(store, [commitOf(accountOf("one"), 2, { key: "order:a", at: 55, events })]);
        await commit(store, [commitOf(accountOf("one"), 3, { key: "order:b" })]);
        expect(await store.findEntry("one", "order:a")).toEqual({
          version: 2,
          key: "order:a",
          at: 55,
          events,
        });
        expect((await store.findEntry("one", "order:b"))?.version).toBe(3);
      });

      test("a key that is new, or another strategy's, finds nothing", async () => {
        await create(store, "one", "two");
        await commit(store, [commitOf(accountOf("one"), 2, { key: "order:a" })]);
        expect(await store.findEntry("one", "order:A")).toBeNull();
        expect(await store.findEntry("two", "order:a")).toBeNull();
        expect(await store.findEntry("nobody", "order:a")).toBeNull();
      });

      test("entries are listed oldest first, whatever their number, and any number of them may lack a key", async () => {
        const { first } = await create(store, "one");
        for (let version = 2; version <= 12; version += 1) {
          const key = version % 2 === 0 ? null : `k${version}`;
          await commit(store, [commitOf(accountOf("one"), version, { key, at: version })]);
        }
        const entries = await store.listEntries("one");
        expect(entries.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        expect(entries[0]).toEqual(first.entry);
        expect(entries[1]).toEqual({ version: 2, key: null, at: 2, events: [] });
        expect(entries[2]?.key).toBe("k3");
      });
    });

    describe("reading orders and trades", () => {
      test("an order is found by its id and by its client id, by its own strategy alone", async () => {
        await create(store, "one", "two");
        const order = orderOf(12, { clientOrderId: "mine" });
        await commit(store, [commitOf(accountOf("one"), 2, { orders: [order, orderOf(2)] })]);
        expect(await store.findOrder("one", { orderId: 12 })).toEqual(order);
        expect(await store.findOrder("one", { clientOrderId: "mine" })).toEqual(order);
        expect(await store.findOrder("one", { orderId: 1 })).toBeNull();
        expect(await store.findOrder("one", { clientOrderId: "MINE" })).toBeNull();
        expect(await store.findOrder("two", { orderId: 12 })).toBeNull();
        expect(await store.findOrder("two", { clientOrderId: "mine" })).toBeNull();
      });

      test("open orders are listed oldest first, of one symbol or of all", async () => {
        await create(store, "one", "two");
        const orders = [
          orderOf(10),
          orderOf(2, { symbol: "ETHUSDT" }),
          orderOf(3, { status: "EXPIRED" }),
          orderOf(1, { status: "PARTIALLY_FILLED" }),
        ];
        await commit(store, [
          commitOf(accountOf("one"), 2, { orders }),
          commitOf(accountOf("two"), 2, { orders: [orderOf(4)] }),
        ]);
        const ids = async (symbol: string | null) =>
          (await store.listOpenOrders("one", symbol)).map(({ orderId }) => orderId);
        expect(await ids(null)).toEqual([1, 2, 10]);
        expect(await ids("BTCUSDT")).toEqual([1, 10]);
        expect(await ids("ETHUSDT")).toEqual([2]);
        expect(await ids("XRPUSDT")).toEqual([]);
      });

      test("the open orders of every strategy are found, and only they", async () => {
        await create(store, "b", "a");
        await commit(store, [
          commitOf(accountOf("b"), 2, { orders: [orderOf(1), orderOf(2, { status: "FILLED" })] }),
          commitOf(accountOf("a"), 2, { orders: [orderOf(11), orderOf(3, { symbol: "ETHUSDT" })] }),
        ]);
        expect(await store.listAllOpenOrders()).toEqual([
          { strategyId: "a", order: orderOf(3, { symbol: "ETHUSDT" }) },
          { strategyId: "a", order: orderOf(11) },
          { strategyId: "b", order: orderOf(1) },
        ]);
      });

      // Orders 1–12, placed at 100, 200, … 1200; 5 is of another symbol.
      const orderCases: readonly [string, Omit<OrderQuery, "symbol">, readonly number[]][] = [
        ["no bound: the newest, newest last", { limit: 3 }, [10, 11, 12]],
        ["no bound and room for all: all", { limit: 100 }, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]],
        ["from an id: the oldest from there, it included", { fromOrderId: 4, limit: 3 }, [4, 6, 7]],
        ["from an id beyond the last: none", { fromOrderId: 13, limit: 3 }, []],
        ["from a time: the oldest from there, it included", { startTime: 900, limit: 2 }, [9, 10]],
        ["from just after a time: the next", { startTime: 901, limit: 2 }, [10, 11]],
        ["until a time: the newest up to there, it included", { endTime: 900, limit: 2 }, [8, 9]],
        ["between two times: the oldest", { startTime: 200, endTime: 400, limit: 2 }, [2, 3]],
        ["between two times with room: all", { startTime: 200, endTime: 700, limit: 9 }, [2, 3, 4, 6, 7]],
        ["a span that ends before it starts: none", { startTime: 700, endTime: 200, limit: 9 }, []],
        ["an id and times: both hold", { fromOrderId: 7, startTime: 300, endTime: 900, limit: 9 }, [7, 8, 9]],
      ];
      test.each(orderCases)("orders with %s", async (_case, query, expected) => {
        await create(store, "one", "two");
        const orders = upTo(12).map((id) =>
          orderOf(id, { at: id * 100, symbol: id === 5 ? "ETHUSDT" : "BTCUSDT" }),
        );
        await commit(store, [
          commitOf(accountOf("one"), 2, { orders }),
          commitOf(accountOf("two"), 2, { orders: [orderOf(99, { at: 400 })] }),
        ]);
        const found = await store.listOrders("one", { symbol: "BTCUSDT", ...query });
        expect(found).toEqual(expected.map((id) => orderOf(id, { at: id * 100 })));
      });

      // Trades 1–12 at 100, 200, … 1200, two to an order; 5 is of another symbol.
      const tradeCases: readonly [string, Omit<TradeQuery, "symbol">, readonly number[]][] = [
        ["no bound: the newest, newest last", { limit: 3 }, [10, 11, 12]],
        ["from an id: the oldest from there, it included", { fromTradeId: 4, limit: 3 }, [4, 6, 7]],
        ["from a time: the oldest from there, it included", { startTime: 900, limit: 2 }, [9, 10]],
        ["until a time: the newest up to there, it included", { endTime: 900, limit: 2 }, [8, 9]],
        ["between two times: the oldest", { startTime: 200, endTime: 400, limit: 2 }, [2, 3]],
        ["between two times with room: all", { startTime: 200, endTime: 700, limit: 9 }, [2, 3, 4, 6, 7]],
        ["from just after a time: the next", { startTime: 901, limit: 2 }, [10, 11]],
        ["a span that ends before it starts: none", { startTime: 700, endTime: 200, limit: 9 }, []],
        ["of one order: its own", { orderId: 4, limit: 9 }, [7, 8]],
        ["of one order, limited: its newest", { orderId: 4, limit: 1 }, [8]],
        ["of one order from an id: both hold", { orderId: 4, fromTradeId: 8, limit: 9 }, [8]],
        ["of an order without any: none", { orderId: 40, limit: 9 }, []],
      ];
      test.each(tradeCases)("trades with %s", async (_case, query, expected) => {
        await create(store, "one", "two");
        const tradeAt = (id: number) =>
          tradeOf(id, Math.ceil(id / 2), { at: id * 100, symbol: id === 5 ? "ETHUSDT" : "BTCUSDT" });
        await commit(store, [
          commitOf(accountOf("one"), 2, { trades: upTo(12).map(tradeAt) }),
          commitOf(accountOf("two"), 2, { trades: [tradeOf(99, 4, { at: 400 })] }),
        ]);
        expect(await store.listTrades("one", { symbol: "BTCUSDT", ...query })).toEqual(expected.map(tradeAt));
      });
    });

    describe("strategies and keys", () => {
      test("a key is found with the strategy that it manages, as that was last committed", async () => {
        const { key } = await create(store, "one");
        const bound = { strategyId: "one", type: "SPOT" };
        expect(await store.findKey(key.apiKey)).toEqual({ key, strategy: { ...bound, status: "LIVE" } });
        const account = accountOf("one");
        account.status = "CLOSED";
        await commit(store, [commitOf(account, 2)]);
        expect(await store.findKey(key.apiKey)).toEqual({ key, strategy: { ...bound, status: "CLOSED" } });
      });

      test("a key that is bound to no strategy is found without one", async () => {
        const key = keyOf("one", { strategyId: null });
        await store.createStrategies([{ first: firstOf("one"), key }]);
        expect(await store.findKey(key.apiKey)).toEqual({ key, strategy: null });
      });

      test("a revoked key is found with the time of its end", async () => {
        const key = keyOf("one", { revokedAt: 1_795_228_304_525 });
        await store.createStrategies([{ first: firstOf("one"), key }]);
        expect((await store.findKey(key.apiKey))?.key).toEqual(key);
      });

      test("a key that nobody issued is not found", async () => {
        const { key } = await create(store, "one");
        expect(await store.findKey(key.apiKey.toUpperCase())).toBeNull();
        expect(await store.findKey("")).toBeNull();
      });

      test("keys are listed oldest first, each with its strategy, whether revoked or bound to none", async () => {
        expect(await store.listKeys()).toEqual([]);
        const keys = [
          keyOf("c", { createdAt: 10 }),
          keyOf("a", { createdAt: 9, revokedAt: 11 }),
          keyOf("b", { createdAt: 100, strategyId: null }),
        ];
        await store.createStrategies(keys.map((key) => ({ first: firstOf(key.keyId.slice(3)), key })));
        const closed = accountOf("c");
        closed.status = "CLOSED";
        await commit(store, [commitOf(closed, 2)]);
        expect(await store.listKeys()).toEqual([
          { key: keys[1], strategy: { strategyId: "a", type: "SPOT", status: "LIVE" } },
          { key: keys[0], strategy: { strategyId: "c", type: "SPOT", status: "CLOSED" } },
          { key: keys[2], strategy: null },
        ]);
      });

      test("a key is revoked once and for good, alone, and its strategy keeps everything", async () => {
        const { key } = await create(store, "one", "two");
        await commit(store, [commitOf(accountOf("one"), 2, { orders: [orderOf(1)] })]);
        const before = await everythingOf(store, "one");
        const revoked = { ...key, revokedAt: 2_000 };
        expect(await store.revokeKey(key.apiKey, 2_000)).toEqual({ key: revoked, wasRevoked: false });
        expect(await store.revokeKey(key.apiKey, 3_000)).toEqual({ key: revoked, wasRevoked: true });
        expect((await store.findKey(key.apiKey))?.key).toEqual(revoked);
        expect((await store.findKey(keyOf("two").apiKey))?.key).toEqual(keyOf("two"));
        expect(await everythingOf(store, "one")).toEqual(before);
      });

      test("a key that nobody issued is not revoked", async () => {
        const { key } = await create(store, "one");
        expect(await store.revokeKey(key.apiKey.toUpperCase(), 2_000)).toBeNull();
        expect(await store.revokeKey("", 2_000)).toBeNull();
        expect((await store.findKey(key.apiKey))?.key.revokedAt).toBeNull();
      });

      test("what is done to keys is audited once, oldest first, and what fails is not", async () => {
        expect(await store.listAudit()).toEqual([]);
        const [one, two] = [keyOf("one", { createdAt: 900 }), keyOf("two", { createdAt: 1_000 })];
        await store.createStrategies([two, one].map((key) => ({ first: firstOf(key.label), key })));
        await expect(
          store.createStrategies([
            { first: firstOf("three"), key: keyOf("three") },
            { first: firstOf("four"), key: one },
          ]),
        ).rejects.toThrow();
        await store.revokeKey(one.apiKey, 5_000);
        await store.revokeKey(one.apiKey, 6_000);
        await store.revokeKey("nobody's", 7_000);
        const audit = [
          { who: "operator", what: "KEY_CREATED", at: 900, keyId: "id-one" },
          { who: "operator", what: "KEY_CREATED", at: 1_000, keyId: "id-two" },
          { who: "operator", what: "KEY_REVOKED", at: 5_000, keyId: "id-one" },
        ];
        expect(await store.listAudit()).toEqual(audit);
        await store.close();
        expect(await (await opened.reopen()).listAudit()).toEqual(audit);
      });

      test("strategies are counted", async () => {
        expect(await store.countStrategies()).toBe(0);
        await create(store, "one", "two");
        await create(store, "three");
        expect(await store.countStrategies()).toBe(3);
      });

      test.each([
        ["a strategy that is there already", { first: firstOf("old"), key: keyOf("new") }],
        ["a key that is there already", { first: firstOf("new"), key: keyOf("old") }],
      ])("of strategies created with %s none is created", async (_case, clash) => {
        await create(store, "old");
        const fine = { first: firstOf("fine"), key: keyOf("fine") };
        await expect(store.createStrategies([fine, clash])).rejects.toThrow();
        expect(await store.countStrategies()).toBe(1);
        expect(await store.loadAccount("fine")).toBeNull();
        expect(await store.listEntries("fine")).toEqual([]);
        expect(await store.findKey(fine.key.apiKey)).toBeNull();
        await create(store, "fine");
        expect(await store.countStrategies()).toBe(2);
      });

      test("nobody reads strategies whose creation has not been committed", async () => {
        await create(store, "old");
        const wanted = upTo(20).map((id) => ({ first: firstOf(`s${id}`), key: keyOf(`s${id}`) }));
        const clash = { first: firstOf("old"), key: keyOf("clash") };
        let isOver = false;
        const creating = store.createStrategies([...wanted, clash]).catch(() => {
          isOver = true;
        });
        const seen: unknown[] = [];
        // The creation fails at its last strategy, so whatever is read meanwhile has never been true. Many reads between
        // two turns of the event loop, since an embedded store may be done within one.
        while (!isOver) {
          for (let reads = 0; reads < 100 && !isOver; reads += 1) {
            seen.push(await store.loadAccount("s1"), await store.findKey(keyOf("s1").apiKey));
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        await creating;
        expect(seen.filter((read) => read !== null).length).toBe(0);
      });

      test("the check value of a master key version is the one that was given first", async () => {
        expect(await store.rememberMasterKey(1, "first")).toBe("first");
        expect(await store.rememberMasterKey(1, "second")).toBe("first");
        expect(await store.rememberMasterKey(2, "second")).toBe("second");
        expect(await store.rememberMasterKey(1, "third")).toBe("first");
      });
    });

    describe("the budget log", () => {
      const FOR_EVER = { forgetBefore: 0 };
      const everything = async (from: Store) => await from.listBudgets({ after: 0, exceptOf: "nobody" });

      test("reads back entries as they were written, in their order", async () => {
        const entries = [
          budgetsOf("one", 1_795_228_304_525),
          budgetsOf("two", 1_000),
          budgetsOf("one", 2_000),
        ];
        for (const entry of entries) await store.logBudgets(entry, FOR_EVER);
        expect(await everything(store)).toEqual(
          entries.map((entry, index) => ({ position: index + 1, entry })),
        );
      });

      test("is read on from a position, without one's own entries", async () => {
        for (const process of ["one", "two", "one", "two"]) {
          await store.logBudgets(budgetsOf(process, 1_000), FOR_EVER);
        }
        const read = await store.listBudgets({ after: 1, exceptOf: "two" });
        expect(read.map(({ position, entry }) => [position, entry.process])).toEqual([[3, "one"]]);
        expect(await store.listBudgets({ after: 4, exceptOf: "nobody" })).toEqual([]);
      });

      test("forgets what is too old when something is added, and no position is given twice", async () => {
        for (const at of [1_000, 2_000, 3_000]) await store.logBudgets(budgetsOf("one", at), FOR_EVER);
        await store.logBudgets(budgetsOf("two", 4_000), { forgetBefore: 3_000 });
        expect((await everything(store)).map(({ position, entry }) => [position, entry.at])).toEqual([
          [3, 3_000],
          [4, 4_000],
        ]);
        await store.logBudgets(budgetsOf("one", 9_000), { forgetBefore: 9_000 });
        await store.logBudgets(budgetsOf("two", 9_001), { forgetBefore: 9_001 });
        expect((await everything(store)).map(({ position }) => position)).toEqual([6]);
      });

      test("written by two stores at once, shows both everything in one order", async () => {
        const other = await opened.reopen();
        await Promise.all(
          upTo(10).flatMap((at) => [
            store.logBudgets(budgetsOf("here", at), FOR_EVER),
            other.logBudgets(budgetsOf("there", at), FOR_EVER),
          ]),
        );
        const read = await everything(store);
        expect(read.map(({ position }) => position)).toEqual(upTo(20));
        expect(await everything(other)).toEqual(read);
        for (const process of ["here", "there"]) {
          const own = read.filter(({ entry }) => entry.process === process);
          expect(own.map(({ entry }) => entry.at)).toEqual(upTo(10));
        }
      });

      test("stands beside commits that are under way, and rejects when the store is closed", async () => {
        await create(store, "one");
        const [outcomes] = await Promise.all([
          store.commit([commitOf(accountOf("one"), 2)]),
          store.logBudgets(budgetsOf("one", 1_000), FOR_EVER),
        ]);
        expect(outcomes).toEqual(["COMMITTED"]);
        await store.close();
        await expect(store.logBudgets(budgetsOf("one", 2_000), FOR_EVER)).rejects.toThrow();
        expect((await everything(await opened.reopen())).map(({ entry }) => entry.at)).toEqual([1_000]);
      });
    });

    describe("what a process that starts looks for", () => {
      const heardBy = async (from: Store) =>
        Object.fromEntries((await from.listHeard()).map(({ symbol, at }) => [symbol, at]));

      test("when each symbol was last heard of, as it was noted last", async () => {
        expect(await store.listHeard()).toEqual([]);
        await store.noteHeard([
          { symbol: "BTCUSDT", at: 1_795_228_304_525 },
          { symbol: "ETHUSDT", at: 1_000 },
        ]);
        await store.noteHeard([{ symbol: "ETHUSDT", at: 2_000 }]);
        // A gap that could not be filled is noted by its beginning, which may lie before what was noted.
        await store.noteHeard([{ symbol: "BTCUSDT", at: 500 }]);
        const noted = { BTCUSDT: 500, ETHUSDT: 2_000 };
        expect(await heardBy(store)).toEqual(noted);
        const other = await opened.reopen();
        expect(await heardBy(other)).toEqual(noted);
        await other.noteHeard([{ symbol: "XRPUSDT", at: 3_000 }]);
        expect(await heardBy(store)).toEqual({ ...noted, XRPUSDT: 3_000 });
      });

      test("the strategies that are closing, and no others", async () => {
        await create(store, "closing", "live", "closed", "done");
        await commit(store, [
          commitOf(accountOf("closing", "CLOSING"), 2),
          commitOf(accountOf("closed", "CLOSED"), 2),
          commitOf(accountOf("done", "CLOSING"), 2),
        ]);
        await commit(store, [commitOf(accountOf("done", "CLOSED"), 3)]);
        expect(await store.listClosingStrategies()).toEqual(["closing"]);
        expect(await (await opened.reopen()).listClosingStrategies()).toEqual(["closing"]);
        expect((await store.loadAccount("closed"))?.account.status).toBe("CLOSED");
        await commit(store, [commitOf(accountOf("closing", "CLOSED"), 3)]);
        expect(await store.listClosingStrategies()).toEqual([]);
      });

      test("orders that wait for their trigger, and those that work since then, as they are", async () => {
        await create(store, "one");
        const stop: Partial<Order> = { type: "STOP_LOSS_LIMIT", stopPrice: decimal(HUGE) };
        const waiting = orderOf(1, { ...stop, workingAt: null });
        const triggered = orderOf(2, { ...stop, workingAt: 1_795_228_304_525 });
        const ended = orderOf(3, { ...stop, status: "EXPIRED", reserved: ZERO, workingAt: 2_000 });
        const orders = [waiting, triggered, ended];
        await commit(store, [commitOf(accountOf("one"), 2, { orders })]);
        expect((await store.listAllOpenOrders()).map(({ order }) => order)).toEqual([waiting, triggered]);
        const { openOrders } = (await store.loadAccount("one"))?.account ?? {};
        expect([...(openOrders?.values() ?? [])]).toEqual([waiting, triggered]);
        expect(await store.listOrders("one", { symbol: "BTCUSDT", limit: 9 })).toEqual(orders);
      });

      test("nothing of an order that has expired or of one that was triggered and filled", async () => {
        await create(store, "one");
        const stop = orderOf(1, { type: "STOP_LOSS", stopPrice: decimal(TINY), workingAt: null });
        await commit(store, [commitOf(accountOf("one"), 2, { orders: [stop] })]);
        const expired = { ...stop, status: "EXPIRED", reserved: ZERO, workingAt: 2_000 } as const;
        await commit(store, [commitOf(accountOf("one"), 3, { orders: [expired] })]);
        expect(await store.listAllOpenOrders()).toEqual([]);
        expect(await store.findOrder("one", { orderId: 1 })).toEqual(expired);
      });
    });

    describe("two stores on one database", () => {
      test("each sees what the other has committed", async () => {
        const other = await opened.reopen();
        const { key } = await create(store, "one");
        expect((await other.findKey(key.apiKey))?.key).toEqual(key);
        await commit(other, [
          commitOf(accountOf("one"), 2, { key: "k", orders: [orderOf(1)], trades: [tradeOf(1, 1)] }),
        ]);
        expect(await everythingOf(store, "one")).toEqual(await everythingOf(other, "one"));
        expect((await store.findEntry("one", "k"))?.version).toBe(2);
        await commit(store, [commitOf(accountOf("one"), 3, { orders: [orderOf(1, { status: "FILLED" })] })]);
        expect((await other.loadAccount("one"))?.version).toBe(3);
        expect(await other.listAllOpenOrders()).toEqual([]);
      });

      test("of two commits on one version exactly one is carried out, every time", async () => {
        const other = await opened.reopen();
        await create(store, "one");
        const winners: string[] = [];
        for (let version = 2; version <= 21; version += 1) {
          const contenders = { here: store, there: other };
          const outcomes = await Promise.all(
            Object.entries(contenders).map(async ([at, contender]) => {
              const order = orderOf(version, { clientOrderId: `${at}-${version}` });
              const [outcome] = await contender.commit([
                commitOf(accountOf("one"), version, { key: `${at}-${version}`, orders: [order] }),
              ]);
              return { at, outcome };
            }),
          );
          expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["COMMITTED", "OUTDATED"]);
          winners.push(`${outcomes.find(({ outcome }) => outcome === "COMMITTED")?.at}-${version}`);
        }
        const entries = await store.listEntries("one");
        expect(entries.slice(1).map(({ key }) => key)).toEqual(winners);
        const orders = await other.listOrders("one", { symbol: "BTCUSDT", limit: 100 });
        expect(orders.map(({ clientOrderId }) => clientOrderId)).toEqual(winners);
      });

      test("groups of both that share strategies interleave without losing a commit", async () => {
        const other = await opened.reopen();
        const ids = upTo(10).map((id) => `s${id}`);
        await create(store, ...ids);
        const groupOf = (key: string) =>
          ids.map((id) => commitOf(accountOf(id), 2, { key, orders: [orderOf(1, { clientOrderId: key })] }));
        const [here, there] = await Promise.all([
          store.commit(groupOf("here")),
          other.commit(groupOf("there")),
        ]);
        expect([...here, ...there].filter((outcome) => outcome === "COMMITTED")).toHaveLength(ids.length);
        expect(await versionsOf(store, ids)).toEqual(ids.map(() => 2));
      });

      test("a key that one has revoked is revoked for the other at its next look", async () => {
        const other = await opened.reopen();
        const { key } = await create(store, "one");
        const at = key.createdAt + 1;
        expect((await store.findKey(key.apiKey))?.key.revokedAt).toBeNull();
        await other.revokeKey(key.apiKey, at);
        expect((await store.findKey(key.apiKey))?.key.revokedAt).toBe(at);
        expect(await store.revokeKey(key.apiKey, at + 1)).toMatchObject({ wasRevoked: true });
        // Once each: the second revocation did nothing.
        expect((await store.listAudit()).map(({ what }) => what).sort()).toEqual([
          "KEY_CREATED",
          "KEY_REVOKED",
        ]);
      });

      test("a master key remembered by one is known to the other", async () => {
        const other = await opened.reopen();
        expect(await store.rememberMasterKey(1, "first")).toBe("first");
        expect(await other.rememberMasterKey(1, "second")).toBe("first");
      });
    });

    test("a store that is closed and opened again reads back everything", async () => {
      const { key } = await create(store, "one", "two");
      const account = accountOf("one");
      hold(account, "USDT", { free: HUGE, seed: `-${HUGE}` });
      const orders = [orderOf(1, { status: "FILLED" }), orderOf(2)];
      const events = eventsOfEveryKind();
      await commit(store, [commitOf(account, 2, { key: "k", orders, trades: [tradeOf(1, 1)], events })]);
      await store.rememberMasterKey(1, "check");
      const before = await everythingOf(store, "one");
      await store.close();

      const again = await opened.reopen();
      expect(await everythingOf(again, "one")).toEqual(before);
      expect((await again.findEntry("one", "k"))?.events).toEqual(events);
      expect((await again.findKey(key.apiKey))?.key).toEqual(key);
      expect(await again.countStrategies()).toBe(2);
      expect(await again.rememberMasterKey(1, "other")).toBe("check");
      expect(await again.commit([commitOf(account, 3)])).toEqual(["COMMITTED"]);
    });

    test("a closed store carries out no commit", async () => {
      await create(store, "one");
      await store.close();
      await expect(store.commit([commitOf(accountOf("one"), 2)])).rejects.toThrow(StoreFailure);
      const again = await opened.reopen();
      expect(await versionsOf(again, ["one"])).toEqual([1]);
    });
  });
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Creates strategies, each with a key; answers the first of them as it was created. */
async function create(
  store: Store,
  ...ids: readonly string[]
): Promise<{ first: Commit; key: ApiKeyRecord }> {
  const created = ids.map((id) => ({ first: firstOf(id), key: keyOf(id) }));
  await store.createStrategies(created);
  const [first] = created;
  if (first === undefined) throw new Error("a case creates at least one strategy");
  return first;
}

async function commit(store: Store, group: readonly Commit[]): Promise<void> {
  expect(await store.commit(group)).toEqual(group.map(() => "COMMITTED"));
}

async function everythingOf(store: Store, strategyId: string) {
  return {
    loaded: await store.loadAccount(strategyId),
    entries: await store.listEntries(strategyId),
    orders: await store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 1_000 }),
    trades: await store.listTrades(strategyId, { symbol: "BTCUSDT", limit: 1_000 }),
  };
}

async function versionsOf(store: Store, ids: readonly string[]): Promise<(number | undefined)[]> {
  return await Promise.all(ids.map(async (id) => (await store.loadAccount(id))?.version));
}

function accountOf(strategyId: string, status: StrategyStatus = "LIVE"): Account {
  const account = emptyAccount(strategyId, "SPOT");
  account.status = status;
  hold(account, "USDT", { free: "200", seed: "-200" });
  return account;
}

function hold(account: Account, asset: string, held: Partial<Record<Pocket, string>>): void {
  const pockets = emptyPockets();
  for (const [pocket, text] of Object.entries(held)) pockets[pocket as Pocket] = decimal(text);
  account.balances.set(asset, pockets);
}

function firstOf(strategyId: string): Commit {
  const seed: DomainEvent = {
    type: "StrategyOpened",
    at: 1_000,
    postings: [{ from: "seed", to: "free", asset: "USDT", amount: decimal("200") }],
  };
  return commitOf(accountOf(strategyId), 1, { events: [seed] });
}

function commitOf(
  account: Account,
  version: number,
  parts: {
    readonly key?: string | null;
    readonly at?: number;
    readonly events?: readonly DomainEvent[];
    readonly orders?: readonly Order[];
    readonly trades?: readonly Trade[];
  } = {},
): Commit {
  const { key = null, at = 1_000, events = [], orders = [], trades = [] } = parts;
  return { account, entry: { version, key, at, events }, orders, trades };
}

function budgetsOf(process: string, at: number): BudgetEntry {
  const charge = { tenSeconds: 179_522_830, weight: 1_220, orders: 51, failures: 0 };
  return {
    process,
    at,
    charges: [
      { ...charge, holder: "key:lyre_bot_0", refusedAt: [1_795_228_304_525, 1_795_228_304_525] },
      { ...charge, holder: "ip:2001:db8:0:1::/64", failures: 1_201, refusedAt: [] },
    ],
    bans: [{ holder: "key:lyre_bot_0", until: 1_795_228_424_525 }],
  };
}

function keyOf(name: string, terms: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    keyId: `id-${name}`,
    apiKey: `lyre_bot_${name}`,
    salt: `salt-${name}`,
    masterVersion: 1,
    label: `${name}, with "quotes" and ’umlauts’ äöü`,
    strategyId: name,
    createdAt: 1_795_228_304_000,
    revokedAt: null,
    ...terms,
  };
}

function orderOf(orderId: number, terms: Partial<Order> & { readonly at?: number } = {}): Order {
  const { at = 1_000, ...others } = terms;
  return {
    orderId,
    clientOrderId: `client-${orderId}`,
    symbol: "BTCUSDT",
    side: "BUY",
    type: "LIMIT",
    status: "NEW",
    price: decimal("100"),
    stopPrice: ZERO,
    quantity: decimal("0.5"),
    quoteQuantity: ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    reserved: decimal("50"),
    reservedAsset: "USDT",
    placedAt: at,
    updatedAt: at,
    workingAt: at,
    ...others,
  };
}

function tradeOf(tradeId: number, orderId: number, terms: Partial<Trade> = {}): Trade {
  return {
    tradeId,
    orderId,
    symbol: "BTCUSDT",
    side: "BUY",
    price: decimal("100"),
    quantity: decimal("0.5"),
    quoteQuantity: decimal("50"),
    fee: decimal("0.0005"),
    feeAsset: "BTC",
    isMaker: false,
    at: 1_000,
    ...terms,
  };
}

function eventsOfEveryKind(): DomainEvent[] {
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
    { type: "StrategyClosing", at, postings: [] },
    { type: "StrategyClosed", at, postings: [] },
  ];
}
