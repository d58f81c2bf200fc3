// A short fire on every change, on each store. `npm run fire` is longer.
import { describe, expect, test } from "vitest";
import { testSeed } from "../../support/seed.ts";
import { hasPostgres, postgresTitle } from "../../support/servers/postgres.ts";
import type { StoreName } from "../harness/stores.ts";
import { renderFire } from "./campaign.ts";
import { FATES } from "./cutting-proxy.ts";
import { type FireReport, fire } from "./fire.ts";

const seed = testSeed();
const SIGNALS = 300;
const KILLS = 3;
/** Everything in it that waits has a bound of its own. */
const RUN_MS_MAX = 240_000;

describe.concurrent("a signal is executed once, however often it is sent and whatever is cut or killed", () => {
  test(
    "on sqlite",
    async () => {
      expectClean(await fireAt("sqlite"));
    },
    RUN_MS_MAX,
  );

  test.skipIf(!hasPostgres)(
    postgresTitle("on postgres, whose server is killed, too"),
    async ({ skip }) => {
      const report = await fireAt("postgres");
      if (report === null) return skip("the programs of a server of one's own are missing");
      expectClean(report);
    },
    RUN_MS_MAX,
  );
});

async function fireAt(store: StoreName): Promise<FireReport | null> {
  return await fire({ store, seed, signals: SIGNALS, kills: KILLS, cuts: true });
}

function expectClean(report: FireReport | null): void {
  if (report === null) throw new Error("there is a store");
  const { faults, audit, fates, kills, retries, twins, left } = report;
  expect(faults, renderFire([report])).toEqual([]);
  // A test that never came to its point must not pass.
  expect(audit.recorded).toBeGreaterThan(SIGNALS / 2);
  expect(audit.executed).toBeGreaterThan(SIGNALS / 4);
  expect(audit.rejected).toBeGreaterThan(SIGNALS / 20);
  expect(audit.pending).toBe(0);
  for (const fate of FATES) expect(fates[fate], fate).toBeGreaterThan(0);
  expect(kills.gateway + kills.database + kills.both).toBe(KILLS);
  expect(retries).toBeGreaterThan(SIGNALS / 10);
  expect(twins).toBeGreaterThan(SIGNALS / 20);
  expect(left).toBeGreaterThan(0);
}
