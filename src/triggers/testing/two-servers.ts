// Two trigger engines in parallel on one database, as two servers.
import type { StrategyType } from "../../domain/account.ts";
import type { StrictTerms } from "../../domain/fill-profile.ts";
import { createFixture, startOn } from "./fixture.ts";

/**
 * Two servers on one database, both started; `notify` announces to each that the other has committed to
 * strategies.
 */
export async function twoServers(
  strategies: readonly string[] = ["one"],
  type: StrategyType = "SPOT",
  strict?: Partial<StrictTerms>,
) {
  const first = await createFixture({ strategies, type, ...(strict !== undefined && { strict }) });
  const { store, time } = first;
  await first.triggers.open();
  const here = { store, ...startOn(store, time, type) };
  await here.triggers.open();
  let isAlive = true;
  const there = {
    ...first,
    /** From now on it neither fills nor stores anything, as after kill -9. */
    kill() {
      isAlive = false;
      first.storage.failsToNote = true;
    },
  };
  return {
    here,
    there,
    time,
    async notify(...strategyIds: string[]): Promise<void> {
      const committed = strategyIds.map((strategyId) => ({ strategyId, type }));
      here.storage.elsewhere.committed(committed);
      if (isAlive) there.storage.elsewhere.committed(committed);
      await here.settled();
      await there.settled();
    },
  };
}
