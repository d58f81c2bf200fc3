// Two watchers side by side on one database, as two servers.
import { stage, startOn } from "./stage.ts";

/** Two servers on one database, both started; `tell` has each hear that the other has committed to strategies. */
export async function twoServers(strategies: readonly string[] = ["one"]) {
  const first = await stage({ strategies });
  const { store, time } = first;
  await first.watcher.rebuild();
  const here = { store, ...startOn(store, time) };
  await here.watcher.rebuild();
  let isAlive = true;
  const there = {
    ...first,
    /** From now on it neither fills nor notes anything, as after kill -9. */
    kill() {
      isAlive = false;
      first.storage.failsToNote = true;
    },
  };
  return {
    here,
    there,
    time,
    async tell(...strategyIds: string[]): Promise<void> {
      here.storage.elsewhere.committed(strategyIds);
      if (isAlive) there.storage.elsewhere.committed(strategyIds);
      await here.settled();
      await there.settled();
    },
  };
}
