// Bodies of submissions: what is read from them, and the fault that each wrong one is refused with.
import { describe, expect, test } from "vitest";
import { decimal } from "../money/decimal.ts";
import {
  isFault,
  isSameOrder,
  KEPT_LENGTH_MAX,
  keptText,
  type OrderTerms,
  readSubmission,
} from "./submission.ts";

const MARKET = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.5" };
const LIMIT = { ...MARKET, orderType: "LIMIT", price: "100" };

function read(body: unknown) {
  return readSubmission(typeof body === "string" ? body : JSON.stringify(body));
}

function terms(body: unknown): OrderTerms {
  const found = read(body);
  if (isFault(found)) throw new Error(found.fault);
  return found;
}

describe("the order types", () => {
  const base = { type: "PlaceOrder", symbol: "BTCUSDT", side: "BUY", price: null, stopPrice: null };
  const size = { quantity: decimal("0.5") };
  test.each([
    ["MARKET unless said", MARKET, { ...base, orderType: "MARKET", size }],
    [
      "MARKET by quote amount",
      { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: 20 },
      { ...base, orderType: "MARKET", size: { quoteQuantity: decimal("20") } },
    ],
    ["LIMIT", LIMIT, { ...base, orderType: "LIMIT", size, price: decimal("100") }],
    [
      "LIMIT_MAKER",
      { ...LIMIT, orderType: "LIMIT_MAKER" },
      { ...base, orderType: "LIMIT_MAKER", size, price: decimal("100") },
    ],
    [
      "STOP_LOSS",
      { ...MARKET, orderType: "STOP_LOSS", stopPrice: "90" },
      { ...base, orderType: "STOP_LOSS", size, stopPrice: decimal("90") },
    ],
    [
      "STOP_LOSS_LIMIT",
      { ...LIMIT, orderType: "STOP_LOSS_LIMIT", stopPrice: 90.5 },
      { ...base, orderType: "STOP_LOSS_LIMIT", size, price: decimal("100"), stopPrice: decimal("90.5") },
    ],
  ])("%s", (_name, body, expected) => {
    expect(read(body)).toEqual(expected);
  });
});

describe("what is wrong is named", () => {
  const DECIMAL = 'must be a decimal without sign and exponent, such as "0.5"';
  test.each<[unknown, string]>([
    ["", "The body is empty: it must be the JSON of an order"],
    [" ", "The body is not JSON"],
    ["{", "The body is not JSON"],
    ['{"symbol":"BTCUSDT",}', "The body is not JSON"],
    ["\ufeff{}", "The body is not JSON"],
    ["null", "The body is not a JSON object"],
    ["[]", "The body is not a JSON object"],
    [[MARKET], "The body is not a JSON object"],
    ['"BUY"', "The body is not a JSON object"],
    ["[".repeat(8_000) + "]".repeat(8_000), "The body is not a JSON object"],
    ["{}", "symbol is missing"],
    [{ tradeType: "BUY", quantity: "1" }, "symbol is missing"],
    [{ ...MARKET, symbol: "" }, "symbol must be the name of a pair"],
    [{ ...MARKET, symbol: 7 }, "symbol must be the name of a pair"],
    [{ ...MARKET, symbol: "X".repeat(41) }, "symbol must be the name of a pair"],
    [{ ...MARKET, tradeType: "buy" }, "tradeType must be BUY or SELL"],
    [{ ...MARKET, tradeType: undefined }, "tradeType is missing"],
    [{ ...MARKET, tradeType: null }, "tradeType must be BUY or SELL"],
    [{ ...MARKET, orderType: "IOC" }, "orderType must be one of MARKET, LIMIT, STOP_LOSS, STOP_LOSS_LIMIT"],
    [{ ...MARKET, orderType: null }, "orderType must be one of MARKET, LIMIT, STOP_LOSS, STOP_LOSS_LIMIT"],
    [{ ...MARKET, stopprice: "1" }, "stopprice is not a field of this body"],
    [{ ...MARKET, side: "BUY" }, "side is not a field of this body"],
    [{ pair: "BTCUSDT", side: "BUY" }, "pair is not a field of this body"],
    [{ symbol: "BTCUSDT", side: "BUY", quantity: "1" }, "side is not a field of this body"],
    [{ ...MARKET, symbol: 7, qty: "1" }, "qty is not a field of this body"],
    [{ ...MARKET, ["x".repeat(100)]: 1 }, `${"x".repeat(40)} is not a field of this body`],
    [
      '{"symbol":"BTCUSDT","tradeType":"BUY","quantity":"1","__proto__":{}}',
      "__proto__ is not a field of this body",
    ],
    ['{"symbol":"BTCUSDT","tradeType":"BUY","quantity":"1","quantity":"2"}', "quantity is there twice"],
    [
      '{"symbol":"BTCUSDT","s\\u0079mbol":"ETHUSDT","tradeType":"BUY","quantity":"1"}',
      "symbol is there twice",
    ],
    [{ ...MARKET, quantity: "" }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: "-1" }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: -1 }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: "1e3" }, `quantity ${DECIMAL}`],
    ['{"symbol":"BTCUSDT","tradeType":"BUY","quantity":1e3}', `quantity ${DECIMAL}`],
    ['{"symbol":"BTCUSDT","tradeType":"BUY","quantity":-0}', `quantity ${DECIMAL}`],
    ['{"symbol":"BTCUSDT","tradeType":"BUY","quantity":1e999}', `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: 1e-7 }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: " 1" }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: "١" }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: null }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: true }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: ["1"] }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: { value: "1" } }, `quantity ${DECIMAL}`],
    [{ ...MARKET, quantity: "0.123456789" }, "quantity has more than 8 decimals"],
    [{ ...MARKET, quantity: 0.123456789 }, "quantity has more than 8 decimals"],
    [{ ...MARKET, quantity: undefined }, "quantity or quoteOrderQty is needed for a MARKET BUY"],
    [{ symbol: "BTCUSDT", tradeType: "SELL" }, "quantity is needed for a MARKET SELL"],
    [{ ...MARKET, quoteOrderQty: "5" }, "quantity and quoteOrderQty exclude each other"],
    [{ symbol: "BTCUSDT", tradeType: "SELL", quoteOrderQty: "5" }, "quoteOrderQty is not taken for SELL"],
    [{ ...MARKET, price: "5" }, "price is not taken for MARKET"],
    [{ ...MARKET, stopPrice: "5" }, "stopPrice is not taken for MARKET"],
    [{ ...LIMIT, price: undefined }, "price is needed for LIMIT"],
    [{ ...LIMIT, quantity: undefined, quoteOrderQty: "5" }, "quantity is needed for LIMIT"],
    [{ ...LIMIT, quoteOrderQty: "5" }, "quoteOrderQty is not taken for LIMIT"],
    [{ ...LIMIT, stopPrice: "5" }, "stopPrice is not taken for LIMIT"],
    [{ ...MARKET, orderType: "STOP_LOSS" }, "stopPrice is needed for STOP_LOSS"],
    [{ ...LIMIT, orderType: "STOP_LOSS", stopPrice: "5" }, "price is not taken for STOP_LOSS"],
    [{ ...LIMIT, orderType: "STOP_LOSS_LIMIT" }, "stopPrice is needed for STOP_LOSS_LIMIT"],
  ])("%j: %s", (body, fault) => {
    expect(read(body)).toEqual({ fault });
  });
});

test("a JSON number is read from its digits, not from the floating point number next to it", () => {
  const body = '{"symbol":"BTCUSDT","tradeType":"BUY","quantity":100000000.00000002}';
  expect(terms(body).size).toEqual({ quantity: 10_000_000_000_000_002n });
});

test("a name that is only part of a string is no field", () => {
  const body = String.raw`{"symbol":"\"price\":\"1\",","tradeType":"BUY","quantity":"1"}`;
  expect(terms(body)).toMatchObject({ symbol: '"PRICE":"1",', price: null });
});

test("the same order is the same however it is written", () => {
  const one = terms({ symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.10" });
  expect(isSameOrder(one, terms({ symbol: "btcUsdt", tradeType: "BUY", quantity: "0.1" }))).toBe(true);
  expect(isSameOrder(one, terms('{ "quantity": 0.1, "tradeType": "BUY", "symbol": "BTCUSDT" }'))).toBe(true);
  expect(isSameOrder(one, terms({ ...MARKET, quantity: 0.1, orderType: "MARKET" }))).toBe(true);
});

test.each([
  [{ ...LIMIT, symbol: "ETHUSDT" }],
  [{ ...LIMIT, tradeType: "SELL" }],
  [{ ...LIMIT, quantity: "0.50000001" }],
  [{ ...LIMIT, price: "101" }],
  [{ ...LIMIT, orderType: "STOP_LOSS_LIMIT", stopPrice: "100" }],
  [{ ...MARKET, quantity: "0.5" }],
])("another order is another: %j", (other) => {
  expect(isSameOrder(terms(LIMIT), terms(other))).toBe(false);
});

test("an amount to spend is not the same as a quantity to buy", () => {
  const spend = terms({ symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "0.5" });
  expect(isSameOrder(terms(MARKET), spend)).toBe(false);
});

describe("what is kept of a body", () => {
  /** Its strings hold what could be taken for white space or for the end of a string. */
  const written = String.raw`{ "symbol" : "BTC \" \\",
	"tradeType":"BUY", "quantity": 0.10 }`;

  test("is all of it, as it was written", () => {
    expect(keptText(written)).toBe(written);
    const padded = written.padEnd(KEPT_LENGTH_MAX, " ");
    expect(keptText(padded)).toBe(padded);
  });

  test("is without white space, if it is long", () => {
    const spaces = " \r\n\t".repeat(4_000);
    const long = written.replaceAll(/(?<=[:,{])(?=\s)/g, spaces) + spaces;
    const kept = String.raw`{"symbol":"BTC \" \\","tradeType":"BUY","quantity":0.10}`;
    expect(keptText(long)).toBe(kept);
    expect(isSameOrder(terms(kept), terms(written))).toBe(true);
  });

  test("is never long, however it is written", () => {
    const escaped = (text: string) =>
      `"${[...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;
    const digits = `${"0".repeat(19)}1.${"0".repeat(20)}`;
    const longest = {
      symbol: "S".repeat(40),
      tradeType: "SELL",
      orderType: "STOP_LOSS_LIMIT",
      quantity: digits,
      price: digits,
      stopPrice: digits,
    };
    const members = Object.entries(longest).map(([name, value]) => `${escaped(name)} : ${escaped(value)}`);
    const body = `{${members.join(",")}${" ".repeat(14_000)}}`;
    expect(terms(body)).toMatchObject({ orderType: "STOP_LOSS_LIMIT" });
    expect(keptText(body).length).toBeLessThan(KEPT_LENGTH_MAX);
  });
});
