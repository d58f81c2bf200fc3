// The books of a futures strategy a second time, kept from its events alone: what is held as the sum of all
// fills, the wallet as the sum of all incomes, what was held at any moment, and what every position has cost.
// After each command they must say what the account says, and what was decided must be what the rules ask
// for.

import type { Position } from "../../../src/domain/account.ts";
import type { OrderFilled } from "../../../src/domain/event.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import { MINUTE_MS } from "../../../src/domain/order-counts.ts";
import type { ContractTerms } from "../../../src/domain/symbol.ts";
import { SCALE } from "../../../src/money/decimal.ts";
import { type LedgerAccount, ownedOf, type Posting } from "../../../src/money/posting.ts";
import { magnitude } from "../../support/exact.ts";
import {
  bracketsOf,
  checkLiquidation,
  checkNewLeverage,
  checkPositionLimit,
  checkReserves,
} from "./futures-rules.ts";
import { checkLegs } from "./leg-rules.ts";
import { leverageNow, roundedUp } from "./margin-oracle.ts";
import type { Decided, Oracle } from "./oracle.ts";

/** What a position has cost since it was opened from nothing. */
type Cost = { paidIn: bigint; lost: bigint };
/** A change of what is held: when the market was there, market time in Unix ms, and by how much. */
type Change = { readonly at: number; readonly difference: bigint };

const OWN: ReadonlySet<LedgerAccount> = new Set<LedgerAccount>(["free", "locked", "isolated"]);

export class FuturesOracle implements Oracle {
  readonly #positions = new Map<string, Position>();
  readonly #held = new Map<string, bigint>();
  readonly #changes = new Map<string, Change[]>();
  readonly #leverages = new Map<string, number>();
  /** By symbol: when the last settlement that was applied was due. */
  readonly #settledUntil = new Map<string, number>();
  readonly #costs = new Map<string, Cost>();
  #wallet = 0n;
  #lastIncomeId = 0;

  judge(decided: Decided): void {
    const { account, incomes, events, command } = decided;
    const before = new Map(this.#positions);
    for (const { incomeId, amount } of incomes) {
      if (incomeId !== this.#lastIncomeId + 1)
        throw new Error(`incomes are numbered one by one: ${incomeId}`);
      this.#lastIncomeId = incomeId;
      this.#wallet += amount;
    }
    const movesWallet =
      command?.type === "SettleFunding" && this.#checkSettlement(command.settlement, decided);
    for (const event of events) {
      if (event.type === "OrderFilled") this.#heedFill(event, decided);
      if (event.type !== "FundingSettled") continue;
      this.#heedCost(event.symbol, event.postings, false);
      this.#keep(event.symbol, event.position);
    }
    if (ownedOf(account.balances, "USDT") !== this.#wallet)
      throw new Error(`the wallet is the sum of all incomes: not ${this.#wallet}`);
    this.#checkHoldings(decided);
    checkLiquidation(decided, before, movesWallet);
    checkLegs(decided);
    checkPositionLimit(decided, before);
    checkReserves(decided);
    this.#checkLeverage(decided, before);
  }

  #heedFill(event: OrderFilled, decided: Decided): void {
    const { trade, position, postings, at, heldFrom = at } = event;
    const { symbol, quantity, side } = trade;
    const earlier = this.#held.get(symbol) ?? 0n;
    const now = earlier + (side === "BUY" ? quantity : -quantity);
    if ((position?.quantity ?? 0n) !== now)
      throw new Error(`a position is the sum of its fills: ${symbol} ${now}`);
    const isAgainst = earlier !== 0n && earlier > 0n === (side === "SELL");
    const closed = !isAgainst ? 0n : quantity < magnitude(earlier) ? quantity : magnitude(earlier);
    if (heldFrom !== (seenAtOf(decided.command) ?? at))
      throw new Error(`a position stands since the market was seen: ${symbol} ${heldFrom}`);
    const isBegun = closed < quantity && (earlier === 0n || closed > 0n);
    const order = decided.orders.find(({ orderId }) => orderId === trade.orderId);
    if (order?.reduceOnly && closed < quantity)
      throw new Error(`who only reduces opens nothing: ${order.orderId}`);
    if (
      position != null &&
      position.openedAt !== (isBegun ? heldFrom : this.#positions.get(symbol)?.openedAt)
    )
      throw new Error(`a position is opened once: ${symbol}`);
    checkClosing(event, this.#positions.get(symbol), closed);
    checkOpening(event, closed, decided);
    this.#heedCost(symbol, postings, isBegun);

    this.#held.set(symbol, now);
    this.#keep(symbol, position ?? null);
    const changes = this.#changes.get(symbol) ?? [];
    changes.push({ at: heldFrom, difference: now - earlier });
    this.#changes.set(symbol, changes);
  }

  /**
   * A position costs at most what was paid into its wallet; what it gains is not counted, so that it hides no
   * loss, but for the clearance fee of its liquidation.
   */
  #heedCost(symbol: string, postings: readonly Posting[], isBegun: boolean): void {
    const moved = (matches: (posting: Posting) => boolean) =>
      postings.filter(matches).reduce((sum, { amount }) => sum + amount, 0n);
    const paidIn = moved(({ from, to }) => from === "free" && to === "isolated");
    const received = moved(({ from, to }) => !OWN.has(from) && to === "isolated");
    const openingFee = moved(({ from, to }) => from === "isolated" && to === "fees");
    const clearanceFee = moved(({ from, to }) => from === "free" && to === "clearance");
    const gained = moved(({ from, to }) => from === "market" && to === "free");
    const cleared = clearanceFee > gained ? clearanceFee - gained : 0n;
    const lost = cleared + moved(({ from, to }) => from === "isolated" && !OWN.has(to)) - received;
    if (
      postings.some(
        ({ from, to }) => (from === "free" && to === "market") || (from === "locked" && to !== "free"),
      )
    )
      throw new Error(`only the wallet of a position bears its losses: ${symbol}`);
    const cost = this.#costs.get(symbol) ?? { paidIn: 0n, lost: 0n };
    if (isBegun) {
      check(symbol, { ...cost, lost: cost.lost + lost - openingFee });
      this.#costs.set(symbol, { paidIn, lost: openingFee });
    } else {
      this.#costs.set(symbol, { paidIn: cost.paidIn + paidIn, lost: cost.lost + lost });
    }
    check(symbol, this.#costs.get(symbol) ?? cost);
  }

  /**
   * A holder at the due time pays quantity × mark × rate, rounded up, and never more than there is: out of
   * the wallet for the quantity that is still held. Returns whether the payment moves the wallet of an
   * unchanged position.
   */
  #checkSettlement(settlement: Settlement, { events, freeBefore }: Decided): boolean {
    const { symbol, fundingTime, rate, markPrice } = settlement;
    const due = fundingTime - (fundingTime % MINUTE_MS);
    // A fill that is found late counts from when the market was there.
    const held = (this.#changes.get(symbol) ?? []).reduce(
      (sum, { at, difference }) => (at < due ? sum + difference : sum),
      0n,
    );
    const settled = events.find((event) => event.type === "FundingSettled");
    if (due <= (this.#settledUntil.get(symbol) ?? 0)) {
      if (settled !== undefined) throw new Error(`a settlement is applied once, and in its order: ${symbol}`);
      return false;
    }
    if (settled === undefined) {
      if (held !== 0n) throw new Error(`who held when funding was due settles it: ${held} ${symbol}`);
      return false;
    }
    const position = this.#positions.get(symbol);
    const isKept = position !== undefined && position.openedAt < due && position.quantity > 0n === held > 0n;
    const kept = !isKept ? 0n : magnitude(position.quantity) < magnitude(held) ? position.quantity : held;
    this.#settledUntil.set(symbol, due);
    const asked = (quantity: bigint) => roundedUp(quantity * markPrice * rate, SCALE * SCALE);
    checkPaid(settled.postings, "isolated", asked(kept), position?.isolatedWallet ?? 0n);
    checkPaid(settled.postings, "free", asked(held) - asked(kept), freeBefore);
    return kept !== 0n && !this.#changes.get(symbol)?.some(({ at }) => at >= due);
  }

  /**
   * Under a position it is only raised, and not beyond what the position and the orders of either side allow.
   */
  #checkLeverage({ command, events, account, market }: Decided, before: ReadonlyMap<string, Position>): void {
    for (const event of events) {
      if (event.type !== "LeverageChanged") continue;
      const { symbol, leverage } = event;
      const earlier = leverageNow({ leverages: this.#leverages }, symbol, bracketsOf(market, symbol));
      if (before.has(symbol) && BigInt(leverage) < earlier)
        throw new Error(`the leverage under a position is never lowered: ${symbol} ${leverage}`);
      this.#leverages.set(symbol, leverage);
      if (command?.type === "ChangeLeverage") checkNewLeverage(symbol, account, market);
    }
  }

  #checkHoldings({ account }: Decided): void {
    const { positions } = account;
    if (positions.size !== this.#positions.size)
      throw new Error("there are as many positions as the events say");
    for (const [symbol, { quantity }] of positions) {
      if (quantity !== this.#held.get(symbol))
        throw new Error(`a position is the sum of its fills: ${symbol}`);
    }
  }

  #keep(symbol: string, position: Position | null): void {
    if (position === null) this.#positions.delete(symbol);
    else this.#positions.set(symbol, position);
  }
}

/** A charge to a ledger account is paid out of it, and never more than there is. */
function checkPaid(
  postings: readonly Posting[],
  ledgerAccount: LedgerAccount,
  asked: bigint,
  available: bigint,
): void {
  const paid = postings.reduce((sum, { from, to, amount }) => {
    if (from === ledgerAccount && to === "funding") return sum + amount;
    if (from === "funding" && to === ledgerAccount) return sum - amount;
    return sum;
  }, 0n);
  const expected = asked < available ? asked : available;
  if (paid !== expected) throw new Error(`funding out of ${ledgerAccount} is ${expected}, not ${paid}`);
}

/** When the market was seen that a command tells of; undefined for now. */
function seenAtOf(command: Decided["command"]): number | undefined {
  if (command?.type === "SettleFunding") return command.settlement.fundingTime;
  return command !== null && "seenAt" in command ? command.seenAt : undefined;
}

function check(symbol: string, { paidIn, lost }: Cost): void {
  if (lost > paidIn)
    throw new Error(`a position never costs more than its wallet: ${symbol} ${lost} of ${paidIn}`);
}

/**
 * What is closed takes its share of the entry and of the wallet with it, and what it gained is exact but for
 * the last digit.
 */
function checkClosing(
  { trade, position, postings }: OrderFilled,
  held: Position | undefined,
  closed: bigint,
): void {
  const realized = trade.realizedPnl ?? 0n;
  if (held === undefined || closed === 0n) {
    if (realized !== 0n) throw new Error(`who closes nothing gains nothing: trade ${trade.tradeId}`);
    return;
  }
  const whole = magnitude(held.quantity);
  const share = (total: bigint) => (closed === whole ? total : (total * closed) / whole);
  const entry = share(held.entryValue);
  const exact = held.quantity > 0n ? trade.price * closed - entry : entry - trade.price * closed;
  if (realized * SCALE > exact || (realized + 1n) * SCALE <= exact)
    throw new Error(`a gain is rounded down: trade ${trade.tradeId}`);
  const isLeft = closed < whole;
  if (isLeft && position?.entryValue !== held.entryValue - entry)
    throw new Error(`a reduction leaves the entry as it is: trade ${trade.tradeId}`);
  if (isLeft && position?.isolatedWallet !== held.isolatedWallet - share(held.isolatedWallet))
    throw new Error(`a reduction releases its share of the wallet: trade ${trade.tradeId}`);
  if (postings.some(({ from, to }) => from === "market" && to !== "free"))
    throw new Error(`a gain is free: trade ${trade.tradeId}`);
}

/**
 * What is opened pays its initial margin and what it has lost already, by the mark price; its fee is taken
 * from that.
 */
function checkOpening(
  { trade, postings }: OrderFilled,
  closed: bigint,
  { command, market, account }: Decided,
): void {
  const { symbol, price, quantity, side, fee, tradeId } = trade;
  const paidIn = postings
    .filter(({ from, to }) => from === "free" && to === "isolated")
    .reduce((sum, { amount }) => sum + amount, 0n);
  const opened = quantity - closed;
  const terms = market.rules(symbol)?.contract;
  // What was found out afterwards is measured by itself.
  const mark = (seenAtOf(command) === undefined ? market.markPrice(symbol) : null) ?? price;
  if (terms == null) throw new Error(`the walk's contracts stay listed: ${symbol}`);
  const expected =
    opened === 0n ? 0n : marginDue(opened, { price, mark, isBuy: side === "BUY" }, symbol, terms, account);
  if (paidIn !== expected) throw new Error(`an opening pays ${expected}, not ${paidIn}: trade ${tradeId}`);
  const fees = postings.filter(({ to }) => to === "fees").reduce((sum, { amount }) => sum + amount, 0n);
  if (fees !== fee) throw new Error(`a fee is paid as the trade says: trade ${tradeId}, ${fee} and ${fees}`);
}

function marginDue(
  opened: bigint,
  { price, mark, isBuy }: { price: bigint; mark: bigint; isBuy: boolean },
  symbol: string,
  { brackets }: ContractTerms,
  account: Decided["account"],
): bigint {
  const loss = isBuy ? price - mark : mark - price;
  const initial = roundedUp(price * opened, SCALE * leverageNow(account, symbol, brackets));
  return initial + (loss > 0n ? roundedUp(loss * opened, SCALE) : 0n);
}
