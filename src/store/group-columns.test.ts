import { expect, test } from "vitest";
import { type GroupRows, NULL, packColumns, packGroup, SEPARATOR, unpackGroup } from "./group-columns.ts";

const NO_ROWS: GroupRows = {
  strategies: [],
  journal: [],
  orders: [],
  trades: [],
  legs: [],
  incomes: [],
  signals: [],
  received: [],
};
const trade = (values: object) => ({
  strategy_id: "a",
  trade_id: 1,
  symbol: "BTCUSDT",
  order_id: 2,
  at: 3,
  body: '{"é":"\\u001f"}',
  ...values,
});

test("a packed group has every row of every table, with numbers as text", () => {
  const income = { strategy_id: "a", income_id: 1, type: "FEE", asset: "USDT", amount: "-1", at: 2 };
  const rows = {
    ...NO_ROWS,
    trades: [trade({}), trade({ trade_id: 2 })],
    incomes: [{ ...income, symbol: null, trade_id: null }],
  };
  expect(unpackGroup(packGroup(rows))).toEqual({
    ...NO_ROWS,
    trades: [
      ["a", "1", "BTCUSDT", "2", "3", '{"é":"\\u001f"}'],
      ["a", "2", "BTCUSDT", "2", "3", '{"é":"\\u001f"}'],
    ],
    incomes: [["a", "1", "FEE", null, "USDT", "-1", "2", null]],
  });
  expect(unpackGroup(packGroup(NO_ROWS))).toEqual(NO_ROWS);
});

test("a packed column is empty without rows", () => {
  expect(packColumns("trades", [])).toEqual(["", "", "", "", "", ""]);
  expect(packColumns("trades", [trade({}), trade({ at: null })])[4]).toBe(`3${SEPARATOR}${NULL}`);
});

test.each(["", NULL, `a${SEPARATOR}b`])(
  "a value that could be taken for others is never packed: %j",
  (symbol) => {
    const rows = { ...NO_ROWS, trades: [trade({ symbol })] };
    expect(() => packGroup(rows)).toThrow("told from those beside it");
    expect(() => packColumns("trades", rows.trades)).toThrow("told from those beside it");
  },
);
