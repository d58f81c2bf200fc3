// What is newest of a strategy is listed newest first, over all symbols or of one, and a page goes on where
// the one before ended.
import { beforeEach, describe, expect, test } from "vitest";
import type { Income } from "../../domain/income.ts";
import type { Amount } from "../../money/decimal.ts";
import { legOf } from "./futures-records.ts";
import { accountOf, commitOf, orderOf, tradeOf } from "./records.ts";
import { signalOf } from "./signals/records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

const SYMBOLS = ["BTCUSDT", "ETHUSDT", "XRPUSDT"] as const;
const symbolOf = (id: number) => SYMBOLS[id % SYMBOLS.length] ?? "BTCUSDT";

export function recentCases(opened: Opened): void {
  describe("listing what is newest", () => {
    const { store } = opened;
    beforeEach(async () => {
      await create(store, "one", "two");
    });

    // Beyond 400 of them the first span of numbers holds fewer rows than are wanted: two in three are legs'
    // numbers.
    const ids = [...Array(500).keys()].map((index) => 1 + 3 * index);
    const newestOf = (symbol: string | undefined, before = Number.POSITIVE_INFINITY) =>
      ids.filter((id) => id < before && (symbol === undefined || symbolOf(id) === symbol)).reverse();

    async function fill(): Promise<void> {
      const orders = ids.map((id) => orderOf(id, { symbol: symbolOf(id), status: "FILLED" }));
      const trades = ids.map((id) => tradeOf(id, id, { symbol: symbolOf(id) }));
      await commit(store, [commitOf(accountOf("one"), 2, { orders, trades })]);
      await commit(store, [commitOf(accountOf("two"), 2, { orders: [orderOf(9_999)], trades: [] })]);
    }

    test("orders and trades of all symbols or of one, from the newest or before a number", async () => {
      await fill();
      for (const symbol of [undefined, "ETHUSDT", "XRPUSDT"]) {
        for (const [before, limit] of [
          [undefined, 7],
          [700, 50],
          [700, 400],
          [4, 5],
          [1, 5],
          [undefined, 1_000],
        ] as const) {
          const wanted = newestOf(symbol, before).slice(0, limit);
          const what = `${symbol} before ${before}, ${limit} of them`;
          const orders = await store.listRecentOrders("one", { symbol, before, limit });
          expect(
            orders.map(({ orderId }) => orderId),
            what,
          ).toEqual(wanted);
          const trades = await store.listRecentTrades("one", { symbol, before, limit });
          expect(
            trades.map(({ tradeId }) => tradeId),
            what,
          ).toEqual(wanted);
        }
      }
      expect(await store.listRecentOrders("one", { symbol: "DOGEUSDT", limit: 5 })).toEqual([]);
      expect((await store.listRecentOrders("two", { limit: 5 })).map(({ orderId }) => orderId)).toEqual([
        9_999,
      ]);
      expect(await store.listRecentTrades("two", { limit: 5 })).toEqual([]);
      expect(await store.listRecentOrders("none", { limit: 5 })).toEqual([]);
    });

    test("of orders those that are open no more", async () => {
      const isOpen = (id: number) => id % 5 === 0 || id > 1_400;
      const orders = ids.map((id) =>
        orderOf(id, { symbol: symbolOf(id), status: isOpen(id) ? "NEW" : "CANCELED" }),
      );
      await commit(store, [commitOf(accountOf("one"), 2, { orders })]);
      for (const symbol of [undefined, "ETHUSDT"]) {
        for (const [before, limit] of [
          [undefined, 50],
          [700, 50],
          [undefined, 1_000],
        ] as const) {
          const found = await store.listRecentOrders("one", { symbol, before, limit, isDone: true });
          const wanted = newestOf(symbol, before).filter((id) => !isOpen(id));
          expect(found.map(({ orderId }) => orderId)).toEqual(wanted.slice(0, limit));
        }
      }
    });

    test("legs likewise", async () => {
      const legs = [2, 3, 10, 11].map((id) => legOf(id, { symbol: symbolOf(id) }));
      await commit(store, [commitOf(accountOf("one"), 2, { legs })]);
      const list = async (query: { symbol?: string; before?: number; limit: number }) =>
        (await store.listRecentLegs("one", query)).map(({ legId }) => legId);
      expect(await list({ limit: 3 })).toEqual([11, 10, 3]);
      expect(await list({ before: 10, limit: 3 })).toEqual([3, 2]);
      expect(await list({ symbol: "XRPUSDT", limit: 3 })).toEqual([11, 2]);
    });

    test("incomes by time, of one time by number: funding is recorded later than it was due", async () => {
      const places = [
        [100, 1],
        [300, 2],
        [300, 3],
        [200, 4],
      ] as const;
      const incomes = places.map(
        ([at, incomeId]): Income => ({
          incomeId,
          type: "FUNDING_FEE",
          symbol: "BTCUSDT",
          asset: "USDT",
          amount: 1n as Amount,
          at,
          tradeId: null,
        }),
      );
      await commit(store, [commitOf(accountOf("one"), 2, { incomes })]);
      const list = async (before?: { at: number; incomeId: number }) =>
        (await store.listRecentIncomes("one", { before, limit: 2 })).map(({ incomeId }) => incomeId);
      expect(await list()).toEqual([3, 2]);
      expect(await list({ at: 300, incomeId: 2 })).toEqual([4, 1]);
      expect(await list({ at: 300, incomeId: 3 })).toEqual([2, 4]);
      expect(await list({ at: 100, incomeId: 1 })).toEqual([]);
    });

    test("signals by when they were received, those before one of them", async () => {
      const signals = ["a", "b", "c", "d"].map((key) => signalOf(key, { strategyId: "one" }));
      for (const signal of signals) await store.receiveSignals([signal], { claimedUntil: 0 });
      await store.receiveSignals([signalOf("e", { strategyId: "two" })], { claimedUntil: 0 });
      const list = async (before?: string) =>
        (await store.listRecentSignals("one", { before, limit: 2 })).map(({ idempotencyKey }) =>
          idempotencyKey.slice(-1),
        );
      const idOf = (index: number) => signals[index]?.signalId ?? "";
      expect(await list()).toEqual(["d", "c"]);
      expect(await list(idOf(2))).toEqual(["b", "a"]);
      expect(await list(idOf(0))).toEqual([]);
      expect(await list("none")).toEqual([]);
    });
  });
}
