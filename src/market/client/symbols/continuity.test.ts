import * as fc from "fast-check";
import { expect, test } from "vitest";
import { silentAfterMs } from "./book.ts";
import { Continuity, type DataKind, type Gap } from "./continuity.ts";

/** Market time runs a thousand ahead of the wall clock, so that neither is taken for the other. */
const moment = (wall: number) => ({ wall, market: wall + 1_000 });
const gap = (from: number, to: number, isOfNewStream = false): Gap => {
  return { from: from + 1_000, to: to + 1_000, isOfNewStream };
};
const complete = { isComplete: true, isProof: true };
const partly = { isComplete: false, isProof: true };
const trade = { isComplete: true, isProof: false };

/** Subscribed at 0 and complete since 10. */
function completeAt10(): Continuity {
  const continuity = new Continuity(moment(0), ["book"]);
  continuity.receive("book", moment(10), complete);
  return continuity;
}

test("a new symbol is incomplete until all its streams are confirmed", () => {
  const continuity = new Continuity(moment(0), ["book"]);
  expect(continuity.receive("book", moment(5), partly)).toBeNull();
  expect(continuity.receive("book", moment(10), complete)).toEqual(gap(0, 10));
  expect(continuity.receive("book", moment(20), complete)).toBeNull();
});

test("a symbol with continuous messages has no gap", () => {
  const continuity = completeAt10();
  for (let wall = 10; wall < 100_000; wall += silentAfterMs - 1)
    expect(continuity.receive("book", moment(wall), complete)).toBeNull();
});

test("a lost connection is a gap from the last message before to the first one after", () => {
  const continuity = completeAt10();
  continuity.receive("book", moment(20), complete);
  continuity.cut();
  expect(continuity.receive("book", moment(400), complete)).toEqual(gap(20, 400));
  expect(continuity.receive("book", moment(410), complete)).toBeNull();
});

test("streams that come back later make a second gap that begins where the first one ended", () => {
  const continuity = completeAt10();
  continuity.cut();
  expect(continuity.receive("book", moment(100), partly)).toEqual(gap(10, 100));
  expect(continuity.receive("book", moment(200), partly)).toBeNull();
  expect(continuity.receive("book", moment(300), complete)).toEqual(gap(100, 300));
});

test("a connection that is lost again before all streams were back leaves nothing out", () => {
  const continuity = completeAt10();
  continuity.cut();
  continuity.receive("book", moment(100), partly);
  continuity.receive("book", moment(200), partly);
  continuity.cut();
  expect(continuity.receive("book", moment(300), complete)).toEqual(gap(100, 300));
});

test("a stream that is subscribed to later makes one gap, from the last message before it to its confirmation", () => {
  const continuity = completeAt10();
  continuity.extend();
  expect(continuity.receive("book", moment(100), partly)).toBeNull();
  continuity.extend();
  expect(continuity.receive("book", moment(200), complete)).toEqual(gap(10, 200, true));
  expect(continuity.receive("book", moment(300), complete)).toBeNull();
  // It was confirmed before the next message.
  continuity.extend();
  expect(continuity.receive("book", moment(400), complete)).toEqual(gap(300, 400, true));
});

test("of a connection that is lost while a new stream is not confirmed more was missed than that stream", () => {
  const continuity = completeAt10();
  continuity.extend();
  continuity.cut();
  expect(continuity.receive("book", moment(100), partly)).toEqual(gap(10, 100));
  expect(continuity.receive("book", moment(200), complete)).toEqual(gap(100, 200));
});

test("silence is a gap, and a trade ends it but does not end the silence of the book", () => {
  const continuity = completeAt10();
  expect(continuity.receive("book", moment(9 + silentAfterMs), trade)).toBeNull();
  expect(continuity.receive("book", moment(10 + silentAfterMs), trade)).toEqual(gap(10, 10 + silentAfterMs));
  expect(continuity.receive("book", moment(11 + silentAfterMs), trade)).toBeNull();
  expect(continuity.receive("book", moment(10 + 2 * silentAfterMs), complete)).toEqual(
    gap(10 + silentAfterMs, 10 + 2 * silentAfterMs),
  );
});

/** Subscribed at 0, complete with messages of both kinds since 10. */
function bothCompleteAt10(): Continuity {
  const continuity = new Continuity(moment(0), ["book", "mark"]);
  continuity.receive("book", moment(10), complete);
  continuity.receive("mark", moment(10), complete);
  return continuity;
}

test("a silent kind is a gap although the other continues, reported at its next message", () => {
  const continuity = bothCompleteAt10();
  for (let wall = 1_000; wall < 20_000; wall += 1_000)
    expect(continuity.receive("mark", moment(wall), complete)).toBeNull();
  expect(continuity.receive("book", moment(20_000), complete)).toEqual(gap(10, 20_000));
  expect(continuity.receive("mark", moment(20_100), complete)).toBeNull();
});

test("when both are silent the gap of the later one begins where the other's ended", () => {
  const continuity = bothCompleteAt10();
  expect(continuity.receive("mark", moment(20_000), complete)).toEqual(gap(10, 20_000));
  expect(continuity.receive("book", moment(20_300), complete)).toEqual(gap(20_000, 20_300));
  expect(continuity.receive("mark", moment(21_000), complete)).toBeNull();
});

test("the gap of a lost connection begins with the last message of the kind that has been quiet for longer", () => {
  const continuity = bothCompleteAt10();
  continuity.receive("book", moment(900), complete);
  continuity.cut();
  expect(continuity.receive("book", moment(1_000), complete)).toEqual(gap(10, 1_000));
});

test("a lost connection is one gap, whichever kind ends it", () => {
  for (const kind of ["book", "mark"] as const) {
    const continuity = bothCompleteAt10();
    continuity.cut();
    expect(continuity.receive(kind, moment(400), complete)).toEqual(gap(10, 400));
    expect(continuity.receive("book", moment(410), complete)).toBeNull();
    expect(continuity.receive("mark", moment(420), complete)).toBeNull();
  }
});

const steps = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 500, silentAfterMs - 1, silentAfterMs),
    what: fc.constantFrom("cut", "complete", "partly", "trade"),
    kind: fc.constantFrom<DataKind>("book", "mark"),
  }),
  { maxLength: 60, size: "max" },
);

/**
 * When a stream kind may have begun to miss something that lies in no gap yet, by the market's clock; null if
 * it was received throughout.
 */
type Missing = { from: number | null; aliveAt: number };

test.each<[string, readonly DataKind[]]>([
  ["one kind", ["book"]],
  ["two kinds", ["book", "mark"]],
])(
  "with %s gaps follow on each other, and every moment after a cut or a silence lies in one",
  async (_name, kinds) => {
    await fc.assert(
      fc.property(steps, (given) => {
        const continuity = new Continuity(moment(0), kinds);
        const gaps: Gap[] = [];
        const missing = new Map<DataKind, Missing>(kinds.map((kind) => [kind, { from: null, aliveAt: 0 }]));
        let wall = 0;
        for (const { afterMs, what, kind: any } of given) {
          const before = wall;
          wall += afterMs;
          if (what === "cut") {
            continuity.cut();
            for (const each of missing.values()) each.from ??= moment(before).market;
            continue;
          }
          const kind = kinds.includes(any) ? any : "book";
          const own = missing.get(kind) ?? { from: null, aliveAt: 0 };
          if (wall - own.aliveAt >= silentAfterMs) own.from ??= moment(own.aliveAt).market;
          const ended = continuity.receive(kind, moment(wall), {
            isComplete: what !== "partly",
            isProof: what !== "trade",
          });
          if (ended !== null) {
            expect(ended.from).toBeGreaterThanOrEqual(gaps.at(-1)?.to ?? 1_000);
            expect(ended.to).toBe(moment(wall).market);
            gaps.push(ended);
          }
          const from = own.from === null ? Infinity : Math.max(own.from, gaps.at(-2)?.to ?? 0);
          if (own.from !== null) expect(ended?.from ?? Infinity).toBeLessThanOrEqual(from);
          own.from = null;
          if (ended !== null || what !== "trade") own.aliveAt = wall;
          if (ended !== null) for (const each of missing.values()) each.from = null;
        }
      }),
      { numRuns: 500, verbose: true },
    );
  },
);
