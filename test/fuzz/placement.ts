// Placements that make sense: of all four types, near the market and far from it, mostly affordable; now and then against
// one filter.
import { decimalText } from "../support/exact.ts";
import type { Draw } from "./draw.ts";
import type { Pair } from "./pairs.ts";
import type { Parameter, Scene } from "./scene.ts";

const ONE = 100_000_000n;
/** What an order is worth, in dollars: above every minimum; sales are smaller, since a purchase came before. */
const DOLLARS_MIN = 6;
const DOLLARS_SPAN = { BUY: 30, SELL: 6 };
const DOLLARS_SPAN_BEYOND_MEANS = 400;
const DOLLARS_PER_BITCOIN_ABOUT = 50_000n;
/** "Near" is within so many ticks of the best price. */
const NEAR_TICKS = 6;

type Terms = { quantity: bigint; price: bigint; stopPrice: bigint };

/** The parameters of a placement; the client id is the request's own, an earlier one, or left to the gateway. */
export function drawPlacement(draw: Draw, scene: Scene, requestNumber: number): Parameter[] {
  const isFirst = scene.orders.size === 0;
  const pair = isFirst ? firstOf(scene) : draw.pick([firstOf(scene), ...scene.pairs]);
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
  const clientOrderId = drawClientOrderId(draw, scene, requestNumber);
  if (clientOrderId !== null) parameters.push(["newClientOrderId", clientOrderId]);
  if (draw.chance(0.1)) parameters.push(["newOrderRespType", draw.pick(["ACK", "RESULT", "FULL"])]);
  return parameters;
}

function firstOf({ pairs: [first] }: Scene): Pair {
  if (first === undefined) throw new Error("a strategy has a pair to trade");
  return first;
}

function drawClientOrderId(draw: Draw, { orders }: Scene, requestNumber: number): string | null {
  if (draw.chance(0.1)) return null;
  const earlier = [...orders.keys()];
  return earlier.length > 0 && draw.chance(0.1) ? draw.pick(earlier) : `f${requestNumber}`;
}

function drawTerms(draw: Draw, pair: Pair, side: "BUY" | "SELL", type: string, worth: bigint): Terms {
  const isBuy = side === "BUY";
  const price = drawPrice(draw, pair, isBuy);
  const stopPrice = drawStopPrice(draw, pair, isBuy);
  const paid = type === "MARKET" ? pair.ask : type === "STOP_LOSS" ? stopPrice : price;
  const quantity = (worth * ONE) / (paid > 0n ? paid : 1n);
  return { price, stopPrice, quantity: ((quantity + pair.step - 1n) / pair.step) * pair.step };
}

/** A limit: met at once, near the market, or far away. */
function drawPrice(draw: Draw, { bid, ask, tick }: Pair, isBuy: boolean): bigint {
  const ticks = BigInt(draw.below(NEAR_TICKS)) * tick;
  switch (draw.below(4)) {
    case 0:
      return onTick(isBuy ? (ask * 101n) / 100n : (bid * 99n) / 100n, tick);
    case 1:
      return onTick(isBuy ? (bid * 7n) / 10n : (ask * 14n) / 10n, tick);
    default:
      return isBuy ? bid - ticks : ask + ticks;
  }
}

/** A trigger: near the market, far from it, or on its wrong side. */
function drawStopPrice(draw: Draw, { bid, ask, tick }: Pair, isBuy: boolean): bigint {
  const ticks = BigInt(1 + draw.below(NEAR_TICKS)) * tick;
  const isAbove = draw.chance(0.1) ? !isBuy : isBuy;
  if (draw.chance(0.5)) return isAbove ? ask + ticks : bid - ticks;
  return onTick(isAbove ? (ask * 13n) / 10n : (bid * 7n) / 10n, tick);
}

function drawWorth(draw: Draw, { quote }: Pair, side: "BUY" | "SELL"): bigint {
  const span = draw.chance(0.05) ? DOLLARS_SPAN_BEYOND_MEANS : DOLLARS_SPAN[side];
  const dollars = BigInt(DOLLARS_MIN + draw.below(span)) * ONE;
  return quote === "BTC" ? dollars / DOLLARS_PER_BITCOIN_ABOUT : dollars;
}

/** Off the step, off the tick, too little, too much, too far from the market, or too precise for any pair. */
function breakFilter(draw: Draw, { tick, step, bid }: Pair, terms: Terms): void {
  switch (draw.below(7)) {
    case 0:
      terms.quantity += step > 1n ? step / 2n : 0n;
      return;
    case 1:
      terms.price += tick > 1n ? tick / 2n : 0n;
      return;
    case 2:
      terms.stopPrice += tick > 1n ? tick / 2n : 0n;
      return;
    case 3:
      terms.quantity = step;
      return;
    case 4:
      terms.quantity = step * 10n ** BigInt(draw.below(16));
      return;
    case 5:
      terms.price = onTick(bid * 20n, tick);
      return;
    default:
      terms.price = draw.chance(0.5) ? 0n : tick;
  }
}

function onTick(price: bigint, tick: bigint): bigint {
  return (price / tick) * tick;
}

/** As the exchange writes it, with all its zeros; as people do; or with more digits than there are. */
function textOf(draw: Draw, value: bigint): string {
  const text = decimalText(value);
  if (draw.chance(0.01)) return `${text}1`;
  return draw.chance(0.5) ? text : text.replace(/\.?0+$/, "");
}
