// The judge of stored rows: books made by hand, each with one thing wrong.
import { describe, expect, test } from "vitest";
import { bookFaults } from "./books.ts";
import type { StoredOrder, StoredStrategy, StoredTrade } from "./stored-rows.ts";

const filled: StoredOrder = {
  orderId: 1,
  clientOrderId: "t0-1",
  symbol: "DOGEUSDT",
  side: "BUY",
  type: "MARKET",
  status: "FILLED",
  price: "0",
  stopPrice: "0",
  quantity: "100",
  quoteQuantity: "0",
  executedQuantity: "100",
  executedQuote: "10",
  reserved: "0",
  reservedAsset: "USDT",
  ...{ placedAt: 1, updatedAt: 1, workingAt: 1 },
};
const resting: StoredOrder = {
  ...filled,
  ...{ orderId: 2, clientOrderId: "t0-2", type: "LIMIT", status: "NEW", price: "0.05", quantity: "50" },
  ...{ executedQuantity: "0", executedQuote: "0", reserved: "2.5" },
};
const trade: StoredTrade = {
  tradeId: 1,
  orderId: 1,
  symbol: "DOGEUSDT",
  side: "BUY",
  price: "0.1",
  quantity: "100",
  quoteQuantity: "10",
  fee: "0.1",
  feeAsset: "DOGE",
  isMaker: false,
  at: 1,
};
const sound: StoredStrategy = {
  orders: [filled, resting],
  trades: [trade],
  legs: [],
  incomes: [],
  state: { balances: { DOGE: { free: "99.9" }, USDT: { free: "187.5", locked: "2.5" } } },
};

test("books in which nothing is wrong have no fault", () => {
  expect(bookFaults(sound, "SPOT")).toEqual([]);
});

/** Ten of the resting order's fifty are filled. */
const inPart = (locked: string): StoredStrategy => ({
  ...sound,
  orders: [filled, { ...resting, status: "PARTIALLY_FILLED", executedQuantity: "10", executedQuote: "0.5" }],
  trades: [
    trade,
    ...[
      { ...trade, tradeId: 2, orderId: 2, price: "0.05", quantity: "10", quoteQuantity: "0.5", fee: "0.01" },
    ],
  ],
  state: { balances: { DOGE: { free: "109.89" }, USDT: { free: "187.5", locked } } },
});

test("an order that is filled in part locks what the rest of it needs", () => {
  expect(bookFaults(inPart("2"), "SPOT")).toEqual([]);
  expect(bookFaults(inPart("2.5"), "SPOT")).toHaveLength(1);
});

describe("books are at fault", () => {
  const usdt = (terms: Readonly<Record<string, string>>) => ({
    state: { balances: { ...sound.state.balances, USDT: { ...sound.state.balances.USDT, ...terms } } },
  });

  test.each<[string, Partial<StoredStrategy>]>([
    ["the id of an order is missing", { orders: [filled, { ...resting, orderId: 3 }] }],
    ["the id of a trade is missing", { trades: [{ ...trade, tradeId: 2 }] }],
    [
      "two orders have the same client id",
      { orders: [filled, resting, { ...resting, orderId: 3, status: "CANCELED", reserved: "0" }] },
    ],
    ["an order is filled without its trades", { trades: [] }],
    ["a trade belongs to no order", { orders: [resting], trades: [trade] }],
    ["a balance is off by the last digit", usdt({ free: "187.50000001" })],
    ["what is locked is off by the last digit", usdt({ locked: "2.49999999" })],
  ])("%s", (_what, change) => {
    expect(bookFaults({ ...sound, ...change }, "SPOT")).not.toEqual([]);
  });

  test("a futures strategy holds something else than its trades add up to", () => {
    const held = (quantity: string) => ({
      ...sound,
      ...{ orders: [filled], trades: [{ ...trade, fee: "0.005", feeAsset: "USDT" }] },
      incomes: [
        { type: "TRANSFER", amount: "1000" },
        { type: "COMMISSION", amount: "-0.005" },
      ],
      state: {
        balances: { USDT: { free: "989.995", isolated: "10", world: "-999.995" } },
        positions: [
          { symbol: "DOGEUSDT", quantity, entryValue: String(10n * 10n ** 16n), isolatedWallet: "10" },
        ],
      },
    });
    expect(bookFaults(held("100"), "FUTURES")).toEqual([]);
    expect(bookFaults(held("99.99999999"), "FUTURES")).toHaveLength(1);
  });
});
