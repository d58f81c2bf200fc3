// Histories longer than a page of the store: all of it is read, in order, and other work runs in between.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { emptyAccount } from "../domain/account.ts";
import type { Income } from "../domain/income.ts";
import type { Trade } from "../domain/order.ts";
import { decimal } from "../money/decimal.ts";
import { TradeHistory } from "./history.ts";

const ROWS = 3_500;

/** A store that answers at once, as an embedded database does. */
function historyOf(rows: { readonly trades?: readonly Trade[]; readonly incomes?: readonly Income[] }) {
  const { trades = [], incomes = [] } = rows;
  let passedOver = 0;
  const history = new TradeHistory({
    listTradedSymbols: async () => ["BTCUSDT"],
    listTrades: async (_, { fromTradeId = 0, limit }) =>
      trades.filter(({ tradeId }) => tradeId >= fromTradeId).slice(0, limit),
    async listIncomes(_, { startTime = 0, offset = 0, limit }) {
      passedOver += offset;
      return incomes.filter(({ at }) => at >= startTime).slice(offset, offset + limit);
    },
  });
  return { history, passedOver: () => passedOver };
}

/** Incomes at these times, numbered in their order. */
function incomesAt(times: readonly number[]): readonly Income[] {
  return times.map((at, index) => ({
    incomeId: index + 1,
    type: "FUNDING_FEE",
    symbol: "BTCUSDT",
    asset: "USDT",
    amount: decimal("1"),
    at,
    tradeId: null,
  }));
}

function tradesUpTo(count: number): readonly Trade[] {
  return Array.from({ length: count }, (_, index) => ({
    tradeId: index + 1,
    orderId: index + 1,
    symbol: "BTCUSDT",
    side: "BUY",
    price: decimal("1"),
    quantity: decimal("1"),
    quoteQuantity: decimal("1"),
    fee: decimal("0"),
    feeAsset: "BTC",
    isMaker: false,
    at: index,
  }));
}

/** Iterations of the event loop until the work was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns += 1) await setImmediate();
  await done;
  return turns;
}

const account = { ...emptyAccount("one", "FUTURES"), nextTradeId: ROWS + 1, nextIncomeId: ROWS + 1 };

describe("incomes", () => {
  test.each([
    { title: "at times of their own", at: (index: number) => index },
    { title: "two at a time", at: (index: number) => Math.floor(index / 2) },
    { title: "more at one time than a page holds", at: (index: number) => Math.floor(index / 3_000) },
    { title: "all at one time", at: () => 7 },
  ])("$title are all there, once each, in their order", async ({ at }) => {
    const incomes = incomesAt(Array.from({ length: ROWS }, (_, index) => at(index)));
    const { history } = historyOf({ incomes });
    const found = await history.incomes(account, 0, []);
    expect(found.map(({ incomeId }) => incomeId)).toEqual(incomes.map(({ incomeId }) => incomeId));
  });

  test("are not passed over again to come to the next ones", async () => {
    const { history, passedOver } = historyOf({ incomes: incomesAt([...Array(ROWS).keys()]) });
    await history.incomes(account, 0, []);
    expect(passedOver()).toBe(0);
  });
});

test("other work runs between the pages", async () => {
  const rows = { trades: tradesUpTo(ROWS), incomes: incomesAt([...Array(ROWS).keys()]) };
  const trades = historyOf(rows).history.trades(account, ROWS);
  expect(await turnsDuring(trades)).toBeGreaterThanOrEqual(3);
  expect((await trades).trades).toHaveLength(ROWS);
  expect(await turnsDuring(historyOf(rows).history.incomes(account, 0, []))).toBeGreaterThanOrEqual(3);
});
