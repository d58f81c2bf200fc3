// Signals in a few words. The order of a signal is as the client sent it, so nothing of it is taken for
// granted.
import type { SignalJson } from "../../../../../src/dashboard-api/schemas.ts";
import { inWords } from "../../../ui/badge.tsx";
import type { TimelineEntry } from "../../../ui/figures/figures.tsx";

/** "Buy 0.5 BTCUSDT, limit at 60000"; the fields that are there. */
export function signalInWords(order: SignalJson["order"]): string {
  const side = text(order.tradeType);
  const what = [side === undefined ? undefined : inWords(side), text(order.quantity), text(order.symbol)];
  const how = [
    text(order.orderType ?? "MARKET")
      ?.toLowerCase()
      .replaceAll("_", " "),
    prefixed("for ", text(order.quoteOrderQty)),
    prefixed("at ", text(order.price)),
  ];
  const trigger = prefixed(", trigger ", text(order.stopPrice)) ?? "";
  const isOrder = what.some((part) => part !== undefined);
  return isOrder ? `${joined(what)}, ${joined(how)}${trigger}` : "–";
}

/** What happened to it, oldest first. */
export function signalHistory(signal: SignalJson): readonly TimelineEntry[] {
  const { receivedAt, processedAt, status, reason, attempts, orderId } = signal;
  const received = { at: receivedAt, says: "Received and recorded" };
  switch (status) {
    case "RECEIVED":
      return [received, { at: null, says: "Waiting for execution" }];
    case "FAILED":
      return [
        received,
        {
          at: processedAt,
          says: `Attempted ${times(attempts)}; it is retried automatically: ${reason ?? "no reason given"}`,
        },
      ];
    case "REJECTED":
      return [received, { at: processedAt, says: `Rejected: ${reason ?? "no reason given"}` }];
    case "EXECUTED":
      return [received, { at: processedAt, says: `Executed as order ${orderId ?? "–"}` }];
  }
}

export function times(count: number): string {
  if (count === 1) return "once";
  return count === 2 ? "twice" : `${count} times`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" ");
}

function prefixed(prefix: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${prefix}${value}`;
}
