// What is the strategy's own on a chart: its fills as markers at their candles, and lines at the prices that
// matter to it.
import type {
  CandleJson,
  LegJson,
  OrderJson,
  PositionJson,
  TradeJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { grouped, magnitude, signOf, subtract, trimZeros } from "../../../ui/figures/decimals.ts";
import { placeAt } from "./candles.ts";

/**
 * What was bought, or sold, in one candle: one marker, however many orders it was, since a pile of them would
 * hide the candles.
 */
export type FillMarker = {
  readonly openTime: number;
  readonly side: "BUY" | "SELL";
  /** The newest of its orders. */
  readonly orderId: number;
  readonly orders: number;
};

export type LineKind = "entry" | "liquidation" | "take-profit" | "stop-loss" | "buy" | "sell" | "stop";
export type PriceLine = {
  /** Unique on its chart. */
  readonly id: string;
  readonly kind: LineKind;
  readonly price: string;
  /** At the chart's edge. */
  readonly label: string;
  /** In the list below the chart. */
  readonly says: string;
  readonly orderId: number | null;
};

/** More drawn lines would hide the candles: those of positions and the newest orders are drawn. */
export const LINES_MAX = 60;

/** In the order of time; fills before the first candle are left out. */
export function fillMarkers(
  trades: readonly TradeJson[],
  candles: readonly CandleJson[],
): readonly FillMarker[] {
  const found = new Map<string, { openTime: number; side: FillMarker["side"]; orderIds: Set<number> }>();
  for (const { orderId, side, at } of trades) {
    const place = placeAt(candles, at);
    const openTime = place === null ? undefined : candles[place]?.openTime;
    if (openTime === undefined) continue;
    const name = `${openTime} ${side}`;
    const orderIds = found.get(name)?.orderIds ?? new Set();
    found.set(name, { openTime, side, orderIds: orderIds.add(orderId) });
  }
  return [...found.values()]
    .map(({ orderIds, ...rest }) => ({ ...rest, orderId: Math.max(...orderIds), orders: orderIds.size }))
    .sort((one, other) => one.openTime - other.openTime || one.side.localeCompare(other.side, "en-GB"));
}

/** Of one symbol. */
export function priceLines({
  positions,
  legs,
  orders,
}: {
  readonly positions: readonly PositionJson[];
  readonly legs: readonly LegJson[];
  readonly orders: readonly OrderJson[];
}): readonly PriceLine[] {
  return [...positions.flatMap(ofPosition), ...legs.map(ofLeg), ...orders.flatMap(ofOrder)];
}

function ofPosition({ symbol, quantity, entryPrice, liquidationPrice }: PositionJson): PriceLine[] {
  const direction = signOf(quantity) > 0 ? "Long" : "Short";
  const size = grouped(magnitude(quantity));
  const entry: PriceLine = {
    id: `entry ${symbol}`,
    kind: "entry",
    price: entryPrice,
    label: `${direction} ${size}`,
    says: `Entry, ${direction.toLowerCase()} ${size}`,
    orderId: null,
  };
  if (liquidationPrice === null) return [entry];
  const liquidation = { id: `liquidation ${symbol}`, kind: "liquidation", price: liquidationPrice } as const;
  return [
    entry,
    { ...liquidation, label: "Liquidation", says: "Liquidation, by the mark price", orderId: null },
  ];
}

function ofLeg({ legId, kind, triggerPrice, triggeredBy, status, entryId }: LegJson): PriceLine {
  const isProfit = kind === "TAKE_PROFIT";
  const name = isProfit ? "Take profit" : "Stop loss";
  const isPending = status === "PENDING";
  return {
    id: `leg ${legId}`,
    kind: isProfit ? "take-profit" : "stop-loss",
    price: triggerPrice,
    label: `${isProfit ? "TP" : "SL"}${isPending ? ` of order ${entryId}` : ""}`,
    says: `${name}${isPending ? `, once order ${entryId} is filled` : ""}, by the ${triggeredBy === "LAST" ? "last" : "mark"} price`,
    orderId: isPending ? entryId : null,
  };
}

/** A stop has a line at its trigger; one with a limit another at that. */
function ofOrder({ orderId, side, price, stopPrice, quantity, executedQuantity }: OrderJson): PriceLine[] {
  const name = side === "BUY" ? "Buy" : "Sell";
  const rest = grouped(trimZeros(subtract(quantity, executedQuantity)));
  const trigger: PriceLine[] =
    stopPrice === null
      ? []
      : [
          {
            id: `stop ${orderId}`,
            kind: "stop",
            price: stopPrice,
            label: `Stop ${name.toLowerCase()} ${rest}`,
            says: `Trigger of stop order ${orderId}, ${name.toLowerCase()} ${rest}`,
            orderId,
          },
        ];
  if (price === null) return trigger;
  const limit: PriceLine = {
    id: `order ${orderId}`,
    kind: side === "BUY" ? "buy" : "sell",
    price,
    label: `${name} ${rest}`,
    says: `${stopPrice === null ? "Limit order" : "Limit of stop order"} ${orderId}, ${name.toLowerCase()} ${rest}`,
    orderId,
  };
  return [...trigger, limit];
}
