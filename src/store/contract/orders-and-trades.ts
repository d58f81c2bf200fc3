// Orders and trades are found by id, and listed oldest first between the bounds of a query, both of them
// included.
import { describe, expect, test } from "vitest";
import { placementKey, signalKey } from "../../domain/command.ts";
import type { OrderStatus } from "../../domain/order.ts";
import { accountOf, type Bounds, commitOf, LIST_CASES, orderOf, tradeOf, upTo } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

export function orderAndTradeCases(opened: Opened): void {
  describe("reading orders and trades", () => {
    const { store, changeRows } = opened;

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

    test("an order is found without its symbol, open or not", async () => {
      await create(store, "one", "two", "none");
      const symbols = ["SOLUSDT", "BTCUSDT", "ETHUSDT"];
      const orders = ["NEW", "CANCELED", "FILLED"].flatMap((status, row) =>
        symbols.map((symbol, column) =>
          orderOf(1 + row * symbols.length + column, { symbol, status: status as OrderStatus }),
        ),
      );
      await commit(store, [
        commitOf(accountOf("one"), 2, { orders }),
        commitOf(accountOf("two"), 2, { orders: [orderOf(10, { symbol: "ADAUSDT", status: "FILLED" })] }),
      ]);
      for (const order of orders) {
        expect(await store.findOrder("one", { orderId: order.orderId })).toEqual(order);
      }
      for (const strategyId of ["one", "none"]) {
        expect(await store.findOrder(strategyId, { orderId: 10 })).toBeNull();
      }
    });

    test("a symbol that no text of the database can be has no orders and no trades", async () => {
      await create(store, "one");
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [orderOf(1)], trades: [tradeOf(1, 1)] })]);
      for (const symbol of ["\0", "BTCUSDT\0"]) {
        expect(await store.findOrder("one", { orderId: 1, symbol })).toBeNull();
        expect(await store.listOpenOrders("one", symbol)).toEqual([]);
        expect(await store.listOrders("one", { symbol, limit: 9 })).toEqual([]);
        expect(await store.listOrders("one", { symbol, startTime: 1, endTime: 9, limit: 9 })).toEqual([]);
        expect(await store.listTrades("one", { symbol, limit: 9 })).toEqual([]);
        expect(await store.listTrades("one", { symbol, orderId: 1, limit: 9 })).toEqual([]);
        expect(await store.listRecentOrders("one", { symbol, limit: 9 })).toEqual([]);
        expect(await store.listRecentTrades("one", { symbol, limit: 9 })).toEqual([]);
      }
      expect(await store.findOrder("one", { clientOrderId: "client-1\0" })).toBeNull();
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

    test.each(LIST_CASES)("orders with %s", async (_case, { from, ...bounds }, expected) => {
      await create(store, "one", "two");
      const orders = upTo(12).map((id) =>
        orderOf(id, { at: id * 100, symbol: id === 5 ? "ETHUSDT" : "BTCUSDT" }),
      );
      await commit(store, [
        commitOf(accountOf("one"), 2, { orders }),
        commitOf(accountOf("two"), 2, { orders: [orderOf(99, { at: 400 })] }),
      ]);
      const found = await store.listOrders("one", { symbol: "BTCUSDT", ...bounds, fromOrderId: from });
      expect(found).toEqual(expected.map((id) => orderOf(id, { at: id * 100 })));
    });

    test("an order that was placed under the key of its client id is found by it, changed or not", async () => {
      await create(store, "one", "two");
      const key = placementKey("mine");
      const placed = orderOf(1, { clientOrderId: "mine" });
      await commit(store, [
        commitOf(accountOf("one"), 2, {
          key,
          orders: [placed],
          events: [{ type: "OrderPlaced", at: 1, order: placed, postings: [] }],
        }),
      ]);
      expect(await store.findOrder("one", { clientOrderId: "mine" })).toEqual(placed);
      const changed = { ...placed, status: "CANCELED" } as const;
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [changed] })]);
      expect(await store.findOrder("one", { clientOrderId: "mine" })).toEqual(changed);
      expect(await store.findOrder("two", { clientOrderId: "mine" })).toBeNull();
      expect(await store.findOrder("one", { clientOrderId: "other" })).toBeNull();
    });

    test("an order of a signal is found by its client id, whether its row has it or its entry", async () => {
      await create(store, "one", "two");
      const signalId = "0193d4a1-0000-4000-8000-000000000001";
      const placed = orderOf(1, { clientOrderId: signalId });
      const parts = {
        orders: [placed],
        events: [
          { type: "OrderPlaced", at: 1, order: placed, postings: [] },
          { type: "SignalExecuted", at: 1, signalId, processedAt: 1, orderId: 1, postings: [] },
        ],
      } as const;
      await commit(store, [commitOf(accountOf("one"), 2, { key: signalKey(signalId), ...parts })]);
      const changed = { ...placed, status: "CANCELED" } as const;
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [changed] })]);
      const find = (strategyId: string) => store.findOrder(strategyId, { clientOrderId: signalId });
      expect(await find("one")).toEqual(changed);
      expect(await find("two")).toBeNull();
      // As rows were written before the entry was looked for: the other strategy has no such entry.
      await commit(store, [commitOf(accountOf("two"), 2, { key: "other", ...parts })]);
      await changeRows(`UPDATE orders SET client_order_id = '${signalId}'`);
      expect(await find("one")).toEqual(changed);
      expect(await find("two")).toEqual(placed);
    });

    test("a client id that a signal had is its placement's, if there is one", async () => {
      await create(store, "one");
      const id = "0193d4a1-0000-4000-8000-000000000001";
      const [ofSignal, own] = [orderOf(1, { clientOrderId: id }), orderOf(2, { clientOrderId: id })];
      for (const [version, key, order] of [
        [2, signalKey(id), ofSignal],
        [3, placementKey(id), own],
      ] as const) {
        const events = [{ type: "OrderPlaced", at: 1, order, postings: [] }] as const;
        await commit(store, [commitOf(accountOf("one"), version, { key, orders: [order], events })]);
      }
      expect(await store.findOrder("one", { clientOrderId: id })).toEqual(own);
      expect(await store.findOrder("one", { orderId: 1, symbol: "BTCUSDT" })).toEqual(ofSignal);
    });

    test("orders that are asked for together are each answered with their own", async () => {
      const names = upTo(40).map((index) => `s${index}`);
      await create(store, ...names);
      await commit(
        store,
        names.map((name, index) =>
          commitOf(accountOf(name), 2, { orders: [orderOf(1), orderOf(index + 2, { symbol: "ETHUSDT" })] }),
        ),
      );
      const found = await Promise.all(
        names.flatMap((name, index) => [
          store.findOrder(name, { orderId: index + 2, symbol: "ETHUSDT" }),
          store.findOrder(name, { orderId: index + 2, symbol: "BTCUSDT" }),
        ]),
      );
      expect(found.map((order) => order?.orderId ?? null)).toEqual(
        names.flatMap((_, index) => [index + 2, null]),
      );
      const open = await Promise.all(names.map((name) => store.listOpenOrders(name, "ETHUSDT")));
      expect(open.map((orders) => orders.map(({ orderId }) => orderId))).toEqual(
        names.map((_, index) => [index + 2]),
      );
    });

    // Two trades to an order.
    const tradeCases: readonly (readonly [string, Bounds & { orderId?: number }, readonly number[]])[] = [
      ...LIST_CASES,
      ["of one order, told to keep the oldest", { orderId: 4, limit: 1, keeps: "OLDEST" }, [7]],
      ["of one order: its own", { orderId: 4, limit: 9 }, [7, 8]],
      ["of one order, limited: its newest", { orderId: 4, limit: 1 }, [8]],
      ["of one order from an id: both hold", { orderId: 4, from: 8, limit: 9 }, [8]],
      ["of an order without any: none", { orderId: 40, limit: 9 }, []],
    ];
    test.each(tradeCases)("trades with %s", async (_case, { from, ...bounds }, expected) => {
      await create(store, "one", "two");
      const tradeAt = (id: number) =>
        tradeOf(id, Math.ceil(id / 2), { at: id * 100, symbol: id === 5 ? "ETHUSDT" : "BTCUSDT" });
      const orders = upTo(6).map((id) => orderOf(id));
      // The fourth order's trades come in two commits.
      await commit(store, [
        commitOf(accountOf("one"), 2, { orders, trades: upTo(7).map(tradeAt) }),
        commitOf(accountOf("two"), 2, { orders: [orderOf(4)], trades: [tradeOf(99, 4, { at: 400 })] }),
      ]);
      const trades = upTo(12).slice(7).map(tradeAt);
      await commit(store, [commitOf(accountOf("one"), 3, { orders: orders.slice(3), trades })]);
      const found = await store.listTrades("one", { symbol: "BTCUSDT", ...bounds, fromTradeId: from });
      expect(found).toEqual(expected.map(tradeAt));
    });

    test("the symbols of a strategy's trades are listed, each once", async () => {
      await create(store, "one", "two", "three");
      const symbols = ["XRPUSDT", "BTCUSDT", "XRPUSDT", "ETHUSDT"];
      const trades = symbols.map((symbol, index) => tradeOf(index + 1, 1, { symbol }));
      await commit(store, [
        commitOf(accountOf("one"), 2, { orders: [orderOf(1)], trades }),
        commitOf(accountOf("two"), 2, {
          orders: [orderOf(1)],
          trades: [tradeOf(1, 1, { symbol: "ABCUSDT" })],
        }),
      ]);
      expect(await store.listTradedSymbols("one")).toEqual(["BTCUSDT", "ETHUSDT", "XRPUSDT"]);
      expect(await store.listTradedSymbols("three")).toEqual([]);
    });
  });
}
