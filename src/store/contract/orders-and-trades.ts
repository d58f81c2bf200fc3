// Orders and trades are found by id, and listed oldest first between the bounds of a query, both of them
// included.
import { describe, expect, test } from "vitest";
import { placementKey } from "../../domain/command.ts";
import type { OrderQuery, TradeQuery } from "../ports/trading.ts";
import { accountOf, commitOf, orderOf, tradeOf, upTo } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

export function orderAndTradeCases(opened: Opened): void {
  describe("reading orders and trades", () => {
    const { store } = opened;

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
      [
        "between two times, told to keep the newest",
        { startTime: 200, endTime: 700, limit: 2, keeps: "NEWEST" },
        [6, 7],
      ],
      ["from an id, told to keep the newest", { fromOrderId: 4, limit: 2, keeps: "NEWEST" }, [11, 12]],
      ["until a time, told to keep the oldest", { endTime: 900, limit: 2, keeps: "OLDEST" }, [1, 2]],
      ["no bound, told to keep the oldest", { limit: 3, keeps: "OLDEST" }, [1, 2, 3]],
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
      [
        "between two times, told to keep the newest",
        { startTime: 200, endTime: 700, limit: 2, keeps: "NEWEST" },
        [6, 7],
      ],
      ["until a time, told to keep the oldest", { endTime: 900, limit: 2, keeps: "OLDEST" }, [1, 2]],
      ["of one order, told to keep the oldest", { orderId: 4, limit: 1, keeps: "OLDEST" }, [7]],
      ["of one order: its own", { orderId: 4, limit: 9 }, [7, 8]],
      ["of one order, limited: its newest", { orderId: 4, limit: 1 }, [8]],
      ["of one order from an id: both hold", { orderId: 4, fromTradeId: 8, limit: 9 }, [8]],
      ["of an order without any: none", { orderId: 40, limit: 9 }, []],
    ];
    test.each(tradeCases)("trades with %s", async (_case, query, expected) => {
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
      expect(await store.listTrades("one", { symbol: "BTCUSDT", ...query })).toEqual(expected.map(tradeAt));
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
