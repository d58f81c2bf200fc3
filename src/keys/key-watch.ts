// Makes a running server use a new version in its master key's file: the file is checked every few seconds,
// and new keys and seals use a new version as soon as the database has confirmed it. Keys and seals that
// other processes made with it work at once, since `MasterKey.keyOf` checks the file itself. A version that
// the database has been used with and the file lacks is logged: requests under its keys are refused until
// then.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { demandNewestVersion, type MasterKey, verifyMasterKey } from "./master-key.ts";

/** Interval of the checks, ms. */
export const LOOK_MS = 5_000;

export function createKeyWatch({
  master,
  store,
  every,
  log,
}: {
  readonly master: MasterKey;
  readonly store: Store;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "info" | "error">;
}): PeriodicTask {
  /** The last fault that was logged: each is logged once. */
  let lastFault = "";
  /**
   * The fault that the last look has found: logged once the next finds it too, since a rotation stores the
   * new version before it replaces the file.
   */
  let found = "";
  return new PeriodicTask({
    every,
    intervalMs: LOOK_MS,
    async task() {
      master.lookAgain();
      if (master.newest !== master.current) {
        await verifyMasterKey(store, master);
        log.info({ version: master.current }, "the master key was rotated");
      }
      await demandNewestVersion(store, master);
      lastFault = "";
      found = "";
    },
    onError(error) {
      if (error instanceof StoreUnavailable) return;
      const reason = error instanceof Error ? error.message : String(error);
      const isFoundAgain = reason === found;
      found = reason;
      if (reason === lastFault || !isFoundAgain) return;
      lastFault = reason;
      log.error({ reason }, "the master key's file cannot be used as it is; what was known stays");
    },
  });
}
