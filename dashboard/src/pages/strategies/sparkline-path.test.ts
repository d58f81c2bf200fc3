import { expect, test } from "vitest";
import { sparklinePoints } from "./sparkline-path.ts";

const size = { width: 103, height: 23 };

test("from the left edge to the right one, the highest at the top", () => {
  expect(sparklinePoints(["100", "110", "90"], size)).toBe("1.5,11.5 51.5,1.5 101.5,21.5");
});

test("what does not move is a line in the middle", () => {
  expect(sparklinePoints(["200", "200.00"], size)).toBe("1.5,11.5 101.5,11.5");
});

test("there is no line through fewer than two points", () => {
  expect(sparklinePoints([], size)).toBeNull();
  expect(sparklinePoints(["1"], size)).toBeNull();
});
