// Failovers under load: two gateways on a PostgreSQL primary with a synchronous standby. Traders place, fill
// and cancel orders at both by turns, each sending an order again, at the other one, until it is
// acknowledged. The primary is killed, the standby promoted, and the killed one made the standby of the
// other. In the end every acknowledged order must be there once, and every book must be what its trades and
// its journal make it. Half of the strategies are under `strict`.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createMasterKey, readMasterKey } from "../../../src/keys/master-key.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, newDirectory, startGateway } from "../../support/servers/gateway.ts";
import { startReplicated } from "../../support/servers/postgres.ts";
import { seedBothProfiles } from "../harness/receipts.ts";
import { openRows } from "../harness/stored-rows.ts";
import type { CrashFault } from "./crash-cycles.ts";
import { endedFaults, startTraders } from "./insistent-trader.ts";

export type FailoverReport = {
  /** From the kill to the first acknowledgment of an order that was sent after it, ms. */
  readonly acceptedAfterMs: number;
  /** Orders acknowledged until then, since the one before. */
  readonly acknowledged: number;
  /** Requests since the one before that were answered 503, or not at all, and sent again. */
  readonly sentAgain: number;
};

export type FailoversReport = {
  readonly failovers: readonly FailoverReport[];
  /** Orders acknowledged in all. */
  readonly orders: number;
  /** Trades under `strict`, which follow from their receipts. */
  readonly receipts: number;
  readonly faults: readonly CrashFault[];
};

const TRADERS = 8;
/** Load before each kill, and after the standby is attached, ms. */
const LOAD_MS = 2_000;
/** From a kill to the promotion, ms, by turns: as long as it takes to notice. */
const DETECTED_AFTER_MS = [3_000, 0, 1_000, 6_000];
/** How soon after a kill orders must be accepted again, ms, and how long that is waited for. */
const ACCEPTED_MS_MAX = 15_000;
const WAIT_MS_MAX = 60_000;

/** Runs so many failovers. Null where PostgreSQL's programs are missing. */
export async function runFailovers(parts: {
  readonly count: number;
  /** How many times longer than a free machine a busy one may take; 1 if it is left out. */
  readonly slowness?: number;
  readonly onFailover?: (failover: FailoverReport) => void;
  readonly signal?: AbortSignal;
}): Promise<FailoversReport | null> {
  const { count, slowness = 1, onFailover, signal } = parts;
  const servers = await startReplicated();
  if (servers === null) return null;
  const gateways: GatewayProcess[] = [];
  try {
    const url = await servers.newDatabase();
    const directories = [newDirectory(), newDirectory()] as const;
    const [keyFile, copied] = directories.map((directory) => join(directory, "master.key"));
    if (keyFile === undefined || copied === undefined) throw new Error("there are two directories");
    createMasterKey(keyFile);
    copyFileSync(keyFile, copied);
    const store = await openPostgresStore(url);
    const wanted = Array.from({ length: TRADERS }, () => "SPOT" as const);
    const strategies = await seedBothProfiles(store, readMasterKey(keyFile), wanted);
    for (const dataDir of directories) {
      gateways.push(await startGateway({ dataDir, env: { DATABASE_URL: url, SIM_SEED: "7" } }));
    }
    const urls = gateways.map((gateway) => gateway.url);
    const traders = await startTraders(strategies, urls);

    const failovers: FailoverReport[] = [];
    const faults: CrashFault[] = [];
    while (failovers.length < count && signal?.aborted !== true) {
      await pause(LOAD_MS);
      const killedAt = performance.now();
      const sentBefore = traders.sentAt.length;
      await servers.failOver(DETECTED_AFTER_MS[failovers.length % DETECTED_AFTER_MS.length] ?? 0);
      const accepted = () => traders.sentAt.slice(sentBefore).findIndex((sentAt) => sentAt > killedAt);
      await Promise.race([
        eventually("orders are accepted again", () => accepted() >= 0, { msMax: WAIT_MS_MAX, askAgainMs: 5 }),
        traders.working,
      ]);
      const failover = { acceptedAfterMs: performance.now() - killedAt, ...traders.takeCounts() };
      failovers.push(failover);
      if (failover.acceptedAfterMs > slowness * ACCEPTED_MS_MAX) {
        const what = `orders were accepted ${Math.round(failover.acceptedAfterMs)} ms after a kill`;
        faults.push({ kind: "GATEWAY", what });
      }
      onFailover?.(failover);
      await servers.attachStandby();
    }
    if ((await store.waitsForStandby()) !== true) {
      faults.push({ kind: "GATEWAY", what: "the store does not say that commits wait for the standby" });
    }
    await pause(LOAD_MS);
    await traders.stop();
    faults.push(...endedFaults(gateways));
    const db = openRows({ dataDir: directories[0], databaseUrl: servers.atPrimary(url) });
    const checked = await traders.check({ store, db });
    await db.destroy();
    await store.close();
    faults.push(...checked.faults);
    return { failovers, orders: traders.orders(), receipts: checked.receipts, faults };
  } finally {
    for (const gateway of gateways) await gateway.kill();
    await servers.stop();
  }
}
