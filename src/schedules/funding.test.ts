import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import type { ManualTime } from "../concurrency/testing/manual-time.ts";
import type { Store } from "../store/store.ts";
import { cleanFixtures, createFixture, startOn, type Terms } from "../triggers/testing/fixture.ts";
import {
  FUTURES,
  fundingOf,
  MINUTE,
  minute,
  settlementAt,
  standingOf,
} from "../triggers/testing/futures-fixture.ts";
import { contractTerms } from "../triggers/testing/stub-market.ts";
import { twoServers } from "../triggers/testing/two-servers.ts";
import { FundingClock } from "./funding.ts";

const SECOND = 1_000;
const HOUR = 60 * MINUTE;
/** How long after its time a settlement is requested, and when again. */
const ASK_AFTER = 6 * SECOND;
const RETRY = 5 * SECOND;
/** Interval of the regular requests for everything held, which bounds a settlement's delay. */
const ASK_ANYWAY = 10 * MINUTE;

/** How long a commit of a server that died may be unknown. */
const UNKNOWN = 15 * SECOND;

/** When the tests' first settlement is due: some minutes after their start. */
const DUE = 20 * MINUTE;
/** It is published with some milliseconds more. */
const PUBLISHED = DUE + 5;

/** A position of 1 BTC: a rate of 0.01 at a mark price of 100 costs it 1. */
const ONE: Terms = { quantity: "1" };

/** A test goes to a time in some leaps, and the last seconds before it one by one. */
const LEAPS = 4;
const NEAR = 20 * SECOND;

const clocks: FundingClock[] = [];
cleanFixtures();
afterEach(async () => {
  for (const clock of clocks.splice(0)) await clock.close();
});

describe("a settlement", () => {
  test.each([
    ["BUY", "0.01", "-1.00000000"],
    ["BUY", "-0.01", "1.00000000"],
    ["SELL", "0.01", "1.00000000"],
    ["SELL", "-0.01", "-1.00000000"],
  ] as const)("with a %s position and a rate of %s makes %s, once", async (side, rate, amount) => {
    const { market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", side, null, ONE);
    market.nextFunding.set("BTCUSDT", DUE);
    await goTo(DUE + ASK_AFTER - SECOND);
    market.settlements = [settlementAt(PUBLISHED, rate)];
    expect(await fundingOf(store, "one")).toEqual([]);
    await goTo(DUE + ASK_AFTER);
    expect(await fundingOf(store, "one")).toEqual([amount]);
    market.nextFunding.set("BTCUSDT", DUE + 8 * HOUR);
    await goTo(DUE + HOUR);
    expect(await fundingOf(store, "one")).toEqual([amount]);
    expect((await store.listEntries("one")).map(({ key }) => key)).toContain("funding:BTCUSDT:20");
  });

  test("that is not answered yet keeps no server from closing", async () => {
    const { clock, market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    market.nextFunding.set("BTCUSDT", DUE);
    const answer = Promise.withResolvers<never[]>();
    market.settlementsBetween = () => answer.promise;
    await goTo(DUE + ASK_AFTER);
    await clock.close();
    answer.resolve([]);
    expect(await fundingOf(store, "one")).toEqual([]);
  });

  test("that is published late is requested until it is there, and delays no other", async () => {
    const { market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    await place("one", "BUY", null, { ...ONE, symbol: "ETHUSDT" });
    for (const symbol of ["BTCUSDT", "ETHUSDT"]) market.nextFunding.set(symbol, DUE);
    const other = settlementAt(PUBLISHED, "0.02", { symbol: "ETHUSDT", mark: "50" });
    market.settlements = [other];
    await goTo(DUE + ASK_AFTER);
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
    for (const symbol of ["BTCUSDT", "ETHUSDT"]) market.nextFunding.set(symbol, DUE + HOUR);
    await goTo(DUE + 3 * MINUTE);
    market.settlements = [other, settlementAt(PUBLISHED, "0.01")];
    await goTo(DUE + 3 * MINUTE + RETRY + SECOND);
    expect(await fundingOf(store, "one")).toHaveLength(2);
  });

  test("that is not available is requested again", async () => {
    const { market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    market.nextFunding.set("BTCUSDT", DUE);
    await goTo(DUE);
    market.settlements = null;
    await goTo(DUE + 2 * MINUTE);
    market.settlements = [settlementAt(PUBLISHED, "0.01")];
    await goTo(DUE + 2 * MINUTE + RETRY + SECOND);
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  });

  test("that was announced and never came is given up, and the next one is applied", async () => {
    const { market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    market.nextFunding.set("BTCUSDT", DUE);
    await goTo(DUE + MINUTE);
    market.nextFunding.set("BTCUSDT", DUE + HOUR);
    await goTo(DUE + 2 * ASK_ANYWAY);
    const asked = market.askedForSettlements.length;
    await goTo(DUE + 3 * ASK_ANYWAY);
    expect(market.askedForSettlements.length - asked).toBeLessThanOrEqual(2);
    market.settlements = [settlementAt(PUBLISHED + HOUR, "0.01")];
    await goTo(DUE + HOUR + ASK_AFTER);
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  });

  test("that was not announced is found too", async () => {
    const { market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    await goTo(DUE + MINUTE);
    market.settlements = [settlementAt(PUBLISHED, "0.01")];
    await goTo(DUE + MINUTE + ASK_ANYWAY);
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  });

  test("that is published early waits until everything before it is covered", async () => {
    const { time, market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    const askedAt = time.now() + SECOND + ASK_ANYWAY;
    market.settlements = [settlementAt(askedAt - 2 * SECOND, "0.01")];
    await goTo(askedAt);
    expect(market.askedForSettlements.at(-1)?.to).toBe(askedAt);
    expect(await fundingOf(store, "one")).toEqual([]);
    await goTo(askedAt + RETRY);
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  });

  test("is for what was held when it was due", async () => {
    const due = HOUR;
    const fixture = await withClock(
      await createFixture({ ...FUTURES, strategies: ["held", "came", "went", "turned"] }),
    );
    const { market, store, place, goTo } = fixture;
    for (const id of ["held", "went", "turned"]) await place(id, "BUY", null, ONE);
    market.nextFunding.set("BTCUSDT", due);
    await goTo(due + SECOND);
    await place("came", "BUY", null, ONE);
    await place("went", "SELL", null, ONE);
    await place("turned", "SELL", null, { quantity: "3" });
    market.settlements = [settlementAt(due + 5, "0.01")];
    market.nextFunding.set("BTCUSDT", due + HOUR);
    await goTo(due + ASK_AFTER);
    const paid = ["held", "came", "went", "turned"].map((id) => fundingOf(store, id));
    expect(await Promise.all(paid)).toEqual([["-1.00000000"], [], ["-1.00000000"], ["-1.00000000"]]);
  });

  test("is not requested any more without holders, present or unsettled", async () => {
    const { market, place, goTo } = await withClock(await createFixture(FUTURES));
    await place("one", "BUY", null, ONE);
    market.nextFunding.set("BTCUSDT", DUE);
    await place("one", "SELL", null, ONE);
    market.settlements = [settlementAt(PUBLISHED, "0.01")];
    await goTo(DUE + ASK_AFTER);
    expect(market.subscribed()).toEqual([]);
    const asked = market.askedForSettlements.length;
    await goTo(DUE + 2 * HOUR);
    expect(market.askedForSettlements).toHaveLength(asked);
  });

  test("is applied to all strategies by the schedule of its own contract: every hour, four or eight", async () => {
    const { time, market, store, place, goTo } = await withClock(await createFixture(FUTURES));
    const schedules = [
      ["BTCUSDT", 8],
      ["ETHUSDT", 4],
      ["SOLUSDT", 1],
    ] as const;
    market.terms.set("SOLUSDT", contractTerms());
    for (const [symbol, hours] of schedules) {
      market.show(symbol, "99", "100");
      market.showMark(symbol, "100");
      market.nextFunding.set(symbol, hours * HOUR);
      await place("one", "BUY", null, { quantity: "0.1", symbol });
    }
    while (time.now() < 8 * HOUR) {
      const hour = Math.floor(time.now() / HOUR) + 1;
      await goTo(hour * HOUR);
      const due = schedules.filter(([, hours]) => hour % hours === 0);
      market.settlements = [
        ...(market.settlements ?? []),
        ...due.map(([symbol]) => settlementAt(hour * HOUR + 5, "0.001", { symbol })),
      ];
      for (const [symbol, hours] of due) market.nextFunding.set(symbol, (hour + hours) * HOUR);
      await goTo(hour * HOUR + ASK_AFTER);
    }
    const incomes = await store.listIncomes("one", { type: "FUNDING_FEE", offset: 0, limit: 100 });
    const hoursOf = (symbol: string) =>
      incomes.flatMap((income) => (income.symbol === symbol ? [Math.floor(income.at / HOUR)] : []));
    expect(hoursOf("BTCUSDT")).toEqual([8]);
    expect(hoursOf("ETHUSDT")).toEqual([4, 8]);
    expect(hoursOf("SOLUSDT")).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("settlements that came while no process ran", () => {
  test("are applied at the start, each once, from what was noted on", async () => {
    const before = await withClock(await createFixture(FUTURES));
    await before.place("one", "BUY", null, ONE);
    before.market.nextFunding.set("BTCUSDT", DUE);
    before.market.settlements = [settlementAt(PUBLISHED, "0.001")];
    await before.goTo(DUE + ASK_AFTER);
    expect(await before.store.listFundingNoted()).toEqual([{ symbol: "BTCUSDT", until: PUBLISHED }]);
    await before.clock.close();
    await before.triggers.close();
    before.time.advance(3 * HOUR);

    const { market, store, goTo, time } = await withClock(restart(before));
    market.settlements = [0, 1, 2].map((hours) => settlementAt(PUBLISHED + hours * HOUR, "0.001"));
    market.forgetMark("BTCUSDT");
    await goTo(time.now() + MINUTE);
    expect(market.askedForSettlements).toEqual([]);
    market.showMark("BTCUSDT", "100");
    await goTo(time.now() + MINUTE);
    expect(await fundingOf(store, "one")).toEqual(["-0.10000000", "-0.10000000", "-0.10000000"]);
    expect(market.askedForSettlements.at(-1)?.from).toBe(PUBLISHED + 1 - UNKNOWN);
  });

  test("are applied to strategies that have sold since", async () => {
    const before = await withClock(await createFixture(FUTURES));
    await before.place("one", "BUY", null, ONE);
    await before.goTo(HOUR + SECOND);
    await before.place("one", "SELL", null, ONE);
    await before.clock.close();
    await before.triggers.close();
    before.time.advance(MINUTE);

    const next = restart(before);
    next.market.settlements = [settlementAt(HOUR + 5, "0.01")];
    const { market, store, settled } = await withClock(next);
    await settled();
    expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
    // A coming settlement still needs the holdings, so the contract's schedule stays subscribed.
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
  });

  test.each([
    ["before it", minute(1, "96", "100"), []],
    ["after it", minute(5, "96", "100"), ["LIQUIDATION"]],
  ] as const)("are applied in order with triggers: here %s", async (_when, marked, closedBy) => {
    const before = await withClock(await createFixture(FUTURES));
    await before.place("one", "BUY", null, ONE);
    await before.goTo(before.time.now() + 30 * SECOND);
    await before.clock.close();
    await before.triggers.close();
    before.time.advance(HOUR);

    const { market, store, goTo, time } = await withClock(restart(before));
    // The settlement takes 2: the long ends at 97.44 from then on, and at 95.43 until then.
    market.settlements = [settlementAt(PUBLISHED, "0.02")];
    market.answerMarks([marked]);
    market.show("BTCUSDT", "99", "100");
    market.showMark("BTCUSDT", "100");
    await goTo(time.now() + MINUTE);
    expect(await fundingOf(store, "one")).toEqual(["-2.00000000"]);
    expect(await standingOf(store, "one")).toMatchObject({ closedBy });
  });
});

test("two servers apply a settlement once", async () => {
  const { here, there, notify, time } = await twoServers(["one"], "FUTURES");
  const servers = [await withClock(here), await withClock(there)];
  await there.place("one", "BUY", null, ONE);
  await notify("one");
  for (const { market } of servers) {
    market.showMark("BTCUSDT", "100");
    market.nextFunding.set("BTCUSDT", DUE);
    market.settlements = [settlementAt(PUBLISHED, "0.01")];
  }
  for (const { goTo } of servers) await goTo(DUE + SECOND);
  time.advance(ASK_AFTER);
  await notify("one");
  expect(await fundingOf(here.store, "one")).toEqual(["-1.00000000"]);
  // A wallet of 3.95 lasts until 96.44: both know.
  await there.triggers.close();
  here.market.showMark("BTCUSDT", "96.43");
  await here.settled();
  expect(await standingOf(here.store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
});

test("a settlement is applied to a position of a server that died before it notified anybody", async () => {
  const { here, there } = await twoServers(["one", "two"], "FUTURES");
  const { market, store, triggers, place, settled, goTo } = await withClock(here);
  await place("two", "BUY", null, ONE);
  market.showMark("BTCUSDT", "100");
  market.nextFunding.set("BTCUSDT", DUE);
  market.settlements = [settlementAt(PUBLISHED, "0.01")];
  await goTo(DUE - SECOND);
  await there.place("one", "BUY", null, ONE);
  there.kill();
  await goTo(DUE + ASK_AFTER);
  expect(await fundingOf(store, "two")).toEqual(["-1.00000000"]);
  triggers.reload();
  await settled();
  await goTo(DUE + 2 * ASK_ANYWAY);
  expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  expect(await fundingOf(store, "two")).toEqual(["-1.00000000"]);
});

test("a settlement that everybody has is applied to nobody again: no account is loaded", async () => {
  const fixture = await withClock(await createFixture({ ...FUTURES, strategies: ["one", "two"] }));
  const { market, store, storage, logged, place, goTo } = fixture;
  for (const id of ["one", "two"]) await place(id, "BUY", null, ONE);
  market.nextFunding.set("BTCUSDT", DUE);
  market.settlements = [settlementAt(PUBLISHED, "0.01")];
  const { triggerStore } = storage;
  const { loadAccount } = triggerStore;
  let loads = 0;
  triggerStore.loadAccount = async (strategyId) => {
    loads += 1;
    return await loadAccount(strategyId);
  };
  await goTo(DUE + ASK_AFTER);
  expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  market.nextFunding.set("BTCUSDT", DUE + 8 * HOUR);
  const asked = market.askedForSettlements.length;
  loads = 0;
  await goTo(DUE + 2 * ASK_ANYWAY + MINUTE);
  expect(market.askedForSettlements.length).toBeGreaterThan(asked);
  expect(loads).toBe(0);
  expect(logged.filter((line) => line.includes("funding is settled"))).toHaveLength(1);
});

test("what could not be applied to all is not noted, and applied to the others later", async () => {
  const fixture = await withClock(await createFixture({ ...FUTURES, strategies: ["one", "two"] }));
  const { market, store, storage, place, goTo } = fixture;
  for (const id of ["one", "two"]) await place(id, "BUY", null, ONE);
  market.nextFunding.set("BTCUSDT", DUE);
  market.settlements = [settlementAt(PUBLISHED, "0.01")];
  await goTo(DUE + SECOND);
  const noted = await store.listFundingNoted();
  // The contract of a moment is unknown: nothing can be settled.
  market.terms.set("BTCUSDT", null);
  await goTo(DUE + MINUTE);
  expect(await fundingOf(store, "one")).toEqual([]);
  expect(await store.listFundingNoted()).toEqual(noted);
  market.terms.set("BTCUSDT", contractTerms());
  await goTo(DUE + MINUTE + ASK_AFTER + RETRY);
  expect(await fundingOf(store, "one")).toEqual(["-1.00000000"]);
  expect(await fundingOf(store, "two")).toEqual(["-1.00000000"]);
  expect(await store.listFundingNoted()).toEqual([{ symbol: "BTCUSDT", until: PUBLISHED }]);
  expect(storage.isBusy).toBe(false);
});

/** Another process on the database of one that is gone. */
function restart({ store, time }: { readonly store: Store; readonly time: ManualTime }) {
  return { store, ...startOn(store, time, "FUTURES") };
}

/** A funding clock and the trigger engine of a fixture, both started. */
async function withClock<Fixture extends ReturnType<typeof restart>>(fixture: Fixture) {
  const { market, triggers, time, settled, storage } = fixture;
  // Notes of hours would take their time.
  storage.failsToNote = true;
  await triggers.open();
  const logged: string[] = [];
  const clock = new FundingClock({
    market,
    holders: triggers,
    store: storage.store,
    every: time.every,
    log: pino({ level: "info" }, { write: (line: string) => logged.push(line) }),
  });
  clocks.push(clock);
  await clock.rebuild();
  return {
    ...fixture,
    clock,
    logged,
    /** Advances to a market time, in steps in which everything due is done. */
    async goTo(at: number): Promise<void> {
      const far = Math.max(0, at - time.now() - NEAR) / LEAPS;
      for (let leaps = 0; far > 0 && leaps < LEAPS; leaps += 1) {
        time.advance(far);
        await settled();
      }
      while (time.now() < at) {
        time.advance(Math.min(SECOND, at - time.now()));
        await settled();
      }
    },
  };
}
