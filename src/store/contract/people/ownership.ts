// Keys and strategies of people: a key manages one strategy, a strategy has one live key, and nobody gets at
// another's.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { decimal } from "../../../money/decimal.ts";
import { CLOSED_LISTED_MAX } from "../../people/ownership.ts";
import { incomeOf } from "../futures-records.ts";
import { accountOf, commitOf, createdOf, firstOf, keyOf } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import { actionsIn, auditOf, unboundKeyOf } from "./people-records.ts";

export function ownershipCases(opened: Opened): void {
  describe("what people own", () => {
    const { store, people } = opened;

    const makeKey = async (name: string, ownerId = "ann", createdAt = 1_000) => {
      const key = unboundKeyOf(name, ownerId, { createdAt });
      await people.createKey(key, auditOf("KEY_CREATED", ownerId));
      return key;
    };
    const makeStrategy = (id: string, keyName: string, ownerId = "ann", createdAt = 2_000) =>
      people.createStrategy(
        {
          first: { ...firstOf(id), incomes: [SEED] },
          ownerId,
          name: `${id} of ${ownerId}`,
          keyId: `id-${keyName}`,
          createdAt,
        },
        [auditOf("STRATEGY_CREATED", ownerId), auditOf("KEY_BOUND", ownerId)],
      );
    const bind = (keyName: string, strategyId: string, ownerId = "ann") =>
      people.bindKey({ keyId: `id-${keyName}`, strategyId, ownerId }, auditOf("KEY_BOUND", ownerId));
    const revoke = (keyName: string, ownerId = "ann", at = 5_000) =>
      people.revokeOwnKey({ keyId: `id-${keyName}`, ownerId, at }, auditOf("KEY_REVOKED", ownerId));
    const SEED = incomeOf(1, { type: "TRANSFER", symbol: null, tradeId: null, amount: decimal("200") });

    test("a key is its owner's, bound to nothing, and known to requests at once", async () => {
      expect(await store.findKey("lyre_bot_one")).toBeNull();
      const key = await makeKey("one");
      expect(await store.findKey(key.apiKey)).toEqual({ key, strategy: null });
      expect(await people.listKeysOf("ann")).toEqual([{ key, strategy: null }]);
      expect(await people.listKeysOf("bob")).toEqual([]);
      await expect(makeKey("one")).rejects.toThrow();
      expect(await actionsIn(store)).toEqual(["KEY_CREATED"]);
    });

    test("of keys and strategies one has no more than the bound, however many are asked for at once", async () => {
      const keys = Array.from({ length: 6 }, (_, index) => unboundKeyOf(`key-${index}`, "ann"));
      const made = await Promise.all(
        keys.map((key) => people.createKey(key, auditOf("KEY_CREATED", "ann"), { liveMax: 4 })),
      );
      expect(made.filter(Boolean)).toHaveLength(4);
      const live = await people.listKeysOf("ann");
      expect(live).toHaveLength(4);
      expect(
        await people.createKey(unboundKeyOf("his", "bob"), auditOf("KEY_CREATED", "bob"), { liveMax: 1 }),
      ).toBe(true);
      const created = await Promise.all(
        live.map(({ key: { keyId } }, index) =>
          people.createStrategy(
            { first: firstOf(`s-${index}`), ownerId: "ann", name: "", keyId, createdAt: 2_000, openMax: 3 },
            [auditOf("STRATEGY_CREATED", "ann")],
          ),
        ),
      );
      expect(created.filter(Boolean)).toHaveLength(3);
      expect(await people.listStrategiesOf("ann")).toHaveLength(3);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("a strategy is created with all of its first entry, and its key manages it at once", async () => {
      const key = { ...(await makeKey("one")), strategyId: "alpha" };
      expect((await store.findKey(key.apiKey))?.strategy).toBeNull();
      expect(await makeStrategy("alpha", "one")).toBe(true);
      const strategy = { strategyId: "alpha", type: "SPOT", status: "LIVE" };
      expect(await store.findKey(key.apiKey)).toEqual({ key, strategy });
      const owned = { ...strategy, ownerId: "ann", name: "alpha of ann", createdAt: 2_000, key };
      expect(await people.findStrategy("alpha")).toEqual(owned);
      expect(await people.listStrategiesOf("ann")).toEqual([owned]);
      expect(await store.loadAccount("alpha")).toEqual({ account: firstOf("alpha").account, version: 1 });
      expect(await store.listEntries("alpha")).toEqual([firstOf("alpha").entry]);
      expect(await store.listIncomes("alpha", { limit: 9, offset: 0 })).toEqual([SEED]);
      expect(await actionsIn(store)).toEqual(["KEY_CREATED", "STRATEGY_CREATED", "KEY_BOUND"]);
    });

    test.each([
      ["another's", "theirs"],
      ["nobody's", "ghost"],
      ["bound", "bound"],
      ["revoked", "revoked"],
    ])("a key that is %s manages no new strategy and no other, and nothing is done", async (_what, name) => {
      await makeKey("theirs", "bob");
      await makeKey("bound");
      await makeStrategy("taken", "bound");
      await makeKey("revoked");
      await revoke("revoked");
      await makeKey("spare");
      await makeStrategy("keyless", "spare");
      await revoke("spare");
      const before = [await actionsIn(store), await store.listKeys()];
      expect(await makeStrategy("alpha", name)).toBe(false);
      expect(await bind(name, "keyless")).toBe(false);
      expect(await store.loadAccount("alpha")).toBeNull();
      expect(await people.findStrategy("alpha")).toBeNull();
      expect([await actionsIn(store), await store.listKeys()]).toEqual(before);
    });

    test("a new key takes the place of one that was revoked, and of no other", async () => {
      await makeKey("old");
      await makeKey("new");
      await makeKey("theirs", "bob");
      await makeStrategy("alpha", "old");
      await makeStrategy("beta", "theirs", "bob");
      expect(await bind("new", "alpha")).toBe(false);
      expect(await bind("new", "beta")).toBe(false);
      expect(await bind("new", "ghost")).toBe(false);
      await revoke("old");
      expect(await people.findStrategy("alpha")).toMatchObject({ key: null });
      // Requests under it see that from their next turn of the event loop on.
      await setImmediate();
      expect((await store.findKey("lyre_bot_new"))?.strategy).toBeNull();
      expect(await bind("new", "alpha")).toBe(true);
      expect((await store.findKey("lyre_bot_new"))?.strategy?.strategyId).toBe("alpha");
      expect(await people.findStrategy("alpha")).toMatchObject({ key: { keyId: "id-new" } });
      expect((await actionsIn(store)).slice(-2)).toEqual(["KEY_REVOKED", "KEY_BOUND"]);
    });

    test("the key of a closed strategy is free, and manages another one of either type from then on", async () => {
      for (const name of ["one", "two"]) await makeKey(name);
      await makeKey("theirs", "bob");
      await makeStrategy("alpha", "one");
      await makeStrategy("beta", "two");
      const bound = async (name: string) => {
        // Requests under it see what was done from their next turn of the event loop on.
        await setImmediate();
        const { strategy } = (await store.findKey(`lyre_bot_${name}`)) ?? {};
        return strategy === undefined ? null : strategy;
      };
      await commit(store, [commitOf(accountOf("alpha", "CLOSING"), 2)]);
      expect(await makeStrategy("gamma", "one")).toBe(false);
      await commit(store, [commitOf(accountOf("alpha", "CLOSED"), 3)]);
      // Until it is bound to another one it reads the closed one.
      expect(await bound("one")).toEqual({ strategyId: "alpha", type: "SPOT", status: "CLOSED" });
      expect(await makeStrategy("gamma", "one", "bob")).toBe(false);

      const first = {
        ...firstOf("gamma"),
        account: { ...firstOf("gamma").account, type: "FUTURES" as const },
      };
      const creation = { first, ownerId: "ann", name: "gamma", keyId: "id-one", createdAt: 3_000 };
      expect(await people.createStrategy(creation, [auditOf("KEY_BOUND", "ann")])).toBe(true);
      expect(await bound("one")).toEqual({ strategyId: "gamma", type: "FUTURES", status: "LIVE" });
      expect(await makeStrategy("delta", "one")).toBe(false);
      expect(await people.findStrategy("alpha")).toMatchObject({ status: "CLOSED", key: null });
      expect(await people.findStrategy("gamma")).toMatchObject({ key: { keyId: "id-one" } });
      expect((await people.listKeysOf("ann")).map(({ strategy }) => strategy?.strategyId)).toEqual([
        "gamma",
        "beta",
      ]);

      await revoke("one");
      expect(await bind("two", "gamma")).toBe(false);
      await commit(store, [commitOf(accountOf("beta", "CLOSED"), 2)]);
      expect(await bind("two", "gamma")).toBe(true);
      expect(await bound("two")).toMatchObject({ strategyId: "gamma" });
      expect(await people.verifyAudit()).toBeNull();
    });

    test("a key is revoked by its owner alone, once and for good, and its strategy keeps everything", async () => {
      const key = { ...(await makeKey("one")), strategyId: "alpha" };
      await makeStrategy("alpha", "one");
      expect((await store.findKey(key.apiKey))?.key.revokedAt).toBeNull();
      expect(await revoke("one", "bob")).toBeNull();
      expect(await revoke("ghost")).toBeNull();
      const revoked = { ...key, revokedAt: 5_000 };
      expect(await revoke("one")).toEqual({ key: revoked, wasRevoked: false });
      expect((await store.findKey(key.apiKey))?.key).toEqual(revoked);
      expect(await revoke("one", "ann", 6_000)).toEqual({ key: revoked, wasRevoked: true });
      expect(await people.listKeysOf("ann")).toMatchObject([
        { key: revoked, strategy: { strategyId: "alpha" } },
      ]);
      expect((await store.loadAccount("alpha"))?.version).toBe(1);
      expect((await actionsIn(store)).filter((what) => what === "KEY_REVOKED")).toHaveLength(1);
    });

    test("keys and strategies are listed newest first, each owner's alone, as last committed", async () => {
      for (const [at, name] of ["one", "two", "three"].entries()) await makeKey(name, "ann", at);
      await makeKey("theirs", "bob");
      await makeStrategy("alpha", "one", "ann", 10);
      await makeStrategy("beta", "two", "ann", 11);
      await makeStrategy("gamma", "theirs", "bob", 12);
      await commit(store, [commitOf(accountOf("alpha", "CLOSED"), 2)]);
      const keys = await people.listKeysOf("ann");
      expect(keys.map(({ key, strategy }) => [key.label.slice(0, 5), strategy?.status])).toEqual([
        ["three", undefined],
        ["two, ", "LIVE"],
        ["one, ", "CLOSED"],
      ]);
      const strategies = await people.listStrategiesOf("ann");
      expect(strategies.map(({ strategyId, status, key }) => [strategyId, status, key?.keyId])).toEqual([
        ["beta", "LIVE", "id-two"],
        ["alpha", "CLOSED", "id-one"],
      ]);
      expect(await people.listStrategiesOf("nobody")).toEqual([]);
    });

    test("of closed strategies the newest are listed, and those that a key still reads", async () => {
      await makeKey("one");
      await makeKey("two");
      await makeStrategy("read", "two");
      const ids = Array.from({ length: CLOSED_LISTED_MAX + 3 }, (_, index) => `s${index}`);
      for (const [index, id] of ids.entries()) {
        // The key of a closed strategy takes the next one.
        await makeStrategy(id, "one", "ann", 3_000 + index);
        await commit(store, [commitOf(accountOf(id, "CLOSED"), 2)]);
      }
      await commit(store, [commitOf(accountOf("read", "CLOSED"), 2)]);
      const listed = (await people.listStrategiesOf("ann")).map(({ strategyId }) => strategyId);
      expect(listed).toEqual([...ids.slice(3).reverse(), "read"]);
    });

    test("a strategy gets another name, which is audited with it, whatever is committed to it", async () => {
      await makeKey("one");
      await makeStrategy("alpha", "one");
      const rename = (strategyId: string, from: string, to: string) =>
        people.renameStrategy({ strategyId, from, to }, auditOf("STRATEGY_RENAMED", "ann"));
      const was = "alpha of ann";
      for (const [nobody, from] of [
        ["ghost", was],
        ["alpha", "another name"],
      ] as const) {
        expect(await rename(nobody, from, "new")).toBe(false);
      }
      expect(await rename("alpha", was, `"new", 名前 ' 100%`)).toBe(true);
      expect(await rename("alpha", was, "lost")).toBe(false);
      expect((await actionsIn(store)).slice(3)).toEqual(["STRATEGY_RENAMED"]);
      await commit(store, [commitOf(accountOf("alpha"), 2)]);
      expect(await people.findStrategy("alpha")).toMatchObject({
        name: `"new", 名前 ' 100%`,
        ownerId: "ann",
        createdAt: 2_000,
      });
      for (const nobody of ["ghost", ""]) expect(await people.findStrategy(nobody)).toBeNull();
    });

    test("what is created for somebody is theirs, and what is nobody's can be adopted", async () => {
      const key = keyOf("mine", { ownerId: "ann" });
      await store.createStrategies([createdOf("mine", { key, ownerId: "ann", name: "My own" })]);
      await create(store, "b", "a");
      await makeKey("loose", "bob");
      expect(await people.findStrategy("mine")).toMatchObject({
        ownerId: "ann",
        name: "My own",
        createdAt: key.createdAt,
      });
      expect(await people.findStrategy("a")).toMatchObject({ ownerId: null, name: "named a" });
      expect((await store.findKey(keyOf("a").apiKey))?.key.ownerId).toBeNull();
      expect(await people.adoptStrategies("demo")).toBe(2);
      expect(await people.adoptStrategies("demo")).toBe(0);
      expect((await people.listStrategiesOf("demo")).map(({ strategyId }) => strategyId)).toEqual(["a", "b"]);
      expect((await store.findKey(keyOf("a").apiKey))?.key.ownerId).toBe("demo");
      expect((await people.listKeysOf("demo")).map(({ key: { keyId } }) => keyId)).toEqual(["id-a", "id-b"]);
      expect(await people.findStrategy("mine")).toMatchObject({ ownerId: "ann" });
      expect((await store.findKey("lyre_bot_loose"))?.key.ownerId).toBe("bob");
    });
  });
}
