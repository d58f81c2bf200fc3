// What the database holds of one strategy, as its rows say it.

import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

export type StoredOrder = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly type: string;
  readonly status: string;
  readonly price: string;
  readonly stopPrice: string;
  readonly quantity: string;
  readonly executedQuantity: string;
  readonly executedQuote: string;
  readonly reserved: string;
};

export type StoredTrade = {
  readonly tradeId: number;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly price: string;
  readonly quantity: string;
  readonly quoteQuantity: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly isMaker: boolean;
  /** Of futures only. */
  readonly realizedPnl?: string;
};

export type StoredLeg = {
  readonly legId: number;
  readonly clientLegId: string;
  readonly symbol: string;
  readonly status: string;
  readonly fired: { readonly orderId: number } | null;
};

export type StoredIncome = { readonly type: string; readonly amount: string };

export type StoredPosition = {
  readonly symbol: string;
  readonly quantity: string;
  /** In units of 1e-16. */
  readonly entryValue: string;
  readonly isolatedWallet: string;
};

export type StoredState = {
  /** The ledger accounts with a balance, by asset. */
  readonly balances: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly positions?: readonly StoredPosition[];
};

export type StoredStrategy = {
  readonly orders: readonly StoredOrder[];
  readonly trades: readonly StoredTrade[];
  readonly legs: readonly StoredLeg[];
  readonly incomes: readonly StoredIncome[];
  readonly state: StoredState;
};

export class StoredRows {
  readonly #database: DatabaseSync;
  readonly #bodies: { readonly [T in "orders" | "trades" | "legs"]: StatementSync };
  readonly #incomes: StatementSync;
  readonly #state: StatementSync;

  constructor(dataDir: string) {
    this.#database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
    const bodiesOf = (table: string, id: string) =>
      this.#database.prepare(`SELECT body FROM ${table} WHERE strategy_id = ? ORDER BY ${id}`);
    this.#bodies = {
      orders: bodiesOf("orders", "order_id"),
      trades: bodiesOf("trades", "trade_id"),
      legs: bodiesOf("legs", "leg_id"),
    };
    this.#incomes = this.#database.prepare("SELECT type, amount FROM incomes WHERE strategy_id = ?");
    this.#state = this.#database.prepare("SELECT state FROM strategies WHERE id = ?");
  }

  /** Everything of a strategy, each list in the order of its ids. */
  read(strategyId: string): StoredStrategy {
    const { state } = this.#state.get(strategyId) as { state: string };
    return {
      orders: this.#read("orders", strategyId),
      trades: this.#read("trades", strategyId),
      legs: this.#read("legs", strategyId),
      incomes: this.#incomes.all(strategyId) as StoredIncome[],
      state: JSON.parse(state),
    };
  }

  close(): void {
    this.#database.close();
  }

  #read<Row>(table: "orders" | "trades" | "legs", strategyId: string): Row[] {
    const rows = this.#bodies[table].all(strategyId) as { body: string }[];
    return rows.map(({ body }) => JSON.parse(body) as Row);
  }
}
