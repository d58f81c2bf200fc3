// What always holds of an account, whatever was done to it. Each function throws, saying what does not hold.
import { isDeepStrictEqual } from "node:util";
import type { Account } from "../../../src/domain/account.ts";
import { closingSide } from "../../../src/domain/account.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import { awaitsTrigger, isOpen, type Order, type Side } from "../../../src/domain/order.ts";
import type { SymbolRules } from "../../../src/domain/symbol.ts";
import { OWN_LEDGER_ACCOUNTS, WORLD_LEDGER_ACCOUNTS } from "../../../src/money/posting.ts";
import { decodeAccount, decodeOrder, encodeOrder, encodeState } from "../../../src/store/codec.ts";

/** All there is to an account: two of them are the same if they say the same. */
export function stateOf(account: Account): string {
  const orders = [...account.openOrders.values()].map(encodeOrder).join();
  return `${account.status} ${encodeState(account)} ${orders}`;
}

/** What is written of an account and read again is that account. */
export function checkWriting(account: Account): void {
  const { strategyId: id, type, status } = account;
  const orders = [...account.openOrders.values()].map((order) => decodeOrder(encodeOrder(order)));
  const read = decodeAccount({ id, type, status, state: encodeState(account) }, orders);
  checkSame(read, account, "what is read of an account is what was written");
}

/** Whether two accounts are the same in all that they are made of, whether it is written or not. */
export function checkSame(one: Account, other: Account, rule: string): void {
  if (!isDeepStrictEqual(one, other) || stateOf(one) !== stateOf(other)) throw new Error(rule);
}

/** Holds after every step. */
export function checkAccount(account: Account, rules: readonly SymbolRules[]): void {
  checkMoney(account);
  checkPositions(account);
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
  if (account.openLegs.size > 0) throw new Error("a strategy that is not live has no open legs");
  if (account.status === "CLOSED" && account.positions.size > 0)
    throw new Error("a strategy that is closed has no positions");
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
  if (!isOpen(later) && later.reserved !== 0n) throw new Error(`who is over reserves nothing: ${name}`);
  if (later.executedQuantity < earlier.executedQuantity) throw new Error(`no fill is taken back: ${name}`);
  // What a quote amount buys is known when the book has ended.
  const isOfAmount = later.quoteQuantity > 0n && later.status === "EXPIRED";
  const quantity = isOfAmount ? later.executedQuantity : earlier.quantity;
  if (later.quantity !== quantity) throw new Error(`the quantity of an order never changes: ${name}`);
  for (const term of ["symbol", "side", "type", "price", "stopPrice", "placedAt"] as const)
    if (earlier[term] !== later[term]) throw new Error(`the ${term} of an order never changes: ${name}`);
}

/** Holds between a leg as it was and as it is. */
export function checkLegChange(earlier: Leg, later: Leg): void {
  const name = `leg ${earlier.legId}`;
  if (earlier.status !== "NEW" && earlier.status !== "PENDING")
    throw new Error(`a terminal state never changes: ${name} was ${earlier.status}`);
  if (later.status === "PENDING" || (earlier.status === "PENDING" && later.status === "FINISHED"))
    throw new Error(`a pending leg is armed once, and before it fires: ${name}, ${later.status}`);
  const hasReason = later.status === "CANCELED" || later.status === "EXPIRED";
  if (hasReason !== (later.endReason !== undefined))
    throw new Error(`a leg that ends without firing says why: ${name}, ${later.status} ${later.endReason}`);
  if ((later.status === "FINISHED") !== (later.fired !== null))
    throw new Error(`what has fired is finished, and nothing else is: ${name}`);
  for (const term of ["symbol", "side", "type", "triggerPrice", "placedAt", "entryId"] as const)
    if (earlier[term] !== later[term]) throw new Error(`the ${term} of a leg never changes: ${name}`);
}

function checkMoney(account: Account): void {
  for (const { orderId, reserved, reservedAsset } of account.openOrders.values()) {
    if (reserved < 0n) throw new Error(`no order reserves less than nothing: ${orderId} ${reserved}`);
    if (reserved > 0n && !account.balances.has(reservedAsset))
      throw new Error(`an order reserves what there is: ${orderId} ${reservedAsset}`);
  }
  for (const [asset, ledgerAccounts] of account.balances) {
    const sum = [...OWN_LEDGER_ACCOUNTS, ...WORLD_LEDGER_ACCOUNTS].reduce(
      (total, ledgerAccount) => total + ledgerAccounts[ledgerAccount],
      0n,
    );
    if (sum !== 0n) throw new Error(`money moves only between ledger accounts: ${asset} is off by ${sum}`);
    for (const own of OWN_LEDGER_ACCOUNTS)
      if (ledgerAccounts[own] < 0n)
        throw new Error(`nothing of one's own goes below zero: ${own} ${asset} ${ledgerAccounts[own]}`);
    const reserved = [...account.openOrders.values()]
      .filter((order) => order.reservedAsset === asset)
      .reduce((total, order) => total + order.reserved, 0n);
    if (ledgerAccounts.locked !== reserved)
      throw new Error(`locked is what orders reserve: ${asset} ${ledgerAccounts.locked} and ${reserved}`);
  }
}

/** Of a spot strategy there is nothing to check: it has none of it. */
function checkPositions({ positions, openOrders, openLegs, balances }: Account): void {
  let wallets = 0n;
  for (const [symbol, { quantity, entryValue, isolatedWallet }] of positions) {
    if (quantity === 0n) throw new Error(`a position is of something: ${symbol}`);
    if (entryValue < 0n) throw new Error(`nobody enters for less than nothing: ${symbol} ${entryValue}`);
    if (isolatedWallet < 0n)
      throw new Error(`a position's wallet is never below zero: ${symbol} ${isolatedWallet}`);
    wallets += isolatedWallet;
  }
  const isolated = [...balances.values()].reduce((sum, ledgerAccounts) => sum + ledgerAccounts.isolated, 0n);
  if (isolated !== wallets) throw new Error(`isolated is what positions hold: ${isolated} and ${wallets}`);

  const closes = (symbol: string, side: Side) => {
    const position = positions.get(symbol);
    return position !== undefined && closingSide(position) === side;
  };
  const kinds = new Set<string>();
  for (const leg of openLegs.values()) {
    const { legId, symbol, side, type } = leg;
    if (leg.status === "PENDING") {
      checkPending(leg, openOrders);
      continue;
    }
    if (!closes(symbol, side)) throw new Error(`a leg stands with the position that it closes: ${legId}`);
    const kind = `${symbol} ${type}`;
    if (kinds.has(kind)) throw new Error(`a position has one leg of a kind: ${legId}, ${kind}`);
    kinds.add(kind);
  }
  for (const { orderId, symbol, side, reduceOnly, reserved } of openOrders.values()) {
    if (reduceOnly === undefined) continue;
    if (!closes(symbol, side)) throw new Error(`who only reduces has something to reduce: ${orderId}`);
    if (reserved !== 0n) throw new Error(`who only reduces reserves nothing: ${orderId}`);
  }
}

/** Every other leg of an entry is armed or over: a pending one has an entry that rests, and that names it. */
function checkPending(
  { legId, symbol, side, type, triggerPrice, entryId }: Leg,
  orders: Account["openOrders"],
) {
  const entry = orders.get(entryId ?? 0);
  if (entry === undefined) throw new Error(`a leg is pending no longer than its entry rests: ${legId}`);
  if (entry.symbol !== symbol || entry.side === side)
    throw new Error(`a pending leg closes what its entry would open: ${legId}`);
  const named = entry.legs?.find((each) => each.legId === legId);
  if (named?.type !== type || named.triggerPrice !== triggerPrice)
    throw new Error(`an entry names its pending legs: ${legId}`);
}

function checkLimits(account: Account, rules: SymbolRules): void {
  const { symbol, baseAsset, maxNumOrders, maxNumAlgoOrders, maxPosition } = rules;
  const open = [...account.openOrders.values()].filter((order) => order.symbol === symbol);
  const legs = [...account.openLegs.values()].filter((leg) => leg.symbol === symbol);
  const waiting = open.filter(awaitsTrigger).length + legs.length;
  if (maxNumOrders !== null && open.length > maxNumOrders)
    throw new Error(`MAX_NUM_ORDERS: ${open.length} open orders on ${symbol}`);
  if (maxNumAlgoOrders !== null && waiting > maxNumAlgoOrders)
    throw new Error(`MAX_NUM_ALGO_ORDERS: ${waiting} on ${symbol} wait for their triggers`);
  const held = account.balances.get(baseAsset);
  const bidFor = open
    .filter(({ side }) => side === "BUY")
    .reduce((total, { quantity, executedQuantity }) => total + quantity - executedQuantity, 0n);
  const position = (held?.free ?? 0n) + (held?.locked ?? 0n) + bidFor;
  if (maxPosition !== null && position > maxPosition)
    throw new Error(`MAX_POSITION: ${position} of ${baseAsset} held and bid for`);
}
