// One failover of the database under load. `npm run crash -- --failovers 20` runs more.
import { expect, test } from "vitest";
import { hasPostgresPrograms, postgresTitle } from "../../support/servers/postgres.ts";
import { runFailovers } from "./failovers.ts";

test.skipIf(!hasPostgresPrograms)(
  postgresTitle("orders are accepted in time after a failover, none is lost, and none is there twice"),
  async ({ skip }) => {
    const report = await runFailovers({ count: 1, slowness: 2 });
    if (report === null) return skip("pg_basebackup is missing");
    const { failovers, orders, receipts, faults } = report;
    expect(faults).toEqual([]);
    expect(failovers).toHaveLength(1);
    expect(orders).toBeGreaterThan(20);
    expect(failovers[0]?.sentAgain).toBeGreaterThan(0);
    expect(receipts).toBeGreaterThan(0);
  },
);
