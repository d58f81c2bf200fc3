import { describe, expect, onTestFinished, test } from "vitest";
import {
  buy,
  cancel,
  cleanFixtures,
  createFixture,
  executed,
  open as openStore,
} from "../../desk/testing/fixture.ts";
import type { Lead } from "../../domain/copying.ts";
import { StoreFailure, StoreUnavailable } from "../../store/store.ts";
import { openToCopiers } from "../testing/copy-rows.ts";
import { CLAIM_MS, ENTRIES_MAX, FRESH_MS, LEASE_MS, LOOK_MS } from "./leads.ts";
import { beginCopy, pauseCopy } from "./testing/copies.ts";
import { leadsOn, OwnTime, settled } from "./testing/leads-fixture.ts";

cleanFixtures();

const newTime = () => new OwnTime();

describe("a lead", () => {
  test("is followed from its first entry on, and its actions are durable before they are handed over", async () => {
    const { desk, store } = await createFixture({ strategies: ["one", "other"] });
    executed(await desk.execute("one", buy("market", "a")));
    executed(await desk.execute("one", buy("90", "b")));
    executed(await desk.execute("other", buy("90", "b")));
    await openToCopiers(store, "one");
    const { followers, claimed, pass } = leadsOn(store, newTime());
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one", "moved one 1-2"]);
    expect(claimed).toEqual(["one"]);
    expect(await store.copying.findLead("one")).toMatchObject({ version: 3, seq: 2 });
    expect(await store.copying.listActions("one", { afterSeq: 0, limit: 9 })).toEqual(
      followers.actions.get("one"),
    );
    expect((await store.copying.findLead("one"))?.account).toEqual((await store.loadAccount("one"))?.account);
  });

  test("continues at the next poll, at once after a wake, and not twice", async () => {
    const { desk, store } = await createFixture();
    await openToCopiers(store, "one");
    const { leads, followers, pass } = leadsOn(store, newTime());
    await pass(CLAIM_MS);
    executed(await desk.execute("one", buy("90", "a")));
    await pass(LOOK_MS);
    executed(await desk.execute("one", buy("90", "b")));
    leads.wake("one", 3);
    leads.wake("one", 3);
    await settled();
    leads.wake("one", 3);
    leads.wake("one", null);
    leads.wake("another", 3);
    await pass(LOOK_MS);
    expect(followers.news()).toEqual(["take one", "moved one 1-1", "moved one 2-2"]);
  });

  test("is replayed in parts, each stored before the next, and continued by the next process", async () => {
    const { desk, store } = await createFixture();
    await openToCopiers(store, "one");
    const orders = Array.from({ length: ENTRIES_MAX }, (_, each) => each + 1);
    for (const each of orders)
      executed(
        await desk.execute("one", buy(each % 2 === 0 ? "90" : "91", `c${each}`)).then(async (placed) => {
          executed(placed);
          return await desk.execute("one", cancel(each));
        }),
      );
    const time = newTime();
    let steps = 0;
    const first = leadsOn(store, time, {
      changed: (real) => ({
        advanceLead: async (advance) => {
          steps += 1;
          if (steps === 2) throw new Error("cut off");
          return await real.advanceLead(advance);
        },
      }),
    });
    await first.pass(CLAIM_MS);
    expect(first.followers.news()).toEqual(["take one", `moved one 1-${ENTRIES_MAX - 1}`]);
    expect(first.lines).toEqual(["a lead could not be followed; it is tried again"]);
    first.leads.stop();
    const second = leadsOn(store, time, { holder: "you", isAlone: true });
    await second.pass(CLAIM_MS);
    expect(second.followers.news()).toEqual([
      "take one",
      `moved one ${ENTRIES_MAX}-${ENTRIES_MAX * 2 - 1}`,
      `moved one ${ENTRIES_MAX * 2}-${ENTRIES_MAX * 2}`,
    ]);
    const stored = await store.copying.listActions("one", { afterSeq: 0, limit: ENTRIES_MAX * 3 });
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    expect(stored).toHaveLength(ENTRIES_MAX * 2);
  });

  test("whose step was stored without an answer continues, and nothing of it is missed", async () => {
    const { desk, store } = await createFixture();
    await openToCopiers(store, "one");
    let isCut = true;
    const { followers, pass } = leadsOn(store, newTime(), {
      changed: (real) => ({
        advanceLead: async (advance) => {
          const isOurs = await real.advanceLead(advance);
          if (isCut && advance.version > 1) throw new StoreUnavailable("nobody knows");
          return isOurs;
        },
      }),
    });
    await pass(CLAIM_MS);
    executed(await desk.execute("one", buy("90", "a")));
    executed(await desk.execute("one", buy("90", "b")));
    await pass(LOOK_MS);
    expect(followers.news()).toEqual(["take one"]);
    expect(await store.copying.findLead("one")).toMatchObject({ version: 3, seq: 2 });
    isCut = false;
    await pass(CLAIM_MS);
    executed(await desk.execute("one", buy("90", "c")));
    await pass(LOOK_MS);
    expect(followers.news()).toEqual(["moved one 1-2", "moved one 3-3"]);
  });

  test("that fails is tried again after a pause, and keeps no other from going on", async () => {
    const { desk, store } = await createFixture({ strategies: ["one", "two"] });
    await openToCopiers(store, "one");
    await openToCopiers(store, "two");
    for (const each of ["one", "two"]) executed(await desk.execute(each, buy("90", "a")));
    let isBroken = true;
    const { followers, lines, pass } = leadsOn(store, newTime(), {
      changed: (real) => ({
        listEntriesAfter: async (strategyId, ...rest) => {
          if (isBroken && strategyId === "one") throw new Error("a bug");
          return await real.listEntriesAfter(strategyId, ...rest);
        },
      }),
    });
    await pass(CLAIM_MS);
    expect(followers.news().sort()).toEqual(["moved two 1-1", "take one", "take two"]);
    isBroken = false;
    await pass(LOOK_MS);
    expect(followers.news()).toEqual([]);
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["moved one 1-1"]);
    expect(lines).toEqual(["a lead could not be followed; it is tried again"]);
  });

  test("is taken again if that failed, and notifies nothing before", async () => {
    const { desk, store } = await createFixture();
    await openToCopiers(store, "one");
    executed(await desk.execute("one", buy("90", "a")));
    const { followers, pass } = leadsOn(store, newTime());
    followers.before = () => Promise.reject(new Error("no credentials"));
    await pass(CLAIM_MS);
    await beginCopy(store, "one", { copyId: "copy" });
    await pass(LOOK_MS);
    expect(followers.news()).toEqual(["take one"]);
    followers.before = () => Promise.resolve();
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one", "moved one 1-1"]);
  });
});

describe("changes from the dashboard", () => {
  test("are announced once, and concurrent changes are announced again", async () => {
    const { store } = await createFixture();
    await openToCopiers(store, "one");
    const { followers, pass } = leadsOn(store, newTime());
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one"]);
    const gate = Promise.withResolvers<void>();
    followers.before = () => gate.promise;
    await beginCopy(store, "one", { copyId: "copy" });
    await pass(LOOK_MS);
    await pauseCopy(store, "copy");
    await pass(LOOK_MS);
    expect(followers.news()).toEqual(["changed one"]);
    gate.resolve();
    await settled();
    expect(followers.news()).toEqual(["changed one"]);
    await pass(LOOK_MS);
    expect(followers.news()).toEqual([]);
  });

  test("before the strategy acts are announced before its actions, without waiting for a poll: a pause that was answered counts", async () => {
    const { desk, store } = await createFixture();
    await openToCopiers(store, "one");
    const { leads, followers, pass } = leadsOn(store, newTime());
    await beginCopy(store, "one", { copyId: "copy" });
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one"]);
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    followers.before = () => gate.promise;
    await pauseCopy(store, "copy");
    executed(await desk.execute("one", buy("90", "a")));
    leads.wake("one", 2);
    await settled();
    expect(followers.news()).toEqual(["changed one"]);
    gate.resolve();
    await settled();
    expect(followers.news()).toEqual(["moved one 1-1"]);
  });
});

describe("a claim", () => {
  test("permits sends while it is fresh, and no longer", async () => {
    const { store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    let isReachable = true;
    const { leads, followers, lines, pass } = leadsOn(store, time, {
      changed: (real) => ({
        claimLeads: async (claim) => {
          if (!isReachable) throw new StoreUnavailable("away");
          return await real.claimLeads(claim);
        },
      }),
    });
    expect(leads.mayRun()).toBe(false);
    await pass(CLAIM_MS);
    expect(leads.mayRun()).toBe(true);
    isReachable = false;
    await pass(FRESH_MS - 1);
    expect(leads.mayRun()).toBe(true);
    await pass(1);
    expect(leads.mayRun()).toBe(false);
    followers.news();
    isReachable = true;
    await pass(CLAIM_MS);
    expect(leads.mayRun()).toBe(true);
    // The lease has not run out, so no other process has had it: the waiting work continues.
    expect(followers.news()).toEqual(["changed one"]);
    expect(lines).toEqual([
      "the store is out of reach; copies wait until it is back",
      "the store is back; copies go on",
    ]);
  });

  test("of a stalled process is taken over when its lease has run out, not before; and its later writes are void", async () => {
    const { desk, file, store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    const still = leadsOn(store, time);
    await still.pass(CLAIM_MS);
    expect(still.followers.news()).toEqual(["take one"]);
    still.leads.stop();
    const other = leadsOn(await openStore(file), time, { holder: "you" });
    await other.pass(LEASE_MS - CLAIM_MS);
    expect(other.followers.news()).toEqual([]);
    await other.pass(CLAIM_MS);
    expect(other.followers.news()).toEqual(["take one"]);
    expect(still.leads.mayRun()).toBe(false);

    executed(await desk.execute("one", buy("90", "a")));
    const { account, ...lead } = (await store.copying.findLead("one")) ?? { account: null };
    expect(account).not.toBeNull();
    const late = {
      ...(lead as Lead),
      account,
      version: 2,
      seq: 1,
      fromVersion: 1,
      holder: "me",
      actions: [],
    };
    expect(await store.copying.advanceLead(late)).toBe(false);
    await other.pass(LOOK_MS);
    expect(other.followers.news()).toEqual(["moved one 1-1"]);
  });

  test("that was another's is dropped, and may be had again", async () => {
    const { file, store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    const mine = leadsOn(store, time);
    await mine.pass(CLAIM_MS);
    const thief = (await openStore(file)).copying;
    const now = time.now();
    await thief.claimLeads({ holder: "thief", now, until: now + CLAIM_MS + 1, isAlone: true });
    await mine.pass(CLAIM_MS);
    expect(mine.followers.news()).toEqual(["take one", "drop one"]);
    expect(mine.claimed).toEqual(["one", ""]);
    await mine.pass(CLAIM_MS);
    expect(mine.followers.news()).toEqual(["take one"]);
    expect(mine.claimed).toEqual(["one", "", "one"]);
  });

  test("that was renewed too late is loaded again from the store, if another process may have had it", async () => {
    const { store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    const mine = leadsOn(store, time);
    await mine.pass(CLAIM_MS);
    const alone = leadsOn(store, time, { isAlone: true, holder: "me" });
    await alone.leads.claim();
    await settled();
    expect([mine.followers.news(), alone.followers.news()]).toEqual([["take one"], ["take one"]]);
    // The process was suspended while the clock ran: the timers fire once, much later.
    time.sleep(LEASE_MS);
    expect([mine.leads.mayRun(), alone.leads.mayRun()]).toEqual([false, true]);
    await mine.leads.claim();
    await alone.leads.claim();
    await settled();
    expect(mine.followers.news()).toEqual(["drop one", "take one"]);
    expect(alone.followers.news()).toEqual([]);
  });

  test("is dropped at once while the lead is being taken, which is taken again only when that has ended", async () => {
    const { file, store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    const { followers, pass } = leadsOn(store, time);
    const gate = Promise.withResolvers<void>();
    followers.before = () => gate.promise;
    await pass(CLAIM_MS);
    const thief = (await openStore(file)).copying;
    const now = time.now();
    await thief.claimLeads({ holder: "thief", now, until: now + CLAIM_MS + 1, isAlone: true });
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one", "drop one"]);
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual([]);
    gate.resolve();
    await settled();
    expect(followers.news()).toEqual(["drop one"]);
    await pass(CLAIM_MS);
    expect(followers.news()).toEqual(["take one"]);
  });

  test("is given up in order, and another has it at once", async () => {
    const { file, store } = await createFixture();
    await openToCopiers(store, "one");
    const time = newTime();
    const { leads, pass } = leadsOn(store, time);
    await pass(CLAIM_MS);
    leads.stop();
    await leads.release();
    const other = leadsOn(await openStore(file), time, { holder: "you" });
    await other.pass(CLAIM_MS);
    expect(other.followers.news()).toEqual(["take one"]);
  });

  test("a failed store ends it: the code that opened the copier is notified", async () => {
    const { store } = await createFixture();
    await openToCopiers(store, "one");
    const failure = new StoreFailure("the disk is full");
    const { failures, pass } = leadsOn(store, newTime(), {
      changed: () => ({ claimLeads: () => Promise.reject(failure) }),
    });
    await pass(CLAIM_MS);
    expect(failures).toEqual([failure]);
  });
});
