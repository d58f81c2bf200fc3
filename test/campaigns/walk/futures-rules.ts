// Rules for single decisions of a futures strategy, written a second time: when a mark price liquidates a
// position and at what price, how large a position may become, and what open orders reserve.
import type { Account, Position } from "../../../src/domain/account.ts";
import type { OrderFilled } from "../../../src/domain/event.ts";
import type { Market } from "../../../src/domain/market.ts";
import { SIDES } from "../../../src/domain/order.ts";
import type { Bracket } from "../../../src/domain/symbol.ts";
import { SCALE } from "../../../src/money/decimal.ts";
import {
  isHealthy,
  isLiquidationPrice,
  leverageNow,
  marginAt,
  notionalLimit,
  notionalOfEntries,
  reservesDue,
  roundedUp,
} from "./margin-oracle.ts";
import type { Decided } from "./oracle.ts";

type Positions = ReadonlyMap<string, Position>;

/**
 * A mark price liquidates just the position that it leaves no more than its maintenance margin: one that was
 * seen, or that of a settlement which has moved the wallet of what is held.
 */
export function checkLiquidation(decided: Decided, before: Positions, movesWallet: boolean): void {
  const { command, events, market } = decided;
  const liquidated = new Set(
    events.flatMap((event) =>
      event.type === "OrderPlaced" && event.order.type === "LIQUIDATION" ? [event.order.orderId] : [],
    ),
  );
  const seen = seenBy(command);
  if (seen === null || (command?.type === "SettleFunding" && !movesWallet)) {
    if (liquidated.size > 0) throw new Error(`only a mark price liquidates: ${command?.type}`);
    return;
  }
  const { symbol, mark } = seen;
  const settled = events.find((event) => event.type === "FundingSettled");
  const position = settled === undefined ? before.get(symbol) : settled.position;
  const isDue = position != null && !isHealthy(position, mark, bracketsOf(market, symbol));
  if (isDue !== liquidated.size > 0)
    throw new Error(`the mark price ${mark} of ${symbol} ${isDue ? "liquidates" : "liquidates nobody"}`);
  for (const event of events) {
    if (event.type === "OrderFilled" && liquidated.has(event.trade.orderId) && position != null) {
      if (decided.account.profile.strict === null) checkLiquidated(event, position, mark, decided);
      else checkTaken(event, position, decided);
    }
  }
}

/**
 * Under `strict` the book takes what it has within the bankruptcy price, and the rest is taken over at that.
 */
function checkTaken({ trade }: OrderFilled, position: Position, { account }: Decided): void {
  const { symbol, price, fee, orderId, receipt } = trade;
  if (marginAt(position, price) < 0n)
    throw new Error(`a liquidation loses no more than the wallet: order ${orderId}, ${price}`);
  const worse = (position.quantity > 0n ? price - 1n : price + 1n) as typeof price;
  if (receipt?.cause === "TAKEOVER" && price > 0n && marginAt(position, worse) >= 0n)
    throw new Error(
      `what the book does not have is taken over at the bankruptcy price: order ${orderId}, ${price}`,
    );
  checkNothingLeft({ symbol, fee, orderId }, account);
}

function checkLiquidated(
  { trade, postings }: OrderFilled,
  position: Position,
  mark: bigint,
  { market, account }: Decided,
): void {
  const { symbol, price, quantity, fee, orderId } = trade;
  const brackets = bracketsOf(market, symbol);
  if (!isLiquidationPrice(position, { price, mark }, brackets))
    throw new Error(`a liquidation is at the price of its margin: order ${orderId}, ${price} at ${mark}`);
  checkNothingLeft({ symbol, fee, orderId }, account);
  const sum = (from: string, to: string) =>
    postings
      .filter((each) => each.from === from && each.to === to)
      .reduce((total, { amount }) => total + amount, 0n);
  const left = position.isolatedWallet - sum("isolated", "market") + sum("market", "free");
  const rate = market.rules(symbol)?.contract?.liquidationFee ?? 0n;
  const asked = roundedUp(price * quantity * rate, SCALE * SCALE);
  const due = asked < left ? asked : left;
  if (sum("free", "clearance") !== due)
    throw new Error(`a liquidation pays the clearance fee of ${due}: order ${orderId}`);
}

function checkNothingLeft(
  { symbol, fee, orderId }: Pick<OrderFilled["trade"], "symbol" | "fee" | "orderId">,
  account: Account,
): void {
  if (fee !== 0n) throw new Error(`a liquidation pays no commission: order ${orderId}`);
  const open = [...account.openOrders.values(), ...account.openLegs.values()];
  if (account.positions.has(symbol) || open.some((each) => each.symbol === symbol))
    throw new Error(`a liquidation leaves nothing on its symbol: ${symbol}`);
}

/** No entry is taken that could make the position too large for its leverage. */
export function checkPositionLimit({ command, events, account, market }: Decided, before: Positions): void {
  if (command?.type !== "PlaceOrder" || command.entry?.reduceOnly === true || events.length === 0) return;
  const { symbol, side } = command;
  const placed = events.find((event) => event.type === "OrderPlaced")?.order;
  const mark = market.markPrice(symbol);
  if (placed === undefined || mark === null) return;
  const brackets = bracketsOf(market, symbol);
  const filled = events.find((event) => event.type === "OrderFilled")?.trade;
  const held = ((before.get(symbol)?.quantity ?? 0n) * (side === "BUY" ? mark : -mark)) / SCALE;
  const added = filled === undefined ? 0n : (filled.price * filled.quantity) / SCALE;
  const exposure = held + added + notionalOfEntries(account, symbol, side);
  const limit = notionalLimit(leverageNow(account, symbol, brackets), brackets);
  // What is held is measured down to the last digit, in either direction.
  if (exposure > limit + 1n) throw new Error(`${symbol} may be worth ${limit}, not ${exposure}`);
}

/**
 * Whatever changes the orders, the position or the leverage of a symbol leaves each order with what it must
 * reserve; with less only if nothing was free any more.
 */
export function checkReserves({ events, orders, account, market }: Decided): void {
  const symbols = new Set(orders.map(({ symbol }) => symbol));
  for (const event of events) if (event.type === "LeverageChanged") symbols.add(event.symbol);
  const free = account.balances.get("USDT")?.free ?? 0n;
  for (const symbol of symbols) {
    const leverage = leverageNow(account, symbol, bracketsOf(market, symbol));
    for (const [orderId, due] of reservesDue(account, symbol, leverage)) {
      const reserved = account.openOrders.get(orderId)?.reserved ?? 0n;
      if (reserved > due || (reserved < due && free > 0n))
        throw new Error(`order ${orderId} reserves ${due} with ${free} free, not ${reserved}`);
    }
  }
}

/**
 * A leverage is chosen only if the position and the entries of either side are not too large for it, and all
 * is paid.
 */
export function checkNewLeverage(symbol: string, account: Account, market: Market): void {
  const brackets = bracketsOf(market, symbol);
  const leverage = leverageNow(account, symbol, brackets);
  const limit = notionalLimit(leverage, brackets);
  const mark = market.markPrice(symbol);
  const held = account.positions.get(symbol)?.quantity ?? 0n;
  for (const side of SIDES) {
    const signed = side === "BUY" ? held : -held;
    const exposure = notionalOfEntries(account, symbol, side) + (signed * (mark ?? 0n)) / SCALE;
    if ((mark !== null || held === 0n) && exposure > limit + 1n)
      throw new Error(`${symbol} may be worth ${limit} with a leverage of ${leverage}, not ${exposure}`);
  }
  for (const [orderId, due] of reservesDue(account, symbol, leverage))
    if (account.openOrders.get(orderId)?.reserved !== due)
      throw new Error(`with a new leverage order ${orderId} reserves all of ${due}`);
}

/** A mark price that was seen leaves no position that it liquidates. */
export function checkSurvivor({ positions }: Account, symbol: string, mark: bigint, market: Market): void {
  const position = positions.get(symbol);
  if (position !== undefined && !isHealthy(position, mark, bracketsOf(market, symbol)))
    throw new Error(`the position in ${symbol} has not survived the mark price ${mark}`);
}

function seenBy(command: Decided["command"]): { symbol: string; mark: bigint } | null {
  if (command?.type === "LiquidatePosition") return { symbol: command.symbol, mark: command.seen };
  if (command?.type !== "SettleFunding") return null;
  return { symbol: command.settlement.symbol, mark: command.settlement.markPrice };
}

export function bracketsOf(market: Market, symbol: string): readonly Bracket[] {
  const brackets = market.rules(symbol)?.contract?.brackets;
  if (brackets === undefined) throw new Error(`the walk's contracts stay listed: ${symbol}`);
  return brackets;
}
