// Makes a running server use a new version in its master key's file: the file is checked every few seconds,
// and new keys and seals use a new version as soon as the database has confirmed it. Keys and seals that
// other processes made with it work at once, since `MasterKey.keyOf` checks the file itself.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Store } from "../store/store.ts";
import { type MasterKey, verifyMasterKey } from "./master-key.ts";

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
  return new PeriodicTask({
    every,
    intervalMs: LOOK_MS,
    async task() {
      master.lookAgain();
      if (master.newest === master.current) return;
      await verifyMasterKey(store, master);
      log.info({ version: master.current }, "the master key was rotated");
      lastFault = "";
    },
    onError(error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === lastFault) return;
      lastFault = reason;
      log.error({ reason }, "the master key's file has changed and is not used; what was known stays");
    },
  });
}
