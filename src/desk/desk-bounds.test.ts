import { describe, expect, test } from "vitest";
import { decimal } from "../money/decimal.ts";
import type { Announcement } from "./desk.ts";
import { buy, cleanFixtures, createFixture, executed, StubMarket, upTo } from "./testing/fixture.ts";

cleanFixtures();

describe("bounds", () => {
  test("a strategy with five hundred waiting commands is refused one more, and others are not", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk, store } = await createFixture({ market, strategies: ["one", "two"] });
    market.prepare = () => gate.promise;
    const accepted = upTo(500).map((each) =>
      desk.execute("one", { ...buy("90", `c${each}`), size: { quantity: decimal("0.001") } }),
    );
    expect(await desk.execute("one", buy("90", "more"))).toEqual({ refusal: "BUSY" });
    const other = desk.execute("two", buy("90", "a"));
    gate.resolve();
    for (const outcome of await Promise.all(accepted)) executed(outcome);
    executed(await other);
    expect(await store.listEntries("one")).toHaveLength(501);
    executed(await desk.execute("one", buy("90", "more")));
  });

  test("beyond twenty thousand commands waiting every strategy is refused", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk } = await createFixture({ market });
    market.prepare = () => gate.promise;
    // Strategies that do not exist are the cheapest: their commands reject when they run.
    const accepted = upTo(20_000).map((each) => desk.execute(`ghost-${each % 100}`, buy("90", `c${each}`)));
    expect(await desk.execute("one", buy("90", "a"))).toEqual({ refusal: "BUSY" });
    gate.resolve();
    const outcomes = await Promise.allSettled(accepted);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    executed(await desk.execute("one", buy("90", "a")));
  });

  test("a draining desk answers what it has accepted and refuses what comes", async () => {
    const gate = Promise.withResolvers<void>();
    const market = new StubMarket();
    const { desk, store } = await createFixture({ market, strategies: ["one", "two"] });
    market.prepare = () => gate.promise;
    const accepted = upTo(10).map((each) =>
      desk.execute(each % 2 === 0 ? "one" : "two", buy("90", `c${each}`)),
    );
    let isDrained = false;
    const drained = desk.drain().then(() => {
      isDrained = true;
    });
    expect(await desk.execute("one", buy("90", "late"))).toEqual({ refusal: "BUSY" });
    expect(isDrained).toBe(false);
    gate.resolve();
    await drained;
    expect(await store.listEntries("one")).toHaveLength(6);
    expect(await store.listEntries("two")).toHaveLength(6);
    for (const outcome of await Promise.all(accepted)) executed(outcome);
  });

  test("an idle desk is drained at once, as often as it is asked", async () => {
    const { desk } = await createFixture();
    await desk.execute("one", buy("90", "a"));
    await desk.drain();
    await desk.drain();
    expect(await desk.execute("one", buy("90", "b"))).toEqual({ refusal: "BUSY" });
  });
});

describe("groups", () => {
  const MANY = upTo(300).map((each) => `s${each}`);

  test("many strategies share a commit, at most two hundred of them", async () => {
    const { desk, groups } = await createFixture({ strategies: MANY });
    await Promise.all(MANY.map((id) => desk.execute(id, buy("90", "a"))));
    expect(groups.flat()).toHaveLength(300);
    expect(Math.max(...groups.map((group) => group.length))).toBeLessThanOrEqual(200);
    expect(groups.length).toBeLessThanOrEqual(4);
  });

  test("never hold one strategy twice", async () => {
    const { desk, groups, store } = await createFixture({ strategies: MANY });
    const commands = upTo(4).flatMap((each) => MANY.map((id) => desk.execute(id, buy("90", `c${each}`))));
    for (const outcome of await Promise.all(commands)) executed(outcome);
    expect(groups.flat()).toHaveLength(1_200);
    for (const group of groups) {
      expect(new Set(group.map(({ account }) => account.strategyId)).size).toBe(group.length);
    }
    expect((await store.loadAccount("s300"))?.version).toBe(5);
  });

  test("gather while the one before is being written", async () => {
    const gate = Promise.withResolvers<void>();
    const { desk, groups, storage } = await createFixture({ strategies: MANY });
    const reached = Promise.withResolvers<void>();
    storage.beforeCommit = () => {
      reached.resolve();
      return gate.promise;
    };
    const first = desk.execute("s1", buy("90", "a"));
    await reached.promise;
    const others = MANY.slice(1, 51).map((id) => desk.execute(id, buy("90", "a")));
    // Commands end with their commit, so the commands behind one show when they have been decided.
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(groups.map((group) => group.length)).toEqual([1, 50]);
  });
});

describe("a bug", () => {
  test("in a decision rejects that command alone: it has no effect, and the store is not blamed", async () => {
    const market = new StubMarket();
    const { desk, store, announced, failures } = await createFixture({ market, strategies: ["one", "two"] });
    const rules = market.rules;
    market.rules = (symbol) => {
      if (symbol === "ETHUSDT") throw new Error("a bug");
      return rules(symbol);
    };
    const [broken, behind, beside] = await Promise.allSettled([
      desk.execute("one", { ...buy("90", "a"), symbol: "ETHUSDT" }, { key: "k" }),
      desk.execute("one", buy("90", "a"), { key: "k" }),
      desk.execute("two", buy("90", "a")),
    ]);
    expect([broken, behind, beside].map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(failures).toEqual([]);
    expect(announced).toHaveLength(2);
    expect(await store.listEntries("one")).toHaveLength(2);
  });

  test("in a listener keeps neither the answer nor the other listeners from what was committed", async () => {
    const { desk, store, failures } = await createFixture();
    const heard: Announcement[] = [];
    desk.onCommitted(() => {
      throw new Error("a bug");
    });
    desk.onCommitted((announcement) => heard.push(announcement));
    // A rejection would say that the command had no effect.
    expect(executed(await desk.execute("one", buy("90", "a"))).orders).toHaveLength(1);
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
    expect(heard).toHaveLength(1);
    expect(failures).toEqual([]);
  });
});
