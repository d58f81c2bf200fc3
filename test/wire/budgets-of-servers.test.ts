// A key, or an address, at several servers on one PostgreSQL database, its requests spread over them:
// together they grant one budget, and at most what was charged within one second more, since each knows what
// the others charged within a second. Placements are exact, since the engine counts them.
import { afterAll, describe, expect, test } from "vitest";
import {
  budgetFixture,
  ORDER,
  retryAfter,
  SECOND,
  statuses,
  TOO_MANY_ORDERS,
  times,
  used,
} from "../support/budget-fixture.ts";
import type { OwnClockGateway } from "../support/own-clock.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";

const WEIGHT_PER_MINUTE = 1_200;
/** Of a read of the account, and of the symbol's rules. */
const WEIGHT = 20;
const ORDERS_PER_TEN_SECONDS = 50;
/** Reads at each server between two turns of the log, which are half a second apart. */
const READS_AT_ONCE = 4;
const TURNS_PER_SECOND = 2;

describe.skipIf(!hasPostgres)(postgresTitle("servers on one PostgreSQL database"), () => {
  let server: Databases | null = null;
  const fixture = budgetFixture(5, async () => {
    server = await openPostgres();
    if (server === null) throw new Error("there are programs, so there is a server");
    return await server.newDatabase();
  });
  afterAll(() => server?.stop());

  const openServers = async (count: number) => {
    const servers = [fixture.gateway];
    while (servers.length < count) servers.push(await fixture.open());
    return servers;
  };

  test.each([
    [2, "a key", fixture.account],
    [3, "a key", fixture.account],
    [3, "an address", () => fixture.look()],
  ])("%i servers grant %s one budget, and at most one second's charge more", async (count, _holder, read) => {
    const servers = await openServers(count);
    let granted = 0;
    const answered: number[] = [];
    const readAt = async (gateway: OwnClockGateway) => {
      fixture.gateway = gateway;
      const found = statuses(await times(READS_AT_ONCE, read));
      answered.push(...found);
      granted += found.filter((status) => status === 200).length * WEIGHT;
    };
    while (!answered.includes(429)) {
      for (const each of servers) await readAt(each);
      fixture.now += SECOND / TURNS_PER_SECOND;
      // The least favorable order: each reads before the next one writes.
      for (const each of servers) await each.turn();
    }
    const chargedInSecond = count * READS_AT_ONCE * WEIGHT * TURNS_PER_SECOND;
    expect(granted).toBeGreaterThanOrEqual(WEIGHT_PER_MINUTE);
    expect(granted).toBeLessThanOrEqual(WEIGHT_PER_MINUTE + chargedInSecond);
    // A second later every server knows all, and grants nothing.
    for (let turn = 0; turn < TURNS_PER_SECOND; turn += 1) for (const each of servers) await each.turn();
    for (const each of servers) {
      fixture.gateway = each;
      const refused = await read();
      expect(refused.status).toBe(429);
      expect(Number(used(refused))).toBeGreaterThanOrEqual(WEIGHT_PER_MINUTE);
    }
  });

  test("three servers take no placement more than one, though none knows of the others'", async () => {
    const servers = await openServers(3);
    const placeAt = async (count: number) => {
      fixture.gateway = servers[count % servers.length] as OwnClockGateway;
      // The first one buys enough for the sales after it.
      const terms = count === 0 ? {} : { side: count % 2 === 0 ? "BUY" : "SELL", quantity: "0.0002" };
      return await fixture.place({ ...ORDER, ...terms, newClientOrderId: `n${count}` });
    };
    const answered: number[] = [];
    for (let count = 0; count < ORDERS_PER_TEN_SECONDS; count += 1)
      answered.push((await placeAt(count)).status);
    expect(answered).toEqual(Array(ORDERS_PER_TEN_SECONDS).fill(200));
    for (const [index] of servers.entries()) {
      const refused = await placeAt(ORDERS_PER_TEN_SECONDS + index);
      expect(refused).toMatchObject({ status: 429, body: TOO_MANY_ORDERS });
      expect(retryAfter(refused)).toBe("10");
    }
  });
});
