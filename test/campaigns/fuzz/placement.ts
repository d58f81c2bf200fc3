// Spot placements that make sense: of all four types, near the market and far from it, mostly affordable; now
// and then against one filter.
import { decimalText } from "../../support/exact.ts";
import type { Draw } from "./draw.ts";
import type { Pair } from "./pairs.ts";
import type { Parameter, Scenario } from "./scenario.ts";
import {
  breakFilter,
  drawClientId,
  drawPrice,
  drawTicks,
  firstOf,
  ONE,
  onTick,
  quantityFor,
  type Terms,
  textOf,
} from "./terms.ts";

/**
 * What an order is worth, in dollars: above every minimum; sales are smaller, since a purchase came before.
 */
const DOLLARS_MIN = 6;
const DOLLARS_SPAN = { BUY: 30, SELL: 6 };
const DOLLARS_SPAN_BEYOND_MEANS = 400;
const DOLLARS_PER_BITCOIN_ABOUT = 50_000n;

/** Far, in hundredths of the price. */
const FAR = { down: 70n, up: 140n };

/**
 * The parameters of a placement; the client id is the request's own, an earlier one, or left to the gateway.
 */
export function drawPlacement(draw: Draw, scenario: Scenario, requestNumber: number): Parameter[] {
  const isFirst = scenario.orders.size === 0;
  const pair = isFirst ? firstOf(scenario) : draw.pick([firstOf(scenario), ...scenario.pairs]);
  const side = isFirst || draw.chance(0.55) ? "BUY" : "SELL";
  const type = isFirst
    ? "MARKET"
    : draw.pick(["MARKET", "MARKET", "LIMIT", "LIMIT", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"]);
  const worth = drawWorth(draw, pair, side);
  const terms = drawTerms(draw, pair, side, type, worth);
  if (draw.chance(0.08)) breakFilter(draw, pair, terms);

  const parameters: Parameter[] = [
    ["symbol", pair.symbol],
    ["side", side],
    ["type", type],
  ];
  const isByQuote = type === "MARKET" && side === "BUY" && draw.chance(0.4);
  if (isByQuote) parameters.push(["quoteOrderQty", decimalText(worth)]);
  else parameters.push(["quantity", textOf(draw, terms.quantity)]);
  if (type.endsWith("LIMIT")) parameters.push(["price", textOf(draw, terms.price)], ["timeInForce", "GTC"]);
  if (type.startsWith("STOP")) parameters.push(["stopPrice", textOf(draw, terms.stopPrice)]);
  const clientOrderId = drawClientId(draw, scenario.orders, `f${requestNumber}`);
  if (clientOrderId !== null) parameters.push(["newClientOrderId", clientOrderId]);
  if (draw.chance(0.1)) parameters.push(["newOrderRespType", draw.pick(["ACK", "RESULT", "FULL"])]);
  return parameters;
}

function drawTerms(draw: Draw, pair: Pair, side: "BUY" | "SELL", type: string, worth: bigint): Terms {
  const isBuy = side === "BUY";
  const price = drawPrice(draw, pair, isBuy, FAR);
  const stopPrice = drawStopPrice(draw, pair, isBuy);
  const paid = type === "MARKET" ? pair.ask : type === "STOP_LOSS" ? stopPrice : price;
  return { price, stopPrice, quantity: quantityFor(worth, paid, pair) };
}

/** A trigger: near the market, far from it, or on its wrong side. */
function drawStopPrice(draw: Draw, { bid, ask, tick }: Pair, isBuy: boolean): bigint {
  const ticks = tick + drawTicks(draw, tick);
  const isAbove = draw.chance(0.1) ? !isBuy : isBuy;
  if (draw.chance(0.5)) return isAbove ? ask + ticks : bid - ticks;
  return onTick(isAbove ? (ask * 13n) / 10n : (bid * 7n) / 10n, tick);
}

function drawWorth(draw: Draw, { quote }: Pair, side: "BUY" | "SELL"): bigint {
  const span = draw.chance(0.05) ? DOLLARS_SPAN_BEYOND_MEANS : DOLLARS_SPAN[side];
  const dollars = BigInt(DOLLARS_MIN + draw.below(span)) * ONE;
  return quote === "BTC" ? dollars / DOLLARS_PER_BITCOIN_ABOUT : dollars;
}
