// Two kills of one of three servers under load; the market leaves the orders after the first one, and stays
// after the second. `npm run crash -- --servers 3` runs a hundred.
import { expect, test } from "vitest";
import { hasPostgresPrograms, postgresTitle } from "../../support/servers/postgres.ts";
import { runServerKills } from "./server-kills.ts";

test.skipIf(!hasPostgresPrograms)(
  postgresTitle("what a killed server's orders were reached by is filled by the others, in time and once"),
  async ({ skip }) => {
    const report = await runServerKills({ servers: 3, count: 2, seed: 20_261_127, slowness: 2 });
    if (report === null) return skip("PostgreSQL's programs are missing");
    const { kills, orders, reached, receipts, faults } = report;
    expect(faults).toEqual([]);
    expect(kills).toHaveLength(2);
    for (const { filledAfterMs, filledMsMax } of kills) expect(filledAfterMs).toBeLessThan(filledMsMax);
    expect(reached).toBe(24);
    expect(orders).toBeGreaterThan(60);
    expect(receipts).toBeGreaterThan(0);
  },
);
