// Computes fills under `strict` again from their receipts: each from its own figures and from those of the
// receipts before it, and, with a recording, from the market's messages. What a receipt cannot be compared
// with is said, and is never counted as right. Source: strict fills, sections 2, 5 to 7 and 10.
import { type ConsumedLot, withLot } from "../domain/consumed.ts";
import { FEE_DISCOUNTS } from "../domain/fill-profile.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { QueuePoint, QueuePosition } from "../domain/receipt.ts";
import { afterTrade, type Matched, matchTrade } from "../engine/matching/queue.ts";
import { BUNDLED_TIERS, STRICT_DEFAULTS, strictProfile, type TierTable } from "../engine/matching/terms.ts";
import { availableAt, isWithin, restingSide, takenSide } from "../engine/matching/walk.ts";
import {
  add,
  feeOn,
  feeUp,
  formatDecimal,
  least,
  type Price,
  proceedsDown,
  product,
  type Quantity,
  subtract,
  ZERO,
} from "../money/decimal.ts";
import type { ReceiptLevel, ReceiptRow } from "./receipt-file.ts";
import type { Recorded, RecordedBook } from "./recorded-books.ts";
import { queueBefore } from "./recorded-queue.ts";

/** The rules that are computed here. */
const PROFILE_VERSION = 1;
/** The exchange's time is known up to this, ms: its events may seem to be later than the fill. */
const CLOCK_ERROR_MS_MAX = 1_000;
const NO_LOTS: readonly ConsumedLot[] = [];

/** `wrong`: figures that do not follow from the rest; `unknown`: what could not be compared, and why. */
export type Finding = {
  readonly tradeId: number;
  readonly orderId: number;
  readonly cause: ReceiptRow["cause"];
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
};

/** What is found of one receipt, while it is being checked. */
class Findings {
  readonly wrong: string[] = [];
  readonly unknown: string[] = [];

  /** A figure, what it is computed to be, and what from. */
  same(name: string, claimed: Figure, computed: Figure, from = "the receipt's other figures"): void {
    if (claimed !== computed)
      this.wrong.push(`${name} is ${shown(claimed)}, and by ${from} ${shown(computed)}`);
  }

  must(isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.wrong.push(otherwise);
  }
}

type Figure = bigint | number | string | boolean | null | undefined;

/** The receipts before one, as far as its figures follow from them. */
type Before = {
  readonly first: ReceiptRow;
  /** The step of the first one that has one. */
  readonly firstStep: Quantity | null;
  /** Null for the first one. */
  readonly previous: ReceiptRow | null;
  readonly ofOrder: ReceiptRow | null;
  readonly ofTrade: ReceiptRow | null;
  /** The last ones before it with the rate of makers and with that of takers. */
  readonly ofRate: { readonly maker: ReceiptRow | null; readonly taker: ReceiptRow | null };
  /** What the strategy took, and whether all that may still count is among the receipts. */
  readonly lots: readonly ConsumedLot[];
  readonly hasAllLots: boolean;
  /** Those that it had taken before the walk that the fill is a part of. */
  readonly lotsBeforeWalk: readonly ConsumedLot[];
  /** What a trade of the market gave to the strategy's orders in front of this one. */
  given(trade: MarketTrade): Quantity;
  /** What that walk took before, by price. */
  readonly walked: ReadonlyMap<bigint, Quantity>;
};

/** `tiers` are those that the strategy was made with; `onChecked` is called after each receipt. */
type CheckOptions = {
  readonly tiers?: TierTable;
  readonly onChecked?: (count: number) => Promise<void>;
};

/** Checks receipts of one symbol, ascending by trade. */
export async function checkReceipts(
  rows: readonly ReceiptRow[],
  recorded: Recorded | null,
  { tiers = BUNDLED_TIERS, onChecked = async () => {} }: CheckOptions = {},
): Promise<readonly Finding[]> {
  const findings = new Map<ReceiptRow, Findings>();
  const books: { readonly row: ReceiptRow; readonly before: Before }[] = [];
  for (const { row, before, found } of checkedAlone(rows, tiers)) {
    findings.set(row, found);
    if (recorded !== null) {
      checkTrades(row, recorded, found);
      books.push({ row, before });
    }
    await onChecked(findings.size);
  }
  if (recorded !== null) {
    // The recording is read once, so its books are asked for in their order.
    const byBook = books.toSorted((one, other) => bookIdOf(one) - bookIdOf(other));
    for (const [index, { row, before }] of byBook.entries()) {
      const found = findings.get(row);
      if (found === undefined) continue;
      if (row.cause === "TAKEOVER") checkRest(row, before, recorded, found);
      else if (row.queue === null) checkBook(row, before, recorded, found);
      else checkPlacement(row, before, recorded, found);
      await onChecked(rows.length + index);
    }
  }
  return [...findings].map(findingOf);
}

/** Checks receipts of one symbol, ascending by trade, without a recording. */
export function checkReceiptsAlone(rows: readonly ReceiptRow[]): readonly Finding[] {
  return [...checkedAlone(rows, BUNDLED_TIERS)].map(({ row, found }) => findingOf([row, found]));
}

/** Receipts in their order, each compared with its own figures and with those before it. */
function* checkedAlone(rows: readonly ReceiptRow[], tiers: TierTable) {
  for (const [row, before] of withBefore(rows)) {
    const found = new Findings();
    checkFigures(row, before, tiers, found);
    yield { row, before, found };
  }
}

function findingOf([row, { wrong, unknown }]: readonly [ReceiptRow, Findings]): Finding {
  const { tradeId, orderId, cause } = row;
  return { tradeId, orderId, cause, wrong, unknown };
}

function* withBefore(rows: readonly ReceiptRow[]): Generator<readonly [ReceiptRow, Before]> {
  const [first] = rows;
  if (first === undefined) return;
  const ofOrder = new Map<number, ReceiptRow>();
  const ofTrade = new Map<number, ReceiptRow>();
  let ofRate: Before["ofRate"] = { maker: null, taker: null };
  let previous: ReceiptRow | null = null;
  let lots: readonly ConsumedLot[] = NO_LOTS;
  let lotsBeforeWalk = lots;
  let firstStep: Quantity | null = null;
  let walked = new Map<bigint, Quantity>();
  for (const row of rows) {
    const [level] = row.levels;
    if (!continuesWalk(previous, row)) {
      walked = new Map();
      lotsBeforeWalk = lots;
    }
    const before: Before = {
      first,
      firstStep,
      previous,
      ofOrder: ofOrder.get(row.orderId) ?? null,
      ofTrade: row.marketTrade === null ? null : (ofTrade.get(row.marketTrade.aggregateId) ?? null),
      ofRate,
      lots,
      hasAllLots: first.tradeId <= 1 || row.at - first.at >= row.terms.refreshMs,
      lotsBeforeWalk,
      given: ({ aggregateId }) =>
        rows
          .filter((other) => other.marketTrade?.aggregateId === aggregateId && isInFront(other, row))
          .reduce((sum, { quantity }) => add(sum, quantity), ZERO as Quantity),
      walked: new Map(walked),
    };
    yield [row, before];
    previous = row;
    firstStep ??= stepOf(row);
    ofOrder.set(row.orderId, row);
    if (row.marketTrade !== null) ofTrade.set(row.marketTrade.aggregateId, row);
    if (isTraded(row)) ofRate = { ...ofRate, [row.fee.isMaker ? "maker" : "taker"]: row };
    if (level === undefined) continue;
    walked.set(level.price, level.taken);
    const { price, taken: quantity } = level;
    lots = withLot(lots, { side: takenSide(row.side), price, quantity, at: row.at }, row.terms.refreshMs);
  }
}

function continuesWalk(previous: ReceiptRow | null, row: ReceiptRow): boolean {
  if (previous === null || previous.orderId !== row.orderId || previous.at !== row.at) return false;
  // A takeover is what a liquidation's walk has left.
  if (row.cause === "TAKEOVER") return previous.cause === "LIQUIDATION";
  return previous.cause === row.cause && previous.book?.lastUpdateId === row.book?.lastUpdateId;
}

/**
 * Whether a trade of the market comes to an own order first: to the better limit, then to the earlier in the
 * queue.
 */
function isInFront(one: ReceiptRow, other: ReceiptRow): boolean {
  if (one.orderId === other.orderId) return false;
  if (one.price !== other.price) return one.price > other.price === (one.side === "BUY");
  const laterMs = joinedAt(other) - joinedAt(one);
  return laterMs > 0 || (laterMs === 0 && one.orderId < other.orderId);
}

/** Since when an order is in the queue, at the least: a stop joins it when it is triggered. */
function joinedAt({ arrivedAt, queue }: ReceiptRow): number {
  return Math.max(arrivedAt ?? 0, queue?.bookAtPlacement?.receivedAt ?? 0);
}

function bookIdOf({ row, before }: { readonly row: ReceiptRow; readonly before: Before }): number {
  const walked = row.cause === "TAKEOVER" ? before.ofOrder : row;
  return (walked?.book ?? walked?.queue?.bookAtPlacement)?.lastUpdateId ?? 0;
}

function stepOf({ levels, marketTrade }: ReceiptRow): Quantity | null {
  return levels[0]?.step ?? marketTrade?.step ?? null;
}

/** Whether the fill pays the strategy's rate: a liquidation has none. */
function isTraded({ cause }: ReceiptRow): boolean {
  return cause !== "LIQUIDATION" && cause !== "TAKEOVER";
}

function checkFigures(row: ReceiptRow, before: Before, tiers: TierTable, found: Findings): void {
  const { profileVersion, arrivedAt, at, remaining, quantity, book, levels, queue, marketTrade } = row;
  if (profileVersion !== PROFILE_VERSION) {
    found.unknown.push(`the rules of version ${profileVersion} of the profile are not known here`);
    return;
  }
  found.must(arrivedAt === null || arrivedAt <= at, `at ${at} is before arrivedAt ${arrivedAt}`);
  found.must((arrivedAt === null) === (row.latencyMs === null), "latencyMs and arrivedAt belong together");
  found.must(
    quantity > 0n && quantity <= remaining,
    `quantity ${shown(quantity)} of ${shown(remaining)} remaining`,
  );
  if (book !== null) checkStamp("book", row.book, at, found);
  const takes = row.cause === "WALK" || row.cause === "LIQUIDATION" || row.cause === "BOOK_CROSSED";
  const isMatched = row.cause === "TRADE_AT_PRICE" || row.cause === "TRADE_THROUGH";
  const [level] = levels;
  found.must(takes === (book !== null && level !== undefined), `${row.cause} with ${levels.length} levels`);
  found.must(isMatched === (queue !== null && marketTrade !== null), `${row.cause} and its queue`);
  if (takes && level !== undefined) checkLevel(row, level, before, found);
  if (isMatched) checkMatch(row, before, found);
  if (row.cause === "TAKEOVER") checkTakeover(row, before, found);
  checkOrder(row, before, found);
  checkFee(row, before, tiers, found);
}

function checkStamp(name: string, stamp: ReceiptRow["book"], at: number, found: Findings): void {
  if (stamp === null) return;
  const { receivedAt, tickerUpdateId, lastUpdateId } = stamp;
  found.must(receivedAt <= at, `${name}.receivedAt ${receivedAt} is after the fill at ${at}`);
  found.must(
    tickerUpdateId === null || tickerUpdateId > lastUpdateId,
    `${name}.tickerUpdateId ${tickerUpdateId} is not newer than the book ${lastUpdateId}`,
  );
}

/** Displayed quantity that was taken. Source: strict fills, sections 5 and 6. */
function checkLevel(row: ReceiptRow, level: ReceiptLevel, before: Before, found: Findings): void {
  const { cause, side, price, quantity, remaining, book, at, terms } = row;
  const isMaker = cause === "BOOK_CROSSED";
  found.same("fee.isMaker", row.fee.isMaker, isMaker);
  found.same("levels.0.taken", level.taken, quantity);
  if (isMaker) {
    found.must(
      isWithin(side, price, level.price),
      `levels.0.price ${shown(level.price)} does not reach ${shown(price)}`,
    );
  } else {
    found.same("price", price, level.price);
  }
  found.must(
    !level.fromTicker || (book?.tickerUpdateId !== null && level.newerTrades === 0n),
    "levels.0.fromTicker without a newer ticker, or with newer trades",
  );
  const availability = { lots: before.lots, refreshMs: terms.refreshMs, at, step: level.step };
  const computed = availableAt(takenSide(side), level, level.index, availability);
  if (computed.ownConsumed === level.ownConsumed || before.hasAllLots) {
    found.same(
      "levels.0.ownConsumed",
      level.ownConsumed,
      computed.ownConsumed,
      "the fills before it, of all receipts",
    );
  } else {
    found.unknown.push(
      `levels.0.ownConsumed ${shown(level.ownConsumed)} counts fills before trade ${before.first.tradeId}, whose receipts were not given`,
    );
  }
  const others = level.displayed > level.ownConsumed ? subtract(level.displayed, level.ownConsumed) : ZERO;
  const { step } = level;
  const available = (step === 0n ? others : others - (others % step)) as Quantity;
  found.same("levels.0.available", level.available, available);
  found.same("levels.0.taken", level.taken, least(level.available, remaining));
}

/**
 * What the book had not for a liquidation, at the bankruptcy price, beyond which the walk took nothing. That
 * price follows from the position's wallet: leverage, mark prices and funding are in no receipt. Source:
 * strict fills, section 13.
 */
function checkTakeover(row: ReceiptRow, { ofOrder }: Before, found: Findings): void {
  const { side, price, quantity, remaining } = row;
  found.same("fee.isMaker", row.fee.isMaker, false);
  found.same("quantity", quantity, remaining, "what the liquidation has left");
  if (ofOrder !== null) {
    found.must(ofOrder.cause === "LIQUIDATION", `a takeover of an order that was filled by ${ofOrder.cause}`);
    found.must(
      isWithin(side, price, ofOrder.price),
      `price ${shown(price)} is better than ${shown(ofOrder.price)}, which the liquidation took before`,
    );
  }
  found.unknown.push(
    `whether ${shown(price)} is the bankruptcy price: it follows from the position's wallet, which no receipt has`,
  );
}

/** A trade of the market that filled an open order. Source: strict fills, section 7. */
function checkMatch(row: ReceiptRow, { first, ofTrade }: Before, found: Findings): void {
  const { queue, marketTrade, price, remaining, quantity, cause, arrivedAt, at } = row;
  if (queue === null || marketTrade === null) return;
  found.same("fee.isMaker", row.fee.isMaker, true);
  found.same("queue.model", queue.model, row.terms.queue, "the terms");
  found.must(
    arrivedAt === null || marketTrade.time > arrivedAt,
    `marketTrade.time ${marketTrade.time} is not after the order's arrival ${arrivedAt}`,
  );
  checkStamp("queue.bookAtPlacement", queue.bookAtPlacement, at, found);
  found.must(
    (queue.aheadAtPlacement === null) === (queue.bookAtPlacement === null) || queue.aheadAtPlacement === null,
    "queue.aheadAtPlacement without a book that showed it",
  );
  const { aheadAtPlacement, aheadBefore, tradedAtPrice, canceledAhead } = queue;
  if (aheadAtPlacement !== null) {
    const placed = { ahead: aheadAtPlacement, tradedAtPrice: ZERO, canceledAhead: ZERO };
    found.must(
      isLeftOf({ ahead: aheadBefore, tradedAtPrice, canceledAhead }, placed),
      `queue.aheadBefore ${shown(aheadBefore)} is not what is left of ${shown(aheadAtPlacement)}`,
    );
  }
  const waiting = { price, remaining, ahead: aheadBefore };
  const matched = matchTrade(marketTrade, marketTrade.available, waiting, marketTrade.step);
  found.same("quantity", quantity, matched?.fill ?? ZERO, "the trade and the queue");
  found.same("queue.ahead", queue.ahead, matched?.ahead ?? null, "the trade and the queue");
  found.same("cause", cause, matched?.cause ?? "none", "the trade's price");
  checkHistory(row, matched, found);
  const isBeyond = row.side === "BUY" ? marketTrade.price <= price : marketTrade.price >= price;
  found.must(
    isBeyond,
    `marketTrade.price ${shown(marketTrade.price)} does not reach the limit ${shown(price)}`,
  );
  if (ofTrade?.marketTrade) {
    const { marketTrade: earlier, quantity: given } = ofTrade;
    if (isInFront(row, ofTrade)) checkPriority(row, ofTrade, found);
    for (const figure of ["price", "quantity", "time"] as const) {
      found.same(
        `marketTrade.${figure}`,
        marketTrade[figure],
        earlier[figure],
        `the receipt of trade ${ofTrade.tradeId}`,
      );
    }
    found.same(
      "marketTrade.available",
      marketTrade.available,
      subtract(earlier.available, given),
      `what trade ${ofTrade.tradeId} left of it`,
    );
  } else if (row !== first || row.tradeId <= 1) {
    found.same(
      "marketTrade.available",
      marketTrade.available,
      marketTrade.quantity,
      "the trade, of which nothing was taken before",
    );
  }
}

/**
 * Whether a position in a queue follows from an earlier one. What is in front falls by what is traded at the
 * price and by what counts as canceled, and is gone once the market was beyond the limit; nothing adds to it.
 */
function isLeftOf(later: QueuePosition, earlier: QueuePosition): boolean {
  const traded = later.tradedAtPrice - earlier.tradedAtPrice;
  const canceled = later.canceledAhead - earlier.canceledAhead;
  if (traded < 0n || canceled < 0n) return false;
  // From unknown anything may become known, and until then nothing in front is counted.
  if (earlier.ahead === null) return true;
  const most = earlier.ahead - canceled;
  return later.ahead !== null && later.ahead <= most && (later.ahead === 0n || later.ahead >= most - traded);
}

/**
 * How the queue moved: each point follows from the one before it, and the last ones are the receipt's own
 * figures. After a restart of the server it begins later than the placement, and of a long one some points
 * are left out. `matched` is what the market's trade did to the order.
 */
function checkHistory(row: ReceiptRow, matched: Matched | null, found: Findings): void {
  const { queue, marketTrade, price, arrivedAt, at } = row;
  if (queue === null || marketTrade === null || queue.history === null) return;
  const { history, aheadAtPlacement, tradedAtPrice, canceledAhead } = queue;
  const placed = { ahead: aheadAtPlacement, tradedAtPrice: ZERO, canceledAhead: ZERO };
  for (const [index, point] of history.entries()) {
    const earlier = history[index - 1];
    const from = earlier === undefined ? "queue.aheadAtPlacement" : "the point before it";
    const since = earlier?.time ?? arrivedAt ?? 0;
    found.must(isLeftOf(point, earlier ?? placed), `queue.history.${index} does not follow from ${from}`);
    found.must(point.time >= since, `queue.history.${index}.time ${point.time} is before ${since}`);
  }
  const before = { ahead: queue.aheadBefore, tradedAtPrice, canceledAhead };
  const after = afterTrade(before, marketTrade, price, matched);
  const isMoved = after.ahead !== before.ahead;
  const own = history.length - (isMoved ? 2 : 1);
  const point = history[own];
  found.same(`queue.history.${own}.ahead`, point?.ahead, before.ahead);
  found.same(`queue.history.${own}.canceledAhead`, point?.canceledAhead, canceledAhead);
  found.must(
    point !== undefined && point.tradedAtPrice <= tradedAtPrice,
    `queue.history.${own}.tradedAtPrice ${shown(point?.tradedAtPrice)} is more than queue.tradedAtPrice`,
  );
  const until = at + CLOCK_ERROR_MS_MAX;
  found.must(
    (point?.time ?? 0) <= until,
    `queue.history.${own}.time ${point?.time} is after the fill at ${at}`,
  );
  if (!isMoved) return;
  const time = Math.max(point?.time ?? 0, marketTrade.time);
  for (const [figure, computed] of Object.entries({ time, ...after })) {
    const claimed = history[own + 1]?.[figure as keyof QueuePoint];
    found.same(`queue.history.${own + 1}.${figure}`, claimed, computed, "the point before it and the trade");
  }
}

/** An order in front got its part of a trade after another one. Source: strict fills, section 7. */
function checkPriority(row: ReceiptRow, earlier: ReceiptRow, found: Findings): void {
  const got = `the order got its part of the market's trade after order ${earlier.orderId}`;
  found.must(
    row.price === earlier.price,
    `${got}, whose limit ${shown(earlier.price)} is worse than ${shown(row.price)}`,
  );
  if (row.price === earlier.price) {
    found.unknown.push(`${got}, which arrived later: that is right if it is a stop that was triggered later`);
  }
}

/** Figures that are those of the order, and of the strategy. */
function checkOrder(row: ReceiptRow, { first, firstStep, previous, ofOrder }: Before, found: Findings): void {
  for (const term of ["queue", "refreshMs"] as const) {
    found.same(
      `terms.${term}`,
      row.terms[term],
      first.terms[term],
      `the receipt of trade ${first.tradeId}, as terms never change`,
    );
  }
  const step = stepOf(row);
  if (step !== null && firstStep !== null && step !== firstStep) {
    found.unknown.push(
      `step ${shown(step)} was ${shown(firstStep)} before: the exchange may have changed it, or the receipt is not as it was`,
    );
  }
  found.same("fee.tier", row.fee.tier, first.fee.tier, `the receipt of trade ${first.tradeId}`);
  found.must(previous === null || previous.at <= row.at, `at ${row.at} is before trade ${previous?.tradeId}`);
  if (ofOrder === null) return;
  const from = `the receipt of trade ${ofOrder.tradeId}, of the same order`;
  for (const figure of ["side", "admittedAt", "latencyMs", "arrivedAt"] as const) {
    found.same(figure, row[figure], ofOrder[figure], from);
  }
  // What a reducing order of a contract can fill follows its position.
  const left = subtract(ofOrder.remaining, ofOrder.quantity);
  const isWalked = row.cause === "WALK" && ofOrder.cause === "WALK";
  if (row.market === "SPOT" || isWalked || !isTraded(row)) {
    found.same("remaining", row.remaining, left, from);
  } else if (row.remaining > left) {
    const more = `remaining ${shown(row.remaining)} is more than the ${shown(left)} that trade ${ofOrder.tradeId} left`;
    if (row.cause === "WALK") found.wrong.push(more);
    else found.unknown.push(`${more}: right if the order reduces a position that has grown since`);
  }
  if (row.queue !== null && ofOrder.queue !== null) {
    for (const figure of ["aheadAtPlacement"] as const) {
      found.same(`queue.${figure}`, row.queue[figure], ofOrder.queue[figure], from);
    }
    for (const figure of [
      "lastUpdateId",
      "eventTime",
      "receivedAt",
      "tickerUpdateId",
      "lastTradeId",
    ] as const) {
      found.same(
        `queue.bookAtPlacement.${figure}`,
        row.queue.bookAtPlacement?.[figure],
        ofOrder.queue.bookAtPlacement?.[figure],
        from,
      );
    }
  }
}

function checkFee(row: ReceiptRow, { ofRate }: Before, tiers: TierTable, found: Findings): void {
  const { fee, market, side, symbol, price, quantity } = row;
  if (isTraded(row)) {
    const earlier = fee.isMaker ? ofRate.maker : ofRate.taker;
    if (earlier !== null) {
      found.same("fee.rate", fee.rate, earlier.fee.rate, `the receipt of trade ${earlier.tradeId}`);
    }
    checkTier(row, ofRate, tiers, found);
  } else {
    found.same("fee.rate", fee.rate, ZERO, "its cause");
  }
  const received = side === "BUY" ? (quantity as bigint) : proceedsDown(price, quantity);
  const amount = market === "FUTURES" ? feeOn(product(price, quantity), fee.rate) : feeUp(received, fee.rate);
  found.same("fee.amount", fee.amount, amount, "the rate");
  const isBase = market === "SPOT" && side === "BUY";
  // A delivery contract has its date behind an underscore.
  const [pair = symbol] = symbol.split("_");
  const isOf = isBase ? pair.startsWith(fee.asset) : pair.endsWith(fee.asset);
  found.must(fee.asset !== "" && isOf, `fee.asset ${fee.asset} is not received for ${symbol}`);
}

/**
 * The rate is that of the tier, with the discount or without: which of them a receipt does not say, but
 * makers and takers have the same. The exchange changes its tiers, so a rate may be of another table.
 */
function checkTier(
  { fee, market }: ReceiptRow,
  ofRate: Before["ofRate"],
  tiers: TierTable,
  found: Findings,
): void {
  const profiles = FEE_DISCOUNTS.flatMap((feeDiscount) => {
    const terms = { ...STRICT_DEFAULTS, feeTier: fee.tier, feeDiscount };
    return strictProfile(market, terms, tiers) ?? [];
  });
  const other = fee.isMaker ? ofRate.taker : ofRate.maker;
  const follows = profiles.some(({ makerFee, takerFee }) => {
    const [own, others] = fee.isMaker ? [makerFee, takerFee] : [takerFee, makerFee];
    return fee.rate === own && (other === null || other.fee.rate === others);
  });
  if (follows) return;
  const why =
    profiles.length === 0
      ? `the rates of ${fee.tier} are not known for ${market.toLowerCase()}`
      : `fee.rate ${shown(fee.rate)} is not that of ${fee.tier}, as far as its rates are known`;
  found.unknown.push(`${why}: FEE_TIERS names a file of those that the strategy was made with`);
}

/** The trade of the market in the recording. Source: strict fills, section 7. */
function checkTrades(row: ReceiptRow, recorded: Recorded, found: Findings): void {
  const { marketTrade, side } = row;
  if (marketTrade === null) return;
  const trade = recorded.trade(marketTrade.aggregateId);
  if (trade === null) {
    found.unknown.push(`the recording does not have the market's trade ${marketTrade.aggregateId}`);
    return;
  }
  const from = "the recording";
  for (const figure of ["price", "quantity", "time"] as const) {
    found.same(`marketTrade.${figure}`, marketTrade[figure], trade[figure], from);
  }
  found.same("side", side, trade.side === "BID" ? "BUY" : "SELL", "the side that the trade took");
}

/** What others displayed in front of the order when it joined the queue. */
function checkPlacement(row: ReceiptRow, before: Before, recorded: Recorded, found: Findings): void {
  const { queue, side, price } = row;
  if (queue?.bookAtPlacement == null) {
    found.unknown.push("the book was not known when the order joined the queue");
    return;
  }
  const book = recorded.bookAt(queue.bookAtPlacement);
  if (typeof book === "string") {
    found.unknown.push(book);
    return;
  }
  const own = restingSide(side);
  if (!book.knows(own, price)) {
    found.unknown.push(`the recording does not know ${shown(price)}, which is below its snapshot`);
    return;
  }
  const level = [...book.displayed(own)].find((each) => each.price === price);
  const from = `the recording's book ${queue.bookAtPlacement.lastUpdateId}`;
  found.same("queue.aheadAtPlacement", queue.aheadAtPlacement, level?.displayed ?? ZERO, from);
  checkQueue(row, before, recorded, found);
}

/** How the queue moved from the placement to the trade. */
function checkQueue(row: ReceiptRow, before: Before, recorded: Recorded, found: Findings): void {
  const { queue, marketTrade, side, price, arrivedAt, terms } = row;
  if (queue?.bookAtPlacement == null || marketTrade === null) return;
  if (arrivedAt === null) {
    found.unknown.push("when the order arrived is not known: its queue is not followed");
    return;
  }
  const { bookAtPlacement: book, aheadAtPlacement } = queue;
  if (aheadAtPlacement === null) {
    found.unknown.push("what was in front of the order when it joined the queue is not known");
    return;
  }
  const since = joinedAt(row);
  const order = { side, price, model: terms.queue, since, book, aheadAtPlacement };
  const computed = queueBefore(marketTrade.aggregateId, order, recorded.eventsFor(book), before.given);
  for (const figure of ["aheadBefore", "tradedAtPrice", "canceledAhead"] as const) {
    if (queue[figure] === computed[figure]) continue;
    found.unknown.push(
      `queue.${figure} is ${shown(queue[figure])}, and by the recording ${shown(computed[figure])}: its messages may have arrived in another order there, or the server was restarted`,
    );
  }
  const positions = new Set(computed.points.map(positionInWords));
  // The first point is the placement, and the last one of a fill that moved the queue follows from the trade.
  const moves = (queue.history ?? []).slice(1, queue.aheadBefore === queue.ahead ? undefined : -1);
  const other = moves.find((point) => !positions.has(positionInWords(point)));
  if (other === undefined) return;
  found.unknown.push(
    `queue.history has ${positionInWords(other)}, and the recording has not: its messages may have arrived in another order there, or the server was restarted`,
  );
}

function positionInWords({ time, ahead, tradedAtPrice, canceledAhead }: QueuePoint): string {
  return `${shown(ahead)} in front at ${time}, after ${shown(tradedAtPrice)} traded and ${shown(canceledAhead)} canceled`;
}

/** The level in the book of the recording, and all better ones. Source: strict fills, sections 2 and 5. */
function checkBook(row: ReceiptRow, before: Before, recorded: Recorded, found: Findings): void {
  const [level] = row.levels;
  if (row.book === null || level === undefined) return;
  const book = recorded.bookAt(row.book);
  if (typeof book === "string") {
    found.unknown.push(book);
    return;
  }
  const from = `the recording's book ${row.book.lastUpdateId}`;
  const side = takenSide(row.side);
  if (!book.knows(side, level.price)) {
    found.unknown.push(`the recording does not know ${shown(level.price)}, which is below its snapshot`);
    return;
  }
  const { rank, displayed } = placeOf(level, side, book);
  if (displayed === null) {
    found.wrong.push(`levels.0.price ${shown(level.price)} is not displayed in ${from}`);
    return;
  }
  found.same("levels.0.displayed", level.displayed, displayed.displayed, from);
  found.same("levels.0.fromTicker", level.fromTicker, displayed.fromTicker, from);
  found.same("levels.0.newerTrades", level.newerTrades, displayed.newerTrades, from);
  if (row.cause === "BOOK_CROSSED") {
    if (!hasChanged(level, side, row.book, recorded)) {
      found.unknown.push(
        "the level did not change with that message: the book may have become known with it",
      );
    }
    return;
  }
  found.same("levels.0.index", level.index, rank, from);
  const isBetter = (price: Price) => price !== level.price && isWithin(row.side, level.price, price);
  checkBetterLevels(row, { book, before, found, step: level.step, isBetter });
}

/** What is taken over is what the book did not have within the bankruptcy price. */
function checkRest(row: ReceiptRow, before: Before, recorded: Recorded, found: Findings): void {
  const { ofOrder } = before;
  const [level] = ofOrder?.levels ?? [];
  if (ofOrder?.book == null || level === undefined) {
    found.unknown.push("the liquidation took nothing of the book, which may not have been known");
    return;
  }
  const book = recorded.bookAt(ofOrder.book);
  if (typeof book === "string") {
    found.unknown.push(book);
    return;
  }
  const isBetter = (price: Price) => isWithin(row.side, row.price, price);
  checkBetterLevels(row, { book, before, found, step: level.step, isBetter });
}

/** Whether a level is the ticker's own, or changed with the diff that made the book. */
function hasChanged(
  { price, fromTicker }: ReceiptLevel,
  side: "BID" | "ASK",
  book: NonNullable<ReceiptRow["book"]>,
  recorded: Recorded,
): boolean {
  if (fromTicker) return true;
  for (const event of recorded.eventsFor(book)) {
    if (event.kind !== "change" || event.change.updateId !== book.lastUpdateId) continue;
    return event.change.quantityAt(side, price) !== null;
  }
  return false;
}

function placeOf(level: ReceiptLevel, side: "BID" | "ASK", book: RecordedBook) {
  let rank = 0;
  for (const displayed of book.displayed(side)) {
    if (displayed.price === level.price) return { rank, displayed };
    if (displayed.displayed > 0n) rank += 1;
  }
  return { rank, displayed: null };
}

/** A walk takes all that is available at better prices. */
function checkBetterLevels(
  row: ReceiptRow,
  {
    book,
    before,
    found,
    step,
    isBetter,
  }: {
    readonly book: RecordedBook;
    readonly before: Before;
    readonly found: Findings;
    readonly step: Quantity;
    readonly isBetter: (price: Price) => boolean;
  },
): void {
  const side = takenSide(row.side);
  const { refreshMs } = row.terms;
  const availability = { lots: before.lotsBeforeWalk, refreshMs, at: row.at, step };
  let index = 0;
  for (const better of book.displayed(side)) {
    if (!isBetter(better.price)) return;
    if (better.displayed === 0n) continue;
    const { available } = availableAt(side, better, index, availability);
    index += 1;
    const taken = before.walked.get(better.price) ?? ZERO;
    if (available === taken) continue;
    const left = `${shown(available)} was available at the better price ${shown(better.price)}, of which ${shown(taken)} was taken`;
    if (before.previous === null && row.tradeId > 1) {
      found.unknown.push(`${left}, as far as receipts were given`);
      return;
    }
    if (before.hasAllLots) found.wrong.push(left);
    else found.unknown.push(`${left}; fills before trade ${before.first.tradeId} were not given`);
    return;
  }
}

function shown(value: Figure): string {
  return typeof value === "bigint" ? formatDecimal(value) : String(value ?? "nothing");
}
