// The books of one strategy at the end of a run, read from the database and recomputed without a look at the program's own
// arithmetic: from the seed, its trades and its open orders; and held against every answer that it was given.
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { costOf, decimalText, expectedFill, units } from "../support/exact.ts";
import type { KnownOrder } from "./scene.ts";

type StoredOrder = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly status: string;
  readonly price: string;
  readonly stopPrice: string;
  readonly quantity: string;
  readonly executedQuantity: string;
  readonly executedQuote: string;
};

type StoredTrade = {
  readonly tradeId: number;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly price: string;
  readonly quantity: string;
  readonly quoteQuantity: string;
  readonly fee: string;
  readonly feeAsset: string;
};

type Assets = { readonly base: string; readonly quote: string };
type Held = { owned: bigint; locked: bigint };

/** What a spot strategy starts with. Source: specification section 1. */
const SEED = { asset: "USDT", amount: "200" };

export class Books {
  readonly #database: DatabaseSync;
  readonly #orders: StatementSync;
  readonly #trades: StatementSync;
  readonly #state: StatementSync;
  readonly #assets: ReadonlyMap<string, Assets>;

  /** `assets` by symbol. */
  constructor(dataDir: string, assets: ReadonlyMap<string, Assets>) {
    this.#database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
    this.#orders = this.#database.prepare("SELECT body FROM orders WHERE strategy_id = ? ORDER BY order_id");
    this.#trades = this.#database.prepare("SELECT body FROM trades WHERE strategy_id = ? ORDER BY trade_id");
    this.#state = this.#database.prepare("SELECT state FROM strategies WHERE id = ?");
    this.#assets = assets;
  }

  /** Everything that is wrong with a spot strategy's books; `answered` is every placement that was answered 200. */
  faultsOf(strategyId: string, answered: Iterable<KnownOrder>): string[] {
    const orders = bodies<StoredOrder>(this.#orders, strategyId);
    const trades = bodies<StoredTrade>(this.#trades, strategyId);
    const { state } = this.#state.get(strategyId) as { state: string };
    const { balances } = JSON.parse(state) as { balances: Record<string, { free: string; locked: string }> };
    return [
      ...answerFaults(orders, answered),
      ...tradeFaults(orders, trades),
      ...this.#balanceFaults(orders, trades, balances),
    ];
  }

  close(): void {
    this.#database.close();
  }

  #balanceFaults(
    orders: readonly StoredOrder[],
    trades: readonly StoredTrade[],
    balances: Readonly<Record<string, { free: string; locked: string }>>,
  ): string[] {
    const held = new Map<string, Held>([[SEED.asset, { owned: units(SEED.amount), locked: 0n }]]);
    const of = (asset: string): Held => {
      const known = held.get(asset) ?? { owned: 0n, locked: 0n };
      held.set(asset, known);
      return known;
    };
    for (const { symbol, side, quantity, quoteQuantity, fee, feeAsset } of trades) {
      const { base, quote } = this.#assetsOf(symbol);
      const direction = side === "BUY" ? 1n : -1n;
      of(base).owned += direction * units(quantity);
      of(quote).owned -= direction * units(quoteQuantity);
      of(feeAsset).owned -= units(fee);
    }
    for (const order of orders.filter(({ status }) => status === "NEW")) {
      const { base, quote } = this.#assetsOf(order.symbol);
      const price = units(order.price) > 0n ? order.price : order.stopPrice;
      if (order.side === "BUY") of(quote).locked += costOf(price, order.quantity);
      else of(base).locked += units(order.quantity);
    }
    const assets = new Set([...held.keys(), ...Object.keys(balances)]);
    return [...assets].flatMap((asset) => {
      const { owned, locked } = held.get(asset) ?? { owned: 0n, locked: 0n };
      const expected = `${decimalText(owned - locked)} free and ${decimalText(locked)} locked`;
      const { free, locked: stored } = balances[asset] ?? { free: "0", locked: "0" };
      const actual = `${decimalText(units(free))} free and ${decimalText(units(stored))} locked`;
      return actual === expected ? [] : [`of ${asset} there are ${actual}, not ${expected}`];
    });
  }

  #assetsOf(symbol: string): Assets {
    const assets = this.#assets.get(symbol);
    if (assets === undefined) throw new Error(`only what is listed is traded: ${symbol}`);
    return assets;
  }
}

/** Ids count from one; every answered placement is there once, and nothing else but the sales of a close. */
function answerFaults(orders: readonly StoredOrder[], answered: Iterable<KnownOrder>): string[] {
  const faults: string[] = [];
  const byClientId = new Map(orders.map((order) => [order.clientOrderId, order]));
  if (byClientId.size !== orders.length) faults.push("a client id is there more than once");
  orders.forEach(({ orderId }, index) => {
    if (orderId !== index + 1) faults.push(`order ${index + 1} has the id ${orderId}`);
  });
  const expected = new Set<string>();
  for (const { orderId, clientOrderId, symbol } of answered) {
    expected.add(clientOrderId);
    const stored = byClientId.get(clientOrderId);
    if (stored?.orderId !== orderId || stored.symbol !== symbol) {
      faults.push(
        `${clientOrderId} was answered as order ${orderId} of ${symbol}, not as ${JSON.stringify(stored)}`,
      );
    }
  }
  for (const { clientOrderId } of orders) {
    if (!expected.has(clientOrderId) && !/^close#[0-9]+$/.test(clientOrderId)) {
      faults.push(`${clientOrderId} is there and no answer said so`);
    }
  }
  return faults;
}

/** Trades count from one, cost what the rules say, and add up to what their orders say of themselves. */
function tradeFaults(orders: readonly StoredOrder[], trades: readonly StoredTrade[]): string[] {
  const faults: string[] = [];
  const executed = new Map<number, { quantity: bigint; quote: bigint }>();
  trades.forEach(({ tradeId, orderId, price, quantity, quoteQuantity, side, fee }, index) => {
    if (tradeId !== index + 1) faults.push(`trade ${index + 1} has the id ${tradeId}`);
    const expected = expectedFill({ price, qty: quantity, isBuyer: side === "BUY" });
    const isExpected =
      units(quoteQuantity) === units(expected.quoteQty) && units(fee) === units(expected.commission);
    if (!isExpected) {
      faults.push(`trade ${tradeId} is for ${quoteQuantity} less ${fee}, not ${JSON.stringify(expected)}`);
    }
    const sum = executed.get(orderId) ?? { quantity: 0n, quote: 0n };
    executed.set(orderId, {
      quantity: sum.quantity + units(quantity),
      quote: sum.quote + units(quoteQuantity),
    });
  });
  for (const { orderId, status, quantity, executedQuantity, executedQuote } of orders) {
    const sum = executed.get(orderId) ?? { quantity: 0n, quote: 0n };
    executed.delete(orderId);
    const isWhole = (status === "FILLED") === (units(executedQuantity) === units(quantity));
    if (!isWhole || sum.quantity !== units(executedQuantity) || sum.quote !== units(executedQuote)) {
      faults.push(
        `order ${orderId} is ${status} with ${executedQuantity} of ${quantity}, and its trades say otherwise`,
      );
    }
  }
  for (const orderId of executed.keys()) faults.push(`a trade belongs to no order: ${orderId}`);
  return faults;
}

function bodies<Row>(statement: StatementSync, strategyId: string): Row[] {
  return (statement.all(strategyId) as { body: string }[]).map(({ body }) => JSON.parse(body) as Row);
}
