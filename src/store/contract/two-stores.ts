// Two stores on one database, as two processes would open them: each sees what the other has done, and none
// undoes it.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ApiKeyRecord } from "../../domain/strategy.ts";
import { incomeOf, legOf } from "./futures-records.ts";
import { auditOf, unboundKeyOf } from "./people/people-records.ts";
import { accountOf, commitOf, firstOf, orderOf, tradeOf, upTo } from "./records.ts";
import { commit, create, everythingOf, exposedOf, type Opened, versionsOf } from "./store-under-test.ts";

export function twoStoreCases(opened: Opened): void {
  describe("two stores on one database", () => {
    const { store } = opened;

    test("each sees what the other has committed", async () => {
      const other = await opened.reopen();
      const { key } = await create(store, "one");
      expect((await other.findKey(key.apiKey))?.key).toEqual(key);
      await commit(other, [
        commitOf(accountOf("one"), 2, {
          key: "k",
          orders: [orderOf(1)],
          trades: [tradeOf(1, 1)],
          legs: [legOf(2)],
          incomes: [incomeOf(1)],
        }),
      ]);
      expect(await exposedOf(store)).toEqual(["one"]);
      expect(await everythingOf(store, "one")).toEqual(await everythingOf(other, "one"));
      expect((await store.findEntry("one", "k"))?.version).toBe(2);
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [orderOf(1, { status: "FILLED" })] })]);
      expect((await other.loadAccount("one"))?.version).toBe(3);
      expect(await exposedOf(other)).toEqual([]);
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

    test("a key that one has revoked is revoked for the other from its next turn of the event loop on", async () => {
      const other = await opened.reopen();
      const { key } = await create(store, "one");
      const at = key.createdAt + 1;
      expect((await store.findKey(key.apiKey))?.key.revokedAt).toBeNull();
      await other.revokeKey(key.apiKey, at);
      await setImmediate();
      expect((await store.findKey(key.apiKey))?.key.revokedAt).toBe(at);
      expect(await store.revokeKey(key.apiKey, at + 1)).toMatchObject({ wasRevoked: true });
      // Once each: the second revocation did nothing.
      expect((await store.people.listAudit({ limit: 9 })).map(({ what }) => what)).toEqual([
        "KEY_REVOKED",
        "KEY_CREATED",
        "STRATEGY_CREATED",
      ]);
    });

    test("a key that one has bound is bound for the other from its next turn of the event loop on", async () => {
      const other = await opened.reopen();
      const [one, two] = ["one", "two"].map((name) => unboundKeyOf(name, "ann"));
      if (one === undefined || two === undefined) throw new Error("there are two keys");
      await other.people.createKey(one, auditOf("KEY_CREATED", "ann"));
      await other.people.createKey(two, auditOf("KEY_CREATED", "ann"));
      const boundTo = async ({ apiKey }: ApiKeyRecord) => {
        await setImmediate();
        return (await store.findKey(apiKey))?.strategy?.strategyId;
      };
      expect(await boundTo(one)).toBeUndefined();
      const creation = { first: firstOf("alpha"), ownerId: "ann", name: "Alpha", createdAt: 1_000 };
      const bound = auditOf("KEY_BOUND", "ann");
      await other.people.createStrategy({ ...creation, keyId: one.keyId }, [bound]);
      expect(await boundTo(one)).toBe("alpha");
      await other.people.revokeOwnKey({ keyId: one.keyId, ownerId: "ann", at: 5 }, bound);
      expect(await boundTo(two)).toBeUndefined();
      await other.people.bindKey({ keyId: two.keyId, strategyId: "alpha", ownerId: "ann" }, bound);
      expect(await boundTo(two)).toBe("alpha");
      expect((await store.findKey(one.apiKey))?.key.revokedAt).toBe(5);
    });

    test("a server is not notified of its own commits, and a subscription can be ended", async () => {
      const told: string[] = [];
      const stop = await store.onCommittedElsewhere({
        committed: (strategies) => told.push(...strategies.map(({ strategyId }) => strategyId)),
        lost: () => told.push("lost"),
        resumed: () => told.push("resumed"),
      });
      await create(store, "one");
      for (const version of upTo(10)) {
        await commit(store, [commitOf(accountOf("one"), version + 1, { orders: [orderOf(version)] })]);
      }
      await stop();
      expect(told).toEqual([]);
    });

    test("a master key remembered by one is known to the other", async () => {
      const other = await opened.reopen();
      expect(await store.rememberMasterKey(1, "first")).toBe("first");
      expect(await other.rememberMasterKey(1, "second")).toBe("first");
    });
  });
}
