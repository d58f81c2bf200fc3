// Has a running server take up a version that its master key's file has gained: the file is looked at every few seconds, and a new
// version becomes the one that new keys and seals are made with as soon as the database has confirmed it. Keys and seals that
// others have made with it meanwhile work at once, since `MasterKey.keyOf` looks for itself.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Store } from "../store/store.ts";
import { type MasterKey, verifyMasterKey } from "./master-key.ts";

/** How often the file is looked at, ms. */
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
