// The journal answers what a key did, and holds every entry in its order.

import { describe, expect, test } from "vitest";
import { eventsOfEveryKind } from "./events-of-every-kind.ts";
import { accountOf, commitOf } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

export function journalCases(opened: Opened): void {
  describe("the journal", () => {
    const { store } = opened;

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

    test("tells when a strategy was opened, whatever has happened since", async () => {
      await create(store, "one", "two");
      await commit(store, [commitOf(accountOf("one"), 2, { key: "order:a", at: 55 })]);
      await commit(store, [commitOf(accountOf("one"), 3, { at: 66 })]);
      expect(await store.findOpeningTime("one")).toBe(1_000);
      expect(await store.findOpeningTime("nobody")).toBeNull();
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

    test("entries after a version are listed, also from a position on that was read before them", async () => {
      await create(store, "one", "two");
      await commit(store, [commitOf(accountOf("one"), 2)]);
      const behind = await store.newestPosition();
      for (let version = 3; version <= 12; version += 1)
        await commit(store, [commitOf(accountOf("one"), version, { at: version })]);
      await commit(store, [commitOf(accountOf("two"), 2)]);
      expect(await store.newestPosition()).toBe(behind + 11);

      const all = await store.listEntries("one");
      expect(await store.listJournalAfter("one", 0, { limit: 99 })).toEqual(all);
      for (const query of [{ limit: 3 }, { limit: 3, behind }]) {
        expect(await store.listJournalAfter("one", 9, query)).toEqual(all.slice(9, 12));
        expect(await store.listJournalAfter("one", 2, query)).toEqual(all.slice(2, 5));
        expect(await store.listJournalAfter("one", 12, query)).toEqual([]);
        expect(await store.listJournalAfter("nobody", 0, query)).toEqual([]);
      }
    });
  });
}
