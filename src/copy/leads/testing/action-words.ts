// An action in a line that a trader can read.
import type { LeadAction } from "../../../domain/copying.ts";
import { formatBriefly, type Price, type Quantity, ZERO } from "../../../money/decimal.ts";

export function wordsOf(action: LeadAction): string {
  const { wallet, held, lastPrices, promised } = action.lead;
  const has = [
    `${formatBriefly(wallet)} USDT`,
    ...[...held].map(([name, quantity]) => `${formatBriefly(quantity)} ${name}`),
    ...[...lastPrices].map(([symbol, price]) => `${symbol} ${formatBriefly(price)}`),
    ...[...promised].map(([symbol, quantity]) => `exits for ${formatBriefly(quantity)} ${symbol}`),
  ];
  return `${intentText(action)} | ${has.join(", ")}`;
}

function intentText(action: LeadAction): string {
  switch (action.kind) {
    case "PLACE": {
      const { orderId, side, orderType, quantity, price, stopPrice, reduceOnly, leverage, filled } = action;
      return [
        `PLACE ${orderId} ${side} ${orderType} ${formatBriefly(quantity)}`,
        ...(price > 0n ? [`limit ${formatBriefly(price)}`] : []),
        ...(stopPrice > 0n ? [`stop ${formatBriefly(stopPrice)}`] : []),
        ...(reduceOnly ? ["reduceOnly"] : []),
        ...(leverage === null ? [] : [`${leverage}x`]),
        ...(filled === null ? [] : [`filled ${filledWords(filled)}`]),
      ].join(" ");
    }
    case "CANCEL": {
      const { orderId, because, quantity = ZERO, executed = ZERO } = action;
      const part = executed > 0n ? ` executed ${formatBriefly(executed)} of ${formatBriefly(quantity)}` : "";
      return `CANCEL ${orderId} ${because}${part}`;
    }
    case "FILL":
      return `FILL ${action.orderId} ${action.side} ${filledWords(action.filled)}${action.empties ? " empties" : ""}`;
    case "PLACE_LEG":
      return `PLACE_LEG ${action.legId} ${action.side} ${action.legType} ${formatBriefly(action.triggerPrice)}`;
    case "CANCEL_LEG":
      return `CANCEL_LEG ${action.legId}`;
    case "FIRE_LEG":
      return `FIRE_LEG ${action.legId} ${action.side} ${filledWords(action.filled)}`;
    case "LIQUIDATE":
      return `LIQUIDATE ${action.orderId} ${action.side} ${filledWords(action.filled)}`;
    case "SET_LEVERAGE":
      return `SET_LEVERAGE ${action.symbol} ${action.leverage}`;
    case "CLOSE":
      return "CLOSE";
  }
}

function filledWords({ quantity, price }: { readonly quantity: Quantity; readonly price: Price }): string {
  return `${formatBriefly(quantity)} @ ${formatBriefly(price)}`;
}
