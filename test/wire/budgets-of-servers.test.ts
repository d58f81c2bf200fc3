// One key at several servers on one PostgreSQL database, its requests spread over them: together they grant one
// budget, and at most what the key was charged within one second more, since each knows what the others
// charged within a second. Placements are exact, since the engine counts them.
import { afterAll, describe, expect, test } from "vitest";
import { budgetStage, SECOND, statuses, times, used } from "../support/budget-stage.ts";
import type { OwnClockGateway } from "../support/own-clock.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/postgres.ts";

const WEIGHT_PER_MINUTE = 1_200;
/** Of a read of the account. */
const WEIGHT = 20;
/** Reads at each server between two turns of the log, which are half a second apart. */
const READS_AT_ONCE = 4;
const TURNS_PER_SECOND = 2;

describe.skipIf(!hasPostgres)(postgresTitle("servers on one PostgreSQL database"), () => {
  let server: Databases | null = null;
  const stage = budgetStage(2, async () => {
    server = await openPostgres();
    if (server === null) throw new Error("there are programs, so there is a server");
    return await server.newDatabase();
  });
  afterAll(() => server?.stop());

  test.each([2, 3])(
    "%i servers grant a key one budget, and at most one second's charge more",
    async (count) => {
      const servers = [stage.gateway];
      while (servers.length < count) servers.push(await stage.open());
      let granted = 0;
      const answered: number[] = [];
      const readAt = async (gateway: OwnClockGateway) => {
        stage.gateway = gateway;
        const found = statuses(await times(READS_AT_ONCE, stage.account));
        answered.push(...found);
        granted += found.filter((status) => status === 200).length * WEIGHT;
      };
      while (!answered.includes(429)) {
        for (const each of servers) await readAt(each);
        stage.now += SECOND / TURNS_PER_SECOND;
        // The least favorable order: each reads before the next one writes.
        for (const each of servers) await each.turn();
      }
      const chargedInSecond = count * READS_AT_ONCE * WEIGHT * TURNS_PER_SECOND;
      expect(granted).toBeGreaterThanOrEqual(WEIGHT_PER_MINUTE);
      expect(granted).toBeLessThanOrEqual(WEIGHT_PER_MINUTE + chargedInSecond);
      // A second later every server knows all, and grants nothing.
      for (let turn = 0; turn < TURNS_PER_SECOND; turn += 1) for (const each of servers) await each.turn();
      for (const each of servers) {
        stage.gateway = each;
        const refused = await stage.account();
        expect(refused.status).toBe(429);
        expect(Number(used(refused))).toBeGreaterThanOrEqual(WEIGHT_PER_MINUTE);
      }
    },
  );
});
