// What answers have promised, and when: orders in answers as they left the gateway, keys as they were shown.
// A promise made before a power cut must hold after it.
import type { DiskRecord } from "./recording.ts";

/** An order as an answer showed it. */
export type ToldOrder = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly status: string;
  readonly executedQty: string;
};

export type Promises = {
  /** The last known state by client order id. */
  readonly orders: Map<string, ToldOrder>;
  readonly apiKeys: Set<string>;
};

export function noPromises(): Promises {
  return { orders: new Map(), apiKeys: new Set() };
}

export function copyOf({ orders, apiKeys }: Promises): Promises {
  return { orders: new Map(orders), apiKeys: new Set(apiKeys) };
}

/** Adds the promises of a record. */
export function hear(promises: Promises, record: DiskRecord): void {
  if (record.kind !== "SENT") return;
  const text = record.data.toString("utf8");
  for (const order of ordersIn(text)) {
    const known = promises.orders.get(order.clientOrderId);
    // Of two answers that cross on their way the final one holds.
    if (known === undefined || known.status === "NEW") promises.orders.set(order.clientOrderId, order);
  }
  for (const [apiKey] of text.matchAll(/lyre_bot_[0-9a-f]{64}/g)) promises.apiKeys.add(apiKey);
}

/**
 * The orders in the answers of one piece of a stream. A piece may hold several answers, or only the body of
 * one.
 */
function ordersIn(text: string): ToldOrder[] {
  return text.split(/(?=HTTP\/1\.1 )/).flatMap((answer) => {
    if (answer.startsWith("HTTP/1.1 ") && !answer.startsWith("HTTP/1.1 200 ")) return [];
    const start = answer.startsWith("HTTP/1.1 ") ? answer.indexOf("\r\n\r\n") + 4 : 0;
    if (!/^[[{]/.test(answer.slice(start))) return [];
    const body = JSON.parse(answer.slice(start));
    return [body]
      .flat()
      .flatMap(({ orderId, clientOrderId, origClientOrderId, status, executedQty }) =>
        typeof orderId === "number" && typeof clientOrderId === "string"
          ? [{ orderId, clientOrderId: origClientOrderId ?? clientOrderId, status, executedQty }]
          : [],
      );
  });
}
