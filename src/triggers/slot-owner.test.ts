// Servers that share a PostgreSQL database, each with a trigger engine, a desk and a market of its own. Time
// is manual; leases expire by the database's clock, so a test moves their end.
import { Client } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../test/support/servers/postgres.ts";
import { createManualTime, type ManualTime } from "../concurrency/testing/manual-time.ts";
import { createStrategies } from "../desk/testing/strategies.ts";
import { SLOTS, slotOf } from "../domain/strategy.ts";
import { decimal, type Price } from "../money/decimal.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { StoreUnavailable } from "../store/store.ts";
import { SLOTS_AT_ONCE } from "./account-loader.ts";
import { SlotOwner } from "./slot-owner.ts";
import { cleanFixtures, START, startOn } from "./testing/fixture.ts";

const LEASE_MS = 600_000;
const STRATEGIES = Array.from({ length: 12 }, (_, index) => `s${index}`);

cleanFixtures();

describe.skipIf(!hasPostgres)(postgresTitle("servers that share the slots"), () => {
  let server: Databases;
  let url: string;
  let time: ManualTime;
  let logged: string[];
  /** How long each lease was to last, ms. */
  let leases: number[];
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.newDatabase();
    time = createManualTime(START);
    logged = [];
    leases = [];
  });

  test("one that joins gets its share, and one that stops gives its slots back", async () => {
    const here = await start();
    expect(here.owner.ownSlots().size).toBe(SLOTS);
    const there = await start();
    await renew(here, there);
    expect([here.owner.ownSlots().size, there.owner.ownSlots().size]).toEqual([SLOTS / 2, SLOTS / 2]);
    expect(here.owner.ownSlots().isDisjointFrom(there.owner.ownSlots())).toBe(true);
    const third = await start();
    await renew(here, there, third);
    const sizes = [here, there, third].map(({ owner }) => owner.ownSlots().size);
    expect(sizes.toSorted()).toEqual([85, 85, 86]);
    await there.stop();
    await renew(here, third);
    expect([here.owner.ownSlots().size, third.owner.ownSlots().size]).toEqual([SLOTS / 2, SLOTS / 2]);
  });

  test("one whose clock is not the database's says so, once", async () => {
    const { owner } = await start({ wallNow: () => Date.now() + 5_000 });
    await owner.renew();
    await start();
    const said = logged.map((line) => JSON.parse(line));
    expect(said).toMatchObject([{ msg: expect.stringContaining("Check the time synchronization") }]);
    expect(said[0].aheadMs).toBeGreaterThan(4_000);
  });

  test("what a killed server owned has an owner within 8 s: its lease runs out, and one renewal falls due", async () => {
    const here = await start();
    const there = await start({ every: time.every });
    await renew(here, there);
    here.kill();
    await expire(here);
    expect(there.owner.ownSlots().size).toBe(SLOTS / 2);
    time.advance(8_000 - Math.max(...leases));
    await eventually("it owns all slots", () => there.owner.ownSlots().size === SLOTS);
  });

  test("each keeps the triggers of its slots alone, and those of others when it takes them", async () => {
    const here = await start();
    await createStrategies(here.store, STRATEGIES, "SPOT");
    for (const id of STRATEGIES) await here.place(id, "BUY", "90");
    const there = await start();
    await renew(here, there);
    const counts = [here, there].map(({ triggers }) => triggers.counts().orders);
    expect(counts.reduce((sum, count) => sum + count)).toBe(STRATEGIES.length);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    for (const id of STRATEGIES) expect(here.owner.owns(id)).toBe(!there.owner.owns(id));
    await there.stop();
    await renew(here);
    expect(here.triggers.counts().orders).toBe(STRATEGIES.length);
  });

  test("slots that were taken are loaded few at a time, and each is active and counted once it is loaded", async () => {
    const here = await start();
    await createStrategies(here.store, STRATEGIES, "SPOT");
    for (const id of STRATEGIES) await here.place(id, "BUY", "90");
    const there = await start();
    await expire(here);
    const { loadedSlots } = there.storage;
    let load = there.storage.holdLoad();
    const renewed = there.owner.renew();
    await load.reached;
    expect(there.owner.counts()).toEqual({ own: SLOTS, unloaded: SLOTS });
    while (there.triggers.counts().orders === 0) {
      const next = there.storage.holdLoad();
      load.release();
      await next.reached;
      load = next;
    }
    // The last of them is in progress.
    const loaded = new Set(loadedSlots.slice(0, -1).flatMap((slots) => [...(slots ?? [])]));
    expect(there.owner.counts()).toEqual({ own: SLOTS, unloaded: SLOTS - loaded.size });
    const active = STRATEGIES.filter((id) => loaded.has(slotOf(id)));
    expect(there.triggers.counts().orders).toBe(active.length);
    there.market.show("BTCUSDT", "89", "90");
    for (const id of active) {
      await eventually(
        `the order of ${id} is filled`,
        async () => (await there.statusOf(id, 1)) === "FILLED",
      );
    }
    expect(there.triggers.coveredUntil("BTCUSDT")).toBeNull();
    load.release();
    await renewed;
    expect(there.owner.counts()).toEqual({ own: SLOTS, unloaded: 0 });
    expect(there.triggers.counts().orders).toBe(STRATEGIES.length - active.length);
    expect(Math.max(...loadedSlots.map((slots) => slots?.size ?? SLOTS))).toBe(SLOTS_AT_ONCE);
    expect(loadedSlots.flatMap((slots) => [...(slots ?? [])])).toHaveLength(SLOTS);
  });

  test("two that both believe they own a slot fill each order once", async () => {
    const here = await start();
    await createStrategies(here.store, STRATEGIES, "SPOT");
    for (const id of STRATEGIES) await here.place(id, "BUY", "90");
    const there = await start();
    // The lease of the first one expires without its knowledge.
    await expire(here);
    await there.owner.renew();
    await there.owner.renew();
    expect(there.owner.ownSlots().size).toBe(SLOTS);
    expect(here.owner.ownSlots().size).toBe(SLOTS);
    for (const { triggers } of [here, there]) expect(triggers.counts().orders).toBe(STRATEGIES.length);
    for (const { market } of [here, there]) market.show("BTCUSDT", "89", "90");
    for (const id of STRATEGIES) {
      await eventually(`the order of ${id} is filled`, async () => (await here.statusOf(id, 1)) === "FILLED");
    }
    for (const { triggers } of [here, there]) {
      await eventually("nothing is left", () => triggers.counts().orders === 0);
    }
    for (const id of STRATEGIES) {
      const fills = await here.fillsOf(id, 1);
      expect([id, fills]).toEqual([id, [["90.00000000", "0.10000000", true]]]);
    }
    await renew(here, there);
    expect(here.owner.ownSlots().isDisjointFrom(there.owner.ownSlots())).toBe(true);
  });

  test("a new owner replays what happened since the last watermark of one that was killed", async () => {
    const here = await start();
    await createStrategies(here.store, ["one"], "SPOT");
    await here.place("one", "BUY", "90");
    here.market.show("BTCUSDT", "99", "100");
    const there = await start();
    time.advance(60_000);
    await eventually("the watermark is stored", async () => {
      const [heard] = await here.store.listHeard("SPOT");
      return heard?.at === START + 55_000;
    });
    here.kill();
    await expire(here);
    time.advance(10_000);
    await there.owner.renew();
    const from = START + 62_000;
    there.market.answer([{ from, to: from, lowest: decimal("89"), highest: decimal("89") }]);
    there.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await eventually("the order is filled", async () => (await there.statusOf("one", 1)) === "FILLED");
    expect(there.market.asked.at(-1)?.from).toBeLessThanOrEqual(START + 55_000);
  });

  test.each([
    "before the death of its owner, whose commit came late",
    "after the death of its owner",
    "while the new owner loaded it",
  ] as const)("a trigger that the market hit %s, and then left, is filled once", async (moment) => {
    const [here, there] = [await start(), await start()];
    await renew(here, there);
    await createStrategies(here.store, STRATEGIES, "SPOT");
    const ours = STRATEGIES.filter((id) => here.owner.owns(id));
    const theirs = STRATEGIES.find((id) => there.owner.owns(id)) ?? "";
    for (const id of ours) await here.place(id, "BUY", "90");
    await there.place(theirs, "BUY", "80");
    for (const { market } of [here, there]) market.show("BTCUSDT", "99", "100");
    time.advance(60_000);
    await eventually("the watermarks are stored", async () => {
      const stored = await Promise.all([here, there].map(({ store }) => store.listHeard("SPOT")));
      return stored.every(([heard]) => heard?.at === START + 55_000);
    });
    let hitAt = 0;
    /** The market goes to the orders' limit and back, in front of servers that are alive. */
    const hit = (...alive: readonly Server[]) => {
      time.advance(500);
      hitAt = time.now();
      for (const { market } of alive) market.show("BTCUSDT", "89", "90");
      time.advance(500);
      for (const { market } of alive) market.show("BTCUSDT", "99", "100");
    };
    there.market.tradedBetween = async (_symbol, from, to) => {
      const range = { from: hitAt, to: hitAt, lowest: decimal<Price>("89"), highest: decimal<Price>("89") };
      return from <= hitAt && hitAt <= to ? [range] : [];
    };
    const lateCommit = here.storage.hold();
    if (moment.startsWith("before")) {
      hit(here, there);
      await lateCommit.reached;
    }
    here.kill();
    await expire(here);
    if (moment.startsWith("after")) hit(there);
    const load = there.storage.holdLoad();
    const renewed = there.owner.renew();
    await load.reached;
    if (moment.startsWith("while")) hit(there);
    load.release();
    await renewed;
    expect(there.owner.ownSlots().size).toBe(SLOTS);
    time.advance(5_000);
    for (const id of ours) {
      await eventually(
        `the order of ${id} is filled`,
        async () => (await there.statusOf(id, 1)) === "FILLED",
      );
    }
    lateCommit.release();
    await here.settled();
    hit(there);
    time.advance(5_000);
    await there.settled();
    for (const id of ours) {
      expect([id, await there.fillsOf(id, 1)]).toEqual([id, [["90.00000000", "0.10000000", true]]]);
    }
    expect(await there.statusOf(theirs, 1)).toBe("NEW");
  });

  test("a new owner replays the market of an order whose server had not heard anything of its symbol", async () => {
    const [here, there] = [await start(), await start()];
    await renew(here, there);
    await createStrategies(here.store, STRATEGIES, "SPOT");
    const ours = STRATEGIES.find((id) => here.owner.owns(id)) ?? "";
    const theirs = STRATEGIES.find((id) => there.owner.owns(id)) ?? "";
    await there.place(theirs, "BUY", "80");
    there.market.show("BTCUSDT", "99", "100");
    await here.place(ours, "BUY", "90");
    here.market.silence("BTCUSDT");
    time.advance(60_000);
    await eventually("the watermarks are stored", async () => {
      const stored = await Promise.all([here, there].map(({ store }) => store.listHeard("SPOT")));
      return stored[0]?.[0]?.at === START - 5_000 && stored[1]?.[0]?.at === START + 55_000;
    });
    here.kill();
    await expire(here);
    time.advance(1_000);
    await there.owner.renew();
    const from = START + 20_000;
    there.market.answer([{ from, to: from, lowest: decimal("89"), highest: decimal("89") }]);
    there.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await eventually("the order is filled", async () => (await there.statusOf(ours, 1)) === "FILLED");
  });

  test("what a server committed and notified nobody of is found when it dies, comes back or leaves", async () => {
    const [here, there] = [await start(), await start()];
    await renew(here, there);
    await createStrategies(here.store, STRATEGIES, "SPOT");
    const ours = STRATEGIES.filter((id) => here.owner.owns(id));
    expect(ours.length).toBeGreaterThan(0);
    // In these tests no server is notified of another one's commits.
    const placeThere = async () => {
      for (const id of ours) await there.place(id, "BUY", "90");
    };
    const expectFound = async (orders: number) => {
      await here.owner.renew();
      await eventually("the orders are found", () => {
        const found = ours.filter((id) => here.owner.owns(id)).length * orders;
        return here.triggers.counts().orders >= found;
      });
    };
    await placeThere();
    await here.owner.renew();
    expect(here.triggers.counts().orders).toBe(0);
    await expire(there);
    await expectFound(1);
    // It commits for a moment as if its lease were in force.
    await placeThere();
    await there.owner.renew();
    await expectFound(2);
    // It was away until nothing is known of it any more, and commits once more before it notices that.
    await expire(there);
    await here.owner.renew();
    await ask("DELETE FROM servers WHERE id = $1", [there.serverId]);
    await expectFound(2);
    await placeThere();
    await there.owner.renew();
    await expectFound(3);
    await placeThere();
    await there.stop();
    await expectFound(4);
  });

  test("one that loses its lease and comes back has lost its triggers until it takes slots again", async () => {
    const [here, there] = [await start(), await start()];
    await expire(here);
    await there.owner.renew();
    await here.owner.renew();
    expect(here.owner.ownSlots().size).toBe(0);
    await renew(here, there);
    expect(here.owner.ownSlots().size).toBe(SLOTS / 2);
  });

  test("what was taken without an answer is loaded, also after a take that got nothing", async () => {
    const takes = [
      async () => new Map<number, number>(),
      async (take: () => Promise<unknown>) => {
        await take();
        throw new StoreUnavailable("the answer is lost");
      },
    ];
    const here = await start({ take: (take) => takes.shift()?.(take) ?? take() });
    await createStrategies(here.store, STRATEGIES, "SPOT");
    for (const id of STRATEGIES) await here.place(id, "BUY", "90");
    expect(here.owner.counts()).toEqual({ own: 0, unloaded: 0 });
    await here.owner.renew();
    expect(takes).toEqual([]);
    expect(here.triggers.counts().orders).toBe(0);
    await here.owner.renew();
    expect(here.owner.counts()).toEqual({ own: SLOTS, unloaded: 0 });
    expect(here.triggers.counts().orders).toBe(STRATEGIES.length);
  });

  type Take = () => Promise<ReadonlyMap<number, number>>;

  /**
   * `wallNow`: the server's clock. `every`: what its renewals are timed with; by default the test calls them.
   * `take`: what becomes of a take; its own is what the store does.
   */
  async function start({
    wallNow = Date.now,
    every = () => () => {},
    take = (own) => own(),
  }: {
    readonly wallNow?: () => number;
    readonly every?: ManualTime["every"];
    readonly take?: (own: Take) => ReturnType<Take>;
  } = {}) {
    const store = await openPostgresStore(url);
    onTestFinished(() => store.close());
    const { slots } = store;
    if (slots === null) throw new Error("servers share this database");
    const started = startOn(store, time);
    const { triggers, storage } = started;
    const owner = new SlotOwner({
      store: {
        serverId: slots.serverId,
        // No lease expires because the machine is slow.
        renew: (leaseMs) => {
          leases.push(leaseMs);
          return slots.renew(LEASE_MS);
        },
        take: (count) => take(() => slots.take(count)),
        release: (given) => slots.release(given),
        leave: () => slots.leave(),
      },
      triggers: [triggers],
      onTaken: async () => {},
      wallNow,
      every,
      log: pino({ level: "warn" }, { write: (line) => void logged.push(line) }),
    });
    await triggers.open();
    await owner.renew();
    return {
      ...started,
      store,
      owner,
      serverId: slots.serverId,
      /** From now on it stores nothing, as after kill -9. */
      kill() {
        storage.failsToNote = true;
      },
      async stop() {
        await triggers.close();
        await owner.close();
      },
    };
  }

  type Server = Awaited<ReturnType<typeof start>>;

  /** Has servers renew their leases until slots that are given back have been taken. */
  async function renew(...servers: readonly Server[]): Promise<void> {
    for (const { owner } of [...servers, ...servers]) await owner.renew();
  }

  /** What happens to the lease of a server that has not renewed it. */
  async function expire({ serverId }: Server): Promise<void> {
    await ask("UPDATE servers SET expires_at = expires_at - $1 WHERE id = $2", [LEASE_MS, serverId]);
  }

  async function ask(text: string, values: readonly unknown[]): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(text, [...values]);
    await client.end();
  }
});
