// The orders and legs of one strategy at the end of a run, compared with every answer that it received.
import { firedOrders } from "../harness/books.ts";
import type { StoredStrategy } from "../harness/stored-rows.ts";
import type { KnownOrder } from "./scenario.ts";

/** Every placement that was answered 200. */
export type Answered = { readonly orders: Iterable<KnownOrder>; readonly legs: Iterable<KnownOrder> };

/**
 * Every answered placement is there as it was answered, and nothing else but what the service did by itself.
 */
export function answerFaults({ orders, legs }: StoredStrategy, answered: Answered): string[] {
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
