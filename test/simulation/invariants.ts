// What always holds of an account, whatever was done to it. Each function throws, saying what does not hold.
import type { Account } from "../../src/domain/account.ts";
import { awaitsTrigger, isOpen, type Order } from "../../src/domain/order.ts";
import type { SymbolRules } from "../../src/domain/symbol.ts";
import { OWN_POCKETS, WORLD_POCKETS } from "../../src/money/posting.ts";
import { encodeOrder, encodeState } from "../../src/store/codec.ts";

/** All there is to an account: two of them are the same if they say the same. */
export function stateOf(account: Account): string {
  const orders = [...account.openOrders.values()].map(encodeOrder).join();
  return `${account.status} ${encodeState(account)} ${orders}`;
}

/** Holds after every step. */
export function checkAccount(account: Account, rules: readonly SymbolRules[]): void {
  checkMoney(account);
  const open = [...account.openOrders.values()];
  for (const order of open) {
    if (awaitsTrigger(order) && (order.executedQuantity !== 0n || order.executedQuote !== 0n))
      throw new Error(`a stop that waits for its trigger has executed nothing: ${order.orderId}`);
    if (order.stopPrice === 0n && order.workingAt === null)
      throw new Error(`an order without a trigger waits for none: ${order.orderId}`);
  }
  for (const each of rules) checkLimits(account, each);
  if (account.status === "LIVE") return;
  if (open.length > 0) throw new Error("a strategy that is not live has no open orders");
  for (const [asset, { locked }] of account.balances)
    if (locked !== 0n) throw new Error(`a strategy that is not live has nothing locked: ${locked} ${asset}`);
}

/** Holds between an order as it was and as it is. */
export function checkChange(earlier: Order, later: Order): void {
  const name = `order ${earlier.orderId}`;
  if (!isOpen(earlier)) throw new Error(`a terminal state never changes: ${name} was ${earlier.status}`);
  if (earlier.workingAt !== null && later.workingAt !== earlier.workingAt)
    throw new Error(`an order works from one moment on: ${name}, ${earlier.workingAt}, ${later.workingAt}`);
  if (later.executedQuantity > 0n && later.workingAt === null)
    throw new Error(`nobody executes a stop that waits for its trigger: ${name}`);
  if (later.executedQuantity < earlier.executedQuantity) throw new Error(`no fill is taken back: ${name}`);
  for (const term of ["symbol", "side", "type", "price", "stopPrice", "quantity", "placedAt"] as const)
    if (earlier[term] !== later[term]) throw new Error(`the ${term} of an order never changes: ${name}`);
}

function checkMoney(account: Account): void {
  for (const { orderId, reserved, reservedAsset } of account.openOrders.values()) {
    if (reserved < 0n) throw new Error(`no order reserves less than nothing: ${orderId} ${reserved}`);
    if (reserved > 0n && !account.balances.has(reservedAsset))
      throw new Error(`an order reserves what there is: ${orderId} ${reservedAsset}`);
  }
  for (const [asset, pockets] of account.balances) {
    const sum = [...OWN_POCKETS, ...WORLD_POCKETS].reduce((total, pocket) => total + pockets[pocket], 0n);
    if (sum !== 0n) throw new Error(`money moves only between pockets: ${asset} is off by ${sum}`);
    for (const own of OWN_POCKETS)
      if (pockets[own] < 0n)
        throw new Error(`nothing of one's own goes below zero: ${own} ${asset} ${pockets[own]}`);
    const reserved = [...account.openOrders.values()]
      .filter((order) => order.reservedAsset === asset)
      .reduce((total, order) => total + order.reserved, 0n);
    if (pockets.locked !== reserved)
      throw new Error(`locked is what orders reserve: ${asset} ${pockets.locked} and ${reserved}`);
  }
}

function checkLimits(account: Account, rules: SymbolRules): void {
  const { symbol, baseAsset, maxNumOrders, maxNumAlgoOrders, maxPosition } = rules;
  const open = [...account.openOrders.values()].filter((order) => order.symbol === symbol);
  const stops = open.filter(awaitsTrigger);
  if (maxNumOrders !== null && open.length > maxNumOrders)
    throw new Error(`MAX_NUM_ORDERS: ${open.length} open orders on ${symbol}`);
  if (maxNumAlgoOrders !== null && stops.length > maxNumAlgoOrders)
    throw new Error(`MAX_NUM_ALGO_ORDERS: ${stops.length} waiting stops on ${symbol}`);
  const held = account.balances.get(baseAsset);
  const bidFor = open
    .filter(({ side }) => side === "BUY")
    .reduce((total, { quantity, executedQuantity }) => total + quantity - executedQuantity, 0n);
  const position = (held?.free ?? 0n) + (held?.locked ?? 0n) + bidFor;
  if (maxPosition !== null && position > maxPosition)
    throw new Error(`MAX_POSITION: ${position} of ${baseAsset} held and bid for`);
}
