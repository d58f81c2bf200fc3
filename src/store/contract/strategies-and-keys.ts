// Strategies and their keys are created together or not at all; a key is revoked once and for good, and what is done to
// keys is audited.
import { beforeEach, describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import type { Store } from "../store.ts";
import { incomeOf } from "./futures-records.ts";
import { accountOf, commitOf, firstOf, keyOf, orderOf, upTo } from "./records.ts";
import { commit, create, everythingOf, type Opened } from "./store-under-test.ts";

export function strategyAndKeyCases(opened: Opened): void {
  describe("strategies and keys", () => {
    let store: Store;
    beforeEach(() => {
      store = opened().store;
    });

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
      expect(await (await opened().reopen()).listAudit()).toEqual(audit);
    });

    test("a created strategy has the incomes of its first commit", async () => {
      const seed = incomeOf(1, { type: "TRANSFER", symbol: null, tradeId: null, amount: decimal("1000") });
      const first = { ...firstOf("one"), incomes: [seed] };
      await store.createStrategies([{ first, key: keyOf("one") }]);
      expect(await store.listIncomes("one", { limit: 9, offset: 0 })).toEqual([seed]);
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
}
