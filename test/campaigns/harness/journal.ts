// Whether the journal makes the account: replays every entry from the first, and compares the outcome with
// what is stored.
import { type Account, emptyAccount } from "../../../src/domain/account.ts";
import { apply } from "../../../src/engine/apply.ts";
import { encodeOrder, encodeState } from "../../../src/store/codec.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Fault } from "./faults.ts";

const READINGS_MAX = 20;

/** The faults of a strategy's journal. A gateway may be running. */
export async function journalFaults(store: Store, strategyId: string): Promise<Fault[]> {
  let stored = await store.loadAccount(strategyId);
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const entries = await store.listEntries(strategyId);
    const after = await store.loadAccount(strategyId);
    if (after === null) return [{ kind: "LOST", what: `the strategy ${strategyId} is gone` }];
    // The market may have moved it while its journal was read.
    if (after.version === stored?.version) {
      const replayed = emptyAccount(strategyId, after.account.type);
      for (const { events } of entries) for (const event of events) apply(replayed, event);
      if (textOf(replayed) === textOf(after.account)) return [];
      const what = `the journal of ${strategyId} makes ${textOf(replayed)}, not ${textOf(after.account)}`;
      return [{ kind: "JOURNAL", what }];
    }
    stored = after;
  }
  throw new Error(`the journal of ${strategyId} did not stand still for one of ${READINGS_MAX} readings`);
}

function textOf(account: Account): string {
  const balances = new Map([...account.balances].sort(([left], [right]) => (left < right ? -1 : 1)));
  return encodeState({ ...account, balances }) + [...account.openOrders.values()].map(encodeOrder).join();
}
