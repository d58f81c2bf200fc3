import { expect, test } from "vitest";
import { beginsLater, queueMoves, queueSteps } from "./queue-moves.ts";

const point = (time: number, ahead: string | null, tradedAtPrice: string, canceledAhead: string) => ({
  ...{ time, ahead, tradedAtPrice, canceledAhead },
});
const HISTORY = [
  point(1_000, "0.002", "0", "0"),
  point(1_500, "0.0015", "0.0005", "0"),
  point(2_000, "0.0008", "0.0006", "0.0006"),
  point(3_000, "0", "0.0015", "0.0006"),
];
const QUEUE = {
  ...{ model: "trades", aheadAtPlacement: "0.002", tradedAtPrice: "0.0006", canceledAhead: "0.0006" },
  ...{ aheadBefore: "0.0008", ahead: "0", history: HISTORY },
};
const SIZE = { width: 200, height: 100 };

test("a move says what of those in front was traded, and what canceled", () => {
  expect(queueMoves(HISTORY)).toEqual([
    { time: 1_000, ahead: "0.002", traded: null, canceled: null },
    { time: 1_500, ahead: "0.0015", traded: "0.0005", canceled: "0" },
    { time: 2_000, ahead: "0.0008", traded: "0.0001", canceled: "0.0006" },
    { time: 3_000, ahead: "0", traded: "0.0008", canceled: "0" },
  ]);
  const [, known] = queueMoves([point(1, null, "0.5", "0"), point(2, "0.3", "0.7", "0")]);
  expect(known).toEqual({ time: 2, ahead: "0.3", traded: null, canceled: null });
});

test("a history begins later than the placement if its first position is another one", () => {
  expect(beginsLater(QUEUE)).toBe(false);
  expect(beginsLater({ ...QUEUE, history: HISTORY.slice(1) })).toBe(true);
  expect(beginsLater({ ...QUEUE, aheadAtPlacement: null })).toBe(true);
  const unknown = [point(1_000, null, "0", "0"), ...HISTORY.slice(1)];
  expect(beginsLater({ ...QUEUE, aheadAtPlacement: null, history: unknown })).toBe(false);
  expect(beginsLater({ ...QUEUE, history: null })).toBe(false);
});

test("the line of a queue has a step at each move", () => {
  expect(queueSteps(HISTORY, SIZE)).toBe("0,0 50,0 50,25 100,25 100,60 200,60 200,100");
  // While it was unknown there is no line.
  const [, ...others] = HISTORY;
  expect(queueSteps([point(1_000, null, "0", "0"), ...others], SIZE)).toBe(
    "50,0 100,0 100,46.67 200,46.67 200,100",
  );
  expect(queueSteps(HISTORY.slice(3), SIZE)).toBe(null);
  expect(queueSteps([], SIZE)).toBe(null);
});
