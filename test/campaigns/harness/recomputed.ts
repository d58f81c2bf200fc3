// Whether an account is what its own rows make it: balances and positions from the trades, the wallet from
// the incomes, what is locked from the orders; recomputed from the database without a look at the program's
// own arithmetic.
import type { StrategyType } from "../../../src/domain/account.ts";
import { ownFaults } from "./books.ts";
import type { Fault } from "./faults.ts";
import type { StoredStrategy } from "./stored-rows.ts";
import type { Beside } from "./stores.ts";

const READINGS_MAX = 20;

/** The faults of a strategy's account. A gateway may be running. */
export async function recomputedFaults(
  beside: Beside,
  strategyId: string,
  family: StrategyType,
): Promise<Fault[]> {
  let before = await readStrategy(beside, strategyId);
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const lists = await readLists(beside, strategyId);
    const after = await readStrategy(beside, strategyId);
    // The market may have moved it while its rows were read.
    if (after.version === before.version) {
      const strategy = { ...lists, state: JSON.parse(after.state) };
      const faults = ownFaults(strategy, family);
      return faults.map((what) => ({ kind: "UNBALANCED", what: `${strategyId}: ${what}` }));
    }
    before = after;
  }
  throw new Error(`${strategyId} did not stand still for one of ${READINGS_MAX} readings`);
}

async function readStrategy({ db }: Beside, strategyId: string) {
  return await db
    .selectFrom("strategies")
    .select(["version", "state"])
    .where("id", "=", strategyId)
    .executeTakeFirstOrThrow();
}

async function readLists({ db }: Beside, strategyId: string): Promise<Omit<StoredStrategy, "state">> {
  const bodies = async <Row>(table: "orders" | "trades" | "legs", id: "order_id" | "trade_id" | "leg_id") => {
    const rows = await db
      .selectFrom(table)
      .select("body")
      .where("strategy_id", "=", strategyId)
      .orderBy(db.dynamic.ref(id))
      .execute();
    return rows.map(({ body }) => JSON.parse(body) as Row);
  };
  return {
    orders: await bodies("orders", "order_id"),
    trades: await bodies("trades", "trade_id"),
    legs: await bodies("legs", "leg_id"),
    incomes: await db
      .selectFrom("incomes")
      .select(["type", "amount"])
      .where("strategy_id", "=", strategyId)
      .execute(),
  };
}
