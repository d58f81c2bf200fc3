// What is asked of a futures strategy: entries, reductions and flips at every leverage, with legs and
// without; legs, cancels and leverage; and what a watcher would do that has it all wrong. Some of it is too
// large, off the step or on the wrong side.

import { closingSide, type Position } from "../../../../src/domain/account.ts";
import type { Command, EntryOptions, PlaceOrder } from "../../../../src/domain/command.ts";
import { LEG_TYPES, type LegType, waitsForRise } from "../../../../src/domain/leg.ts";
import { type AttachedLegs, SIDES, type Side } from "../../../../src/domain/order.ts";
import { liquidationPrice } from "../../../../src/engine/futures/margin.ts";
import { floorToStep, magnitude, type Price, type Quantity, SCALE } from "../../../../src/money/decimal.ts";
import { freeOf } from "../../../../src/money/posting.ts";
import { happens, pick } from "../chance.ts";
import { cancelOne, near, type Scenario } from "../scenario.ts";

/** One of them is too high for every contract. */
const LEVERAGES = [1, 2, 3, 5, 8, 10, 20, 25, 50, 75, 100, 125, 200, 500, 1_000];
const LEVERAGE_DEFAULT = 20;

/** What somebody asks for next. */
export function drawFutures(scenario: Scenario): readonly Command[] {
  const { random, symbol } = scenario;
  const choice = random();
  if (choice < 0.55) return [randomEntry(scenario)];
  if (choice < 0.7) return [randomLeg(scenario)];
  if (choice < 0.78) return [cancelOne(scenario)];
  if (choice < 0.82) return [cancelOneLeg(scenario)];
  if (choice < 0.84) return [{ type: "CancelOpenOrders", symbol }];
  if (choice < 0.86) return [{ type: "CancelOpenLegs", symbol }];
  if (choice < 0.93) return [{ type: "ChangeLeverage", symbol, leverage: randomLeverage(random) }];
  return mistakes(scenario);
}

/**
 * Any order and any leg, reached at its own price or beside the market's; and a mark price that somebody has
 * seen.
 */
function mistakes(scenario: Scenario): readonly Command[] {
  const { random, market, orders, legs, symbol } = scenario;
  const beside = near(market.middle(symbol), random() * 400 - 200, 1n as Price);
  const commands: Command[] = [{ type: "LiquidatePosition", symbol, seen: markToSee(scenario, beside) }];
  const order = pick(random, [...orders.values()]);
  const leg = pick(random, [...legs.values()]);
  const isOwn = happens(random, 0.5);
  if (order !== undefined)
    commands.push({ type: "FillRestingOrder", orderId: order.orderId, seen: isOwn ? order.price : beside });
  if (leg !== undefined)
    commands.push({ type: "TriggerLeg", legId: leg.legId, seen: isOwn ? leg.triggerPrice : beside });
  return commands;
}

/** Some mark price, or the very one that liquidates, or one unit before or beyond it. */
function markToSee({ random, market, account, symbol }: Scenario, other: Price): Price {
  const position = account.positions.get(symbol);
  const terms = market.rules(symbol)?.contract;
  const liquidation = position && terms && liquidationPrice(position, terms);
  if (liquidation == null || happens(random, 0.7)) return other;
  return (liquidation + (pick(random, [-1n, 0n, 0n, 1n]) ?? 0n)) as Price;
}

function cancelOneLeg({ random, account, orders }: Scenario): Command {
  const known = pick(random, [...account.openLegs.keys()]);
  const other = pick(random, [...orders.keys()]) ?? 0;
  return { type: "CancelLeg", legId: known !== undefined && happens(random, 0.9) ? known : other };
}

function randomLeg({ random, market, account, symbol, clientId }: Scenario): Command {
  // Mostly where there is something to close.
  const held = happens(random, 0.9) ? pick(random, [...account.positions.values()]) : undefined;
  const position = held ?? account.positions.get(symbol);
  const closes = position !== undefined && happens(random, 0.95);
  const side = closes ? closingSide(position) : (pick(random, SIDES) ?? "BUY");
  const legType = pick(random, LEG_TYPES) ?? "STOP_MARKET";
  const where = position?.symbol ?? symbol;
  const middle = market.middle(where);
  const triggerPrice = triggerBeside(random, middle, side, legType, market.tick(where));
  return { type: "PlaceLeg", symbol: where, side, legType, triggerPrice, clientLegId: clientId };
}

function randomEntry(scenario: Scenario): PlaceOrder {
  const { random, market, account, symbol, clientId } = scenario;
  const position = account.positions.get(symbol);
  const reduces = position !== undefined && happens(random, 0.45);
  const side = reduces ? closingSide(position) : (pick(random, SIDES) ?? "BUY");
  const isLimit = happens(random, 0.6);
  const away = side === "BUY" ? 1 : -1;
  const middle = market.middle(symbol);
  const tick = market.tick(symbol);
  const distance = happens(random, 0.05) ? random() * 2_000 - 1_000 : random() * 150 - 120;
  const onTick = isLimit ? near(middle, away * distance, tick) : null;
  const price = onTick !== null && happens(random, 0.02) ? ((onTick + 1n) as Price) : onTick;
  const wanted = reduces ? randomPart(random, position) : randomSize(scenario, price ?? middle);
  const quantity = happens(random, 0.96)
    ? floorToStep(wanted, market.rules(symbol)?.marketLotSize?.stepSize ?? (1n as Quantity))
    : wanted;
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType: isLimit ? "LIMIT" : "MARKET",
    size: { quantity },
    price,
    stopPrice: null,
    clientOrderId: clientId,
    ...(happens(random, 0.9) ? { entry: randomOptions(scenario, side, price ?? middle, reduces) } : {}),
  };
}

function randomOptions(
  { random, market, symbol }: Scenario,
  side: Side,
  price: Price,
  reduces: boolean,
): EntryOptions {
  const reduceOnly = happens(random, reduces ? 0.5 : 0.05);
  const tick = market.tick(symbol);
  const legSide = side === "BUY" ? "SELL" : "BUY";
  const trigger = (type: LegType) =>
    happens(random, 0.7) ? triggerBeside(random, price, legSide, type, tick) : null;
  const attached: AttachedLegs | null =
    !reduceOnly && happens(random, 0.25)
      ? { takeProfitPrice: trigger("TAKE_PROFIT_MARKET"), stopLossPrice: trigger("STOP_MARKET") }
      : null;
  return { reduceOnly, attached, leverage: happens(random, 0.1) ? randomLeverage(random) : null };
}

/**
 * Mostly a small part of what is free, so that several stand beside each other; at times all of it, or more.
 */
function randomSize({ random, account, symbol }: Scenario, price: Price): Quantity {
  const share = happens(random, 0.08) ? 990n : BigInt(Math.floor(5 + random() ** 4 * 1_050));
  const margin = (freeOf(account.balances, "USDT") * share) / 1_000n;
  const leverage = account.leverages.get(symbol) ?? LEVERAGE_DEFAULT;
  return ((margin * BigInt(leverage) * SCALE) / price) as Quantity;
}

/** A part of a position, just all of it, or more. */
function randomPart(random: () => number, { quantity }: Position): Quantity {
  const parts = happens(random, 0.3) ? 100 : Math.floor(random() ** 2 * 250);
  return ((magnitude(quantity) * BigInt(parts)) / 100n) as Quantity;
}

/** Mostly on the side from which the price has still to come. */
function triggerBeside(random: () => number, price: Price, side: Side, type: LegType, tick: Price): Price {
  const away = waitsForRise({ side, type }) ? 1 : -1;
  return near(price, away * (random() * 400 - 40), tick);
}

function randomLeverage(random: () => number): number {
  return pick(random, LEVERAGES) ?? 1;
}
