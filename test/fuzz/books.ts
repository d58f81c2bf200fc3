// The books of one strategy at the end of a run, read from the database, recomputed, and held against every answer that it
// was given.
import type { StrategyType } from "../../src/domain/account.ts";
import { units } from "../support/exact.ts";
import { futuresFaults } from "./futures-books.ts";
import type { KnownOrder } from "./scene.ts";
import { type Assets, spotFaults } from "./spot-books.ts";
import { StoredRows, type StoredStrategy } from "./stored-rows.ts";

/** Every placement that was answered 200. */
export type Answered = { readonly orders: Iterable<KnownOrder>; readonly legs: Iterable<KnownOrder> };

export class Books {
  readonly #rows: StoredRows;
  readonly #assets: ReadonlyMap<string, Assets>;

  /** `assets` by symbol, of spot. */
  constructor(dataDir: string, assets: ReadonlyMap<string, Assets>) {
    this.#rows = new StoredRows(dataDir);
    this.#assets = assets;
  }

  /** Everything that is wrong with a strategy's books. */
  faultsOf(strategyId: string, family: StrategyType, answered: Answered): string[] {
    const strategy = this.#rows.read(strategyId);
    return [
      ...numberingFaults(strategy),
      ...answerFaults(strategy, answered),
      ...tradeFaults(strategy),
      ...(family === "SPOT"
        ? spotFaults(strategy, (symbol) => this.#assetsOf(symbol))
        : futuresFaults(strategy)),
    ];
  }

  close(): void {
    this.#rows.close();
  }

  #assetsOf(symbol: string): Assets {
    const assets = this.#assets.get(symbol);
    if (assets === undefined) throw new Error(`only what is listed is traded: ${symbol}`);
    return assets;
  }
}

/** Ids count from one, those of orders and legs together; a client id names one order, and one leg. */
function numberingFaults({ orders, trades, legs }: StoredStrategy): string[] {
  const ids = [...orders.map(({ orderId }) => orderId), ...legs.map(({ legId }) => legId)];
  const faults = [
    ...sequenceFaults("order or leg", ids),
    ...sequenceFaults(
      "trade",
      trades.map(({ tradeId }) => tradeId),
    ),
  ];
  const isRepeated = (clientIds: readonly string[]) => new Set(clientIds).size !== clientIds.length;
  if (isRepeated(legs.map(({ clientLegId }) => clientLegId))) faults.push("a leg's client id is there twice");
  // The order of a leg that fired has the leg's client id, which a client may have given to an order, too.
  const fired = firedOrders(legs);
  const own = orders.filter(({ orderId }) => !fired.has(orderId));
  if (isRepeated(own.map(({ clientOrderId }) => clientOrderId))) faults.push("a client id is there twice");
  return faults;
}

function sequenceFaults(what: string, ids: readonly number[]): string[] {
  const sorted = ids.toSorted((one, other) => one - other);
  return sorted.flatMap((id, index) =>
    id === index + 1 ? [] : [`the ${what} ${index + 1} has the id ${id}`],
  );
}

/** Every answered placement is there as it was answered, and nothing else but what the service did by itself. */
function answerFaults({ orders, legs }: StoredStrategy, answered: Answered): string[] {
  const fired = firedOrders(legs);
  return [
    ...missingFaults(
      "order",
      answered.orders,
      orders.filter(({ orderId }) => !fired.has(orderId)),
      /^(close|liquidation)#[0-9]+$/,
    ),
    ...missingFaults(
      "leg",
      answered.legs,
      legs.map(({ legId, clientLegId, symbol }) => ({ orderId: legId, clientOrderId: clientLegId, symbol })),
      /^(stopLoss|takeProfit)\/[0-9]+$/,
    ),
  ];
}

function missingFaults(
  what: "order" | "leg",
  answered: Iterable<KnownOrder>,
  stored: readonly KnownOrder[],
  ofService: RegExp,
): string[] {
  const faults: string[] = [];
  const byClientId = new Map(stored.map((each) => [each.clientOrderId, each]));
  const expected = new Set<string>();
  for (const { orderId, clientOrderId, symbol } of answered) {
    expected.add(clientOrderId);
    const found = byClientId.get(clientOrderId);
    if (found?.orderId !== orderId || found.symbol !== symbol) {
      faults.push(
        `${clientOrderId} was answered as ${what} ${orderId} of ${symbol}, not as ${JSON.stringify(found)}`,
      );
    }
  }
  for (const { clientOrderId } of stored) {
    if (!expected.has(clientOrderId) && !ofService.test(clientOrderId)) {
      faults.push(`the ${what} ${clientOrderId} is there and no answer said so`);
    }
  }
  return faults;
}

function firedOrders(legs: StoredStrategy["legs"]): ReadonlySet<number> {
  return new Set(legs.flatMap(({ fired }) => (fired === null ? [] : [fired.orderId])));
}

/** Trades add up to what their orders say of themselves. */
function tradeFaults({ orders, trades }: StoredStrategy): string[] {
  const faults: string[] = [];
  const executed = new Map<number, { quantity: bigint; quote: bigint }>();
  for (const { orderId, quantity, quoteQuantity } of trades) {
    const sum = executed.get(orderId) ?? { quantity: 0n, quote: 0n };
    executed.set(orderId, {
      quantity: sum.quantity + units(quantity),
      quote: sum.quote + units(quoteQuantity),
    });
  }
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
