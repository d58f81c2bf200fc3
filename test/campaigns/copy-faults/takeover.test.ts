// A database with live copies that an earlier program has made and left in the middle of its work is taken
// over: no order is doubled, and no line is lost.
import { describe, expect, test } from "vitest";
import { hasPostgres, postgresTitle } from "../../support/servers/postgres.ts";
import type { StoreName } from "../harness/stores.ts";
import { renderCopies } from "./campaign.ts";
import { programOf } from "./earlier-program.ts";
import { copyUnderFire } from "./run.ts";
import { NAKED_BUSY_MS_MAX } from "./stops.ts";

/** Of the version before copies had an outbox. */
const EARLIER = "89d9b5c";
const ORDERS = 160;
const LEADS = 2;
const COPIERS = 4;
const RUN_MS_MAX = 300_000;

const root = programOf(EARLIER);
const where = root === null ? ` (skipped: the history has no ${EARLIER}; clone the repository whole)` : "";

describe
  .skipIf(root === null)
  .concurrent(`a database that ${EARLIER} has made with live copies${where}`, () => {
    test("is taken over on sqlite", async () => await expectTakenOver("sqlite"), RUN_MS_MAX);

    test.skipIf(!hasPostgres)(
      postgresTitle("is taken over on postgres"),
      async ({ skip }) => {
        if (!(await expectTakenOver("postgres"))) skip("the programs of a server of one's own are missing");
      },
      RUN_MS_MAX,
    );
  });

async function expectTakenOver(store: StoreName): Promise<boolean> {
  const report = await copyUnderFire({
    ...{ store, seed: 1, orders: ORDERS, leads: LEADS, copiers: COPIERS, cuts: false },
    ...{ exchange: null, killEveryMs: null, takesOver: root ?? "" },
  });
  if (report === null) return false;
  const { faults, verdict, kills, copies, lateCopies } = report;
  const certain = faults.filter(({ kind }) => kind !== "NAKED");
  expect(certain, renderCopies([report])).toEqual([]);
  expect(verdict.nakedMsMax, renderCopies([report])).toBeLessThan(NAKED_BUSY_MS_MAX);
  expect([kills, copies, lateCopies]).toEqual([1, 2 * LEADS * COPIERS, LEADS * COPIERS]);
  expect(verdict.sent).toBeGreaterThan(ORDERS / 4);
  expect(verdict.asked).toBeGreaterThan(0);
  return true;
}
