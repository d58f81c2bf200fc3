// Whether what a power cut left of a data directory can be opened, by the program's own means, and is in order: complete,
// exact to the last digit, and in keeping with all that was told before.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openDataDirectory } from "../../../src/data-directory.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order, Trade } from "../../../src/domain/order.ts";
import { encodeOrder } from "../../../src/store/codec.ts";
import type { LoadedAccount } from "../../../src/store/ports/trading.ts";
import type { Store } from "../../../src/store/store.ts";
import { futuresFaults } from "../../fuzz/futures-books.ts";
import { StoredRows } from "../../fuzz/stored-rows.ts";
import { decimalText, units } from "../../support/exact.ts";
import { journalFaults } from "../journal.ts";
import { SYMBOL } from "../ticks.ts";
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
  /** Told orders and shown keys that are gone. */
  readonly lost: readonly string[];
  /** Anything else that is not in order. */
  readonly faults: readonly string[];
};

const LIST_MAX = 1_000_000;

/** Opens the directory as a start does and looks through all of it. */
export async function examine(dataDir: string, expectation: Expectation): Promise<Finding> {
  const lost: string[] = [];
  const faults: string[] = [];
  try {
    const { store } = await openDataDirectory(dataDir, null);
    const rows = new StoredRows(dataDir);
    try {
      faults.push(...pageFaults(dataDir));
      for (const apiKey of expectation.promises.apiKeys) {
        if ((await store.findKey(apiKey))?.strategy == null) lost.push(`the key ${apiKey}`);
      }
      const found = new Map<string, Order>();
      for (const strategyId of expectation.strategyIds) {
        faults.push(...(await strategyFaults({ store, rows }, strategyId, expectation.sent, found)));
      }
      for (const told of expectation.promises.orders.values()) {
        const stored = found.get(told.clientOrderId);
        if (stored === undefined) lost.push(`${told.clientOrderId}: ${JSON.stringify(told)}`);
        else if (!mayFollow(told, stored)) {
          lost.push(`${told.clientOrderId} went from ${JSON.stringify(told)} to ${encodeOrder(stored)}`);
        }
      }
    } finally {
      rows.close();
      await store.close();
    }
  } catch (error) {
    return { unopenable: error instanceof Error ? error.message : String(error), lost, faults };
  }
  return { unopenable: null, lost, faults };
}

/** What SQLite itself finds wrong with its file. */
function pageFaults(dataDir: string): string[] {
  const database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"));
  try {
    const rows = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((text) => text !== "ok");
  } finally {
    database.close();
  }
}

async function strategyFaults(
  { store, rows }: { readonly store: Store; readonly rows: StoredRows },
  strategyId: string,
  sent: ReadonlyMap<string, string>,
  found: Map<string, Order>,
): Promise<string[]> {
  const loaded = await store.loadAccount(strategyId);
  if (loaded === null) return [`the strategy ${strategyId} is gone`];
  const orders = await store.listOrders(strategyId, { symbol: SYMBOL, fromOrderId: 1, limit: LIST_MAX });
  const trades = await store.listTrades(strategyId, { symbol: SYMBOL, fromTradeId: 1, limit: LIST_MAX });
  const legs = await store.listLegs(strategyId, { symbol: SYMBOL, fromLegId: 1, limit: LIST_MAX });
  const faults = [...numberingFaults(orders, legs, trades), ...tradeFaults(orders, trades)];
  for (const order of orders) {
    const { clientOrderId } = order;
    // The service's own: it has the id of a leg, or one that no client may choose.
    if (order.closesPosition === true || clientOrderId.includes("#")) continue;
    if (found.has(clientOrderId)) faults.push(`${clientOrderId} is there more than once`);
    if (sent.get(clientOrderId) !== strategyId) faults.push(`${clientOrderId} is there and was never sent`);
    found.set(clientOrderId, order);
  }
  const isSpot = loaded.account.type === "SPOT";
  faults.push(...(isSpot ? balanceFaults(loaded, orders, trades) : futuresFaults(rows.read(strategyId))));
  faults.push(...(await historyFaults(store, loaded)));
  return faults.map((fault) => `${strategyId}: ${fault}`);
}

/** Ids count from one without a gap, those of orders and legs together: nothing was lost and nothing undone. */
function numberingFaults(orders: readonly Order[], legs: readonly Leg[], trades: readonly Trade[]): string[] {
  const placed = [...orders.map(({ orderId }) => orderId), ...legs.map(({ legId }) => legId)];
  const ids = [placed.sort((one, other) => one - other), trades.map(({ tradeId }) => tradeId)];
  return ids.flatMap((each) => (each.every((id, index) => id === index + 1) ? [] : [`the ids are ${each}`]));
}

/** An order's trades add up to what it says of itself. */
function tradeFaults(orders: readonly Order[], trades: readonly Trade[]): string[] {
  const executed = new Map<number, { quantity: bigint; quote: bigint }>();
  for (const { orderId, quantity, quoteQuantity } of trades) {
    const before = executed.get(orderId) ?? { quantity: 0n, quote: 0n };
    executed.set(orderId, { quantity: before.quantity + quantity, quote: before.quote + quoteQuantity });
  }
  return orders.flatMap((order) => {
    const { quantity, quote } = executed.get(order.orderId) ?? { quantity: 0n, quote: 0n };
    return quantity === order.executedQuantity && quote === order.executedQuote
      ? []
      : [`the trades of ${order.clientOrderId} do not add up to it`];
  });
}

/** The balances, recomputed from the seed of 200 USDT, the trades and the open orders. */
function balanceFaults(
  { account }: LoadedAccount,
  orders: readonly Order[],
  trades: readonly Trade[],
): string[] {
  const owned: Record<string, bigint> = { USDT: units("200"), DOGE: 0n };
  const locked: Record<string, bigint> = { USDT: 0n, DOGE: 0n };
  const add = (to: Record<string, bigint>, asset: string, amount: bigint) => {
    to[asset] = (to[asset] ?? 0n) + amount;
  };
  for (const { side, quantity, quoteQuantity, fee, feeAsset } of trades) {
    const direction = side === "BUY" ? 1n : -1n;
    add(owned, "DOGE", direction * quantity);
    add(owned, "USDT", -direction * quoteQuantity);
    add(owned, feeAsset, -fee);
  }
  for (const { side, status, price, quantity } of orders) {
    if (status !== "NEW") continue;
    if (side === "BUY") add(locked, "USDT", (price * quantity + 99_999_999n) / 100_000_000n);
    else add(locked, "DOGE", quantity);
  }
  return Object.keys(owned).flatMap((asset) => {
    const stored = account.balances.get(asset) ?? { free: 0n, locked: 0n };
    const expected = { free: (owned[asset] ?? 0n) - (locked[asset] ?? 0n), locked: locked[asset] ?? 0n };
    return stored.free === expected.free && stored.locked === expected.locked
      ? []
      : [
          `${asset} is ${decimalText(stored.free)} free and ${decimalText(stored.locked)} locked, not ${decimalText(expected.free)} and ${decimalText(expected.locked)}`,
        ];
  });
}

/** The journal has an entry for every version, and replayed it makes the account as it is stored. */
async function historyFaults(store: Store, { account, version }: LoadedAccount): Promise<string[]> {
  const entries = await store.listEntries(account.strategyId);
  if (entries.length !== version || entries.some((entry, index) => entry.version !== index + 1)) {
    return [`version ${version} has a journal of ${entries.length} entries`];
  }
  return (await journalFaults(store, account.strategyId)).map(({ what }) => what);
}

/** Whether an order that was told as such may now stand as it does. */
function mayFollow(told: ToldOrder, stored: Order): boolean {
  if (told.orderId !== stored.orderId) return false;
  return (
    told.status === "NEW" ||
    (told.status === stored.status && units(told.executedQty) === stored.executedQuantity)
  );
}
