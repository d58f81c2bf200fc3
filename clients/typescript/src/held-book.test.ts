// The rules for consumers of order books. Source: specification 6.4.
import { expect, test } from "vitest";
import { HeldBook } from "./held-book.ts";
import type { BookSnapshot } from "./messages.ts";

function book(lastUpdateId: number, bid = "99.5", ask = "100.5"): BookSnapshot {
  return { lastUpdateId, bids: [[bid, "1"]], asks: [[ask, "2"]] };
}

test("every newer snapshot replaces the book", () => {
  const held = new HeldBook();
  expect(held.take(book(1), "STREAM")).toBe("TAKEN");
  expect(held.take(book(5, "98"), "STREAM")).toBe("TAKEN");
  expect(held.snapshot).toEqual(book(5, "98"));
});

test("a snapshot with the id that is held, or a smaller one, is discarded", () => {
  const held = new HeldBook();
  held.take(book(5), "STREAM");
  expect(held.take(book(5, "1"), "STREAM")).toBe("UNCHANGED");
  expect(held.take(book(4, "1"), "STREAM")).toBe("DROPPED");
  expect(held.snapshot).toEqual(book(5));
});

test.each([
  ["crossed", "100.6", "100.50"],
  ["locked", "100.5", "100.50"],
])("a %s book is discarded, and the next clean one taken", (_, bid, ask) => {
  const held = new HeldBook();
  held.take(book(1), "STREAM");
  expect(held.take(book(2, bid, ask), "STREAM")).toBe("DROPPED");
  expect(held.snapshot).toEqual(book(1));
  expect(held.take(book(3), "STREAM")).toBe("TAKEN");
});

test("a book with an empty side is no crossed one", () => {
  const held = new HeldBook();
  expect(held.take({ lastUpdateId: 1, bids: [], asks: [["1", "1"]] }, "STREAM")).toBe("TAKEN");
});

test("after a new subscription the first clean snapshot is taken whatever its id, and the second not", () => {
  const held = new HeldBook();
  held.take(book(100), "STREAM");
  held.beginAnew();
  expect(held.take(book(6, "101"), "STREAM")).toBe("DROPPED");
  expect(held.take(book(7), "STREAM")).toBe("TAKEN");
  expect(held.take(book(6), "STREAM")).toBe("DROPPED");
});

test("five seconds without a good snapshot make a book stale, which is reported once", () => {
  const held = new HeldBook();
  held.take(book(5), "STREAM");
  expect(held.pass(5_000)).toBe(false);
  held.take(book(4), "STREAM");
  held.take(book(6, "101"), "STREAM");
  expect(held.pass(1)).toBe(true);
  expect(held.pass(1)).toBe(false);
  expect(held.isStale).toBe(true);
});

test("the same snapshot again keeps a book alive", () => {
  const held = new HeldBook();
  held.take(book(5), "STREAM");
  held.pass(5_000);
  held.take(book(5), "STREAM");
  expect(held.pass(5_000)).toBe(false);
});

test("the fallback's snapshot is taken if it is newer, or, before the stream is back, if the book is stale", () => {
  const held = new HeldBook();
  held.take(book(5), "STREAM");
  expect(held.take(book(6), "REST")).toBe("TAKEN");
  expect(held.source).toBe("REST");
  held.beginAnew();
  expect(held.take(book(5), "REST")).toBe("DROPPED");
  held.pass(5_001);
  expect(held.take(book(3), "REST")).toBe("TAKEN");
  expect(held.take(book(2), "STREAM")).toBe("TAKEN");
  expect(held.source).toBe("STREAM");
});
