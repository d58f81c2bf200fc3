import { expect, test } from "vitest";
import { ladderOf, type OwnOrder, stepOf, toStep } from "./ladder.ts";

const BOOK = {
  bids: [
    ["100.09", "1.50000000"],
    ["100.07", "0.5"],
    ["99.98", "2"],
  ],
  asks: [
    ["100.10", "1"],
    ["100.11", "0.25"],
    ["100.20", "4"],
  ],
} as const;

function own(order: Partial<OwnOrder>): OwnOrder {
  const filled = { executedQuantity: "0", stopPrice: null, price: null };
  return { orderId: 1, side: "BUY", quantity: "1", ...filled, ...order };
}

test("sizes are added up from the best price outwards", () => {
  const { bids, asks } = ladderOf(BOOK, "0.01", []);
  expect(bids.map(({ cumulated }) => cumulated)).toEqual(["1.5", "2", "4"]);
  expect(asks.map(({ cumulated }) => cumulated)).toEqual(["1", "1.25", "5.25"]);
  expect(asks.at(-1)?.depthPercent).toBe(100);
  expect(bids.at(-1)?.depthPercent).toBe(76.1);
});

test("grouping puts bids down and asks up, so that no price looks better than it is", () => {
  const { bids, asks } = ladderOf(BOOK, stepOf("0.01", "10"), []);
  expect(bids.map(({ price, quantity }) => [price, quantity])).toEqual([
    ["100.0", "2"],
    ["99.9", "2"],
  ]);
  expect(asks.map(({ price, quantity }) => [price, quantity])).toEqual([
    ["100.1", "1"],
    ["100.2", "4.25"],
  ]);
});

test("the spread is of the best prices, however levels are grouped", () => {
  for (const step of ["0.01", "10"]) {
    expect(ladderOf(BOOK, step, [])).toMatchObject({ spread: "0.01", spreadPercent: "0.00999" });
  }
  expect(ladderOf({ bids: [], asks: BOOK.asks }, "0.01", []).spread).toBeNull();
});

test("own orders stand at their level with what is left of them, on their side alone", () => {
  const orders = [
    own({ orderId: 7, price: "100.07", quantity: "0.4", executedQuantity: "0.1" }),
    own({ orderId: 8, price: "100.07", quantity: "0.2" }),
    own({ orderId: 9, side: "SELL", price: "100.07" }),
    own({ orderId: 10, price: "100.09", stopPrice: "100.00" }),
  ];
  const { bids, asks } = ladderOf(BOOK, "0.01", orders);
  expect(bids.map((level) => level.own)).toEqual([null, { quantity: "0.5", orderIds: [7, 8] }, null]);
  expect(asks.map((level) => level.own?.orderIds)).toEqual([[9], undefined, undefined, undefined]);
  expect(ladderOf(BOOK, "0.1", orders).bids[0]?.own).toEqual({ quantity: "0.5", orderIds: [7, 8] });
});

test("own orders between the market's levels get a level of their own, those beyond are listed separately", () => {
  const orders = [
    own({ orderId: 1, price: "100.08" }),
    own({ orderId: 2, price: "90" }),
    own({ orderId: 3, side: "SELL", price: "100.15" }),
    own({ orderId: 4, side: "SELL", price: "120" }),
  ];
  const { bids, asks, away } = ladderOf(BOOK, "0.01", orders);
  expect(bids.map(({ price }) => price)).toEqual(["100.09", "100.08", "100.07", "99.98"]);
  expect(bids[1]).toMatchObject({ quantity: "0", cumulated: "1.5", own: { quantity: "1", orderIds: [1] } });
  expect(asks.map(({ price }) => price)).toEqual(["100.10", "100.11", "100.15", "100.20"]);
  expect(away).toEqual([4, 2]);
});

test("steps are multiples of any tick", () => {
  expect(toStep("1234.5", "100", "bids")).toBe("1200");
  expect(toStep("1234.5", "100", "asks")).toBe("1300");
  expect(toStep("1200", "100", "asks")).toBe("1200");
  expect(toStep("0.00001234", "0.00000500", "bids")).toBe("0.00001000");
  expect(stepOf("0.00000001", "1000")).toBe("0.00001");
});
