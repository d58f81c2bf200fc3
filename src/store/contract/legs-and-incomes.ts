// Legs are found by id, and listed like orders; incomes are listed page by page in the order of time.
import { describe, expect, test } from "vitest";
import type { Income } from "../../domain/income.ts";
import type { IncomeQuery } from "../ports/trading.ts";
import { incomeOf, legOf } from "./futures-records.ts";
import { accountOf, commitOf, LIST_CASES, upTo } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

export function legAndIncomeCases(opened: Opened): void {
  describe("reading legs and incomes", () => {
    const { store } = opened;

    test("a leg is found by its id and by its client id, by its own strategy alone", async () => {
      await create(store, "one", "two");
      const leg = legOf(12, { clientLegId: "mine" });
      await commit(store, [commitOf(accountOf("one"), 2, { legs: [leg, legOf(2, { status: "EXPIRED" })] })]);
      expect(await store.findLeg("one", { legId: 12 })).toEqual(leg);
      expect(await store.findLeg("one", { clientLegId: "mine" })).toEqual(leg);
      expect(await store.findLeg("one", { legId: 2 })).toEqual(legOf(2, { status: "EXPIRED" }));
      expect(await store.findLeg("one", { legId: 1 })).toBeNull();
      expect(await store.findLeg("one", { clientLegId: "MINE" })).toBeNull();
      expect(await store.findLeg("one", { clientLegId: "mine\0" })).toBeNull();
      expect(await store.findLeg("two", { legId: 12 })).toBeNull();
      expect(await store.findLeg("two", { clientLegId: "mine" })).toBeNull();
    });

    test("a symbol that no text of the database can be has no legs and no incomes", async () => {
      await create(store, "one");
      await commit(store, [commitOf(accountOf("one"), 2, { legs: [legOf(1)], incomes: [incomeOf(1)] })]);
      for (const symbol of ["\0", "BTCUSDT\0"]) {
        expect(await store.listLegs("one", { symbol, limit: 9 })).toEqual([]);
        expect(await store.listRecentLegs("one", { symbol, limit: 9 })).toEqual([]);
        expect(await store.listIncomes("one", { symbol, offset: 0, limit: 9 })).toEqual([]);
      }
    });

    test.each(LIST_CASES)("legs with %s", async (_case, { from, ...bounds }, expected) => {
      await create(store, "one", "two");
      const legAt = (id: number) => legOf(id, { at: id * 100, symbol: id === 5 ? "ETHUSDT" : "BTCUSDT" });
      await commit(store, [
        commitOf(accountOf("one"), 2, { legs: upTo(12).map(legAt) }),
        commitOf(accountOf("two"), 2, { legs: [legOf(99, { at: 400 })] }),
      ]);
      const found = await store.listLegs("one", { symbol: "BTCUSDT", ...bounds, fromLegId: from });
      expect(found).toEqual(expected.map(legAt));
    });

    // Incomes 1–12 at 100, 100, 200, 200, … 600; 11 and 12, of a settlement, come last and lie before all
    // others. 5 is of another symbol, 6 of none.
    const incomeAt = (id: number): Income => {
      const symbol = new Map([
        [5, "ETHUSDT"],
        [6, null],
      ]).get(id);
      return incomeOf(id, {
        at: id > 10 ? 50 : Math.ceil(id / 2) * 100,
        ...(symbol !== undefined && { symbol }),
        ...(id > 10 && { type: "FUNDING_FEE", tradeId: null }),
      });
    };
    const incomeCases: readonly [string, IncomeQuery, readonly number[]][] = [
      ["no bound: the oldest", { offset: 0, limit: 4 }, [11, 12, 1, 2]],
      ["an offset: the next", { offset: 4, limit: 4 }, [3, 4, 5, 6]],
      ["an offset beyond the last: none", { offset: 12, limit: 4 }, []],
      [
        "of one time: in the order of their ids",
        { startTime: 100, endTime: 100, offset: 0, limit: 9 },
        [1, 2],
      ],
      ["from a time, it included", { startTime: 500, offset: 0, limit: 9 }, [9, 10]],
      ["from just after a time", { startTime: 401, offset: 1, limit: 9 }, [10]],
      ["until a time, it included", { endTime: 100, offset: 0, limit: 9 }, [11, 12, 1, 2]],
      ["of one symbol", { symbol: "ETHUSDT", offset: 0, limit: 9 }, [5]],
      ["of one type", { type: "FUNDING_FEE", offset: 0, limit: 9 }, [11, 12]],
      [
        "of one type and symbol, from a time",
        { symbol: "BTCUSDT", type: "REALIZED_PNL", startTime: 300, offset: 0, limit: 9 },
        [7, 8, 9, 10],
      ],
      ["a span that ends before it starts: none", { startTime: 200, endTime: 100, offset: 0, limit: 9 }, []],
    ];
    test.each(incomeCases)("incomes with %s", async (_case, query, expected) => {
      await create(store, "one", "two");
      await commit(store, [
        commitOf(accountOf("one"), 2, { incomes: upTo(10).map(incomeAt) }),
        commitOf(accountOf("two"), 2, { incomes: [incomeOf(99, { at: 100 })] }),
      ]);
      await commit(store, [commitOf(accountOf("one"), 3, { incomes: [11, 12].map(incomeAt) })]);
      expect(await store.listIncomes("one", query)).toEqual(expected.map(incomeAt));
    });
  });
}
