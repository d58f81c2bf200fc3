// What is the strategy's own on a chart: its fills as markers at their candles, and lines at the prices that matter to it.
import type {
  CandleShape,
  LegShape,
  OrderShape,
  PositionShape,
  TradeShape,
} from "../../../../../src/dashboard/shapes.ts";
import { grouped, magnitude, signOf, subtract, trimZeros } from "../../../ui/decimals.ts";
import { placeAt } from "./candles.ts";

/** The fills of one order in one candle. */
export type FillMarker = {
  readonly openTime: number;
  readonly orderId: number;
  readonly side: "BUY" | "SELL";
  readonly fills: number;
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

/** Lines beyond this many would hide the candles; those of positions and the newest orders stay. */
export const LINES_MAX = 60;

/** In the order of time; fills before the first candle are left out. */
export function fillMarkers(
  trades: readonly TradeShape[],
  candles: readonly CandleShape[],
): readonly FillMarker[] {
  const markers = new Map<string, FillMarker>();
  for (const { orderId, side, at } of trades) {
    const place = placeAt(candles, at);
    const openTime = place === null ? undefined : candles[place]?.openTime;
    if (openTime === undefined) continue;
    const name = `${openTime} ${orderId}`;
    const fills = (markers.get(name)?.fills ?? 0) + 1;
    markers.set(name, { openTime, orderId, side, fills });
  }
  return [...markers.values()].sort(
    (one, other) => one.openTime - other.openTime || one.orderId - other.orderId,
  );
}

/** Of one symbol. */
export function priceLines({
  positions,
  legs,
  orders,
}: {
  readonly positions: readonly PositionShape[];
  readonly legs: readonly LegShape[];
  readonly orders: readonly OrderShape[];
}): readonly PriceLine[] {
  return [...positions.flatMap(ofPosition), ...legs.map(ofLeg), ...orders.flatMap(ofOrder)].slice(
    0,
    LINES_MAX,
  );
}

function ofPosition({ symbol, quantity, entryPrice, liquidationPrice }: PositionShape): PriceLine[] {
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

function ofLeg({ legId, kind, triggerPrice }: LegShape): PriceLine {
  const isProfit = kind === "TAKE_PROFIT";
  return {
    id: `leg ${legId}`,
    kind: isProfit ? "take-profit" : "stop-loss",
    price: triggerPrice,
    label: isProfit ? "TP" : "SL",
    says: isProfit ? "Take profit, by the mark price" : "Stop loss, by the mark price",
    orderId: null,
  };
}

/** A stop has a line at its trigger; one with a limit another at that. */
function ofOrder({ orderId, side, price, stopPrice, quantity, executedQuantity }: OrderShape): PriceLine[] {
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
