// What closing a strategy would do, in short.
import type { ClosePreviewShape } from "../../../../../src/dashboard/shapes.ts";

/** One line each of what is cancelled, sold and left; what does not occur has no line. */
export function closeInWords({
  cancelled,
  legs,
  sold,
  dust,
  waitingFor,
}: ClosePreviewShape): readonly string[] {
  const now = sold.filter(({ symbol }) => !waitingFor.includes(symbol));
  return [
    ...(cancelled.length === 0
      ? []
      : [`${counted(cancelled.length, "open order is", "open orders are")} cancelled.`]),
    ...(legs.length === 0
      ? []
      : [
          `${counted(legs.length, "take profit or stop loss is", "take profits and stop losses are")} cancelled.`,
        ]),
    ...now.map(
      ({ side, quantity, symbol }) =>
        `${quantity} ${symbol} is ${side === "SELL" ? "sold" : "bought back"} at the market.`,
    ),
    ...(waitingFor.length === 0
      ? []
      : [`It waits for ${waitingFor.join(", ")}, whose market is silent now.`]),
    ...dust.map(({ asset, quantity }) => `${quantity} ${asset} is too little to be sold, and stays.`),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
