// After a restart: what the market has reached is filled, what had an unknown outcome is whole and is sent again.
import { eventually } from "../support/eventually.ts";
import type { WireAnswer } from "../support/signed-client.ts";
import { faultsOf, openOrders, readBooks } from "./books.ts";
import type { Fault } from "./faults.ts";
import { type Quote, quoteOf } from "./markets.ts";
import { fewAtATime } from "./patience.ts";
import { isBody, type OrderBody, type Trader, ticksOf } from "./trader.ts";

/** What became of the placements that were never answered. */
export type Settled = {
  /** They had taken effect before the kill. */
  readonly done: number;
  /** They had not; sent again they were taken, or refused. */
  readonly taken: number;
  readonly refused: number;
};

const ASK_AGAIN_MS = 40;

/** Waits until nothing rests any more where the market stands; answers how many orders that filled. */
export async function awaitFills(url: string, traders: readonly Trader[]): Promise<number> {
  const before = await quoteOf(url);
  await eventually(
    "orders that rest where the market stands are filled",
    async () => {
      const now = await quoteOf(url);
      const open = await fewAtATime(traders, ({ credentials }) => openOrders(url, credentials));
      return !open.flat().some((order) => isWellReached(order, before) || isReached(order, now));
    },
    { askAgainMs: ASK_AGAIN_MS },
  );
  const rested = traders
    .flatMap(({ placements }) => [...placements.values()])
    .filter(({ mayBeCanceled }) => !mayBeCanceled)
    .flatMap(({ heard }) => (isBody(heard) && heard.status === "NEW" ? [heard] : []));
  return rested.filter((order) => isWellReached(order, before)).length;
}

function isReached({ side, price }: OrderBody, { bid, ask }: Quote): boolean {
  return side === "BUY" ? ticksOf(price) >= ask : ticksOf(price) <= bid;
}

/** By a tenth of a percent, since the market moves on while one looks. */
function isWellReached(order: OrderBody, { bid, ask }: Quote): boolean {
  return isReached(order, { bid: bid * 0.999, ask: ask * 1.001 });
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
  await fewAtATime(found.books, async ({ trader, books }) => {
    for (const clientOrderId of trader.unknown()) {
      const before = books.orders.find((order) => order.clientOrderId === clientOrderId)?.orderId ?? null;
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
    for (const order of books.orders) trader.learn(order);
  });
  return { settled, faults };
}

/** Checks all books. Answers what is wrong and how many orders there are. */
export async function checkAll(
  url: string,
  traders: readonly Trader[],
): Promise<{ readonly orders: number; readonly faults: readonly Fault[] }> {
  const { books, faults } = await readAll(url, traders);
  return { orders: books.reduce((total, each) => total + each.books.orders.length, 0), faults };
}

async function readAll(url: string, traders: readonly Trader[]) {
  const books = await fewAtATime(traders, async (trader) => ({
    trader,
    books: await readBooks(url, trader.credentials),
  }));
  return { books, faults: books.flatMap((each) => faultsOf(each.trader, each.books)) };
}

function orderIdOf({ status, body }: WireAnswer): number | null {
  return status === 200 ? body.orderId : null;
}
