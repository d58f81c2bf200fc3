// Books against an oracle that recomputes the state from all messages at each moment of the schedule:
// messages, their times and the outages are equal to the millisecond.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { createDepth } from "./depth.ts";
import { createStubMarket } from "./testing/stub-market.ts";
import { type DepthTopic, LEVELS, type OrderBook, SPEEDS, type Speed } from "./topics.ts";

const startAt = 1_700_000_000_000;
const outMs = 5_000;
const periodsMs: Readonly<Record<Speed, number>> = { "1000ms": 1_000, "100ms": 100 };

type Level = readonly [string, string];
type Snapshot = {
  readonly lastUpdateId: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};
type Step = { readonly afterMs: number; readonly id: number; readonly shape: Shape; readonly depth: number };
type Shape = "sound" | "crossed" | "unsorted" | "malformed" | "nothing";

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 400 }) },
    { weight: 2, arbitrary: fc.integer({ min: 400, max: 1_500 }) },
    { weight: 1, arbitrary: fc.integer({ min: 4_900, max: 7_000 }) },
  ),
  // Few, so that they repeat and go back.
  id: fc.nat(40),
  shape: fc.constantFrom<Shape>(
    "sound",
    "sound",
    "sound",
    "sound",
    "crossed",
    "unsorted",
    "malformed",
    "nothing",
  ),
  depth: fc.integer({ min: 0, max: 25 }),
});

/** Prices of two, three and four digits, so that an order of texts is not one of prices. */
function snapshotOf({ id, shape, depth }: Step): Snapshot {
  const bids = Array.from(
    { length: depth },
    (_, place): Level => [`${1_000 + id - 41 * place - 1}.5`, `${id}`],
  );
  const asks = Array.from({ length: depth }, (_, place): Level => [`${1_000 + id + place}.0`, `${place}.10`]);
  const book = { lastUpdateId: id, bids, asks };
  switch (shape) {
    case "crossed":
      return { ...book, bids: [[`${1_000 + id}`, "1"]], asks: [[`${1_000 + id}.0`, "1"]] };
    case "unsorted":
      return {
        ...book,
        asks: [
          ["1000", "1"],
          ["9999", "1"],
          ["2000", "1"],
        ],
      };
    case "malformed":
      return { ...book, bids: [["1e3", "1"]] };
    default:
      return book;
  }
}

type Told = { readonly at: number; readonly what: OrderBook | "unavailable" | "broken" };
type Said = { readonly at: number; readonly snapshot: Snapshot; readonly isSound: boolean };

/**
 * The messages of a topic from its subscription until its stream is broken or `until`, by the rules'
 * definition.
 */
function tellingsOf(topic: DepthTopic, from: number, until: number, said: readonly Said[]): Told[] {
  const periodMs = periodsMs[topic.speed];
  const told: Told[] = [];
  /** The sound snapshots before a moment that did not go back, one after another. */
  const newsBefore = (heard: readonly Said[]) => {
    const news: Said[] = [];
    for (const each of heard) {
      const ids = news.map(({ snapshot }) => snapshot.lastUpdateId);
      if (each.isSound && each.snapshot.lastUpdateId >= Math.max(-1, ...ids)) news.push(each);
    }
    return news;
  };
  /** The first of each id is shown. */
  const bookIn = (news: readonly Said[]) =>
    news.find(({ snapshot }) => snapshot.lastUpdateId === news.at(-1)?.snapshot.lastUpdateId)?.snapshot;

  const breaksAt = said.find((each, place) => {
    const news = newsBefore(said.slice(0, place));
    const outAt = (news.at(-1)?.at ?? from) + outMs;
    const noticedAt = from + Math.ceil((outAt - from) / periodMs) * periodMs;
    const heldId = bookIn(news)?.lastUpdateId ?? -1;
    return each.isSound && each.snapshot.lastUpdateId < heldId && noticedAt <= each.at;
  })?.at;
  let isOut = false;
  for (let at = from + periodMs; at <= (breaksAt ?? until); at += periodMs) {
    const news = newsBefore(said.filter((each) => each.at < at));
    const book = bookIn(news);
    if (at - (news.at(-1)?.at ?? from) >= outMs) {
      if (!isOut) told.push({ at, what: "unavailable" });
      isOut = true;
    } else {
      isOut = false;
      if (book === undefined) continue;
      const { lastUpdateId } = book;
      const sides = { bids: book.bids.slice(0, topic.levels), asks: book.asks.slice(0, topic.levels) };
      told.push({ at, what: { event: "depth", ...topic, lastUpdateId, ...sides } });
    }
  }
  if (breaksAt !== undefined) told.push({ at: breaksAt, what: "broken" });
  return told;
}

test("messages and their times are those of an oracle that recomputes everything each time", async () => {
  const seen = { sent: 0, unavailable: 0, broken: 0 };
  await fc.assert(
    fc.property(
      fc.array(step, { minLength: 10, maxLength: 80 }),
      fc.constantFrom(...LEVELS),
      fc.constantFrom(...SPEEDS),
      (steps, levels, speed) => {
        const topic: DepthTopic = { pair: "BTCUSDT", levels, speed };
        const time = createManualTime(startAt);
        const market = createStubMarket(() => ({ unavailable: true, reason: "not asked in this test" }));
        const told: Told[] = [];
        const tell = (what: Told["what"]) => void told.push({ at: time.now(), what });
        let isBroken = false;
        const source = createDepth({
          market,
          audience: {
            send: (_, message) => tell(message),
            unavailable: () => tell("unavailable"),
            available: () => {},
            broken: () => {
              tell("broken");
              isBroken = true;
            },
          },
          asksAboutQuietSymbols: false,
          wallClock: time,
          timers: time,
          log: { info() {}, warn() {}, error() {} },
        });
        const expected: Told[] = [];
        let release = source.follow(topic);
        let followedAt = time.now();
        let said: Said[] = [];
        for (const each of steps) {
          time.advance(each.afterMs);
          if (each.shape === "nothing") continue;
          const snapshot = snapshotOf(each);
          said.push({ at: time.now(), snapshot, isSound: each.shape === "sound" });
          market.say(`btcusdt@depth20${speed === "100ms" ? "@100ms" : ""}`, snapshot);
          if (!isBroken) continue;
          // A subscriber of a broken topic subscribes again.
          expected.push(...tellingsOf(topic, followedAt, time.now(), said));
          release();
          release = source.follow(topic);
          followedAt = time.now();
          said = [];
          isBroken = false;
        }
        time.advance(6_000);
        expected.push(...tellingsOf(topic, followedAt, time.now(), said));
        source.close();
        expect(told).toEqual(expected);
        expect(time.pending()).toBe(0);
        for (const { what } of told) seen[typeof what === "string" ? what : "sent"] += 1;
        checkIds(told);
      },
    ),
    { numRuns: 500 },
  );
  // All of it has happened, again and again.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(50);
});

/**
 * Independently of the oracle: until a stream is broken its ids do not go back, and every book is sorted and
 * uncrossed.
 */
function checkIds(told: readonly Told[]): void {
  let heldId = -1;
  for (const { what } of told) {
    if (what === "broken") heldId = -1;
    if (typeof what === "string") continue;
    expect(what.lastUpdateId).toBeGreaterThanOrEqual(heldId);
    heldId = what.lastUpdateId;
    const prices = [...what.bids.toReversed(), ...what.asks].map(([price]) => Number(price));
    expect(prices.every((price, place) => place === 0 || price > (prices[place - 1] ?? price))).toBe(true);
  }
}
