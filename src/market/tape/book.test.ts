import { describe, expect, test } from "vitest";
import { FollowedBook } from "../../../test/support/followed-book.ts";
import { seededRandom } from "../../../test/support/random.ts";
import { testSeed } from "../../../test/support/seed.ts";
import { createTapeBook } from "./book.ts";
import type { TapeLine } from "./line.ts";

const seed = testSeed();
const startsAt = 1_700_000_000_000;
const levelsMax = 1_000;

type Levels = [string, string][];

/** A recording of a book: a snapshot, a diff every 100 ms, now and then a lost one and a new snapshot. */
function recorded(random: () => number, diffCount: number): TapeLine[] {
  const lines: TapeLine[] = [];
  const bids = new Map<string, string>();
  const asks = new Map<string, string>();
  let id = 1_000;
  const draw = (side: Map<string, string>, base: number): Levels =>
    Array.from({ length: Math.floor(random() * 4) }, () => {
      const price = (base + Math.floor(random() * 20)).toFixed(2);
      const quantity = random() < 0.3 ? "0.000" : (1 + Math.floor(random() * 9)).toFixed(3);
      if (quantity === "0.000") side.delete(price);
      else side.set(price, quantity);
      return [price, quantity];
    });
  const snapshot = (at: number): TapeLine => ({
    type: "SPOT",
    kind: "snapshot",
    at,
    lastUpdateId: id,
    bids: [...bids],
    asks: [...asks],
  });
  draw(bids, 100);
  draw(asks, 200);
  lines.push(snapshot(startsAt));
  for (let step = 1; step <= diffCount; step += 1) {
    const at = startsAt + step * 100 - Math.floor(random() * 60);
    const previousUpdateId = id;
    id += 1 + Math.floor(random() * 5);
    const diff = { previousUpdateId, lastUpdateId: id, bids: draw(bids, 100), asks: draw(asks, 200) };
    const isLost = random() < 0.02;
    if (!isLost) lines.push({ type: "SPOT", kind: "diff", at, ...diff });
    if (random() < (isLost ? 0.5 : 0.01)) lines.push(snapshot(at));
  }
  return lines;
}

test.each([100, 250, 1_000])(
  "changes every %i ms keep a follower in step; it sees where some are missing",
  (periodMs) => {
    const lines = recorded(seededRandom(seed), 4_000);
    const book = createTapeBook(lines);
    const reader = createTapeBook(lines);
    let follower = new FollowedBook("SPOT");
    let [inStep, losses] = [0, 0];
    for (let at = startsAt + periodMs; at <= startsAt + 400_000; at += periodMs) {
      const change = book.changeBetween(at - periodMs, at);
      const now = reader.bookAt(at, levelsMax);
      if (change) {
        const { previousUpdateId, updateId: u, bids: b, asks: a } = change;
        follower.hear({ U: previousUpdateId + 1, u, b, a });
      }
      if (follower.fault !== null || follower.lastId === null) {
        if (follower.fault !== null) losses += 1;
        follower = new FollowedBook("SPOT");
        if (now) follower.load({ lastUpdateId: now.updateId, bids: now.bids, asks: now.asks });
      } else if (now && now.updateId === follower.lastId) {
        expect(follower.sides()).toEqual({ bids: now.bids, asks: now.asks });
        inStep += 1;
      } else if (now) {
        // Only while changes are missing: the next one shows it.
        expect(change).toBeUndefined();
      }
    }
    expect(inStep).toBeGreaterThan(50);
    expect(losses).toBeGreaterThan(0);
  },
);

test("a change has the levels that changed and changed back, as they stand at the end", () => {
  const at = (ms: number) => startsAt + ms;
  const side = (price: string, quantity: string): Levels => [[price, quantity]];
  const book = createTapeBook([
    {
      type: "SPOT",
      kind: "snapshot",
      at: at(0),
      lastUpdateId: 1,
      bids: side("10", "1"),
      asks: side("11", "1"),
    },
    {
      type: "SPOT",
      kind: "diff",
      at: at(10),
      previousUpdateId: 1,
      lastUpdateId: 2,
      bids: side("10", "5"),
      asks: [],
    },
    {
      type: "SPOT",
      kind: "diff",
      at: at(20),
      previousUpdateId: 2,
      lastUpdateId: 3,
      bids: side("10", "1"),
      asks: [],
    },
  ]);
  expect(book.changeBetween(at(0), at(100))).toEqual({
    previousUpdateId: 1,
    updateId: 3,
    at: at(20),
    bids: [["10", "1"]],
    asks: [],
  });
  expect(book.changeBetween(at(100), at(200))).toBeUndefined();
  expect(book.changeBetween(at(-100), at(0))).toBeUndefined();
});

describe("a book that was recorded with several snapshots", () => {
  const level = (price: number): Levels => [[`${price}`, "1"]];
  const snapshot = (step: number, lastUpdateId: number): TapeLine => ({
    ...{ type: "SPOT", kind: "snapshot", at: startsAt + step, lastUpdateId },
    bids: level(10),
    asks: level(lastUpdateId),
  });
  const diff = (step: number, lastUpdateId: number): TapeLine => ({
    ...{ type: "SPOT", kind: "diff", at: startsAt + step, lastUpdateId },
    previousUpdateId: lastUpdateId - 1,
    bids: [],
    asks: level(lastUpdateId),
  });
  const diffs = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => diff(from + index, from + index));
  const asksOf = (lines: readonly TapeLine[]) =>
    createTapeBook(lines)
      .bookAt(startsAt + 1_000, 1_000)
      ?.asks.map(([price]) => Number(price));

  test("ignores one that is older than its last diff", () => {
    const all = Array.from({ length: 12 }, (_, index) => 100 + index);
    expect(asksOf([snapshot(100, 100), ...diffs(101, 110), snapshot(110, 105), diff(111, 111)])).toEqual(all);
  });

  test("applies the diffs from a hole on to the next snapshot", () => {
    const lines = [
      snapshot(100, 100),
      diff(101, 101),
      ...diffs(103, 106),
      snapshot(106, 102),
      diff(107, 107),
    ];
    expect(asksOf(lines)).toEqual([102, 103, 104, 105, 106, 107]);
  });
});
