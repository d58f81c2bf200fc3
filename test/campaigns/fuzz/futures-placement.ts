// Futures placements that make sense: entries and reductions near the market and far from it, with legs and
// leverage now and then; and legs on whatever is held. Now and then against one filter, or on the wrong side.
import type { Draw } from "./draw.ts";
import type { Pair } from "./pairs.ts";
import type { Parameter, Scenario } from "./scenario.ts";
import {
  breakFilter,
  drawClientId,
  drawPrice,
  drawTicks,
  farPrice,
  firstOf,
  ONE,
  onTick,
  quantityFor,
  type Terms,
  textOf,
} from "./terms.ts";

/**
 * What an order is worth, in dollars: above every minimum, and at any leverage but the lowest a small part of
 * the margin.
 */
const DOLLARS_MIN = 55;
const DOLLARS_SPAN = 150;
const DOLLARS_SPAN_BEYOND_MEANS = 1_000_000;
/**
 * Far, in hundredths of the price: within the bounds that contracts have for it, and beyond those of some.
 */
const FAR = { down: 90n, up: 108n };

/** The parameters of an order; the client id is the request's own, an earlier one, or left to the gateway. */
export function drawFuturesPlacement(draw: Draw, scenario: Scenario, requestNumber: number): Parameter[] {
  const isFirst = scenario.orders.size === 0;
  const pair = isFirst ? firstOf(scenario) : draw.pick([firstOf(scenario), ...scenario.pairs]);
  const isBuy = draw.chance(0.5);
  const type = isFirst || draw.chance(0.5) ? "MARKET" : "LIMIT";
  const price = draw.chance(0.3) ? farPrice(pair, isBuy, FAR) : drawPrice(draw, pair, isBuy, FAR);
  const worth = BigInt(DOLLARS_MIN + draw.below(drawSpan(draw))) * ONE;
  const quantity = quantityFor(worth, type === "MARKET" ? pair.ask : price, pair);
  const terms: Terms = { quantity, price, stopPrice: 0n };
  if (draw.chance(0.2)) breakFilter(draw, pair, terms);

  const parameters: Parameter[] = [
    ["symbol", pair.symbol],
    ["side", isBuy ? "BUY" : "SELL"],
    ["type", draw.chance(0.97) ? type : draw.pick(["STOP", "STOP_MARKET", "TAKE_PROFIT_MARKET"])],
    ["quantity", textOf(draw, terms.quantity)],
  ];
  if (type === "LIMIT") parameters.push(["price", textOf(draw, terms.price)], ["timeInForce", "GTC"]);
  if (draw.chance(0.2)) parameters.push(["reduceOnly", "true"]);
  else parameters.push(...drawAttached(draw, pair, isBuy));
  if (draw.chance(0.1)) parameters.push(["leverage", draw.pick(["1", "5", "20", "75", "200"])]);
  const clientOrderId = drawClientId(draw, scenario.orders, `f${requestNumber}`);
  if (clientOrderId !== null) parameters.push(["newClientOrderId", clientOrderId]);
  if (draw.chance(0.1)) parameters.push(["newOrderRespType", draw.pick(["ACK", "RESULT"])]);
  parameters.push(...drawPositionSide(draw));
  return parameters;
}

/** The parameters of a leg. */
export function drawLeg(draw: Draw, scenario: Scenario, requestNumber: number): Parameter[] {
  const pair = draw.pick([firstOf(scenario), ...scenario.pairs]);
  const type = draw.pick(["STOP_MARKET", "TAKE_PROFIT_MARKET"]);
  const isBuy = draw.chance(0.5);
  const trigger = drawTrigger(draw, pair, isBuy === (type === "STOP_MARKET"));
  const parameters: Parameter[] = [
    ["symbol", pair.symbol],
    ["side", isBuy ? "BUY" : "SELL"],
    ["type", type],
    [draw.chance(0.5) ? "stopPrice" : "triggerPrice", textOf(draw, trigger)],
    ["closePosition", draw.chance(0.98) ? "true" : "false"],
  ];
  const clientLegId = drawClientId(draw, scenario.legs, `l${requestNumber}`);
  if (clientLegId !== null) parameters.push(["clientAlgoId", clientLegId]);
  if (draw.chance(0.1)) parameters.push(["algoType", "CONDITIONAL"]);
  if (draw.chance(0.1)) parameters.push(["workingType", draw.pick(["MARK_PRICE", "CONTRACT_PRICE", "LAST"])]);
  if (draw.chance(0.05)) parameters.push(["quantity", draw.pick(["0", "1"])]);
  parameters.push(...drawPositionSide(draw));
  return parameters;
}

/** The legs that an entry brings with it: both, one, or mostly none. */
function drawAttached(draw: Draw, pair: Pair, isBuy: boolean): Parameter[] {
  const parameters: Parameter[] = [];
  if (draw.chance(0.15)) parameters.push(["takeProfitPrice", textOf(draw, drawTrigger(draw, pair, isBuy))]);
  if (draw.chance(0.15)) parameters.push(["stopLossPrice", textOf(draw, drawTrigger(draw, pair, !isBuy))]);
  return parameters;
}

/**
 * A trigger: near the market, where the mark price soon comes by, or some hundredths away; seldom on the
 * wrong side.
 */
function drawTrigger(draw: Draw, { bid, ask, tick }: Pair, isAbove: boolean): bigint {
  const rises = draw.chance(0.1) ? !isAbove : isAbove;
  const near = (rises ? ask : bid) / 2_000n + drawTicks(draw, tick);
  const distance = onTick(draw.chance(0.5) ? near : bid / BigInt(10 + draw.below(40)), tick);
  return rises ? ask + distance : bid - distance;
}

/** Positions have one side here, which may be named. */
function drawPositionSide(draw: Draw): Parameter[] {
  return draw.chance(0.1) ? [["positionSide", draw.pick(["BOTH", "LONG", "SHORT", "ANY"])]] : [];
}

function drawSpan(draw: Draw): number {
  return draw.chance(0.05) ? DOLLARS_SPAN_BEYOND_MEANS : DOLLARS_SPAN;
}
