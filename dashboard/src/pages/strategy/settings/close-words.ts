// What closing a strategy would do, in short.
import type { ClosePreviewJson } from "../../../../../src/dashboard-api/schemas.ts";

/** One line each of what is canceled, sold and left; what does not occur has no line. */
export function closeInWords({
  cancelled,
  legs,
  sold,
  dust,
  waitingFor,
}: ClosePreviewJson): readonly string[] {
  const now = sold.filter(({ brings }) => brings !== null);
  return [
    ...(cancelled.length === 0
      ? []
      : [`${counted(cancelled.length, "open order is", "open orders are")} canceled.`]),
    ...(legs.length === 0
      ? []
      : [
          `${counted(legs.length, "take profit or stop loss is", "take profits and stop losses are")} canceled.`,
        ]),
    ...now.map(
      ({ side, quantity, symbol }) =>
        `${quantity} ${symbol} is ${side === "SELL" ? "sold" : "bought back"} at market.`,
    ),
    ...(waitingFor.length === 0 ? [] : [`It waits for the market of ${waitingFor.join(", ")}.`]),
    ...dust.map(({ asset, quantity }) => `${quantity} ${asset} is too small to sell, and stays.`),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
