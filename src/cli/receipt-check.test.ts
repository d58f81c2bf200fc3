// Receipts without a recording: each must follow from its own figures and from the receipts before it. The figures are
// those of the worked examples. Source: strict fills, section 15.
import { describe, expect, test } from "vitest";
import { checkReceipts } from "./receipt-check.ts";
import { readReceipts } from "./receipt-file.ts";

const BOOK = { lastUpdateId: 77, eventTime: 990, receivedAt: 996, tickerUpdateId: null, lastTradeId: 4 };
const COMMON = {
  ...{ symbol: "BTCUSDT", market: "SPOT", profile: "strict", profileVersion: 1 },
  ...{ admittedAt: 950, latencyMs: 50, arrivedAt: 1_000, side: "BUY" },
  terms: { queue: "trades", refreshMs: 5_000 },
} as const;

/** W1: a market order over three levels. */
const WALK = [
  ["60000.00000000", "0.00050000", "0.00050000", "0.00150000"],
  ["60001.00000000", "0.00050000", "0.00050000", "0.00100000"],
  ["60010.00000000", "0.00100000", "0.00050000", "0.00050000"],
].map(([price, displayed, taken, remaining], index) => ({
  ...{
    tradeId: index + 1,
    orderId: 1,
    ...COMMON,
    cause: "WALK",
    at: 1_000,
    price,
    quantity: taken,
    remaining,
  },
  book: BOOK,
  levels: [
    {
      ...{ index, price, displayed, fromTicker: false, newerTrades: "0.00000000", ownConsumed: "0.00000000" },
      ...{ available: displayed, taken, step: "0.00001000" },
    },
  ],
  ...{ queue: null, marketTrade: null },
  fee: { rate: "0.00100000", tier: "regular", isMaker: false, amount: "0.00000050", asset: "BTC" },
}));

/** W6: an open order that two trades fill, the first of which goes to those in front at first. */
const QUEUE = [
  {
    id: 6,
    before: "0.00040000",
    traded: "0.00060000",
    given: "0.00060000",
    fill: "0.00020000",
    left: "0.00100000",
  },
  {
    id: 7,
    before: "0.00000000",
    traded: "0.00120000",
    given: "0.01000000",
    fill: "0.00080000",
    left: "0.00080000",
  },
].map(({ id, before, traded, given, fill, left }, index) => ({
  ...{ tradeId: index + 4, orderId: 2, ...COMMON, cause: "TRADE_AT_PRICE", at: 2_000 + index },
  ...{ price: "59999.99000000", quantity: fill, remaining: left, book: null, levels: [] },
  queue: {
    ...{ model: "trades", aheadAtPlacement: "0.00100000", bookAtPlacement: BOOK, tradedAtPrice: traded },
    ...{ canceledAhead: "0.00000000", aheadBefore: before, ahead: "0.00000000" },
  },
  marketTrade: {
    ...{ aggregateId: id, price: "59999.99000000", quantity: given, time: 1_900 + index, available: given },
    step: "0.00001000",
  },
  fee: {
    rate: "0.00100000",
    tier: "regular",
    isMaker: true,
    amount: index === 0 ? "0.00000020" : "0.00000080",
    asset: "BTC",
  },
}));

const ROWS = [...WALK, ...QUEUE];

async function checked(rows: readonly unknown[]) {
  return await checkReceipts(readReceipts([{ name: "receipts", text: JSON.stringify(rows) }]), null);
}

async function isFound(rows: readonly unknown[]): Promise<boolean> {
  try {
    return (await checked(rows)).some(({ wrong, unknown }) => wrong.length + unknown.length > 0);
  } catch {
    return true;
  }
}

test("worked examples follow from their own figures", async () => {
  for (const { wrong, unknown } of await checked(ROWS))
    expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] });
});

type Change = readonly [path: string, value: unknown];

describe("a changed figure is found", () => {
  test.each<readonly [trade: number, ...Change]>([
    [2, "levels.0.displayed", "0.00040000"],
    [2, "levels.0.ownConsumed", "0.00001000"],
    [2, "levels.0.available", "0.00051000"],
    [2, "levels.0.taken", "0.00049000"],
    [2, "levels.0.price", "60002.00000000"],
    [2, "levels.0.step", "0.00010000"],
    [2, "price", "60002.00000000"],
    [2, "quantity", "0.00049000"],
    [2, "remaining", "0.00090000"],
    [2, "book.tickerUpdateId", 76],
    [2, "book.receivedAt", 1_001],
    [2, "fee.rate", "0.00090000"],
    [2, "fee.amount", "0.00000051"],
    [2, "fee.isMaker", true],
    [2, "fee.asset", "USDT"],
    [2, "terms.refreshMs", 4_000],
    [2, "arrivedAt", 999],
    [2, "cause", "BOOK_CROSSED"],
    [4, "queue.aheadBefore", "0.00050000"],
    [4, "queue.ahead", "0.00010000"],
    [4, "queue.tradedAtPrice", "0.00050000"],
    [4, "queue.canceledAhead", "0.00080000"],
    [4, "queue.model", "power-1"],
    [4, "quantity", "0.00030000"],
    [4, "marketTrade.available", "0.00050000"],
    [4, "marketTrade.quantity", "0.00070000"],
    [4, "marketTrade.price", "59999.98000000"],
    [4, "marketTrade.time", 1_000],
    [4, "cause", "TRADE_THROUGH"],
    [5, "queue.aheadAtPlacement", "0.00110000"],
    [5, "queue.bookAtPlacement.lastUpdateId", 78],
    [5, "remaining", "0.00090000"],
  ])("trade %i, %s", async (tradeId, path, value) => {
    const rows: typeof ROWS = JSON.parse(JSON.stringify(ROWS));
    const row = rows.find((each) => each.tradeId === tradeId);
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: any place in a row.
    const holder = keys.reduce((each: any, key) => each[key], row);
    expect(holder).toHaveProperty(last);
    holder[last] = value;
    expect(await isFound(rows)).toBe(true);
  });
});

test("what the strategy took before counts, or it is said that it is not known", async () => {
  const [first] = WALK;
  const [level] = first?.levels ?? [];
  const again = {
    ...{
      ...first,
      tradeId: 4,
      orderId: 3,
      arrivedAt: 2_234,
      at: 2_234,
      quantity: "0.00012000",
      remaining: "0.00012000",
    },
    // W4: after 1,234 ms 3,766 parts of 5,000 still count.
    levels: [{ ...level, ownConsumed: "0.00037660", available: "0.00012000", taken: "0.00012000" }],
    fee: { ...first?.fee, amount: "0.00000012" },
  };
  expect(await isFound([...WALK, again])).toBe(false);
  const [, finding] = await checked([WALK[2], again]);
  expect(finding).toMatchObject({ wrong: [], unknown: [expect.stringContaining("before trade 3")] });
  const none = {
    ...again,
    levels: [{ ...again.levels[0], ownConsumed: "0.00000000", available: "0.00050000" }],
  };
  const found = await checked([...WALK, none]);
  expect(found.at(-1)?.wrong).toEqual([expect.stringContaining("ownConsumed")]);
});

test("two orders share one trade of the market, and none is filled by more than the others left", async () => {
  const [, last] = QUEUE;
  const other = (available: string) => ({
    ...{ ...last, tradeId: 6, orderId: 9, remaining: "0.00080000" },
    marketTrade: { ...last?.marketTrade, available },
  });
  expect(await isFound([...ROWS, other("0.00920000")])).toBe(false);
  expect(await isFound([...ROWS, other("0.01000000")])).toBe(true);
});

test("a file that is no list of receipts says where", () => {
  const read = (text: string) => () => readReceipts([{ name: "a.json", text }]);
  expect(read("{")).toThrow("a.json is not JSON");
  expect(read("{}")).toThrow("a.json is not a list of receipts");
  expect(read(JSON.stringify([{ ...ROWS[0], price: "1" }]))).toThrow("at 0.price");
  expect(read(JSON.stringify([ROWS[0], { ...ROWS[1], symbol: "ETHUSDT" }]))).toThrow(
    "SPOT BTCUSDT and SPOT ETHUSDT",
  );
  expect(read(JSON.stringify([ROWS[0], ROWS[0]]))).toThrow("two receipts of trade 1");
});
