// Whether the rows of one strategy are in order by themselves: complete, and exact to the last digit.
// Recomputed without the program's own arithmetic.
import type { StrategyType } from "../../../src/domain/account.ts";
import { units } from "../../support/exact.ts";
import { futuresFaults } from "./futures-books.ts";
import { type Assets, spotFaults } from "./spot-books.ts";
import type { StoredStrategy } from "./stored-rows.ts";

/** Everything that is wrong with a strategy's rows; `assetsOf` tells a symbol's assets. */
export function bookFaults(
  strategy: StoredStrategy,
  type: StrategyType,
  assetsOf: (symbol: string) => Assets = assetsOfUsdt,
): string[] {
  const own = type === "SPOT" ? spotFaults(strategy, assetsOf) : futuresFaults(strategy);
  return [...numberingFaults(strategy), ...tradeFaults(strategy), ...own];
}

/** What most campaigns trade is traded against one asset. */
function assetsOfUsdt(symbol: string): Assets {
  return { base: symbol.replace(/USDT$/, ""), quote: "USDT" };
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

/** The orders of legs that fired: they have the client ids of their legs. */
export function firedOrders(legs: StoredStrategy["legs"]): ReadonlySet<number> {
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
