import * as fc from "fast-check";
import { expect, test } from "vitest";
import { silentAfterMs } from "./book.ts";
import { Continuity, type Gap } from "./continuity.ts";

/** Market time runs a thousand ahead of the wall clock, so that neither is taken for the other. */
const moment = (wall: number) => ({ wall, market: wall + 1_000 });
const gap = (from: number, to: number): Gap => ({ from: from + 1_000, to: to + 1_000 });
const whole = { isWhole: true, isProof: true };
const partly = { isWhole: false, isProof: true };
const trade = { isWhole: true, isProof: false };

/** Taken up at 0 and whole since 10. */
function heardAt10(): Continuity {
  const continuity = new Continuity(moment(0));
  continuity.hear(moment(10), whole);
  return continuity;
}

test("a symbol that is taken up was not heard until all its streams are confirmed", () => {
  const continuity = new Continuity(moment(0));
  expect(continuity.hear(moment(5), partly)).toBeNull();
  expect(continuity.hear(moment(10), whole)).toEqual(gap(0, 10));
  expect(continuity.hear(moment(20), whole)).toBeNull();
});

test("a symbol that goes on being heard has no gap", () => {
  const continuity = heardAt10();
  for (let wall = 10; wall < 100_000; wall += silentAfterMs - 1)
    expect(continuity.hear(moment(wall), whole)).toBeNull();
});

test("a lost connection is a gap from the last word before to the first word after", () => {
  const continuity = heardAt10();
  continuity.hear(moment(20), whole);
  continuity.cut();
  expect(continuity.hear(moment(400), whole)).toEqual(gap(20, 400));
  expect(continuity.hear(moment(410), whole)).toBeNull();
});

test("streams that come back later make a second gap that begins where the first one ended", () => {
  const continuity = heardAt10();
  continuity.cut();
  expect(continuity.hear(moment(100), partly)).toEqual(gap(10, 100));
  expect(continuity.hear(moment(200), partly)).toBeNull();
  expect(continuity.hear(moment(300), whole)).toEqual(gap(100, 300));
});

test("a connection that is lost again before all streams were back leaves nothing out", () => {
  const continuity = heardAt10();
  continuity.cut();
  continuity.hear(moment(100), partly);
  continuity.hear(moment(200), partly);
  continuity.cut();
  expect(continuity.hear(moment(300), whole)).toEqual(gap(100, 300));
});

test("silence is a gap, and a trade ends it but does not end the silence of the book", () => {
  const continuity = heardAt10();
  expect(continuity.hear(moment(9 + silentAfterMs), trade)).toBeNull();
  expect(continuity.hear(moment(10 + silentAfterMs), trade)).toEqual(gap(10, 10 + silentAfterMs));
  expect(continuity.hear(moment(11 + silentAfterMs), trade)).toBeNull();
  expect(continuity.hear(moment(10 + 2 * silentAfterMs), whole)).toEqual(
    gap(10 + silentAfterMs, 10 + 2 * silentAfterMs),
  );
});

const steps = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 500, silentAfterMs - 1, silentAfterMs),
    what: fc.constantFrom("cut", "whole", "partly", "trade"),
  }),
  { maxLength: 60, size: "max" },
);

test("gaps follow on each other, and every moment after a cut or a silence lies in one", () => {
  fc.assert(
    fc.property(steps, (given) => {
      const continuity = new Continuity(moment(0));
      const gaps: Gap[] = [];
      let wall = 0;
      let isCut = false;
      for (const { afterMs, what } of given) {
        const before = wall;
        wall += afterMs;
        if (what === "cut") {
          continuity.cut();
          isCut = true;
          continue;
        }
        const ended = continuity.hear(moment(wall), {
          isWhole: what !== "partly",
          isProof: what !== "trade",
        });
        if (ended !== null) {
          expect(ended.from).toBeGreaterThanOrEqual(gaps.at(-1)?.to ?? 1_000);
          expect(ended.to).toBe(moment(wall).market);
          gaps.push(ended);
        }
        if (isCut || afterMs >= silentAfterMs) {
          expect(ended?.from ?? Infinity).toBeLessThanOrEqual(moment(before).market);
        }
        isCut = false;
      }
    }),
    { numRuns: 500, verbose: true },
  );
});
