import { expect, test } from "vitest";
import { decimal, type Price } from "../../../money/decimal.ts";
import { futuresProtocol } from "../streams/futures-protocol.ts";
import { spotProtocol } from "../streams/spot-protocol.ts";
import {
  type Book,
  createBook,
  forgetIds,
  isSilent,
  silentAfterMs,
  takeDepth as takeDepthBy,
  takeRestTicker,
  takeTicker,
} from "./book.ts";

const ticker = (u: unknown, b: unknown, a: unknown) => ({ u, s: "BTCUSDT", b, B: "1", a, A: "1" });
const depth = (lastUpdateId: unknown, bid: string, ask: string) => ({
  lastUpdateId,
  bids: [[bid, "1"]],
  asks: [[ask, "1"]],
});
const takeDepth = (book: Book, data: unknown, at: number) =>
  takeDepthBy(book, data, at, spotProtocol.depthKeys);
const quote = (bid: string, ask: string) => ({ bid: decimal<Price>(bid), ask: decimal<Price>(ask) });

test("a ticker with a higher update id is the new quote", () => {
  const book = createBook();
  expect(takeTicker(book, ticker(7, "99.00000000", "101.00000000"), 0)).toBe("accepted");
  expect(takeTicker(book, ticker(8, "100", "101"), 1)).toBe("accepted");
  expect(book.quote).toEqual(quote("100", "101"));
});

test("a ticker whose update id is not above the held one is stale and no sign of life", () => {
  const book = createBook();
  takeTicker(book, ticker(7, "99", "101"), 0);
  expect(takeTicker(book, ticker(7, "90", "91"), 10)).toBe("stale");
  expect(takeTicker(book, ticker(6, "90", "91"), 20)).toBe("stale");
  expect(book).toMatchObject({ quote: quote("99", "101"), newsAt: 0 });
});

test("a crossed quote is dropped, from any source", () => {
  const book = createBook();
  takeTicker(book, ticker(7, "99", "101"), 0);
  expect(takeTicker(book, ticker(8, "101", "101"), 1)).toBe("crossed");
  expect(takeDepth(book, depth(9, "102", "101"), 2)).toBe("crossed");
  expect(takeRestTicker(book, { bidPrice: "102", askPrice: "101" }, 3)).toBe("crossed");
  expect(book).toMatchObject({ quote: quote("99", "101"), newsAt: 0 });
});

test("an empty side is a side that is null", () => {
  const book = createBook();
  expect(takeTicker(book, ticker(1, "0.00000000", "101"), 0)).toBe("accepted");
  expect(book.quote).toEqual({ bid: null, ask: decimal<Price>("101") });
  expect(takeDepth(book, { lastUpdateId: 2, bids: [], asks: [] }, 1)).toBe("accepted");
  expect(book.quote).toEqual({ bid: null, ask: null });
});

test("a depth message that repeats its update id is a sign of life", () => {
  const book = createBook();
  takeDepth(book, depth(7, "99", "101"), 0);
  expect(takeDepth(book, depth(7, "99", "101"), 4_000)).toBe("alive");
  expect(isSilent(book, 8_999)).toBe(false);
  expect(isSilent(book, 9_000)).toBe(true);
});

test("a depth message that goes back is stale", () => {
  const book = createBook();
  takeDepth(book, depth(7, "99", "101"), 0);
  expect(takeDepth(book, depth(6, "98", "101"), 1)).toBe("stale");
});

test("the top of a newer depth is the quote, and a ticker that it overtook is still taken", () => {
  const book = createBook();
  takeTicker(book, ticker(7, "99", "101"), 0);
  expect(takeDepth(book, depth(10, "98", "100"), 1)).toBe("accepted");
  expect(book.quote).toEqual(quote("98", "100"));
  expect(takeTicker(book, ticker(9, "90", "95"), 2)).toBe("accepted");
  expect(takeDepth(book, depth(11, "90", "95"), 3)).toBe("alive");
});

test("an older depth than the ticker is a sign of life and no quote", () => {
  const book = createBook();
  takeTicker(book, ticker(7, "99", "101"), 0);
  expect(takeDepth(book, depth(6, "98", "100"), 1)).toBe("alive");
  expect(book).toMatchObject({ quote: quote("99", "101"), newsAt: 1 });
});

test("a book that fell silent believes an upstream that counts from the beginning", () => {
  const book = createBook();
  takeTicker(book, ticker(1_000, "99", "101"), 0);
  expect(takeTicker(book, ticker(1, "98", "100"), silentAfterMs - 1)).toBe("stale");
  expect(takeTicker(book, ticker(2, "98", "100"), silentAfterMs)).toBe("accepted");
  expect(takeTicker(book, ticker(2, "98", "100"), silentAfterMs)).toBe("stale");
});

test("a book whose connection was replaced believes the first message", () => {
  const book = createBook();
  takeTicker(book, ticker(1_000, "99", "101"), 0);
  forgetIds(book);
  expect(takeTicker(book, ticker(1, "98", "100"), 1)).toBe("accepted");
});

test("the same prices after a silence are a quote again", () => {
  const book = createBook();
  takeDepth(book, depth(7, "99", "101"), 0);
  expect(takeDepth(book, depth(7, "99", "101"), silentAfterMs)).toBe("accepted");
  expect(takeRestTicker(book, { bidPrice: "99", askPrice: "101" }, silentAfterMs + 1)).toBe("alive");
  expect(takeRestTicker(book, { bidPrice: "99", askPrice: "101" }, 3 * silentAfterMs)).toBe("accepted");
});

test.each([
  null,
  [],
  "text",
  ticker("7", "99", "101"),
  ticker(-1, "99", "101"),
  ticker(1.5, "99", "101"),
  ticker(1, 99, "101"),
  ticker(1, "-99", "101"),
  ticker(1, "99", "1e3"),
  ticker(1, "99.000000001", "101"),
])("a ticker that makes no sense changes nothing: %j", (data) => {
  const book = createBook();
  expect(takeTicker(book, data, 0)).toBe("malformed");
  expect(book).toEqual(createBook());
});

test.each([
  {},
  { lastUpdateId: 1 },
  { lastUpdateId: 1, bids: [[]], asks: [] },
  { lastUpdateId: 1, bids: ["9"], asks: [] },
])("a depth that makes no sense changes nothing: %j", (data) => {
  const book = createBook();
  expect(takeDepth(book, data, 0)).toBe("malformed");
  expect(book).toEqual(createBook());
});

test("the depth of a contract has field names of its own, and those of spot are malformed there", () => {
  const { depthKeys } = futuresProtocol(new Map());
  const book = createBook();
  expect(takeDepthBy(book, depth(7, "99", "101"), 0, depthKeys)).toBe("malformed");
  const data = {
    e: "depthUpdate",
    E: 1,
    T: 1,
    s: "BTCUSDT",
    U: 5,
    u: 7,
    pu: 4,
    b: [["99", "1"]],
    a: [["101", "1"]],
  };
  expect(takeDepthBy(book, data, 0, depthKeys)).toBe("accepted");
  expect(book).toMatchObject({ quote: quote("99", "101"), depthId: 7 });
  expect(takeDepthBy(book, { ...data, u: 6 }, 0, depthKeys)).toBe("stale");
});
