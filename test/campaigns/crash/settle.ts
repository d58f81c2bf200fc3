// After a restart: waits until orders and legs that the market reached have executed, and resends the
// placements whose outcome is unknown.
import { eventually } from "../../support/eventually.ts";
import { units } from "../../support/exact.ts";
import type { WireAnswer } from "../../support/signed-client.ts";
import type { Fault } from "../harness/faults.ts";
import { markOf, type Quote, quotesOf } from "../harness/markets.ts";
import { fewAtATime } from "../harness/patience.ts";
import { ticksOf } from "../harness/ticks.ts";
import { isLeg, isOpenBody, type OrderBody, orderOf } from "./bodies.ts";
import { acknowledgementFaults, ownOrders, tradeFaults } from "./book-faults.ts";
import { openOrders, type PositionBody, positionOf, readBooks } from "./books.ts";
import { isBody, type Trader } from "./trader.ts";

/** What became of the placements that were never answered. */
export type Settled = {
  /** They had taken effect before the kill. */
  readonly done: number;
  /** They had not; sent again they were taken, or refused. */
  readonly taken: number;
  readonly refused: number;
};

/** Leaves most of the budgets unused while waiting. */
const ASK_AGAIN_MS = 200;

/** The present prices of a market: the best prices, and the mark price of a contract. */
type Stand = Quote & { readonly mark: number };

/**
 * Waits until the market's present prices leave no order unfilled, no leg unfired and no position
 * unliquidated. Returns how many orders and legs they had reached. A liquidation may have removed some of a
 * futures trader's.
 */
export async function awaitFills(url: string, traders: readonly Trader[]): Promise<number> {
  const before = await standsOf(url);
  await eventually(
    "what the market has reached is filled, has fired or is liquidated",
    async () => {
      const now = await standsOf(url);
      const waiting = await fewAtATime(traders, async (trader) => {
        const isMet = (order: OrderBody) => isDue(order, trader, before[trader.type], now[trader.type]);
        if ((await openOrders(url, trader)).some(isMet)) return true;
        return trader.type === "FUTURES" && isBeyondItsMargin(await positionOf(url, trader));
      });
      return !waiting.includes(true);
    },
    { askAgainMs: ASK_AGAIN_MS },
  );
  const reached = traders.map((trader) =>
    [...trader.placements.values()].filter(
      ({ heard, mayBeCanceled }) =>
        !mayBeCanceled &&
        isBody(heard) &&
        isOpenBody(heard) &&
        isWellReached(heard, before[trader.type]) &&
        !isInQueue(heard, trader),
    ),
  );
  return reached.flat().length;
}

async function standsOf(url: string): Promise<{ readonly SPOT: Stand; readonly FUTURES: Stand }> {
  const { SPOT, FUTURES } = await quotesOf(url);
  const mark = await markOf(url);
  return { SPOT: { ...SPOT, mark }, FUTURES: { ...FUTURES, mark } };
}

/**
 * Whether an order or leg has to be over by now. Under `strict` an order is filled by what the book has, so
 * that only one well within the present book has to be.
 */
function isDue(order: OrderBody, trader: Trader, before: Stand, now: Stand): boolean {
  if (isInQueue(order, trader)) return isWellReached(order, now);
  return isWellReached(order, before) || isReached(order, now);
}

function isInQueue(order: OrderBody, { profile }: Trader): boolean {
  return profile === "strict" && !isLeg(order);
}

/**
 * As its own row says, by the mark price that it is shown at; one beyond it by hardly anything was reached
 * just now.
 */
function isBeyondItsMargin(position: PositionBody | null): boolean {
  if (position === null || Number(position.liquidationPrice) === 0) return false;
  const [mark, end] = [Number(position.markPrice), Number(position.liquidationPrice)];
  return Number(position.positionAmt) > 0 ? mark < end : mark > end;
}

function isReached(order: OrderBody, { bid, ask, mark }: Stand): boolean {
  const { side, type, price } = order;
  if (!isLeg(order)) return side === "BUY" ? ticksOf(price) >= ask : ticksOf(price) <= bid;
  if (order.waitsForEntry) return false;
  const waitsForRise = (side === "BUY") === (type === "STOP_MARKET");
  return waitsForRise ? mark >= ticksOf(price) + 1 : mark <= ticksOf(price) - 1;
}

/** By a tenth of a percent, since the market moves on while one looks. */
function isWellReached(order: OrderBody, { bid, ask, mark }: Stand): boolean {
  const wary = { bid: bid * 0.999, ask: ask * 1.001 };
  return (
    isReached(order, { ...wary, mark: mark * 0.999 }) && isReached(order, { ...wary, mark: mark * 1.001 })
  );
}

/** Checks that unknown outcomes are whole, then sends each order again, twice at the same time. */
export async function settleUnknown(
  url: string,
  traders: readonly Trader[],
): Promise<{ readonly settled: Settled; readonly faults: readonly Fault[] }> {
  const settled = { done: 0, taken: 0, refused: 0 };
  const found = await readAll(url, traders);
  // Whatever else is done to wrong books only hides what is wrong with them.
  if (found.faults.length > 0) return { settled, faults: found.faults };
  const faults: Fault[] = [];
  await fewAtATime(found.books, async ({ trader, orders }) => {
    for (const clientOrderId of trader.unknown()) {
      const known = ownOrders(orders).find((order) => order.clientOrderId === clientOrderId);
      const before = known?.orderId ?? null;
      const answers = await Promise.all([
        trader.resend(url, clientOrderId),
        trader.resend(url, clientOrderId),
      ]);
      const ids = answers.map(orderIdOf);
      const standing = new Set([before, ...ids].filter((id) => id !== null));
      const what = `${clientOrderId} was order ${before}, and sent again, twice at once, it is ${JSON.stringify(ids)}`;
      if (standing.size > 1) faults.push({ kind: "DOUBLED", what });
      else if (before !== null && ids.includes(null)) faults.push({ kind: "GATEWAY", what });
      if (before !== null) settled.done += 1;
      else if (standing.size > 0) settled.taken += 1;
      else settled.refused += 1;
    }
    // Whatever the books showed has been promised too, and must hold from now on.
    for (const order of ownOrders(orders)) trader.learn(order);
  });
  return { settled, faults };
}

/** Checks all books. */
export async function checkAll(url: string, traders: readonly Trader[]) {
  const { books, faults } = await readAll(url, traders);
  const all = books.flatMap(({ orders }) => orders);
  const count = (is: (order: OrderBody) => boolean) => all.filter(is).length;
  return {
    orders: count((order) => !isLeg(order)),
    /** Legs that have closed a position. */
    fired: count((order) => isLeg(order) && order.status === "FINISHED"),
    /** Orders of which a part was filled, and not the whole. */
    filledInPart: count((order) => !isLeg(order) && isPart(order)),
    liquidated: count(({ type }) => type === "LIQUIDATION"),
    faults,
  };
}

function isPart({ executedQty, origQty }: OrderBody): boolean {
  return units(executedQty) > 0n && units(executedQty) < units(origQty);
}

async function readAll(url: string, traders: readonly Trader[]) {
  const books = await fewAtATime(traders, async (trader) => ({
    trader,
    ...(await readBooks(url, trader)),
  }));
  const faults = books.flatMap(({ trader, ...books }) => [
    ...acknowledgementFaults(trader, books.orders),
    ...tradeFaults(trader, books),
  ]);
  return { books, faults };
}

function orderIdOf({ status, body }: WireAnswer): number | null {
  return status === 200 ? orderOf(body).orderId : null;
}
