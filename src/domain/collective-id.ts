// The collective id groups the copiers' mirrored orders with the strategy's own. It is derived, never stored:
// a UUID (version 8) whose last 48 bits are the order id and whose other bits are a digest of the strategy's
// id, so that the order can be read from it.
import { hash } from "node:crypto";

/** Hexadecimal digits at its end that are the order id. */
const ORDER_DIGITS = 12;
const HEXADECIMAL = 16;

/** The collective id of an order, as UUID text. Source: specification 2.5. */
export function collectiveId(strategyId: string, orderId: number): string {
  const digest = hash("sha256", `${strategyId}:${orderId}`, "hex");
  const node = orderId.toString(HEXADECIMAL).padStart(ORDER_DIGITS, "0");
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(12, 15)}-8${digest.slice(15, 18)}-${node}`;
}

/** The order, or the leg, that a collective id is of. */
export function orderIdOf(collectiveId: string): number {
  return Number.parseInt(collectiveId.slice(-ORDER_DIGITS), HEXADECIMAL);
}
