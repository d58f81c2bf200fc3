// Strategies and their keys are created together or not at all; a key is revoked once and for good, and what
// is done to keys is audited.
import { describe, expect, test } from "vitest";
import type { ApiKeyRecord } from "../../domain/strategy.ts";
import { decimal } from "../../money/decimal.ts";
import { incomeOf } from "./futures-records.ts";
import { accountOf, commitOf, createdOf, firstOf, keyOf, orderOf, upTo } from "./records.ts";
import { commit, create, everythingOf, type Opened } from "./store-under-test.ts";

export function strategyAndKeyCases(opened: Opened): void {
  describe("strategies and keys", () => {
    const { store } = opened;

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
      await store.createStrategies([createdOf("one", { key })]);
      expect(await store.findKey(key.apiKey)).toEqual({ key, strategy: null });
    });

    test("a revoked key is found with the time of its end", async () => {
      const key = keyOf("one", { revokedAt: 1_795_228_304_525 });
      await store.createStrategies([createdOf("one", { key })]);
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
      await store.createStrategies(keys.map((key) => createdOf(key.keyId.slice(3), { key })));
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

    test("what is done to strategies and keys is audited once, and what fails is not", async () => {
      const { people } = store;
      expect(await people.listAudit({ limit: 9 })).toEqual([]);
      const [one, two] = [keyOf("one", { createdAt: 900 }), keyOf("two", { createdAt: 1_000 })];
      await store.createStrategies([one, two].map((key) => createdOf(key.label, { key })));
      await expect(
        store.createStrategies([createdOf("three"), createdOf("four", { key: one })]),
      ).rejects.toThrow();
      await store.revokeKey(one.apiKey, 5_000);
      await store.revokeKey(one.apiKey, 6_000);
      await store.revokeKey("nobody's", 7_000);
      const who = { kind: "COMMAND_LINE" };
      const createdAs = ({ keyId, strategyId, label, createdAt: at }: ApiKeyRecord) => [
        {
          who,
          what: "STRATEGY_CREATED",
          at,
          about: { kind: "STRATEGY", id: label },
          details: { name: `named ${label}`, type: "SPOT" },
        },
        { who, what: "KEY_CREATED", at, about: { kind: "KEY", id: keyId }, details: { strategyId } },
      ];
      const about = { kind: "KEY", id: "id-one" };
      const audit = [
        ...createdAs(one),
        ...createdAs(two),
        { who, what: "KEY_REVOKED", at: 5_000, about, details: {} },
      ].reverse();
      expect(await people.listAudit({ limit: 9 })).toMatchObject(audit);
      await store.close();
      const later = await opened.reopen();
      expect(await later.people.listAudit({ limit: 9 })).toMatchObject(audit);
      expect(await later.people.verifyAudit()).toBeNull();
    });

    test("a created strategy has the incomes of its first commit", async () => {
      const seed = incomeOf(1, { type: "TRANSFER", symbol: null, tradeId: null, amount: decimal("1000") });
      const first = { ...firstOf("one"), incomes: [seed] };
      await store.createStrategies([createdOf("one", { first })]);
      expect(await store.listIncomes("one", { limit: 9, offset: 0 })).toEqual([seed]);
    });

    test("strategies are counted", async () => {
      expect(await store.countStrategies()).toBe(0);
      await create(store, "one", "two");
      await create(store, "three");
      expect(await store.countStrategies()).toBe(3);
    });

    test.each([
      ["a strategy that is there already", createdOf("old", { key: keyOf("new") })],
      ["a key that is there already", createdOf("new", { key: keyOf("old") })],
    ])("of strategies created with %s none is created", async (_case, clash) => {
      await create(store, "old");
      const fine = createdOf("fine");
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
      const wanted = upTo(20).map((id) => createdOf(`s${id}`));
      const clash = createdOf("old", { key: keyOf("clash") });
      let isOver = false;
      const creating = store.createStrategies([...wanted, clash]).catch(() => {
        isOver = true;
      });
      const seen: unknown[] = [];
      // The creation fails at its last strategy, so no read may find any of it. Many reads run between two
      // ticks of the event loop, since an embedded store may finish within one tick.
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
      expect(await store.newestMasterVersion()).toBe(0);
      expect(await store.rememberMasterKey(1, "first")).toBe("first");
      expect(await store.rememberMasterKey(1, "second")).toBe("first");
      expect(await store.rememberMasterKey(2, "second")).toBe("second");
      expect(await store.rememberMasterKey(1, "third")).toBe("first");
      expect(await store.newestMasterVersion()).toBe(2);
    });
  });
}
