import { expect, test } from "vitest";
import type { Trade } from "../domain/order.ts";
import { decimal } from "../money/decimal.ts";
import { csvOfPoints, csvOfTrades, LINES_PER_TURN } from "./csv.ts";

const TRADE: Trade = {
  tradeId: 7,
  orderId: 9,
  symbol: '=HYPERLINK("x",1)USDT',
  side: "BUY",
  price: decimal("100"),
  quantity: decimal("0.5"),
  quoteQuantity: decimal("50"),
  fee: decimal("0.0005"),
  feeAsset: "@COIN",
  isMaker: false,
  at: 1_700_000_000_000,
  realizedPnl: decimal("-1.5"),
};

test("a curve is a line a point, its negative numbers numbers still", () => {
  const point = {
    at: 1_700_000_000_000,
    equity: decimal<never>("189.91"),
    drawdown: decimal<never>("-10.09"),
    drawdownRate: decimal<never>("-0.05045"),
  };
  expect(csvOfPoints([point])).toBe(
    "time,equity,drawdown,drawdown rate\r\n2023-11-14T22:13:20.000Z,189.91,-10.09,-0.05045\r\n",
  );
});

test("no cell of a trade is a formula, whatever its symbol is called", async () => {
  const { realizedPnl: _none, ...spot } = TRADE;
  const [names, first, second] = (await csvOfTrades([TRADE, spot])).split("\r\n");
  expect(names?.split(",")).toHaveLength(12);
  expect(first).toBe(
    `2023-11-14T22:13:20.000Z,7,9,"'=HYPERLINK(""x"",1)USDT",BUY,100,0.5,50,0.0005,'@COIN,no,-1.5`,
  );
  expect(second?.endsWith(",no,")).toBe(true);
});

test("many trades are written a stretch at a time, every one of them in its place", async () => {
  const count = 3 * LINES_PER_TURN + 1;
  const trades = Array.from({ length: count }, (_, index) => ({ ...TRADE, tradeId: index + 1 }));
  let isWritten = false;
  let turns = 0;
  const other = () => {
    turns += 1;
    if (!isWritten) setImmediate(other);
  };
  setImmediate(other);
  const text = await csvOfTrades(trades);
  isWritten = true;
  expect(turns).toBeGreaterThanOrEqual(3);
  const lines = text.split("\r\n");
  expect(lines.slice(1, -1).map((line) => line.split(",")[1])).toEqual(
    trades.map(({ tradeId }) => `${tradeId}`),
  );
  expect(lines.at(-1)).toBe("");
});

test("without trades there is the line of names", async () => {
  expect(await csvOfTrades([])).toMatch(/^time,trade,[a-z ,]*\r\n$/);
});
