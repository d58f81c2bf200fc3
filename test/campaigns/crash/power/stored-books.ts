// Checks a data directory after a power cut with the program's own means: it must open, be complete, be exact
// to the last digit, and agree with all promises made before the cut.
import type { Kysely } from "kysely";
import { openDataDirectory } from "../../../../src/config/data-directory.ts";
import type { LoadedAccount } from "../../../../src/store/ports/trading.ts";
import type { Tables } from "../../../../src/store/schema.ts";
import type { Store } from "../../../../src/store/store.ts";
import { units } from "../../../support/exact.ts";
import { bookFaults, firedOrders } from "../../harness/books.ts";
import { journalFaults } from "../../harness/journal.ts";
import { openRows, readStored, type StoredOrder } from "../../harness/stored-rows.ts";
import { sqliteDamage } from "../../harness/stores.ts";
import type { Promises, ToldOrder } from "./promises.ts";

export type Expectation = {
  readonly promises: Promises;
  /** Every client order id that was ever sent, and by which strategy. */
  readonly sent: ReadonlyMap<string, string>;
  readonly strategyIds: readonly string[];
};

export type Finding = {
  /** Why it cannot be opened, or null. */
  readonly unopenable: string | null;
  /** Acknowledged orders and shown keys that are lost. */
  readonly lost: readonly string[];
  /** Anything else that is not in order. */
  readonly faults: readonly string[];
};

/** Opens the directory as a start does and looks through all of it. */
export async function examine(dataDir: string, expectation: Expectation): Promise<Finding> {
  const lost: string[] = [];
  const faults: string[] = [];
  try {
    const { store } = await openDataDirectory(dataDir, null);
    const rows = openRows({ dataDir, databaseUrl: null });
    try {
      faults.push(...(await sqliteDamage(rows)));
      for (const apiKey of expectation.promises.apiKeys) {
        if ((await store.findKey(apiKey))?.strategy == null) lost.push(`the key ${apiKey}`);
      }
      const found = new Map<string, StoredOrder>();
      for (const strategyId of expectation.strategyIds) {
        faults.push(...(await strategyFaults({ store, rows }, strategyId, expectation.sent, found)));
      }
      for (const told of expectation.promises.orders.values()) {
        const stored = found.get(told.clientOrderId);
        if (stored === undefined) lost.push(`${told.clientOrderId}: ${JSON.stringify(told)}`);
        else if (!mayFollow(told, stored)) {
          lost.push(`${told.clientOrderId} went from ${JSON.stringify(told)} to ${JSON.stringify(stored)}`);
        }
      }
    } finally {
      await rows.destroy();
      await store.close();
    }
  } catch (error) {
    return { unopenable: error instanceof Error ? error.message : String(error), lost, faults };
  }
  return { unopenable: null, lost, faults };
}

async function strategyFaults(
  { store, rows }: { readonly store: Store; readonly rows: Kysely<Tables> },
  strategyId: string,
  sent: ReadonlyMap<string, string>,
  found: Map<string, StoredOrder>,
): Promise<string[]> {
  const loaded = await store.loadAccount(strategyId);
  if (loaded === null) return [`the strategy ${strategyId} is gone`];
  const strategy = await readStored(rows, strategyId);
  const faults = bookFaults(strategy, loaded.account.type);
  const fired = firedOrders(strategy.legs);
  for (const order of strategy.orders) {
    const { clientOrderId, orderId } = order;
    // The service's own: it has the id of a leg, or one that no client may choose.
    if (fired.has(orderId) || clientOrderId.includes("#")) continue;
    if (sent.get(clientOrderId) !== strategyId) faults.push(`${clientOrderId} is there and was never sent`);
    found.set(clientOrderId, order);
  }
  faults.push(...(await historyFaults(store, loaded)));
  return faults.map((fault) => `${strategyId}: ${fault}`);
}

/** The journal has an entry for every version, and replayed it makes the account as it is stored. */
async function historyFaults(store: Store, { account, version }: LoadedAccount): Promise<string[]> {
  const entries = await store.listEntries(account.strategyId);
  if (entries.length !== version || entries.some((entry, index) => entry.version !== index + 1)) {
    return [`version ${version} has a journal of ${entries.length} entries`];
  }
  return (await journalFaults(store, account.strategyId)).map(({ what }) => what);
}

/** Whether the stored state of an order is the acknowledged state, or may follow it. */
function mayFollow(told: ToldOrder, stored: StoredOrder): boolean {
  if (told.orderId !== stored.orderId) return false;
  return (
    told.status === "NEW" ||
    (told.status === stored.status && units(told.executedQty) === units(stored.executedQuantity))
  );
}
