// Budgets and bans outlive the process that counts them, and hold across processes on one database.
// Source: specification 7.1 and 8.1; design, section 6.
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import {
  budgetFixture,
  MINUTE,
  ORDER,
  orders,
  retryAfter,
  SECOND,
  statuses,
  TOO_MANY_ORDERS,
  times,
  used,
} from "../support/budget-fixture.ts";

const fixture = budgetFixture(12);
const { account, banKey, exhaust, fail, look, open, place, takeStrategy } = fixture;

describe("a restart", () => {
  test("forgets no count: of keys, of addresses, of failures", async () => {
    await account();
    await place();
    await look();
    for (let sent = 0; sent < 12; sent += 1)
      await Promise.all(Array.from({ length: 100 }, () => fail("192.0.2.3")));
    await fixture.gateway.stop();
    fixture.now += 5 * SECOND;
    fixture.gateway = await open();
    const next = await place();
    expect([used(next), ...orders(next)]).toEqual(["22", "2", "2"]);
    expect(used(await look())).toBe("40");
    expect((await fail("192.0.2.3")).status).toBe(429);
    fixture.now += 55 * SECOND;
    expect(used(await account())).toBe("20");
  });

  test("after kill -9 forgets at most what was charged since the last half second, and no ban", async () => {
    await account();
    await fixture.gateway.turn();
    await account();
    await fixture.gateway.kill();
    fixture.gateway = await open();
    expect(used(await account())).toBe("40");

    fixture.key = takeStrategy();
    await banKey();
    await fixture.gateway.kill();
    fixture.now += 119 * SECOND;
    fixture.gateway = await open();
    const banned = await account();
    expect([banned.status, retryAfter(banned)]).toEqual([418, "1"]);
    fixture.now += SECOND;
    expect((await account()).status).toBe(200);
  });

  test("is not needed for a ban to be on disk: it is there before the tenth 429 is answered", async () => {
    await exhaust();
    await times(9, account);
    const store = await openSqliteStore(`${fixture.dataDir}/lyrebird.sqlite`);
    try {
      const bans = async () =>
        (await store.listBudgets({ after: 0, exceptOf: "nobody", limit: 1_000 }))
          .flatMap(({ entry }) => entry.bans)
          .filter(({ holder }) => holder === `key:${fixture.key.apiKey}`);
      expect(await bans()).toEqual([]);
      expect((await account()).status).toBe(429);
      expect(await bans()).toEqual([
        { holder: `key:${fixture.key.apiKey}`, until: fixture.now + 2 * MINUTE },
      ]);
    } finally {
      await store.close();
    }
  });
});

describe("a second process on the same database", () => {
  test("counts what the first has charged, and the first what it has, within a second", async () => {
    const first = fixture.gateway;
    const second = await open();
    await times(30, account);
    await place();
    await first.turn();
    await second.turn();
    fixture.gateway = second;
    const there = await place();
    expect([used(there), ...orders(there)]).toEqual(["602", "2", "2"]);
    await second.turn();
    await first.turn();
    fixture.gateway = first;
    await times(29, account);
    expect(used(await account())).toBe("1202");
  });

  test("respects the bans of the first, and both ban holders whose 429s only together reach ten", async () => {
    const first = fixture.gateway;
    const second = await open();
    await exhaust();
    await first.turn();
    await second.turn();
    expect(statuses(await times(6, account))).toEqual(Array(6).fill(429));
    fixture.gateway = second;
    expect(statuses(await times(4, account))).toEqual(Array(4).fill(429));
    await first.turn();
    await second.turn();
    expect((await account()).status).toBe(418);
    await first.turn();
    fixture.gateway = first;
    expect((await account()).status).toBe(418);
    // A ban that one of them began alone.
    fixture.key = takeStrategy();
    await banKey();
    await second.turn();
    fixture.gateway = second;
    expect((await account()).status).toBe(418);
  });

  test("takes no more orders than the budget, even before it knows what the first has taken", async () => {
    const first = fixture.gateway;
    const second = await open();
    const bought = { ...ORDER, quantity: "0.0002" };
    const sold = { ...bought, side: "SELL" };
    for (let count = 1; count <= 50; count += 1) {
      const isOdd = count % 2 === 1;
      fixture.gateway = isOdd ? first : second;
      const order = count === 1 ? ORDER : isOdd ? bought : sold;
      const placed = await place({ ...order, newClientOrderId: `n${count}` });
      expect(placed.body).toMatchObject({ status: "FILLED" });
    }
    const next = () => place({ ...bought, newClientOrderId: "n51" });
    const refused = await next();
    expect(refused).toMatchObject({ status: 429, body: TOO_MANY_ORDERS });
    expect(retryAfter(refused)).toBe("10");
    // Its 429s count towards a ban like any other.
    expect(statuses(await times(10, next))).toEqual([...Array(9).fill(429), 418]);
  });
});
