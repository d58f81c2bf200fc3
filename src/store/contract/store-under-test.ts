// The store that a case is given, and what cases do with it before and after the call that they are about.
import { expect } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { ApiKeyRecord } from "../../domain/strategy.ts";
import type { Commit } from "../ports/trading.ts";
import type { Store } from "../store.ts";
import { createdOf } from "./records.ts";

export type StoreUnderTest = {
  /** A store on a new database. */
  readonly store: Store;
  /** Where the database is: a SQLite file or the URL of a PostgreSQL database. */
  readonly place: string;
  /** Changes rows of the database, past the store. */
  changeRows(sql: string): Promise<void>;
  /** Another store on the same database, as a second process would open it. */
  reopen(): Promise<Store>;
  /** Closes every store that is still open and removes the database. */
  dispose(): Promise<void>;
};

/** The store of the case that is running, whichever that is. Outside of a case there is none. */
export type Opened = Omit<StoreUnderTest, "dispose"> & Pick<Store, "people" | "copying">;

/** Passes every call on to the store that `current` answers at that moment. */
export function openedOf(current: () => StoreUnderTest): Opened {
  const forward = <Port extends object>(port: () => Port): Port =>
    new Proxy({} as Port, { get: (_target, name) => Reflect.get(port(), name) });
  return {
    store: forward(() => current().store),
    people: forward(() => current().store.people),
    copying: forward(() => current().store.copying),
    get place() {
      return current().place;
    },
    changeRows: (sql) => current().changeRows(sql),
    reopen: () => current().reopen(),
  };
}

/** Creates strategies, each with a key; answers the first of them as it was created. */
export async function create(
  store: Store,
  ...ids: readonly string[]
): Promise<{ first: Commit; key: ApiKeyRecord }> {
  const created = ids.map((id) => createdOf(id));
  await store.createStrategies(created);
  const [first] = created;
  if (first === undefined) throw new Error("a case creates at least one strategy");
  return first;
}

/** Carries out a group of which no commit may be outdated. */
export async function commit(store: Store, group: readonly Commit[]): Promise<void> {
  expect(await store.commit(group)).toEqual(group.map(() => "COMMITTED"));
}

/** All that is read of a strategy: its account, its journal, its orders, trades, legs and incomes. */
export async function everythingOf(store: Store, strategyId: string) {
  return {
    loaded: await store.loadAccount(strategyId),
    entries: await store.listEntries(strategyId),
    orders: await store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 1_000 }),
    trades: await store.listTrades(strategyId, { symbol: "BTCUSDT", limit: 1_000 }),
    legs: await store.listLegs(strategyId, { symbol: "BTCUSDT", limit: 1_000 }),
    incomes: await store.listIncomes(strategyId, { limit: 1_000, offset: 0 }),
  };
}

/** The accounts of a type that the market can reach, by their ids. */
export async function exposedOf(store: Store, type: StrategyType = "SPOT"): Promise<string[]> {
  return (await store.listExposedAccounts(type)).map(({ strategyId }) => strategyId);
}

/** The version of each of these strategies; undefined for one that is not there. */
export async function versionsOf(store: Store, ids: readonly string[]): Promise<(number | undefined)[]> {
  return await Promise.all(ids.map(async (id) => (await store.loadAccount(id))?.version));
}
